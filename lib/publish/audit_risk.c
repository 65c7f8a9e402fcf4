/* SPDX-License-Identifier: MIT */
#include "publish/audit_risk.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

/* A holding begins, or ends. */
struct edge {
    uint64_t at;
    size_t depot;
    bool is_begin;
};

static int by_place(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Depots that hold the bytes where the sweep is. */
struct sweep {
    size_t *counts; /* of each depot: its holdings there */
    size_t n_holders;
};

static void pass(struct sweep *s, const struct edge *e)
{
    if (e->is_begin)
        s->n_holders += s->counts[e->depot]++ == 0;
    else
        s->n_holders -= --s->counts[e->depot] == 0;
}

static int note(const struct sweep *s, struct xd_range at,
                struct xd_rangeset *none, struct xd_rangeset *one)
{
    if (xd_range_is_empty(at) || s->n_holders > 1)
        return 0;
    return xd_rangeset_add(s->n_holders == 0 ? none : one, at);
}

static size_t find_edges(struct edge *edges,
                         const struct xd_audit_holding *list, size_t n,
                         uint64_t size)
{
    size_t n_edges = 0;

    for (size_t i = 0; i < n; i++) {
        struct xd_range at =
            xd_range_clip(list[i].at, (struct xd_range){0, size});

        if (xd_range_is_empty(at))
            continue;
        edges[n_edges++] = (struct edge){at.begin, list[i].depot, true};
        edges[n_edges++] = (struct edge){at.end, list[i].depot, false};
    }
    qsort(edges, n_edges, sizeof *edges, by_place);
    return n_edges;
}

int xd_audit_find_risk(const struct xd_audit_holding *list, size_t n,
                       size_t n_depots, uint64_t size, struct xd_rangeset *none,
                       struct xd_rangeset *one)
{
    struct edge *edges = xd_alloc(2 * n + 1, sizeof *edges);
    struct sweep s = {.counts = xd_alloc(n_depots + 1, sizeof *s.counts)};
    uint64_t at = 0;
    size_t n_edges;
    int rc = edges && s.counts ? 0 : XD_E_NOMEM;

    if (rc == 0) {
        n_edges = find_edges(edges, list, n, size);
        for (size_t i = 0; rc == 0 && i < n_edges; i++) {
            rc = note(&s, (struct xd_range){at, edges[i].at}, none, one);
            at = edges[i].at;
            pass(&s, &edges[i]);
        }
    }
    if (rc == 0)
        rc = note(&s, (struct xd_range){at, size}, none, one);
    xd_free(edges);
    xd_free(s.counts);
    return rc;
}
