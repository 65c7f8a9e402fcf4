/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "families.h"
#include "plain.h"
#include "sched/policy.h"
#include "sim/net.h"

#define MIB ((uint64_t)1 << 20)
#define LANES 6

/* To read the clock takes as long as a decision, so one of so many is timed. */
#define TIMED 16U

/* The decisions of this thread, and what those took that were timed. */
static _Thread_local double cpu_ns;
static _Thread_local uint64_t n_decisions, n_timed;

#ifdef XD_WRAPS
struct xd_sched_action __real_xd_sched_next(struct xd_sched *s, xd_usec now);
struct xd_sched_action __wrap_xd_sched_next(struct xd_sched *s, xd_usec now);

struct xd_sched_action __wrap_xd_sched_next(struct xd_sched *s, xd_usec now)
{
    struct timespec from, to;
    struct xd_sched_action a;

    if (n_decisions++ % TIMED > 0)
        return __real_xd_sched_next(s, now);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    a = __real_xd_sched_next(s, now);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    cpu_ns += (double)(to.tv_sec - from.tv_sec) * 1e9 +
              (double)(to.tv_nsec - from.tv_nsec);
    n_timed++;
    return a;
}
#endif

static const struct xd_policy *policy_of(enum xd_ruled_policy policy)
{
    if (policy == XD_RULED_BASIC)
        return &xd_policy_basic;
    if (policy == XD_RULED_ADAPTIVE2)
        return &xd_policy_adaptive2;
    return policy == XD_RULED_PROGRESS ? &xd_policy_progress
                                       : &xd_policy_adaptive;
}

/* As the command has it, but that the paper's policies get as many connections as
 * ours, and their blocks of half a MiB. */
static struct xd_sim_options options(enum xd_ruled_policy policy, uint64_t seed)
{
    const bool is_adaptive =
        policy == XD_RULED_ADAPTIVE || policy == XD_RULED_ADAPTIVE2;

    return (struct xd_sim_options){
        .sched = {.policy = policy_of(policy),
                  .redundancy = 2,
                  .progress = is_adaptive ? XD_AUTO : 10,
                  .lanes_per_depot = LANES,
                  .first_lanes = is_adaptive ? 2 : 0,
                  .max_open = 64,
                  .max_pings = 64,
                  .block_bytes = is_adaptive ? MIB : MIB / 2,
                  .max_failures = 5,
                  .patience = 120 * XD_SECOND},
        .size = 32 * MIB,
        .seed = seed,
        .piece_bytes = MIB,
        .silence = 5 * XD_SECOND,
        .is_unchecked = true};
}

static double seconds(xd_usec t)
{
    return t == XD_NEVER ? (double)INFINITY : (double)t / (double)XD_SECOND;
}

static int bound_of(const struct xd_family *f, const struct xd_scenario *s,
                    const struct xd_sim_options *o, double *out)
{
    xd_usec took = 0, unused;
    int rc = xd_sim_limit(s, o, out);

    if (rc == 0 && f->has_loss) {
        rc = xd_sim_plain(s, o, &took, &unused);
        *out = fmax(*out, seconds(took));
    }
    return rc;
}

/* The least wait after a seek that nobody foresaw: a round trip of the nearest
 * depot, and a piece at the rate of all lines. */
static double seek_bound(const struct xd_scenario *s, uint64_t piece)
{
    double rtt = (double)INFINITY, rate = 0;

    for (size_t i = 0; i < s->n_depots; i++) {
        const struct xd_path *path = &xd_scenario_depot(s, i)->path;

        rtt = fmin(rtt, 2e-9 * (double)path->delay);
        rate += path->rate;
    }
    if (s->lines[0].path.rate > 0)
        rate = fmin(rate, s->lines[0].path.rate);
    return rtt + (double)piece * XD_PACKET_BYTES / XD_SEGMENT_BYTES / rate;
}

/* Bytes that the first viewer sees. */
static uint64_t seen(const struct xd_sim_options *o)
{
    return o->size - (o->player.goes_to - o->player.leaves_at);
}

/* When the first viewer sees the end, if nothing stalls. */
static double end_of_film(const struct xd_sim_options *o)
{
    return seconds(o->player.prebuffer) + seconds(o->player.pause) +
           (double)seen(o) / (double)o->player.bytes_per_s;
}

/* Sets the rate of a film that lasts as long as the file takes at the bound, and
 * longer by its share; with two viewers each has half of that. */
static void set_players(struct xd_sim_options *o, const struct xd_draw_film *f,
                        double bound)
{
    const double size = (double)o->size, n = f->second > 0 ? 2 : 1;

    o->sched.window_bytes = o->size > 32 * MIB ? 16 * MIB : o->size;
    o->player = (struct xd_sim_player){
        .bytes_per_s = (uint64_t)(f->share * size / bound / n),
        .prebuffer = 2 * XD_SECOND,
        .pauses_at = (uint64_t)(f->pauses_at * size),
        .pause = f->pauses_at > 0 ? 5 * XD_SECOND : 0,
        .leaves_at = (uint64_t)(f->leaves_at * size),
        .goes_to = (uint64_t)(f->goes_to * size)};
    if (f->second > 0)
        o->second =
            (struct xd_sim_player){.bytes_per_s = o->player.bytes_per_s,
                                   .prebuffer = o->player.prebuffer,
                                   .begins_at = (uint64_t)(f->second * size)};
}

