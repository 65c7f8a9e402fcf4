/* SPDX-License-Identifier: MIT */
#include "sim.h"

#include <string.h>

#include "sim/net.h"

struct draw {
    uint64_t state;
};

static uint64_t between(struct draw *d, uint64_t least, uint64_t most)
{
    return least + xd_sim_random(&d->state) % (most - least + 1);
}

static bool chance(struct draw *d, unsigned percent)
{
    return xd_sim_random(&d->state) % 100 < percent;
}

static struct xd_range part_of(struct draw *d, struct xd_range whole)
{
    uint64_t a = between(d, whole.begin, whole.end);
    uint64_t b = between(d, whole.begin, whole.end);

    return a < b ? (struct xd_range){a, b} : (struct xd_range){b, a};
}

static void draw_options(struct draw *d, struct sim_scenario *sc)
{
    sc->o.redundancy = (unsigned)between(d, 1, 3);
    sc->o.progress = chance(d, 20) ? XD_AUTO : between(d, 0, 9);
    sc->o.lanes_per_depot = (unsigned)between(d, 1, 3);
    sc->o.max_open = (unsigned)between(d, 1, sc->n_depots);
    sc->o.block_bytes = between(d, 5, 60);
    sc->o.max_failures = (unsigned)between(d, 1, 5);
    sc->o.patience = chance(d, 50) ? 0 : between(d, 0, 120) * XD_SECOND;
    sc->o.run_losers = chance(d, 20);
    sc->o.whole_blocks = sc->o.run_losers && chance(d, 50);
    if (chance(d, 40)) {
        sc->o.window_bytes = between(d, 20, sc->size);
        sc->reader_bytes_per_s = between(d, 200, 20000);
        if (chance(d, 50) && !sc->size_is_unknown) {
            sc->jumps = (unsigned)between(d, 1, 6);
            sc->n_guests = (unsigned)between(d, 0, SIM_GUESTS);
            sc->o.has_gaps = chance(d, 50);
        }
    }
}

static void draw_faults(struct draw *d, struct sim_depot *depot, uint64_t size)
{
    depot->bytes_per_s = between(d, 50, 5000);
    depot->latency = between(d, 0, 300) * XD_MS;
    if (chance(d, 25))
        depot->fail_percent = (unsigned)between(d, 1, 90);
    depot->is_dead = chance(d, 8);
    depot->is_silent = chance(d, 8);
    depot->no_ranges = chance(d, 10);
    depot->is_a_liar = chance(d, 10);
    if (chance(d, 10))
        depot->claimed = part_of(d, (struct xd_range){0, size});
    if (chance(d, 10))
        depot->retry_after = between(d, 1, 60) * XD_SECOND;
    if (chance(d, 25))
        depot->max_lanes = (unsigned)between(d, 1, 4);
}

/* Each run of bytes between cuts lies on some depots, mostly on one at least;
 * runs that touch are one, as in a real layout. */
static void draw_holdings(struct draw *d, struct sim_scenario *sc)
{
    bool is_partial[SIM_DEPOTS];

    for (unsigned i = 0; i < sc->n_depots; i++)
        is_partial[i] = chance(d, 50);
    for (size_t k = 0; k <= sc->n_cuts; k++) {
        struct xd_range r = {k > 0 ? sc->cuts[k - 1] : 0,
                             k < sc->n_cuts ? sc->cuts[k] : sc->size};
        unsigned sure = chance(d, 99)
                            ? (unsigned)between(d, 0, sc->n_depots - 1)
                            : sc->n_depots;

        for (unsigned i = 0; i < sc->n_depots; i++) {
            struct sim_depot *depot = &sc->depots[i];

            if (is_partial[i] && i != sure && chance(d, 60))
                continue;
            if (depot->n_held > 0 &&
                depot->held[depot->n_held - 1].end == r.begin)
                depot->held[depot->n_held - 1].end = r.end;
            else
                depot->held[depot->n_held++] = r;
        }
    }
}

