/* SPDX-License-Identifier: MIT */
#include "publish/audit_vote.h"

#include <stdlib.h>
#include <string.h>
#include <xdownload/manifest.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/trust/copies_vote.h"

/* The digest of a cell from one replica. */
struct ballot {
    size_t cell, k; /* index of the cell among all cells, and among those of its
                       extent */
    struct xd_audit_shown *shown;
};

static unsigned char *state_of(const struct ballot *b)
{
    return &b->shown->states[b->k];
}

static const char *digest_of(const struct ballot *b)
{
    return b->shown->digests[b->k];
}

static int by_cell(const void *a, const void *b)
{
    const struct ballot *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->shown > y->shown) - (x->shown < y->shown);
}

/* Collects the READ cells of all replicas.  Returns their number.  `list` may
 * be NULL to count them only. */
static size_t collect(struct ballot *list, const struct xd_audit_cells *cells,
                      struct xd_audit_shown *shown, size_t n)
{
    size_t n_ballots = 0;

    for (size_t i = 0; i < n; i++) {
        const struct xd_audit_extent *e = shown[i].extent;

        for (size_t k = 0; k < e->n; k++) {
            if (shown[i].states[k] != XD_CELL_READ)
                continue;
            if (list)
                list[n_ballots] =
                    (struct ballot){cells->indices[e->first + k], k, &shown[i]};
            n_ballots++;
        }
    }
    return n_ballots;
}

/* Returns the digest of the cell from a proved replica, or NULL. */
static const char *proved_digest(const struct ballot *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].shown->is_proved)
            return digest_of(&list[i]);
    }
    return NULL;
}

/* Returns the digest of a majority of the depots, or NULL.  *out_alone is true
 * if fewer than two depots have a digest to compare. */
static const char *digest_of_most(const struct ballot *list, size_t n,
                                  struct xd_copy *copies, bool *out_alone)
{
    struct xd_copies_vote vote;
    size_t n_copies = 0;

    for (size_t i = 0; i < n; i++) {
        if (!list[i].shown->is_refuted)
            copies[n_copies++] =
                (struct xd_copy){.url = list[i].shown->url,
                                 .has_answered = true,
                                 .size = XD_SIZE_UNKNOWN,
                                 .samples = {digest_of(&list[i])}};
    }
    vote = xd_copies_vote(copies, n_copies);
    *out_alone = vote.other == XD_NO_COPY;
    for (size_t i = 1; i < n_copies && *out_alone; i++)
        *out_alone = xd_url_compare_depots(copies[0].url, copies[i].url) == 0;
    return vote.is_decided ? copies[vote.file].samples[0] : NULL;
}

/* Sets the state of one cell in all replicas that were read. */
static void count(const struct ballot *list, size_t n, struct xd_copy *copies)
{
    const char *right = proved_digest(list, n);
    bool is_alone = false;

    if (!right)
        right = digest_of_most(list, n, copies, &is_alone);
    if (is_alone)
        return;
    for (size_t i = 0; i < n; i++) {
        bool is_right = right && strcmp(digest_of(&list[i]), right) == 0;

        *state_of(&list[i]) = !right     ? XD_CELL_DISPUTED
                              : is_right ? XD_CELL_RIGHT
                                         : XD_CELL_WRONG;
    }
}

/* Marks cells of a replica that as a whole does not match its hash.  Some of
 * its bytes are wrong.  If no cell is known to be wrong, all cells without a
 * hash count as wrong. */
static void refute(const struct xd_audit_cells *cells, struct xd_audit_shown *s)
{
    const struct xd_audit_extent *e = s->extent;

    for (size_t k = 0; k < e->n; k++) {
        if (s->states[k] == XD_CELL_WRONG)
            return;
    }
    for (size_t k = 0; k < e->n; k++) {
        if (xd_audit_cell_of(cells, e, k)->piece == XD_AUDIT_NO_PIECE)
            s->states[k] = XD_CELL_WRONG;
    }
}

int xd_audit_vote(const struct xd_audit_cells *cells,
                  struct xd_audit_shown *shown, size_t n)
{
    size_t n_ballots = collect(NULL, cells, shown, n);
    struct ballot *list = xd_alloc(n_ballots + 1, sizeof *list);
    struct xd_copy *copies = xd_alloc(n + 1, sizeof *copies);
    size_t end;

    if (!list || !copies) {
        xd_free(list);
        xd_free(copies);
        return XD_E_NOMEM;
    }
    (void)collect(list, cells, shown, n);
    qsort(list, n_ballots, sizeof *list, by_cell);
    for (size_t i = 0; i < n_ballots; i = end) {
        for (end = i + 1; end < n_ballots && list[end].cell == list[i].cell;)
            end++;
        count(list + i, end - i, copies);
    }
    for (size_t i = 0; i < n; i++) {
        if (shown[i].is_refuted)
            refute(cells, &shown[i]);
    }
    xd_free(list);
    xd_free(copies);
    return 0;
}

int xd_audit_bytes_in(const struct xd_audit_cells *cells,
                      const struct xd_audit_shown *shown,
                      enum xd_cell_state state, struct xd_rangeset *out)
{
    const struct xd_audit_extent *e = shown->extent;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < e->n; k++) {
        if (shown->states[k] == state)
            rc = xd_rangeset_add(out, xd_audit_cell_of(cells, e, k)->at);
    }
    return rc;
}
