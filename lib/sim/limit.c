/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/alloc.h"
#include "sim/net.h"
#include "sim/run.h"
#include "sim/scenario.h"

#define STEP 0.001 /* seconds */
#define MOST_SECONDS 3600.0

/* Half a round trip of a depot on the same machine is not nothing. */
#define LEAST_RTT 1e-4

struct flow {
    struct xd_path path;
    unsigned asked;       /* connections */
    unsigned connections; /* that it serves */
    double seen;          /* when it could first be asked; < 0: not yet */
    bool is_steady;       /* its rate stays as it is until a line changes */
    double rate;          /* bytes of packets per second, and of the file: */
    double got;
};

unsigned xd_path_connections(const struct xd_path *p, unsigned connections)
{
    if (p->cap <= 0 && p->window <= 0)
        return 1;
    return p->most > 0 && p->most < connections ? p->most : connections;
}

/* What its connections carry, in bytes of packets. */
static double bound_of(const struct flow *f, double rtt)
{
    const struct xd_path *p = &f->path;
    double packets = XD_PACKET_BYTES / XD_SEGMENT_BYTES;
    double bound = p->rate > 0 ? p->rate : (double)INFINITY;

    if (p->cap > 0)
        bound = fmin(bound, p->cap * f->connections * packets);
    if (p->window > 0)
        bound = fmin(bound, p->window * f->connections * packets / rtt);
    return bound;
}

static double rate_of(struct flow *f, double t)
{
    double rtt = (double)(2 * f->path.delay) / 1e9, age, window, bound;

    f->is_steady = f->path.is_down || f->path.refuses || f->path.lies;
    if (f->is_steady)
        return 0;
    if (f->seen < 0)
        f->seen = t;
    age = t - f->seen - 2 * rtt; /* a handshake and a request */
    if (age < 0)
        return 0;
    if (rtt < LEAST_RTT)
        rtt = LEAST_RTT;
    f->connections = xd_path_connections(&f->path, f->asked);
    window = XD_FIRST_WINDOW * XD_PACKET_BYTES * exp2(fmin(age / rtt, 40)) *
             f->connections;
    bound = bound_of(f, rtt);
    f->is_steady = window / rtt >= bound;
    return fmin(bound, window / rtt);
}

/* Whether there were any. */
static bool apply_changes(const struct xd_scenario *s, struct flow *flows,
                          size_t *next, double t)
{
    const size_t first = *next;

    for (; *next < s->n_changes && (double)s->changes[*next].at <= t * 1e9 + 1;
         ++*next) {
        const struct xd_change *c = &s->changes[*next];

        xd_path_apply(&flows[c->line].path, c->key, c->value);
    }
    return *next > first;
}

/* What comes over a line of all depots behind it; the client's is in front of
 * all. */
static double sum_of(const struct xd_scenario *s, struct flow *flows,
                     size_t line, double t)
{
    double sum = 0, rate = flows[line].path.rate;

    for (size_t i = 1; i < s->n_lines; i++) {
        const struct xd_scenario_line *l = &s->lines[i];

        if (l->depot != XD_NO_LINE && l->via == (line == 0 ? XD_NO_LINE : line))
            sum += flows[i].rate = rate_of(&flows[i], t);
        else if (l->depot == XD_NO_LINE && line == 0)
            sum += sum_of(s, flows, i, t);
    }
    return rate > 0 ? fmin(sum, rate) : sum;
}

/* The moment, in steps, and what is there by then. */
struct fluid {
    const struct xd_scenario *scenario;
    struct flow *flows;
    size_t next; /* change */
    unsigned long step;
    double rate; /* of all that reaches the client */
    bool is_steady;
    double t, got;
    size_t first_short; /* has_objects(): before it none is */
};

static int fluid_init(struct fluid *f, const struct xd_scenario *s,
                      unsigned connections)
{
    *f = (struct fluid){.scenario = s};
    f->flows = xd_alloc(s->n_lines, sizeof *f->flows);
    if (!f->flows)
        return XD_E_NOMEM;
    for (size_t i = 0; i < s->n_lines; i++)
        f->flows[i] = (struct flow){
            .path = s->lines[i].path, .asked = connections, .seen = -1};
    return 0;
}