void sim_scenario_from_seed(struct sim_scenario *sc, uint64_t seed,
                            const struct xd_policy *policy)
{
    struct draw d = {seed};
    uint64_t at = 0;

    memset(sc, 0, sizeof *sc);
    sc->seed = seed;
    sc->size = between(&d, 30, 500);
    sc->size_is_unknown = chance(&d, 5);
    sc->n_depots = (unsigned)between(&d, 1, SIM_DEPOTS);
    if (chance(&d, 70) && !sc->size_is_unknown)
        while (at += between(&d, 1, 150), at < sc->size)
            sc->cuts[sc->n_cuts++] = at;
    draw_options(&d, sc);
    sc->o.policy = policy;
    for (unsigned i = 0; i < sc->n_depots; i++)
        draw_faults(&d, &sc->depots[i], sc->size);
    draw_holdings(&d, sc);
    sc->wanted = (struct xd_range){0, sc->size};
    if (sc->size_is_unknown)
        return;
    if (chance(&d, 25))
        sc->wanted = part_of(&d, sc->wanted);
    if (chance(&d, 25))
        sc->resumed = part_of(&d, sc->wanted);
    if (chance(&d, 40)) { /* the reader waits for a whole piece to arrive */
        uint64_t most = sc->o.window_bytes ? sc->o.window_bytes / 2 : 100;

        sc->piece_bytes = between(&d, 10, most);
        sc->o.has_gaps = false; /* a piece with a gap would be one */
        sc->reject_percent = (unsigned)between(&d, 0, 30);
    }
}

/* One that joins with every byte has an object of all of it: nothing is cut for
 * it.  Where blocks are not cut beforehand, its ends may lie anywhere. */
void sim_scenario_joining(struct sim_scenario *sc, uint64_t seed,
                          const struct xd_policy *policy)
{
    struct draw d = {~seed};
    unsigned n;

    sim_scenario_from_seed(sc, seed, policy);
    n = sc->n_depots > 1 ? (unsigned)between(&d, 1, sc->n_depots - 1) : 0;
    for (unsigned i = sc->n_depots - n; i < sc->n_depots; i++) {
        struct sim_depot *depot = &sc->depots[i];

        depot->joins_at = between(&d, 1, 3000) * XD_MS;
        if (depot->joins_at < sc->depots[i - 1].joins_at)
            depot->joins_at = sc->depots[i - 1].joins_at;
        if (policy == &xd_policy_adaptive && chance(&d, 50)) {
            depot->held[0] = part_of(&d, (struct xd_range){0, sc->size});
            depot->n_held = !xd_range_is_empty(depot->held[0]);
        }
        if (depot->n_held == 0)
            depot->held[depot->n_held++] = (struct xd_range){0, sc->size};
    }
}

/* A depot has all in one tier, or one part of it between two cuts here and the
 * next there. */
static void draw_tiers(struct draw *d, struct sim_scenario *sc,
                       struct sim_depot *depot)
{
    bool is_mixed = chance(d, 50);
    uint8_t tier = (uint8_t)between(d, 0, 2);

    for (size_t i = 0; i < depot->n_held; i++) {
        struct xd_range *r = &depot->held[i];
        uint64_t cut =
            sc->n_cuts > 0 ? sc->cuts[between(d, 0, sc->n_cuts - 1)] : sc->size;

        if (is_mixed && r->begin < cut && cut < r->end) {
            memmove(r + 1, r, (depot->n_held - i) * sizeof *r);
            depot->n_held++;
            r->end = r[1].begin = cut;
        }
        depot->tiers[i] = is_mixed ? (uint8_t)between(d, 0, 2) : tier;
    }
}

void sim_scenario_tiered(struct sim_scenario *sc, uint64_t seed,
                         const struct xd_policy *policy)
{
    struct draw d = {seed ^ 0x5eed};

    if (chance(&d, 50))
        sim_scenario_from_seed(sc, seed, policy);
    else
        sim_scenario_joining(sc, seed, policy);
    for (unsigned i = 0; i < sc->n_depots; i++)
        draw_tiers(&d, sc, &sc->depots[i]);
}

void sim_scenario_plain(struct sim_scenario *sc, const struct xd_policy *policy,
                        uint64_t size, const uint64_t *bytes_per_s,
                        unsigned n_depots)
{
    memset(sc, 0, sizeof *sc);
    sc->seed = 1;
    sc->size = size;
    sc->n_depots = n_depots;
    sc->wanted = (struct xd_range){0, size};
    sc->o = (struct xd_sched_options){.policy = policy,
                                      .redundancy = 2,
                                      .progress = XD_AUTO,
                                      .lanes_per_depot = 1,
                                      .max_open = n_depots,
                                      .block_bytes = 20,
                                      .max_failures = 3};
    for (unsigned i = 0; i < n_depots; i++) {
        sc->depots[i].held[0] = sc->wanted;
        sc->depots[i].n_held = 1;
        sc->depots[i].bytes_per_s = bytes_per_s[i];
        sc->depots[i].latency = 10 * XD_MS;
    }
}