/* *bound becomes the end of the film at the bound.  Stalls are those of a fluid
 * that brings first what is needed first, to one viewer after the other. */
static int begin_film(const struct xd_scenario *s, struct xd_sim_options *o,
                      const struct xd_draw_film *f, double *bound,
                      struct xd_family_run *out)
{
    const unsigned lanes = o->sched.lanes_per_depot;
    int rc;

    set_players(o, f, *bound);
    out->seek_bound = seek_bound(s, o->piece_bytes);
    rc = xd_scenario_limit(s, lanes, o->piece_bytes, &out->start_bound);
    if (rc == 0)
        rc = xd_scenario_stall(s, lanes, seen(o), o->piece_bytes,
                               o->player.bytes_per_s + o->second.bytes_per_s,
                               seconds(o->player.prebuffer), &out->stall_bound);
    *bound = end_of_film(o) + out->stall_bound +
             (o->player.leaves_at > 0 ? out->seek_bound : 0);
    return rc;
}

static double note_film(const struct xd_sim_options *o,
                        const struct xd_sim_result *r,
                        struct xd_family_run *out)
{
    out->start = seconds(r->first_byte);
    out->stall = seconds(r->stalled);
    out->seek = o->player.leaves_at > 0 ? seconds(r->jump) : 0;
    return end_of_film(o) + out->stall + out->seek;
}

static int run_ours(const struct xd_scenario *s, const struct xd_sim_options *o,
                    struct xd_family_run *out, double *took)
{
    struct xd_sim_result r;
    int rc;

    cpu_ns = 0;
    n_decisions = n_timed = 0;
    rc = xd_sim_run(s, o, &r);
    if (rc == 0) {
        *took = r.is_complete ? seconds(r.took) : (double)INFINITY;
        if (r.is_complete && o->player.bytes_per_s > 0)
            *took = note_film(o, &r, out);
        out->duplicates = (double)r.wire / (double)o->size - 1;
        for (size_t i = 0; i < r.n_depots; i++) {
            out->requests += r.depots[i].requests;
            out->in_vain += r.depots[i].failures;
            out->connections += r.depots[i].connections;
        }
        if (n_timed > 0)
            out->cpu = cpu_ns / 1e3 / (double)n_timed;
    }
    xd_sim_result_fini(&r);
    return rc;
}

static int run_scenario(const struct xd_family *f, enum xd_ruled_policy policy,
                        const struct xd_draw_network *w,
                        struct xd_family_run *out)
{
    double bound = 0, took = (double)INFINITY;
    struct xd_scenario s;
    int rc =
        w->text.failed ? XD_E_NOMEM : xd_scenario_parse(&s, w->text.s, NULL);

    if (rc < 0)
        return rc;
    rc = bound_of(f, &s, w->o, &bound);
    if (rc == 0 && w->film.share > 0)
        rc = begin_film(&s, w->o, &w->film, &bound, out);
    if (rc == 0 && policy >= XD_RULED_FIXED)
        rc = f->is_foreign
                 ? 0
                 : xd_fixed_run(policy - XD_RULED_FIXED, &s, w->o, out, &took);
    else if (rc == 0)
        rc = run_ours(&s, w->o, out, &took);
    out->seconds = took;
    out->over = took / bound;
    xd_scenario_fini(&s);
    return rc;
}

/* Seeds of families differ, and those of neighbours too. */
static uint64_t random_of(const struct xd_family *f, uint64_t seed)
{
    uint64_t state = seed;

    for (const char *c = f->name; *c != '\0'; c++)
        state = xd_sim_random(&state) ^ (unsigned char)*c;
    return state;
}

int xd_family_run(const struct xd_family *f, enum xd_ruled_policy policy,
                  uint64_t seed, bool has_bbr, struct xd_family_run *out,
                  struct xd_text *text)
{
    struct xd_sim_options o = options(policy, seed);
    struct xd_draw_network w = {.random = random_of(f, seed), .o = &o};
    int rc;

    *out = (struct xd_family_run){.over = 0};
    o.has_bbr = has_bbr;
    f->draw(&w);
    out->size = o.size;
    rc = run_scenario(f, policy, &w, out);
    if (text)
        *text = w.text;
    else
        xd_text_fini(&w.text);
    return rc;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

struct xd_spread xd_spread_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return (struct xd_spread){.median = values[n / 2],
                              .p95 = values[n * 95 / 100],
                              .worst = values[n - 1]};
}
