/* SPDX-License-Identifier: MIT */
#include "publish/audit_risk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"

#define NO_DEPOT SIZE_MAX

/* A run of bytes that only this depot has, or that no depot has (NO_DEPOT). */
struct run {
    struct xd_range at;
    size_t depot;
};

struct finding {
    const struct xd_audit_held *held;
    struct xd_audit_risk *out;
    struct run *runs; /* runs in ascending order; none is empty */
    size_t n_runs, capacity;
    /* index of the first run that may reach the bytes being examined */
    size_t next;
    /* index of the next parity shard to count */
    size_t parity;
    /* For each depot: number of shards of the stripe that are lost with it, and
     * the last shard counted for it. */
    size_t *losses, *counted;
    size_t shard;    /* serial number of the shard being counted, from 1 */
    size_t *touched; /* numbers of the depots whose `losses` are not 0 */
    size_t n_touched;
};

/* ---- bytes that no depot or one depot has ---- */

/* The begin or end of a holding. */
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

/* The depots that hold the bytes at the current position of the sweep. */
struct sweep {
    /* for each depot: number of holdings at this position */
    size_t *counts;
    size_t n_holders;
    /* sum of the numbers of these depots; if there is only one depot, its
     * number */
    size_t sum;
};

static void pass(struct sweep *s, const struct edge *e)
{
    if (e->is_begin && s->counts[e->depot]++ == 0) {
        s->n_holders++;
        s->sum += e->depot;
    } else if (!e->is_begin && --s->counts[e->depot] == 0) {
        s->n_holders--;
        s->sum -= e->depot;
    }
}

static int note(struct finding *f, const struct sweep *s, struct xd_range at)
{
    struct run *runs;

    if (xd_range_is_empty(at) || s->n_holders > 1)
        return 0;
    runs = xd_grow(f->runs, f->n_runs, &f->capacity, sizeof *runs);
    if (!runs)
        return XD_E_NOMEM;
    f->runs = runs;
    runs[f->n_runs++] = (struct run){at, s->n_holders == 0 ? NO_DEPOT : s->sum};
    return 0;
}

static size_t find_edges(struct edge *edges, const struct xd_audit_held *h)
{
    size_t n_edges = 0;

    for (size_t i = 0; i < h->n; i++) {
        struct xd_range at =
            xd_range_clip(h->list[i].at, (struct xd_range){0, h->size});

        if (xd_range_is_empty(at))
            continue;
        edges[n_edges++] = (struct edge){at.begin, h->list[i].depot, true};
        edges[n_edges++] = (struct edge){at.end, h->list[i].depot, false};
    }
    qsort(edges, n_edges, sizeof *edges, by_place);
    return n_edges;
}

static int find_runs(struct finding *f)
{
    const struct xd_audit_held *h = f->held;
    struct edge *edges = xd_alloc(2 * h->n + 1, sizeof *edges);
    struct sweep s = {.counts = xd_alloc(h->n_depots + 1, sizeof *s.counts)};
    uint64_t at = 0;
    size_t n_edges;
    int rc = edges && s.counts ? 0 : XD_E_NOMEM;

    if (rc == 0) {
        n_edges = find_edges(edges, h);
        for (size_t i = 0; rc == 0 && i < n_edges; i++) {
            rc = note(f, &s, (struct xd_range){at, edges[i].at});
            at = edges[i].at;
            pass(&s, &edges[i]);
        }
    }
    if (rc == 0)
        rc = note(f, &s, (struct xd_range){at, h->size});
    xd_free(edges);
    xd_free(s.counts);
    return rc;
}

/* ---- which shards exist ---- */

/* Notes that the shard being counted would be lost with this depot. */
static void count(struct finding *f, size_t depot)
{
    if (f->counted[depot] == f->shard)
        return;
    f->counted[depot] = f->shard;
    if (f->losses[depot]++ == 0)
        f->touched[f->n_touched++] = depot;
}

static struct xd_range data_of(const struct xd_audit_stripe *s, unsigned shard)
{
    const uint64_t begin = s->shard_bytes * shard;
    const struct xd_range none = {s->offset, s->offset};

    if ((s->length - 1) / s->shard_bytes < shard)
        return none;
    return xd_range_clip(
        (struct xd_range){s->offset + begin, s->offset + s->length},
        (struct xd_range){s->offset + begin,
                          s->offset + begin + s->shard_bytes});
}

/* Returns the number of runs inside `at`, and moves f->next to the first of
 * these runs. */
static size_t runs_in(struct finding *f, struct xd_range at)
{
    size_t n = 0;

    while (f->next < f->n_runs && f->runs[f->next].at.end <= at.begin)
        f->next++;
    while (f->next + n < f->n_runs && f->runs[f->next + n].at.begin < at.end)
        n++;
    return n;
}

