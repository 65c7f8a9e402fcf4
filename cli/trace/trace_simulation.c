/* SPDX-License-Identifier: MIT */
/*
 * Records a simulated run after it has ended.  The bytes of a request are
 * assumed to arrive evenly between its first byte and its end.
 */
#include <stdlib.h>

#include "command/records.h"
#include "trace/trace_run.h"

#define SAMPLES 200 /* number of counter samples */

struct simulated_records {
    struct xd_fetch_record *items; /* sorted by the time of the first byte */
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const struct xd_fetch_record *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* Returns the number of bytes that the request had received at time `s`. */
static uint64_t received_by(const struct xd_fetch_record *r, double s)
{
    if (r->first_byte_s < 0 || s <= r->first_byte_s)
        return 0;
    if (s >= r->end_s)
        return r->received;
    return (uint64_t)((double)r->received * (s - r->first_byte_s) /
                      (r->end_s - r->first_byte_s));
}

/* A player that consumes a file at a constant rate. */
struct consumer {
    double bytes_per_s, prebuffer_s;
    double s, byte; /* time and position of the last sample */
};

/* Advances the player.  It stops at the first missing byte. */
static void put_player(const struct trace_run *r, struct consumer *c, double s,
                       uint64_t in_order)
{
    const double since = c->s > c->prebuffer_s ? c->s : c->prebuffer_s;
    const double wanted =
        s > since ? c->byte + (s - since) * c->bytes_per_s : c->byte;
    const bool is_stalled = wanted > (double)in_order;

    c->s = s;
    c->byte = is_stalled ? (double)in_order : wanted;
    trace_run_player(r, s, (uint64_t)c->byte, is_stalled);
}

/* Writes the counters at time `s`.  Returns the number of bytes before the
 * first gap. */
static uint64_t put_sample(struct trace_run *r,
                           const struct simulated_records *all, double s)
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
    return in_order;
}

static void put_samples(struct trace_run *r,
                        const struct simulated_records *all,
                        const struct xd_simulate_what *what, double seconds)
{
    struct consumer player = {.bytes_per_s = what->play_bytes_per_s,
                              .prebuffer_s = what->prebuffer_s};

    for (unsigned i = 0; i <= SAMPLES; i++) {
        const double s = seconds * i / SAMPLES;
        const uint64_t in_order = put_sample(r, all, s);
        if (what->play_bytes_per_s > 0)
            put_player(r, &player, s, in_order);
    }
}

static bool read_records(struct simulated_records *out,
                         const struct xd_simulation *sim)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};
    size_t room = 0;

    *out = (struct simulated_records){NULL, 0};
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
                      const struct xd_simulation *sim,
                      const struct xd_simulate_what *what)
{
    struct xd_fetch_record record = {.struct_size = sizeof record};
    struct xd_simulated s;
    struct trace_run *r = trace_run_new(t, name);
    struct simulated_records all;

    if (r == NULL)
        return;
    r->simulation = sim;
    xd_simulation_get(sim, &s);
    trace_run_begin(r, algorithm);
    for (size_t i = 0; xd_simulation_record(sim, i, &record) == 0; i++)
        trace_record(r, &record);
    if (read_records(&all, sim))
        put_samples(r, &all, what, s.seconds);
    free(all.items);
    trace_run_end(r, s.seconds, s.is_complete ? 0 : XD_E_NOREPLICA,
                  "the download failed", what->size, 0);
    trace_run_free(r);
}
