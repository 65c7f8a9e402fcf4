/* SPDX-License-Identifier: MIT */
#include "publish/audit_cells.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/trust/places.h"

/* The state while the cells are computed, extent by extent. */
struct making {
    struct xd_audit_cells *cells;
    const struct xd_audit_plan *plan;
    uint64_t cell_bytes;
    /* Number of cells so far, and the limit on that number.  A cell counts once
     * for each extent that contains it. */
    size_t n_made, most;
};

static int by_place(const void *a, const void *b)
{
    const struct xd_audit_cell *x = a, *y = b;

    if (x->at.begin != y->at.begin)
        return x->at.begin < y->at.begin ? -1 : 1;
    return (x->at.end > y->at.end) - (x->at.end < y->at.end);
}

static void drop_doubles(struct xd_audit_cells *c)
{
    size_t kept = 0;

    if (c->n > 0)
        qsort(c->list, c->n, sizeof *c->list, by_place);
    for (size_t i = 0; i < c->n; i++) {
        if (kept == 0 || by_place(&c->list[kept - 1], &c->list[i]) != 0)
            c->list[kept++] = c->list[i];
    }
    c->n = kept;
}

/* Several extents may share cells.  Before the list grows, duplicates are
 * removed, so it is at most twice as long as necessary. */
static int make_room(struct xd_audit_cells *c)
{
    struct xd_audit_cell *list;

    if (c->n < c->capacity)
        return 0;
    drop_doubles(c);
    if (c->n < c->capacity / 2)
        return 0;
    list = xd_grow(c->list, c->capacity, &c->capacity, sizeof *list);
    if (!list)
        return XD_E_NOMEM;
    c->list = list;
    return 0;
}

static int add(struct making *m, struct xd_range at, uint64_t piece)
{
    struct xd_audit_cells *c = m->cells;
    int rc;

    if (m->n_made == m->most)
        return XD_E_INVAL;
    rc = make_room(c);
    if (rc < 0)
        return rc;
    m->n_made++;
    c->list[c->n++] = (struct xd_audit_cell){at, piece};
    return 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int find_cuts(struct xd_audit_cells *c, uint64_t size,
                     const struct xd_audit_extent *extents, size_t n)
{
    size_t kept = 0;

    c->cuts = xd_alloc(2 * n, sizeof *c->cuts);
    if (!c->cuts)
        return XD_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        c->cuts[2 * i] = extents[i].at.begin;
        c->cuts[2 * i + 1] = extents[i].at.end;
    }
    qsort(c->cuts, 2 * n, sizeof *c->cuts, by_number);
    for (size_t i = 0; i < 2 * n; i++) {
        if (kept == 0 || c->cuts[kept - 1] != c->cuts[i])
            c->cuts[kept++] = c->cuts[i];
    }
    c->n_cuts = kept;
    c->n_cuts_of_file =
        xd_count_up_to(size, c->cuts, c->n_cuts, sizeof *c->cuts, 0);
    return 0;
}

/* Returns the first begin or end of an extent after `byte`. */
static uint64_t next_cut(const struct xd_audit_cells *c, uint64_t byte)
{
    size_t i = xd_count_up_to(byte, c->cuts, c->n_cuts, sizeof *c->cuts, 0);

    return i < c->n_cuts ? c->cuts[i] : UINT64_MAX;
}

static struct xd_range piece_at(const struct xd_audit_plan *p, uint64_t piece)
{
    struct xd_range at = {piece * p->piece_bytes, p->size};

    if (p->size - at.begin > p->piece_bytes)
        at.end = at.begin + p->piece_bytes;
    return at;
}

/* ---- every byte ---- */

