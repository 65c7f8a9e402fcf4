/* SPDX-License-Identifier: MIT */
/*
 * Clients with fixed rules: a model of aria2 -x16, and a menu of others, the best of
 * which shows what can be had by who knows a family and not the draw.
 *
 * A connection takes a segment that nobody has, or else the second half of the one
 * that has most left.  After a refusal it waits as long as the depot says, or one
 * second, and its segment is anybody's.  aria2 cuts the file into 16 segments, or two
 * for each server, and has no timeout.  What it takes of another's segment are pieces of
 * 1 MiB, as the manifest has them, that the other has not begun
 * (BitfieldMan::getSparseMissingUnusedIndex).
 */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/range.h"
#include "families.h"
#include "sim/request.h"
#include "sim/tcp.h"

#define MOST_LANES 192
#define MOST_TIME (600 * XD_NSEC_SECOND)
#define TICK (50 * XD_NSEC_MS)
#define MIB ((uint64_t)1 << 20)

/* The time over which a connection shows its rate, beside so many waits for its first
 * byte, in which TCP finds it. */
#define TRIAL (100 * XD_NSEC_MS)
#define TRIAL_WAITS 2

/* And it may take so long until its first byte, where slow ones are replaced. */
#define PATIENCE (600 * XD_NSEC_MS)

/* The number of the timer by which all are looked at. */
#define ALL_LANES UINT32_MAX

/* 16 in all, or two for each depot. */
#define AS_ARIA2 0

struct manner {
    unsigned per_depot; /* connections */
    uint64_t piece;     /* bytes per segment; 0: a share for each connection */
    uint64_t least;     /* the least half that is taken, in bytes */
    uint64_t grain; /* halves are whole pieces of so many bytes that were not
                           begun; 0: any bytes */
    double floor;   /* bytes per second; below it a connection is replaced */
    bool learns;    /* its depot is then asked for no more than came before */
};

/* The menu, for each of so many connections per depot. */
static const unsigned numbers[] = {1, 3, 6};
static const struct manner rules[] = {
    {.least = MIB / 4},
    {.piece = 4 * MIB, .least = MIB / 4},
    {.least = MIB / 4, .floor = 7e5},
    {.piece = 4 * MIB, .least = MIB / 4, .floor = 7e5},
    {.piece = 4 * MIB, .least = MIB / 4, .floor = 7e5, .learns = true},
    {.piece = 4 * MIB, .least = MIB / 4, .floor = 4e6},
};
#define N_NUMBERS (sizeof numbers / sizeof *numbers)
#define N_RULES (sizeof rules / sizeof *rules)

const unsigned xd_n_fixed = 1 + N_NUMBERS * N_RULES;

static struct manner manner_of(unsigned fixed)
{
    struct manner m = {.per_depot = AS_ARIA2, .least = 1, .grain = MIB};

    if (fixed > 0) {
        m = rules[(fixed - 1) % N_RULES];
        m.per_depot = numbers[(fixed - 1) / N_RULES];
    }
    return m;
}

void xd_fixed_name(unsigned fixed, char *out, size_t size)
{
    const struct manner m = manner_of(fixed);

    if (m.per_depot == AS_ARIA2)
        snprintf(out, size, "aria2");
    else
        snprintf(out, size, "%u, %s%s%s", m.per_depot,
                 m.piece > 0 ? "4 MiB" : "shares",
                 m.floor > 1e6 ? ", 4 MB/s"
                 : m.floor > 0 ? ", 0.7 MB/s"
                               : "",
                 m.learns ? ", learns" : "");
}

struct lane {
    struct xd_connection *connection;
    unsigned depot;
    uint64_t at, end;   /* of its segment */
    uint64_t asked_end; /* 0: it asks for nothing */
    xd_nsec waits_to;
    xd_nsec asked_at, wait;    /* for the first byte */
    xd_nsec began_at;          /* the trial; 0: no byte has come */
    uint64_t asked_from, from; /* where its request began, and its trial */
};

struct fixed {
    struct manner manner;
    struct xd_net net;
    struct xd_tcp tcp;
    struct lane lanes[MOST_LANES];
    unsigned n_lanes;
    struct xd_rangeset free; /* nobody has it */
    uint64_t *burst;         /* of each depot: what came before it was slow */
    uint64_t got, size;
    bool has_changed; /* a lane may have something to do */
    bool failed;
    struct xd_family_run *out;
};

