/* SPDX-License-Identifier: MIT */
#include "engine/trust/pieces.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "command/manifests.h"
#include "io/hash.h"
#include "manifest/join.h"
#include "manifest/model.h"
#include "manifest/parity.h"

/* Finds the hash of a piece in the manifest.  The hashes are not copied,
 * because up to 100,000 joined files would take much memory. */
static const char *find_joined(const struct xd_pieces *p, size_t i,
                               struct xd_joined_proof *out)
{
    const uint64_t begin = p->ranges[i].begin;
    const struct xd_model_file *all = &p->manifest->files[p->file];
    const size_t extent =
        xd_count_up_to(begin, all->extents, all->n_extents,
                       sizeof *all->extents,
                       offsetof(struct xd_model_extent, offset)) -
        1;
    const uint64_t in_file = begin - all->extents[extent].offset;

    xd_manifest_joined_proof(p->manifest, extent, out);
    return out->hex + in_file / out->piece_bytes * out->stride;
}

const char *xd_pieces_hex(const struct xd_pieces *p, size_t i)
{
    struct xd_joined_proof proof;

    if (p->piece_bytes > 0)
        return xd_manifest_piece(p->manifest, p->file, p->first + i);
    return p->hexes && p->hexes[i] ? p->hexes[i] : find_joined(p, i, &proof);
}

const char *xd_pieces_algorithm(const struct xd_pieces *p, size_t i)
{
    struct xd_joined_proof proof;

    if (p->algorithms && p->algorithms[i])
        return p->algorithms[i];
    if (p->piece_bytes > 0 || (p->hexes && p->hexes[i]))
        return p->algorithm;
    find_joined(p, i, &proof);
    return proof.algorithm;
}

static int make_room(struct xd_pieces *p, size_t n)
{
    p->ranges = xd_alloc(n, sizeof *p->ranges);
    p->states = xd_alloc(n, 1);
    return p->ranges && p->states ? 0 : XD_E_NOMEM;
}

static void add(struct xd_pieces *p, struct xd_range range,
                const char *algorithm)
{
    if (!p->algorithm ||
        xd_hash_strength(algorithm) < xd_hash_strength(p->algorithm))
        p->algorithm = algorithm;
    p->ranges[p->n++] = range;
}

/* ---- extents and data shards with hashes ---- */

/* An extent or a data shard that has its own hash. */
struct placed {
    struct xd_range range;
    const char *sha256;
};

/* Extents and data shards with hashes, in the order of the file and without
 * overlaps. */
struct placed_list {
    struct placed *list;
    size_t n;
};

static int by_place(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;

    if (a->range.begin != b->range.begin)
        return a->range.begin < b->range.begin ? -1 : 1;
    return (a->range.end > b->range.end) - (a->range.end < b->range.end);
}

static void put_placed(struct placed_list *l, uint64_t offset, uint64_t length,
                       const char *sha256)
{
    if (sha256 && length > 0)
        l->list[l->n++] = (struct placed){{offset, offset + length}, sha256};
}

/* Removes ranges that are not completely in `wanted`, and ranges that overlap
 * an earlier one. */
static void drop_overlapping(struct placed_list *l, struct xd_range wanted)
{
    uint64_t end = wanted.begin;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct xd_range r = l->list[i].range;

        if (r.begin < end || r.end > wanted.end)
            continue;
        end = r.end;
        l->list[n++] = l->list[i];
    }
    l->n = n;
}

/* Lists the extents and data shards that have a hash.  The caller frees the
 * list.  Errors: NOMEM. */
static int list_placed(const struct xd_pieces *p, struct xd_range wanted,
                       struct placed_list *out)
{
    const struct xd_model_file *f = &p->manifest->files[p->file];
    size_t n = f->n_extents;

