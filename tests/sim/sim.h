/* SPDX-License-Identifier: MIT */
/*
 * Whole downloads in virtual time: a scheduler, depots that answer as a script
 * says, a checker that accepts or rejects, a reader that consumes.
 *
 *     scenario (from a seed, or by hand) --> sim_run() --> outcome
 *
 * Every event and action passes the rules of sim/rules.h, which end the run at
 * the first that is broken.  The depots are simpler than those of sim/run.h and
 * do worse things; the files are small enough to look at every byte.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "sched/policy.h"
#include "sim/driver.h"

#define SIM_BYTES 1024
#define SIM_DEPOTS 8
#define SIM_FETCHES 32
#define SIM_GUESTS 3

/* What a depot does to the fetches that it is asked for. */
struct sim_depot {
    struct xd_range held[SIM_BYTES / 2];
    uint8_t tiers[SIM_BYTES / 2]; /* of each of these */
    size_t n_held;
    unsigned max_lanes;   /* or 0 */
    uint64_t bytes_per_s; /* of each fetch */
    xd_usec latency;
    unsigned fail_percent; /* of fetches break off somewhere */
    bool is_dead;          /* fails before the first byte */
    bool is_silent;        /* brings some bytes at most, and fails after 5 s */
    bool no_ranges;
    bool is_a_liar;          /* is banned when something was rejected */
    struct xd_range claimed; /* held by the manifest's word only */
    xd_usec retry_after;     /* asked for with each failure, if not 0 */
    xd_usec joins_at;        /* 0: it is there; those that are not are last */
};

struct sim_scenario {
    uint64_t seed;
    uint64_t size;
    bool size_is_unknown;
    uint64_t cuts[SIM_BYTES];
    size_t n_cuts;
    struct sim_depot depots[SIM_DEPOTS];
    unsigned n_depots;
    struct xd_sched_options o;
    struct xd_range wanted;
    struct xd_range resumed;     /* accepted before the start */
    uint64_t piece_bytes;        /* checked together; 0: as they arrive */
    unsigned reject_percent;     /* of pieces, each at most once */
    uint64_t reader_bytes_per_s; /* with a window */
    unsigned jumps;              /* of the reader, to anywhere; then it reads
                                    what is missing */
    unsigned n_guests;           /* readers beside it, which look at jumps
                                    places each and go */

    /* Spoil an action before the rules see it (tests of the rules). */
    void (*spoil)(struct xd_sched_action *a);
};

struct sim_outcome {
    enum xd_rule broken; /* XD_RULE_NONE if all were kept */
    bool is_endless;     /* gave up after very many steps */
    bool is_complete;    /* FINISH, not FAIL */
    xd_usec took;
    uint64_t bytes_received, bytes_redundant;
};

/* A scenario of any kind for this policy; the same for the same seed. */
void sim_scenario_from_seed(struct sim_scenario *sc, uint64_t seed,
                            const struct xd_policy *policy);

/* The same, of which some of the last depots join while it runs. */
void sim_scenario_joining(struct sim_scenario *sc, uint64_t seed,
                          const struct xd_policy *policy);

/* Either of these, with depots that hold bytes in different tiers. */
void sim_scenario_tiered(struct sim_scenario *sc, uint64_t seed,
                         const struct xd_policy *policy);

/* Depots that hold all and answer at these rates, without faults. */
void sim_scenario_plain(struct sim_scenario *sc, const struct xd_policy *policy,
                        uint64_t size, const uint64_t *bytes_per_s,
                        unsigned n_depots);

struct sim_outcome sim_run(const struct sim_scenario *sc);

#endif