/* Returns the cell of an extent that begins at `byte`. */
static struct xd_audit_cell cell_from(const struct making *m, uint64_t byte,
                                      uint64_t end)
{
    const struct xd_audit_plan *p = m->plan;
    struct xd_audit_cell cell = {{byte, end}, XD_AUDIT_NO_PIECE};
    uint64_t cut = next_cut(m->cells, byte);

    if (p->piece_bytes > 0 && byte < p->size) {
        struct xd_range piece = piece_at(p, byte / p->piece_bytes);

        if (piece.begin == byte && piece.end <= end)
            return (struct xd_audit_cell){piece, byte / p->piece_bytes};
        cut = piece.end < cut ? piece.end : cut;
    } else if (m->cell_bytes - byte % m->cell_bytes < cut - byte) {
        cut = byte + m->cell_bytes - byte % m->cell_bytes;
    }
    if (cut < cell.at.end)
        cell.at.end = cut;
    return cell;
}

static int cover(struct making *m, struct xd_range at)
{
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(at)) {
        struct xd_audit_cell cell = cell_from(m, at.begin, at.end);

        rc = add(m, cell.at, cell.piece);
        at.begin = cell.at.end;
    }
    return rc;
}

/* ---- samples ---- */

static size_t samples_of_pieces(const struct xd_audit_plan *p)
{
    uint64_t most = XD_AUDIT_SAMPLED / p->piece_bytes;

    return most > XD_AUDIT_SAMPLES ? XD_AUDIT_SAMPLES
           : most < 2              ? 2
                                   : (size_t)most;
}

/* Samples the first and the last piece inside `at`, and some pieces between
 * them.  *out_n is the number of sampled pieces. */
static int sample_pieces(struct making *m, struct xd_range at, size_t *out_n)
{
    const struct xd_audit_plan *p = m->plan;
    uint64_t first, n, end;
    int rc = 0;

    *out_n = 0;
    if (p->piece_bytes == 0 || at.begin >= p->size)
        return 0;
    first = at.begin / p->piece_bytes + (at.begin % p->piece_bytes > 0);
    end = at.end / p->piece_bytes +
          (at.end == p->size && at.end % p->piece_bytes > 0);
    if (first >= end)
        return 0;
    n = samples_of_pieces(p);
    if (n > end - first)
        n = end - first;
    for (uint64_t i = 0; rc == 0 && i < n; i++) {
        uint64_t piece =
            n > 1 ? first + i * (end - first - 1) / (n - 1) : first;

        rc = add(m, piece_at(p, piece), piece);
    }
    *out_n = (size_t)n;
    return rc;
}

/* Returns the number of samples in each part of the file.  If extents cut the
 * file into many parts, a sample at both ends of each part is enough. */
static size_t samples_of_part(const struct xd_audit_cells *c)
{
    return c->n_cuts_of_file <= XD_AUDIT_PARTS_FEW ? XD_AUDIT_SAMPLES : 2;
}

static int sample_part(struct making *m, struct xd_range part)
{
    struct xd_places places;
    int rc = xd_places_init(&places, part, samples_of_part(m->cells),
                            XD_AUDIT_SAMPLE_BYTES, part.begin);

    for (size_t i = 0; rc == 0 && i < places.n; i++)
        rc = add(m, places.list[i], XD_AUDIT_NO_PIECE);
    xd_places_fini(&places);
    return rc;
}

/* Returns the index of an existing cut. */
static size_t find_cut(const struct xd_audit_cells *c, uint64_t byte)
{
    return xd_count_up_to(byte, c->cuts, c->n_cuts, sizeof *c->cuts, 0) - 1;
}

/* Samples the same positions for all extents that contain them.  If there are
 * very many parts, samples only some parts, evenly spaced. */
static int sample_bytes(struct making *m, struct xd_range at)
{
    const struct xd_audit_cells *c = m->cells;
    size_t i = find_cut(c, at.begin), end = find_cut(c, at.end);
    size_t step = 1 + (end - i) / (XD_AUDIT_WITHIN_MOST / 2);
    int rc = 0;

    for (; rc == 0 && i < end; i += step)
        rc = sample_part(m, (struct xd_range){c->cuts[i], c->cuts[i + 1]});
    return rc;
}

static int make(struct making *m, struct xd_range at)
{
    size_t n_pieces;
    int rc;

    if (m->plan->is_full)
        return cover(m, at);
    rc = sample_pieces(m, at, &n_pieces);
    return rc == 0 && n_pieces == 0 ? sample_bytes(m, at) : rc;
}

