/* SPDX-License-Identifier: MIT */
#include "harm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "random.h"
#include "sim/net.h"

#define VARIES 0.03
#define SURE 3
#define MOST_SHOWN 8

struct comparison {
    const struct xd_sim_options *o;
    uint64_t seeds, repeats; /* of each scenario */
};

/* Of runs that differ in their luck. */
struct mean {
    double seconds, error;
};

struct cost {
    double part;   /* of the time without it; > 0: it hurts */
    double excess; /* likewise, less 1 %, and less a round trip, and a piece
                       for one that lies */
    double error;  /* of both */
    uint64_t seed;
};

static double least_rtt(const struct xd_scenario *s)
{
    double least = 1;

    for (size_t i = 0; i < s->n_depots; i++)
        least =
            fmin(least, 2 * (double)xd_scenario_depot(s, i)->path.delay / 1e9);
    return least;
}

static void vary(struct xd_scenario *s, uint64_t seed)
{
    for (size_t i = 0; i < s->n_lines; i++) {
        uint64_t luck = seed;

        for (const char *c = s->lines[i].name; *c != '\0'; c++)
            luck = xd_sim_random(&luck) ^ (unsigned char)*c;
        s->lines[i].path.delay =
            (xd_nsec)((double)s->lines[i].path.delay *
                      (1 + VARIES * (2 * xd_sim_uniform(&luck) - 1)));
    }
}

/* A scenario with the luck of that seed.  False: out of memory. */
static bool run(const struct xd_sim_options *o, const char *text,
                double *out_seconds)
{
    struct xd_error err = {0};
    struct xd_scenario s;
    struct xd_sim_result r;
    bool is_run;

    if (xd_scenario_parse(&s, text, &err) < 0)
        return false;
    vary(&s, o->seed);
    is_run = xd_sim_run(&s, o, &r) == 0;
    if (is_run) {
        *out_seconds = r.is_complete ? (double)r.took / 1e6 : (double)INFINITY;
        xd_sim_result_fini(&r);
    }
    xd_scenario_fini(&s);
    return is_run;
}

/* Of `repeats` runs with seeds from `seed` on. */
static bool time_of(const struct comparison *c, const char *text, uint64_t size,
                    uint64_t seed, struct mean *out)
{
    struct xd_sim_options o = *c->o;
    double n = (double)c->repeats, sum = 0, squares = 0, took, mean;

    o.size = size;
    o.seed = seed * c->repeats;
    for (uint64_t i = 0; i < c->repeats; i++, o.seed++) {
        if (!run(&o, text, &took))
            return false;
        sum += took;
        squares += took * took;
    }
    mean = sum / n;
    *out = (struct mean){
        mean, n > 1 ? sqrt(fmax(0, squares / n - mean * mean) / (n - 1)) : 0};
    return true;
}

/* NO_KIND: none, but other seeds. */
#define NO_KIND XD_N_BAD_KINDS

/* What wires and TCP allow, and the least round trip. */
static bool look_at(const struct xd_sim_options *o, const char *text,
                    uint64_t size, double *out_limit, double *out_rtt)
{
    struct xd_error err = {0};
    struct xd_scenario s;
    bool is_known;

    if (xd_scenario_parse(&s, text, &err) < 0)
        return false;
    is_known =
        xd_scenario_limit(&s, o->sched.lanes_per_depot, size, out_limit) == 0;
    *out_rtt = least_rtt(&s);
    xd_scenario_fini(&s);
    return is_known;
}

/* Of that scenario, and with a depot more. */
static bool cost_between(const struct comparison *c, unsigned kind,
                         const char *without, const char *with, uint64_t size,
                         struct cost *out)
{
    const uint64_t seed = out->seed;
    struct mean before, after;
    double allowed, limit = 0, rtt;