static void received(void *user, unsigned tag, uint64_t n)
{
    struct fixed *a = user;
    struct lane *l = &a->lanes[tag];

    if (n > l->end - l->at) /* the rest is another's */
        n = l->end - l->at;
    if (l->began_at == 0) {
        l->began_at = a->net.now;
        l->wait = l->began_at - l->asked_at;
        l->from = l->at;
    }
    l->at += n;
    a->got += n;
    a->has_changed |= l->at == l->end;
}

/* What it was to bring is anybody's. */
static void let_go(struct fixed *a, struct lane *l)
{
    if (xd_rangeset_add(&a->free, (struct xd_range){l->at, l->end}) < 0)
        a->failed = true;
    l->end = l->at;
    l->asked_end = 0;
}

static void broken(void *user, unsigned tag, xd_nsec retry)
{
    struct fixed *a = user;
    struct lane *l = &a->lanes[tag];

    let_go(a, l);
    l->waits_to = a->net.now + (retry > 0 ? retry : XD_NSEC_SECOND);
    xd_net_timer(&a->net, XD_SIM_SILENCE_TIMER, l->waits_to, tag, 0);
    a->has_changed = true;
    a->out->in_vain++;
}

/* A segment of what nobody has. */
static bool take_free(struct fixed *a, struct lane *l)
{
    struct xd_range r =
        xd_rangeset_next(&a->free, (struct xd_range){0, a->size});
    uint64_t most = a->manner.piece;

    if (a->burst[l->depot] > 0 && a->burst[l->depot] < most)
        most = a->burst[l->depot];
    if (most > 0 && xd_range_length(r) > most)
        r.end = r.begin + most;
    if (xd_range_is_empty(r))
        return false;
    l->at = r.begin;
    l->end = r.end;
    if (xd_rangeset_remove(&a->free, r) < 0)
        a->failed = true;
    return true;
}

/* Where the half of a segment begins that another may take. */
static uint64_t half_of(const struct fixed *a, const struct lane *from)
{
    const uint64_t grain = a->manner.grain;
    uint64_t whole, n;

    if (grain == 0 || from->end <= from->at)
        return from->end - (from->end - from->at) / 2;
    whole = (from->at / grain + 1) * grain;
    if (whole >= from->end)
        return from->end;
    n = (from->end - whole + grain - 1) / grain;
    return whole + n / 2 * grain;
}

static void take(struct fixed *a, struct lane *l)
{
    struct lane *from = NULL;
    uint64_t most = a->manner.least - 1;

    if (take_free(a, l))
        return;
    for (unsigned i = 0; i < a->n_lanes; i++) {
        const uint64_t half = a->lanes[i].end - half_of(a, &a->lanes[i]);

        if (half > most) {
            most = half;
            from = &a->lanes[i];
        }
    }
    if (!from)
        return;
    l->end = from->end;
    l->at = from->end -= most;
}

static void ask(struct fixed *a, struct lane *l)
{
    if (!l->connection || l->connection->state == XD_CONN_CLOSED) {
        l->connection = xd_tcp_connect(&a->tcp, l->depot);
        a->out->connections++;
    }
    if (!l->connection)
        return;
    xd_tcp_request(&a->tcp, l->connection, (unsigned)(l - a->lanes),
                   l->end - l->at);
    l->asked_end = l->end;
    l->asked_at = a->net.now;
    l->asked_from = l->at;
    l->began_at = 0;
    a->out->requests++;
}

static void go_on(struct fixed *a, struct lane *l)
{
    if (l->asked_end > 0 && l->at < l->end)
        return;
    if (l->asked_end > l->end)
        xd_tcp_close(&a->tcp, l->connection);
    l->asked_end = 0;
    if (l->waits_to > a->net.now)
        return;
    if (l->at == l->end)
        take(a, l);
    if (l->at < l->end)
        ask(a, l);
}