/* ---- cells of each extent ---- */

static int add_index(struct making *m, size_t i)
{
    struct xd_audit_cells *c = m->cells;
    size_t *indices;

    if (c->n_indices == m->most)
        return XD_E_INVAL;
    indices = xd_grow(c->indices, c->n_indices, &c->indices_capacity,
                      sizeof *indices);

    if (!indices)
        return XD_E_NOMEM;
    c->indices = indices;
    c->indices[c->n_indices++] = i;
    return 0;
}

/* Returns how many cells begin before `byte`. */
static size_t count_before(const struct xd_audit_cells *c, uint64_t byte)
{
    return byte == 0 ? 0
                     : xd_count_up_to(byte - 1, c->list, c->n, sizeof *c->list,
                                      offsetof(struct xd_audit_cell, at.begin));
}

/* Chooses the cells inside the extent as samples.  If there are very many
 * cells, chooses only some of them, evenly spaced. */
static int find_within(struct making *m, struct xd_range at)
{
    struct xd_audit_cells *c = m->cells;
    size_t i = count_before(c, at.begin), end = count_before(c, at.end);
    size_t step = 1 + (end - i) / XD_AUDIT_WITHIN_MOST;
    uint64_t last_end = at.begin;
    int rc = 0;

    for (; rc == 0 && i < end; i += step) {
        if (c->list[i].at.end > at.end || c->list[i].at.begin < last_end)
            continue;
        last_end = c->list[i].at.end;
        rc = add_index(m, i);
    }
    return rc;
}

/* Finds all cells into which the extent was divided, because a full audit reads
 * all of them. */
static int find_cover(struct making *m, struct xd_range at)
{
    struct xd_audit_cells *c = m->cells;
    int rc = 0;

    while (rc == 0 && !xd_range_is_empty(at)) {
        struct xd_audit_cell cell = cell_from(m, at.begin, at.end);
        const struct xd_audit_cell *found =
            bsearch(&cell, c->list, c->n, sizeof *c->list, by_place);

        rc = add_index(m, (size_t)(found - c->list));
        at.begin = cell.at.end;
    }
    return rc;
}

static uint64_t size_of_cells(const struct xd_audit_plan *p,
                              const struct xd_audit_cells *c)
{
    const uint64_t end = c->n_cuts > 0 ? c->cuts[c->n_cuts - 1] : 0;
    uint64_t bytes = XD_AUDIT_CELL_LEAST;

    if (p->cell_bytes > 0)
        return p->cell_bytes;
    while ((end > p->size ? end : p->size) / bytes > XD_AUDIT_CELLS_MOST)
        bytes *= 2;
    return bytes;
}

int xd_audit_cells_init(struct xd_audit_cells *c,
                        const struct xd_audit_plan *plan,
                        struct xd_audit_extent *extents, size_t n)
{
    struct making m = {.cells = c,
                       .plan = plan,
                       .most = plan->cells_most > 0 ? plan->cells_most
                                                    : XD_AUDIT_INDICES_MOST};
    int rc;

    *c = (struct xd_audit_cells){0};
    if (n == 0)
        return 0;
    rc = find_cuts(c, plan->size, extents, n);
    m.cell_bytes = size_of_cells(plan, c);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (i == 0 || extents[i].at.begin != extents[i - 1].at.begin ||
            extents[i].at.end != extents[i - 1].at.end)
            rc = make(&m, extents[i].at);
    }
    drop_doubles(c);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        extents[i].first = c->n_indices;
        rc = plan->is_full ? find_cover(&m, extents[i].at)
                           : find_within(&m, extents[i].at);
        extents[i].n = c->n_indices - extents[i].first;
    }
    return rc;
}

void xd_audit_cells_fini(struct xd_audit_cells *c)
{
    xd_free(c->list);
    xd_free(c->indices);
    xd_free(c->cuts);
    *c = (struct xd_audit_cells){0};
}