static bool look_at_data(struct finding *f, struct xd_range at)
{
    const size_t n = xd_range_is_empty(at) ? 0 : runs_in(f, at);

    f->shard++;
    for (size_t i = 0; i < n; i++)
        if (f->runs[f->next + i].depot == NO_DEPOT)
            return false;
    for (size_t i = 0; i < n; i++)
        count(f, f->runs[f->next + i].depot);
    return true;
}

/* Counts the holdings of the next parity shard, which several depots may
 * have. */
static void look_at_parity(struct finding *f, struct xd_audit_stripe *s)
{
    const struct xd_audit_held *h = f->held;
    const struct xd_audit_parity *p = &h->parity[f->parity];
    const unsigned shard = p->shard;
    const size_t stripe = p->stripe, depot = p->depot;
    bool is_alone = true;

    for (; f->parity < h->n_parity && p->stripe == stripe && p->shard == shard;
         p = &h->parity[++f->parity])
        is_alone &= p->depot == depot;
    f->shard++;
    s->is_good[shard] = true;
    s->n_good++;
    if (is_alone)
        count(f, depot);
}

static void find_shards(struct finding *f, size_t stripe)
{
    struct xd_audit_stripe *s = &f->held->stripes[stripe];
    const size_t first = f->next;

    while (f->n_touched > 0)
        f->losses[f->touched[--f->n_touched]] = 0;
    s->n_good = 0;
    for (unsigned i = 0; i < s->k; i++) {
        s->is_good[i] = look_at_data(f, data_of(s, i));
        s->n_good += s->is_good[i];
    }
    for (unsigned i = s->k; i < s->n; i++)
        s->is_good[i] = false;
    while (f->parity < f->held->n_parity &&
           f->held->parity[f->parity].stripe == stripe)
        look_at_parity(f, s);
    f->next = first;
}

/* ---- results ---- */

/* Returns the number of shards that remain if the worst depot is lost. */
static size_t least_left(const struct finding *f,
                         const struct xd_audit_stripe *s)
{
    size_t most = 0;

    for (size_t i = 0; i < f->n_touched; i++)
        if (f->losses[f->touched[i]] > most)
            most = f->losses[f->touched[i]];
    return s->n_good - most;
}

static int place(struct finding *f, const struct xd_audit_stripe *s,
                 const struct run *run, struct xd_range at)
{
    int rc = 0;

    if (run->depot != NO_DEPOT)
        return s && s->n_good - f->losses[run->depot] >= s->k
                   ? 0
                   : xd_rangeset_add(&f->out->one, at);
    if (!s || s->n_good < s->k)
        return xd_rangeset_add(&f->out->none, at);
    rc = xd_rangeset_add(&f->out->restorable, at);
    if (rc == 0 && least_left(f, s) < s->k)
        rc = xd_rangeset_add(&f->out->one, at);
    return rc;
}

/* Assigns the bytes to the sets of the result.  `s` is the stripe of these
 * bytes, or NULL. */
static int place_all(struct finding *f, const struct xd_audit_stripe *s,
                     struct xd_range at)
{
    const size_t n = xd_range_is_empty(at) ? 0 : runs_in(f, at);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = place(f, s, &f->runs[f->next + i],
                   xd_range_clip(f->runs[f->next + i].at, at));
    return rc;
}

static int find(struct finding *f)
{
    const struct xd_audit_held *h = f->held;
    uint64_t at = 0;
    int rc = find_runs(f);

    for (size_t i = 0; rc == 0 && i < h->n_stripes; i++) {
        const struct xd_audit_stripe *s = &h->stripes[i];
        const struct xd_range bytes = {s->offset, s->offset + s->length};

        rc = place_all(f, NULL, (struct xd_range){at, bytes.begin});
        find_shards(f, i);
        if (rc == 0)
            rc = place_all(f, s, bytes);
        at = bytes.end;
    }
    return rc == 0 ? place_all(f, NULL, (struct xd_range){at, h->size}) : rc;
}

int xd_audit_find_risk(const struct xd_audit_held *held,
                       struct xd_audit_risk *out)
{
    const size_t n = held->n_depots + 1;
    struct finding f = {.held = held,
                        .out = out,
                        .losses = xd_alloc(n, sizeof *f.losses),
                        .counted = xd_alloc(n, sizeof *f.counted),
                        .touched = xd_alloc(n, sizeof *f.touched)};
    int rc = f.losses && f.counted && f.touched ? find(&f) : XD_E_NOMEM;

    xd_free(f.runs);
    xd_free(f.losses);
    xd_free(f.counted);
    xd_free(f.touched);
    return rc;
}