/* Replaces a connection that is slower than the floor, once it has shown that. */
static void look_at_rate(struct fixed *a, struct lane *l)
{
    const xd_nsec now = a->net.now;
    double rate;

    if (l->asked_end == 0 || l->at >= l->end)
        return;
    if (l->began_at == 0 && now < l->asked_at + PATIENCE)
        return;
    if (l->began_at > 0 && now < l->began_at + TRIAL + TRIAL_WAITS * l->wait)
        return;
    rate = l->began_at > 0
               ? (double)(l->at - l->from) * 1e9 / (double)(now - l->began_at)
               : 0;
    if (rate >= a->manner.floor) {
        l->began_at = now;
        l->from = l->at;
        return;
    }
    if (a->manner.learns && l->at > l->asked_from)
        a->burst[l->depot] = l->at - l->asked_from;
    xd_tcp_close(&a->tcp, l->connection);
    let_go(a, l);
    a->has_changed = true;
}

static void tick(struct fixed *a)
{
    for (unsigned i = 0; i < a->n_lanes; i++)
        look_at_rate(a, &a->lanes[i]);
    xd_net_timer(&a->net, XD_SIM_SILENCE_TIMER, a->net.now + TICK, ALL_LANES,
                 0);
}

/* aria2 has no segment below 1 MiB. */
static unsigned count_lanes(const struct fixed *a, unsigned n_depots)
{
    uint64_t n = (uint64_t)a->manner.per_depot * n_depots;

    if (a->manner.per_depot == AS_ARIA2) {
        n = 2 * n_depots > 16 ? 2 * n_depots : 16;
        n = n < a->size / MIB ? n : a->size / MIB + (a->size < MIB);
    }
    return n < MOST_LANES ? (unsigned)n : MOST_LANES;
}

static int begin(struct fixed *a, const struct xd_scenario *s, uint64_t size)
{
    a->size = size;
    a->n_lanes = count_lanes(a, (unsigned)s->n_depots);
    a->burst = xd_alloc(s->n_depots, sizeof *a->burst);
    if (!a->burst || xd_rangeset_add(&a->free, (struct xd_range){0, size}) < 0)
        return XD_E_NOMEM;
    for (unsigned i = 0; i < a->n_lanes; i++) {
        struct lane *l = &a->lanes[i];

        l->depot = i % (unsigned)s->n_depots;
        if (a->manner.piece > 0) {
            go_on(a, l);
            continue;
        }
        l->at = size * i / a->n_lanes;
        l->end = size * (i + 1) / a->n_lanes;
        if (xd_rangeset_remove(&a->free, (struct xd_range){l->at, l->end}) < 0)
            return XD_E_NOMEM;
        ask(a, l);
    }
    if (a->manner.floor > 0)
        tick(a);
    return 0;
}

static void happen(struct fixed *a, const struct xd_sim_event *e)
{
    if (e->kind == XD_SIM_SILENCE_TIMER && e->number == ALL_LANES)
        tick(a);
    else
        a->has_changed |= e->kind == XD_SIM_SILENCE_TIMER;
    xd_tcp_event(&a->tcp, e);
    for (unsigned i = 0; a->has_changed && i < a->n_lanes; i++)
        go_on(a, &a->lanes[i]);
    a->has_changed = false;
}

int xd_fixed_run(unsigned fixed, const struct xd_scenario *s,
                 const struct xd_sim_options *o, struct xd_family_run *out,
                 double *out_seconds)
{
    struct fixed a = {.manner = manner_of(fixed), .out = out};
    struct xd_tcp_user user = {&a, received, broken, NULL};
    struct xd_sim_event e;
    uint64_t wire = 0;
    int rc = xd_net_init(&a.net, s, o->seed);

    xd_tcp_init(&a.tcp, &a.net, &user);
    a.tcp.has_bbr = o->has_bbr;
    if (rc == 0)
        rc = begin(&a, s, o->size);
    while (rc == 0 && a.got < o->size && xd_net_next(&a.net, MOST_TIME, &e)) {
        happen(&a, &e);
        if (a.tcp.failed || a.net.events.failed || a.failed)
            rc = XD_E_NOMEM;
    }
    *out_seconds = a.got < o->size ? (double)INFINITY : (double)a.net.now / 1e9;
    for (size_t i = 0; rc == 0 && i < s->n_depots; i++)
        wire += xd_net_wire(&a.net, i)->delivered;
    out->duplicates = fmax(0, (double)wire / (double)o->size - 1);
    xd_tcp_fini(&a.tcp);
    xd_net_fini(&a.net);
    xd_rangeset_fini(&a.free);
    xd_free(a.burst);
    return rc;
}
