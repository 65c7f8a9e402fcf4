/* SPDX-License-Identifier: MIT */
/*
 * The runs of a sweep: all combinations of the values on its axes.  An axis is
 * an option of the library.  Pure.
 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args/args.h"
#include "bench/subset.h"

#define VALUES_MAX 64

/* The values on an axis, as xd_options_set() accepts them. */
struct values {
    char *text; /* memory that the items point into */
    const char *items[VALUES_MAX];
    size_t n;
};

struct run {
    size_t input; /* index of the scenario */
    /* values, which belong to the sweep; NULL if the algorithm ignores the
     * option */
    const char *values[AXES];
    subset depots;
    double reader_rate; /* rate of a player in bytes per second; 0: no player */
    unsigned repetition; /* number of the repetition, from 1 */
};

struct sweep {
    struct values axes[AXES];
    struct run *runs;
    size_t n;
};

/*
 * Reads the axes from `a`.  Axes that are not given get their defaults.
 * Returns 0; after a failure, prints the error and returns the exit status.
 * Ownership: in any case release *s with sweep_fini().
 */
int sweep_init(struct sweep *s, const struct args *a);
void sweep_fini(struct sweep *s);

/* Adds the runs for one input.  Each run is repeated as often as `a` demands.
 * Returns 0; after a failure, prints the error and returns the exit status. */
int sweep_add(struct sweep *s, const struct args *a, size_t input,
              const struct subsets *depots);

/* Shuffles the runs.  The order depends only on the seed. */
void sweep_shuffle(struct sweep *s, uint64_t seed);

/* Sorts the runs, so that runs with the same result in virtual time are
 * adjacent. */
void sweep_sort(struct sweep *s);
bool run_ends_like(const struct run *a, const struct run *b);

/* Returns the library option of an axis. */
const char *axis_option(size_t axis);

#define RUN_NAME_SIZE 400

/* Writes a name like "progress R=2 P=auto b=2m t=1 E3".  Returns `out`. */
const char *run_name(char out[RUN_NAME_SIZE], const struct run *r);

/* Returns how often a fast depot may deliver the same block: the redundancy of
 * the paper's algorithms, or 1. */
unsigned run_copies(const struct run *r);

const char *run_word(size_t n); /* "run" or "runs" */

#endif