    for (size_t i = 0; i < f->rare->n_stripes; i++)
        n += f->rare->stripes[i].k;
    *out = (struct placed_list){xd_alloc(n + 1, sizeof *out->list), 0};
    if (!out->list)
        return XD_E_NOMEM;
    for (size_t i = 0; i < f->n_extents; i++)
        put_placed(out, f->extents[i].offset, f->extents[i].length,
                   xd_model_sha256(f, i));
    for (size_t i = 0; i < f->rare->n_stripes; i++) {
        const struct xd_model_stripe *s = &f->rare->stripes[i];

        for (unsigned k = 0; k < s->k; k++)
            put_placed(out, s->offset + s->shard_bytes * k,
                       xd_stripe_data_length(s, k), xd_stripe_sha256(f, s, k));
    }
    qsort(out->list, out->n, sizeof *out->list, by_place);
    drop_overlapping(out, wanted);
    return 0;
}

static void add_placed(struct xd_pieces *p, const struct placed *from)
{
    p->hexes[p->n] = from->sha256;
    if (p->algorithms)
        p->algorithms[p->n] = "sha-256";
    add(p, from->range, "sha-256");
}

/* Creates a piece for each extent and each data shard with a hash. */
static int take_placed(struct xd_pieces *p, struct xd_range wanted)
{
    struct placed_list placed;
    int rc = list_placed(p, wanted, &placed);

    if (rc == 0) {
        p->hexes = xd_alloc(placed.n + 1, sizeof *p->hexes);
        rc = p->hexes ? make_room(p, placed.n + 1) : XD_E_NOMEM;
    }
    for (size_t i = 0; rc == 0 && i < placed.n; i++)
        add_placed(p, &placed.list[i]);
    xd_free(placed.list);
    return rc;
}

/* ---- pieces that span several extents ---- */

/*
 * If a piece spans extents on several hosts and is wrong, its hash does not
 * show which host is wrong.  If the extents have hashes, these replace the
 * pieces between two boundaries that pieces and extents have in common:
 *
 *     pieces    |----|----|----|----|----|
 *     extents   |---------|------|-------|
 *     result    |----|----|------|-------|
 */
struct refinement {
    const struct xd_pieces *pieces; /* the pieces of uniform length */
    struct placed_list placed;
    uint64_t *edges; /* boundaries of extents, ascending */
    size_t n_edges;
};

/* Maximum length of an extent that replaces pieces.  A reader has to wait for
 * all of an extent. */
#define LONGEST_PLACED ((uint64_t)16 << 20)

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int list_edges(const struct xd_pieces *p, struct refinement *r)
{
    const struct xd_model_file *f = &p->manifest->files[p->file];
    uint64_t *edges = xd_alloc(2 * (size_t)f->n_extents + 1, sizeof *edges);

    if (!edges)
        return XD_E_NOMEM;
    for (size_t i = 0; i < f->n_extents; i++) {
        edges[r->n_edges++] = f->extents[i].offset;
        edges[r->n_edges++] = f->extents[i].offset + f->extents[i].length;
    }
    qsort(edges, r->n_edges, sizeof *edges, by_value);
    r->edges = edges;
    return 0;
}

/* Returns true if an extent begins or ends inside the range. */
static bool has_edge_inside(const struct refinement *r, struct xd_range range)
{
    const size_t i =
        xd_count_up_to(range.begin, r->edges, r->n_edges, sizeof *r->edges, 0);

    return i < r->n_edges && r->edges[i] < range.end;
}

static bool is_edge_of_piece(const struct refinement *r, uint64_t byte)
{
    return byte % r->pieces->piece_bytes == 0 || byte == r->pieces->size;
}

/* Returns the index of the first hashed range that ends after the byte. */
static size_t find_placed(const struct placed_list *l, uint64_t byte)
{
    const size_t n = xd_count_up_to(byte, l->list, l->n, sizeof *l->list,
                                    offsetof(struct placed, range.begin));

    return n > 0 && byte < l->list[n - 1].range.end ? n - 1 : n;
}

