/* SPDX-License-Identifier: MIT */
#include "engine/layout.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/source.h"
#include "engine/via.h"

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static size_t count_sources(const struct xd_depot *depot)
{
    const struct xd_depot_source *s = NULL;
    size_t n = 0;

    while ((s = xd_depot_next_source(depot, s)))
        n++;
    return n;
}

/* Returns true if any mesh node may be used. */
static bool has_nodes(const struct xd_via *v)
{
    for (size_t i = 0; v && i < v->n_depots; i++) {
        const struct xd_depot_source *s = NULL;

        while (v->depots[i] && (s = xd_depot_next_source(v->depots[i], s)))
            if (!s->is_gone)
                return true;
    }
    return false;
}

static size_t count_chunks(const struct xd_via *v)
{
    size_t n = 0;

    if (!has_nodes(v))
        return 0;
    for (size_t i = 0; i < v->n_files; i++)
        n += v->files[i]->n_chunks;
    return n;
}

/* Writes the boundaries of mesh chunks to out[] and returns their number. */
static size_t list_chunks(const struct xd_via *v, uint64_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_files; i++)
        for (size_t k = 0; k < v->files[i]->n_chunks; k++)
            out[n++] = xd_via_chunk(v, v->files[i], k).begin;
    return n;
}

/* Collects the boundaries of extents and chunks, each once. */
static int make_cuts(const struct xd_depots *d, struct xd_layout *layout)
{
    const size_t n_chunks = count_chunks(d->via);
    size_t n = n_chunks, n_kept = 0;
    uint64_t *cuts;

    for (size_t i = 0; i < d->n; i++)
        n += 2 * count_sources(d->list[i]);
    cuts = xd_alloc(n ? n : 1, sizeof *cuts);
    if (!cuts)
        return XD_E_NOMEM;
    n = n_chunks > 0 ? list_chunks(d->via, cuts) : 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct xd_depot_source *s = NULL;

        while ((s = xd_depot_next_source(d->list[i], s))) {
            cuts[n++] = s->range.begin;
            cuts[n++] = s->range.end;
        }
    }
    qsort(cuts, n, sizeof *cuts, by_value);
    for (size_t i = 0; i < n; i++) {
        if (cuts[i] == 0 || cuts[i] >= d->size ||
            (n_kept > 0 && cuts[i] == cuts[n_kept - 1]))
            continue;
        cuts[n_kept++] = cuts[i];
    }
    layout->cuts = cuts;
    layout->n_cuts = n_kept;
    return 0;
}

/* Adds a chunk; consecutive chunks of a node in the same tier are joined. */
static void put_chunk(struct xd_holding *h, struct xd_range chunk, uint8_t tier)
{
    struct xd_range *last = h->n_held > 0 ? &h->held[h->n_held - 1] : NULL;

    if (last && last->end == chunk.begin && h->tiers[h->n_held - 1] == tier) {
        last->end = chunk.end;
        return;
    }
    h->held[h->n_held] = chunk;
    h->tiers[h->n_held++] = tier;
}

/* Lists the chunks that a mesh node holds, except those of sources (URLs) that
 * are gone. */
static int hold_chunks(const struct xd_via *v, const struct xd_depot *depot,
                       struct xd_holding *h)
{
    const struct xd_depot_source *s = NULL;
    size_t n = 0;

    while ((s = xd_depot_next_source(depot, s)))
        n += s->is_gone ? 0 : xd_source_via(s)->n_chunks;
    h->held = xd_alloc(n ? n : 1, sizeof *h->held);
    h->tiers = xd_alloc(n ? n : 1, sizeof *h->tiers);
    if (!h->held || !h->tiers)
        return XD_E_NOMEM;
    while ((s = xd_depot_next_source(depot, s))) {
        const struct xd_via_file *f = xd_source_via(s);

        for (size_t i = 0; !s->is_gone && i < f->n_chunks; i++)
            put_chunk(h, xd_via_chunk(v, f, i), xd_via_tier(v, f, i, depot));
    }
    return 0;
}

/* Finds the data that parity of the depot can replace, except for data that the
 * depot holds itself. */
static int find_coded(const struct xd_depot *depot,
                      const struct xd_rangeset *held, struct xd_rangeset *out)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < depot->n_parity; i++) {
        struct xd_range rest = depot->parity[i]->range, gap;

        while (
            rc == 0 && !depot->parity[i]->is_gone &&
            (gap = xd_rangeset_next_gap(held, rest), !xd_range_is_empty(gap))) {
            rc = xd_rangeset_add(out, gap);
            rest.begin = gap.end;
        }
    }
    return rc;
}

/* Merges data and parity in ascending order; parity is in the last tier. */
static int put_held(const struct xd_rangeset *held,
                    const struct xd_rangeset *coded, uint8_t tier,
                    struct xd_holding *h)
{
    const size_t n = held->n + coded->n;
    size_t i = 0, k = 0;