    if (!look_at(c->o, without, size, &limit, &rtt) ||
        !time_of(c, without, size, seed, &before) ||
        !time_of(c, with, size, kind == NO_KIND ? ~seed : seed, &after))
        return false;
    before.seconds = fmax(before.seconds, limit);
    allowed = 0.01 * before.seconds + rtt;
    if (kind == XD_BAD_LIES)
        allowed +=
            before.seconds * fmin(1, (double)c->o->piece_bytes / (double)size);
    if (!isinf(before.seconds)) {
        out->part = after.seconds / before.seconds - 1;
        out->excess = out->part - allowed / before.seconds;
        out->error = hypot(before.error, after.error) / before.seconds;
    }
    return true;
}

/* The bad depot is the first of every other seed, else the last. */
static bool cost_of(const struct comparison *c, unsigned kind, uint64_t seed,
                    struct cost *out)
{
    struct xd_text without = {.s = NULL}, bad = {.s = NULL}, with = {.s = NULL};
    uint64_t size = xd_random_scenario(&without, seed);
    const char *first, *last;
    bool is_known;

    if (kind != NO_KIND)
        xd_random_bad_depot(&bad, (enum xd_bad_kind)kind, seed);
    first = seed % 2 && bad.s ? bad.s : without.s;
    last = !bad.s ? "" : seed % 2 ? without.s : bad.s;
    xd_text_addf(&with, "%s%s", first, last);
    *out = (struct cost){.seed = seed};
    is_known = !without.failed && !with.failed &&
               cost_between(c, kind, without.s, with.s, size, out);
    xd_text_fini(&without);
    xd_text_fini(&bad);
    xd_text_fini(&with);
    return is_known;
}

static int by_part(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    return (x->part > y->part) - (x->part < y->part);
}

static int by_excess(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    return (x->excess > y->excess) - (x->excess < y->excess);
}

static void print_costs(const char *name, struct cost *costs, size_t n)
{
    size_t n_sure = 0;
    double sum = 0;

    if (n == 0)
        return;
    qsort(costs, n, sizeof *costs, by_part);
    for (size_t i = 0; i < n; i++)
        sum += costs[i].part;
    printf("%-9s %6zu runs  cost: median %+6.2f %%  mean %+6.2f %%", name, n,
           100 * costs[n / 2].part, 100 * sum / (double)n);
    qsort(costs, n, sizeof *costs, by_excess);
    printf("  more than allowed: 95th %+6.2f %%  99th %+6.2f %%  worst %+7.2f "
           "%%;  surely:",
           100 * costs[n * 95 / 100].excess, 100 * costs[n * 99 / 100].excess,
           100 * costs[n - 1].excess);
    for (size_t i = n; i-- > 0;)
        if (costs[i].excess > SURE * costs[i].error && costs[i].excess > 0 &&
            ++n_sure <= MOST_SHOWN)
            printf(" %llu (%+.0f %%)", (unsigned long long)costs[i].seed,
                   100 * costs[i].excess);
    printf("  %zu of %zu\n", n_sure, n);
    fflush(stdout);
}

static bool compare(const struct comparison *c, const char *wanted,
                    struct cost *costs, struct cost *all)
{
    const bool is_all = strcmp(wanted, "all") == 0;
    const size_t n = (size_t)c->seeds;
    size_t n_all = 0;

    for (unsigned kind = 0; kind <= NO_KIND; kind++) {
        const char *name =
            kind == NO_KIND ? "luck" : xd_bad_kind_name((enum xd_bad_kind)kind);

        if (!is_all && strcmp(wanted, name) != 0)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (!cost_of(c, kind, c->o->seed + i, &costs[i]))
                return false;
            if (kind != NO_KIND)
                all[n_all++] = costs[i];
        }
        print_costs(name, costs, n);
    }
    if (is_all)
        print_costs("all", all, n_all);
    return true;
}

bool xd_print_costs(const struct xd_sim_options *o, const char *kind,
                    uint64_t seeds, uint64_t repeats)
{
    const struct comparison c = {o, seeds, repeats};
    struct cost *costs = calloc(seeds, sizeof *costs);
    struct cost *all = calloc(seeds * XD_N_BAD_KINDS, sizeof *all);
    bool is_done = costs && all && compare(&c, kind, costs, all);

    free(costs);
    free(all);
    return is_done;
}