/* Finds the hashed ranges that replace `piece` and those after it, up to a
 * boundary of a piece.  Returns false if the piece stays, and sets *out_end to
 * where the search ended. */
static bool find_replacement(const struct refinement *r, struct xd_range piece,
                             size_t *out_first, size_t *out_last,
                             uint64_t *out_end)
{
    const uint64_t most = r->pieces->piece_bytes > LONGEST_PLACED
                              ? r->pieces->piece_bytes
                              : LONGEST_PLACED;
    size_t i = find_placed(&r->placed, piece.begin);
    uint64_t at = i < r->placed.n ? r->placed.list[i].range.begin : 0;

    *out_first = i;
    *out_end = piece.end;
    if (i == r->placed.n || at > piece.begin || !is_edge_of_piece(r, at))
        return false;
    do {
        const struct xd_range next =
            i < r->placed.n ? r->placed.list[i].range : (struct xd_range){0, 0};

        if (next.begin != at || xd_range_is_empty(next) ||
            xd_range_length(next) > most) {
            *out_end = at > piece.end ? at : piece.end;
            return false;
        }
        at = next.end;
        i++;
    } while (at < piece.end || !is_edge_of_piece(r, at));
    *out_last = i;
    *out_end = at;
    return true;
}

/* Adds uniform piece number `i` as a piece with its own range. */
static void add_uniform(struct xd_pieces *p, const struct xd_pieces *uniform,
                        size_t i)
{
    p->algorithms[p->n] = uniform->algorithm;
    p->hexes[p->n] =
        xd_manifest_piece(p->manifest, p->file, uniform->first + i);
    add(p, xd_pieces_range(uniform, i), uniform->algorithm);
}

/* Fills `p`, which has enough memory, with uniform pieces and their
 * replacements. */
static void refine(struct xd_pieces *p, const struct refinement *r)
{
    const struct xd_pieces *uniform = r->pieces;
    uint64_t tried_to = 0;

    for (size_t i = 0; i < uniform->n; i++) {
        const struct xd_range piece = xd_pieces_range(uniform, i);
        size_t first, last;

        if (p->n > 0 && p->ranges[p->n - 1].end >= piece.end)
            continue;
        if (piece.begin < tried_to || !has_edge_inside(r, piece) ||
            !find_replacement(r, piece, &first, &last, &tried_to)) {
            add_uniform(p, uniform, i);
            continue;
        }
        while (p->n > 0 &&
               p->ranges[p->n - 1].end > r->placed.list[first].range.begin)
            p->n--;
        while (first < last)
            add_placed(p, &r->placed.list[first++]);
    }
}

/* Replaces pieces that span several extents by hashed extents.  Errors:
 * NOMEM. */
static int meet_extents(struct xd_pieces *p, struct xd_range wanted)
{
    struct xd_pieces uniform = *p;
    struct refinement r = {.pieces = &uniform};
    size_t n_spanning = 0;
    int rc = p->n > 0 ? list_edges(p, &r) : 0;

    for (size_t i = 0; rc == 0 && i < p->n && n_spanning == 0; i++)
        n_spanning += has_edge_inside(&r, xd_pieces_range(p, i));
    if (rc == 0 && n_spanning > 0)
        rc = list_placed(p, wanted, &r.placed);
    if (rc == 0 && r.placed.n > 0) {
        *p = (struct xd_pieces){.manifest = uniform.manifest,
                                .file = uniform.file};
        rc = make_room(p, uniform.n + r.placed.n);
        p->hexes = xd_alloc(uniform.n + r.placed.n, sizeof *p->hexes);
        p->algorithms = xd_alloc(uniform.n + r.placed.n, sizeof *p->algorithms);
        if (!p->hexes || !p->algorithms)
            rc = XD_E_NOMEM;
        if (rc == 0)
            refine(p, &r);
        xd_pieces_fini(&uniform);
    }
    xd_free(r.edges);
    xd_free(r.placed.list);
    return rc;
}

