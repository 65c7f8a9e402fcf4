/* SPDX-License-Identifier: MIT */
/*
 * From depots and their sources to the scheduler's plain arrays.
 */
#include "engine/depot.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

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

/* The edges of extents inside the file, each once. */
static int make_cuts(const struct xd_depots *d, struct xd_layout *layout)
{
    size_t n = 0, n_kept = 0;
    uint64_t *cuts;

    for (size_t i = 0; i < d->n; i++)
        n += 2 * count_sources(d->list[i]);
    cuts = xd_alloc(n ? n : 1, sizeof *cuts);
    if (!cuts)
        return XD_E_NOMEM;
    n = 0;
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

/* The holdings of all depots, and their union. */
static int make_holdings(const struct xd_depots *d, struct xd_layout *layout,
                         struct xd_rangeset *everything)
{
    const struct xd_range all = {0, XD_SIZE_UNKNOWN};

    layout->depots = xd_alloc(d->n ? d->n : 1, sizeof *layout->depots);
    if (!layout->depots)
        return XD_E_NOMEM;
    layout->n_depots = d->n;
    layout->guesses = xd_alloc(d->n ? d->n : 1, sizeof *layout->guesses);
    if (!layout->guesses)
        return XD_E_NOMEM;
    for (size_t i = 0; i < d->n; i++) {
        struct xd_rangeset held;

        if (xd_depot_holds(d->list[i], all, &held) < 0)
            return XD_E_NOMEM;
        layout->depots[i].held = held.ranges;
        layout->depots[i].n_held = held.n;
        layout->depots[i].max_lanes = d->list[i]->max_connections;
        layout->guesses[i] = d->list[i]->guess;
        for (size_t j = 0; j < held.n; j++) {
            if (xd_rangeset_add(everything, held.ranges[j]) < 0)
                return XD_E_NOMEM;
        }
    }
    return 0;
}

/* So many ranges that no depot holds are named; of others it is said how many
 * there are. */
#define NAMED_HOLES 3

/* "bytes 0-9, 20-29 and 4 more ranges" */
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
    for (size_t i = 0; i < layout->n_depots; i++)
        xd_free(layout->depots[i].held);
    xd_free(layout->depots);
    xd_free(layout->guesses);
    xd_free(layout->cuts);
    *layout = (struct xd_layout){0};
}