static bool are_all_steady(const struct fluid *f)
{
    const struct xd_scenario *s = f->scenario;

    for (size_t i = 0; i < s->n_lines; i++)
        if (s->lines[i].depot != XD_NO_LINE && !f->flows[i].is_steady)
            return false;
    return true;
}

/* One step more; false: it takes too long. */
static bool flow_on(struct fluid *f)
{
    double t = (double)f->step++ * STEP;

    if (apply_changes(f->scenario, f->flows, &f->next, t) || !f->is_steady) {
        f->rate = sum_of(f->scenario, f->flows, 0, t);
        f->is_steady = are_all_steady(f);
    }
    for (size_t i = 1; i < f->scenario->n_lines; i++)
        f->flows[i].got +=
            f->flows[i].rate * STEP * XD_SEGMENT_BYTES / XD_PACKET_BYTES;
    f->got += f->rate * STEP * XD_SEGMENT_BYTES / XD_PACKET_BYTES;
    f->t = t + STEP;
    return f->t < MOST_SECONDS;
}

int xd_scenario_limit(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, double *out)
{
    struct fluid f;
    bool goes_on = true;

    if (fluid_init(&f, s, connections) < 0)
        return XD_E_NOMEM;
    while (goes_on && f.got < (double)size)
        goes_on = flow_on(&f);
    *out = goes_on ? f.t : (double)INFINITY;
    xd_free(f.flows);
    return 0;
}

/* What a depot can have delivered by then. */
static double got_of(const struct fluid *f, size_t depot)
{
    return f->flows[xd_scenario_depot(f->scenario, depot) - f->scenario->lines]
        .got;
}

/* Of each stripe a depot has one shard in n, of which any k are enough. */
static bool has_shards(const struct fluid *f, const struct xd_sim_options *o)
{
    double of_use = 0;

    for (size_t i = 0; i < o->code.n; i++)
        of_use += fmin(got_of(f, i), (double)o->size / o->code.k);
    return of_use >= (double)o->size;
}

/* Of those whose first copy is at `first` or behind. */
static bool has_objects_from(const struct fluid *f,
                             const struct xd_sim_options *o, size_t first)
{
    const size_t n = f->scenario->n_depots;
    double got = 0;

    for (size_t i = 0; i < n; i++) {
        got += got_of(f, (first + i) % n);
        if (i + 1 >= o->copies && i + 1 < n &&
            got < (double)o->size * (double)(i + 2 - o->copies) / (double)n)
            return false;
    }
    return true;
}

/* Objects of which every copy is within so many depots in a row come from these
 * alone.  What is there stays, so that each step goes on where the last one ended. */
static bool has_objects(struct fluid *f, const struct xd_sim_options *o)
{
    while (f->first_short < f->scenario->n_depots &&
           has_objects_from(f, o, f->first_short))
        f->first_short++;
    return f->first_short == f->scenario->n_depots;
}

int xd_sim_limit(const struct xd_scenario *s, const struct xd_sim_options *o,
                 double *out)
{
    struct fluid f;
    bool goes_on = true;

    if (fluid_init(&f, s, o->sched.lanes_per_depot) < 0)
        return XD_E_NOMEM;
    while (goes_on &&
           (f.got < (double)o->size || (o->code.k > 0 && !has_shards(&f, o)) ||
            (o->copies > 0 && !has_objects(&f, o))))
        goes_on = flow_on(&f);
    *out = goes_on ? f.t : (double)INFINITY;
    xd_free(f.flows);
    return 0;
}

int xd_scenario_stall(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, uint64_t piece_bytes, uint64_t bytes_per_s,
                      double prebuffer_s, double *out)
{
    double rate = (double)bytes_per_s, late = 0;
    uint64_t piece = piece_bytes > 0 ? piece_bytes : 1;
    struct fluid f;
    bool goes_on = true;

    if (fluid_init(&f, s, connections) < 0)
        return XD_E_NOMEM;
    while (goes_on && f.got < (double)size) {
        uint64_t shown = (uint64_t)f.got;

        shown -= shown % piece;
        late = fmax(late, f.t - prebuffer_s - (double)shown / rate);
        goes_on = flow_on(&f);
    }
    *out = goes_on ? late : (double)INFINITY;
    xd_free(f.flows);
    return 0;
}