/* Adds the pieces of the file at that range. */
static void take_joined_file(struct xd_pieces *p, struct xd_range file,
                             const struct xd_joined_proof *proof)
{
    struct xd_range piece = {file.begin, file.begin};

    for (size_t i = 0; i < proof->n; i++) {
        piece.begin = piece.end;
        piece.end = file.end - piece.begin > proof->piece_bytes
                        ? piece.begin + proof->piece_bytes
                        : file.end;
        add(p, piece, proof->algorithm);
    }
}

/* Adds the pieces of each file. */
static int take_joined(struct xd_pieces *p, const struct xd_file *file)
{
    struct xd_extent e = {.struct_size = sizeof e};
    struct xd_joined_proof proof;
    size_t n = 0;

    for (size_t i = 0; i < file->n_extents; i++)
        if (xd_manifest_joined_proof(p->manifest, i, &proof))
            n += proof.n;
    if (make_room(p, n) < 0)
        return XD_E_NOMEM;
    for (size_t i = 0; i < file->n_extents; i++) {
        xd_manifest_joined_proof(p->manifest, i, &proof);
        xd_manifest_extent(p->manifest, p->file, i, &e);
        take_joined_file(p, (struct xd_range){e.offset, e.offset + e.length},
                         &proof);
    }
    return 0;
}

/* Adds the pieces of one file.  Metalinks have pieces of uniform length. */
static int take(struct xd_pieces *p, const struct xd_file *file,
                struct xd_range wanted)
{
    struct xd_joined_proof proof;

    if (file->size == XD_SIZE_UNKNOWN)
        return 0;
    if (file->n_extents > 0 && xd_manifest_joined_proof(p->manifest, 0, &proof))
        return take_joined(p, file);
    if (file->n_pieces == 0)
        return take_placed(p, wanted);
    if (xd_hash_strength(file->piece_algorithm) < 0)
        return 0;
    p->algorithm = file->piece_algorithm;
    if (xd_pieces_cut(p, file->piece_bytes, file->size, wanted) < 0)
        return XD_E_NOMEM;
    return meet_extents(p, wanted);
}

int xd_pieces_init(struct xd_pieces *p, const struct xd_manifest *m,
                   size_t file, struct xd_range wanted)
{
    struct xd_file info = {.struct_size = sizeof info};
    int rc;

    *p = (struct xd_pieces){.manifest = m, .file = file};
    xd_manifest_file(m, file, &info);
    rc = take(p, &info, wanted);
    if (rc < 0 || p->n == 0)
        xd_pieces_fini(p);
    return rc;
}

int xd_pieces_reserve(struct xd_pieces *p, size_t more)
{
    const size_t n = p->n + more;

    if (xd_make_room(&p->ranges, p->n, n, sizeof *p->ranges) < 0 ||
        xd_make_room(&p->states, p->n, n, 1) < 0 ||
        xd_make_room(&p->hexes, p->hexes ? p->n : 0, n, sizeof *p->hexes) < 0)
        return XD_E_NOMEM;
    p->algorithms = xd_alloc(n, sizeof *p->algorithms);
    if (!p->algorithms)
        return XD_E_NOMEM;
    p->capacity = n;
    return 0;
}

bool xd_pieces_add(struct xd_pieces *p, struct xd_range file,
                   const struct xd_joined_proof *proof)
{
    struct xd_range piece = {file.begin, file.begin};

    if (proof->n > p->capacity - p->n)
        return false;
    for (size_t i = 0; i < proof->n; i++) {
        piece.begin = piece.end;
        piece.end = file.end - piece.begin > proof->piece_bytes
                        ? piece.begin + proof->piece_bytes
                        : file.end;
        p->hexes[p->n] = proof->hex + i * proof->stride;
        p->algorithms[p->n] = proof->algorithm;
        add(p, piece, proof->algorithm);
    }
    return true;
}
