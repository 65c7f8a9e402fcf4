/*
 * A run in virtual time is recorded when it is over: its records say when each
 * byte came, which are taken as evenly spread between the first byte of a request
 * and its end.
 */
#include <stdlib.h>

#include "trace/trace_run.h"

#define SAMPLES 200 /* of the counters */

struct records {
    struct xd_fetch_record *items; /* by their first byte */
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const struct xd_fetch_record *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* What a request had brought by then. */
static uint64_t received_by(const struct xd_fetch_record *r, double s)
{
    if (r->first_byte_s < 0 || s <= r->first_byte_s)
        return 0;
    if (s >= r->end_s)
        return r->received;
    return (uint64_t)((double)r->received * (s - r->first_byte_s) /
                      (r->end_s - r->first_byte_s));
}

static void put_sample(struct trace_run *r, const struct records *all, double s)
{
    uint64_t in_order = 0, stored = 0, received = 0;
    unsigned requests = 0;

    for (size_t i = 0; i < all->n; i++) {
        const struct xd_fetch_record *record = &all->items[i];
        const uint64_t n = received_by(record, s);
        if (record->begin <= in_order && record->begin + n > in_order)
            in_order = record->begin + n;
        received += n;
        stored += n > record->redundant ? n - record->redundant : 0;
        requests += record->start_s <= s && s < record->end_s;
    }
    trace_run_bytes(r, s, in_order, stored, received, requests);
}

static bool read_records(struct records *out, const struct xd_simulation *sim)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};
    size_t room = 0;

    *out = (struct records){NULL, 0};
    for (; xd_simulation_record(sim, out->n, &record) == 0; out->n++) {
        if (out->n == room) {
            room = 2 * room + 64;
            struct xd_fetch_record *items =
                realloc(out->items, room * sizeof *items);
            if (items == NULL)
                return false;
            out->items = items;
        }
        out->items[out->n] = record;
    }
    if (out->n > 0)
        qsort(out->items, out->n, sizeof *out->items, compare);
    return true;
}

void trace_simulation(struct trace *t, const char *name, const char *algorithm,
                      const struct xd_simulation *sim, uint64_t size)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};
    struct xd_simulated s = {.struct_size = sizeof s};
    struct trace_run *r = trace_run_new(t, name);
    struct records all;

    if (r == NULL)
        return;
    r->simulation = sim;
    xd_simulation_get(sim, &s);
    trace_run_begin(r, algorithm);
    for (size_t i = 0; xd_simulation_record(sim, i, &record) == 0; i++)
        trace_record(r, &record);
    if (read_records(&all, sim))
        for (unsigned i = 0; i <= SAMPLES; i++)
            put_sample(r, &all, s.seconds * i / SAMPLES);
    free(all.items);
    trace_run_end(r, s.seconds, s.is_complete ? 0 : XD_E_NOREPLICA,
                  "the download failed", size, 0);
    trace_run_free(r);
}