    h->held = xd_alloc(n ? n : 1, sizeof *h->held);
    h->tiers = xd_alloc(n ? n : 1, sizeof *h->tiers);
    if (!h->held || !h->tiers)
        return XD_E_NOMEM;
    while (h->n_held < n) {
        const bool is_coded =
            i == held->n ||
            (k < coded->n && coded->ranges[k].begin < held->ranges[i].begin);

        h->held[h->n_held] = is_coded ? coded->ranges[k++] : held->ranges[i++];
        h->tiers[h->n_held++] = is_coded ? XD_TIER_PARITY : tier;
    }
    return 0;
}

/* Finds what a depot other than a mesh node holds.  If there is a mesh, this
 * depot gets a later tier than the nodes. */
static int hold_sources(const struct xd_via *v, const struct xd_depot *depot,
                        struct xd_holding *h)
{
    const struct xd_range all = {0, XD_SIZE_UNKNOWN};
    struct xd_rangeset held, coded = {0};
    int rc = xd_depot_holds(depot, all, &held);

    if (rc == 0)
        rc = find_coded(depot, &held, &coded);
    if (rc == 0 && !v && coded.n == 0) {
        h->held = held.ranges;
        h->n_held = held.n;
        return 0;
    }
    if (rc == 0)
        rc = put_held(&held, &coded, v ? XD_TIER_DIRECT : XD_TIER_OWNER, h);
    xd_rangeset_fini(&held);
    xd_rangeset_fini(&coded);
    return rc;
}

/* Finds the holdings of all depots, and their union. */
static int make_holdings(const struct xd_depots *d, struct xd_layout *layout,
                         struct xd_rangeset *everything)
{
    layout->depots = xd_alloc(d->n ? d->n : 1, sizeof *layout->depots);
    if (!layout->depots)
        return XD_E_NOMEM;
    layout->n_depots = d->n;
    layout->guesses = xd_alloc(d->n ? d->n : 1, sizeof *layout->guesses);
    if (!layout->guesses)
        return XD_E_NOMEM;
    for (size_t i = 0; i < d->n; i++) {
        const struct xd_depot *depot = d->list[i];
        struct xd_holding *h = &layout->depots[i];

        if ((depot->node_id ? hold_chunks(d->via, depot, h)
                            : hold_sources(d->via, depot, h)) < 0)
            return XD_E_NOMEM;
        h->max_lanes = depot->max_connections;
        layout->guesses[i] = depot->guess;
        for (size_t j = 0; j < h->n_held; j++) {
            if (xd_rangeset_add(everything, h->held[j]) < 0)
                return XD_E_NOMEM;
        }
    }
    return 0;
}

/* Number of missing ranges that a message lists; others are counted. */
#define NAMED_HOLES 3

/* Writes a text such as "bytes 0-9, 20-29 and 4 more ranges". */
static void name_holes(struct xd_text *out, const struct xd_rangeset *held,
                       struct xd_range wanted)
{
    size_t n = 0;

    for (;;) {
        struct xd_range hole = xd_rangeset_next_gap(held, wanted);

        if (xd_range_is_empty(hole))
            break;
        if (n++ < NAMED_HOLES)
            xd_text_addf(out, "%s%llu-%llu", n == 1 ? "bytes " : ", ",
                         (unsigned long long)hole.begin,
                         (unsigned long long)(hole.end - 1));
        wanted.begin = hole.end;
    }
    if (n > NAMED_HOLES)
        xd_text_addf(out, " and %zu more %s", n - NAMED_HOLES,
                     n - NAMED_HOLES == 1 ? "range" : "ranges");
}

static int fail_unheld(const struct xd_rangeset *held, struct xd_range wanted,
                       struct xd_error *err)
{
    struct xd_text holes = {0};
    int rc;

    name_holes(&holes, held, wanted);
    if (holes.failed)
        rc = xd_fail_nomem(err);
    else
        rc = xd_fail(err, XD_E_NOREPLICA,
                     "no replica that can be fetched holds %s", holes.s);
    xd_text_fini(&holes);
    return rc;
}

int xd_depots_layout(const struct xd_depots *d, struct xd_range wanted,
                     struct xd_layout *out, struct xd_error *err)
{
    struct xd_rangeset everything;
    int rc = 0;

    *out = (struct xd_layout){.size = d->size};
    xd_rangeset_init(&everything);
    if (make_cuts(d, out) < 0 || make_holdings(d, out, &everything) < 0) {
        rc = xd_fail_nomem(err);
    } else if (!xd_range_is_empty(xd_rangeset_next_gap(&everything, wanted))) {
        rc = fail_unheld(&everything, wanted, err);
    }
    xd_rangeset_fini(&everything);
    if (rc < 0)
        xd_layout_fini(out);
    return rc;
}

void xd_layout_fini(struct xd_layout *layout)
{
    for (size_t i = 0; i < layout->n_depots; i++) {
        xd_free(layout->depots[i].held);
        xd_free(layout->depots[i].tiers);
    }
    xd_free(layout->depots);
    xd_free(layout->guesses);
    xd_free(layout->cuts);
    *layout = (struct xd_layout){0};
}
