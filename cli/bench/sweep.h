/* SPDX-License-Identifier: MIT */
/*
 * What a sweep consists of: values for each axis, and the runs that these
 * make, in a random order.  Pure.
 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args/args.h"
#include "bench/subset.h"

/* The values of one axis, as xd_options_set() takes them. */
struct values {
    char *text; /* owns what items point into */
    const char **items;
    size_t n;
};

/* One run.  Strings are the sweep's; NULL where the algorithm has no such
 * thing. */
struct run {
    size_t input; /* which scenario */
    const char *algorithm, *redundancy, *progress_number, *block_size, *threads;
    subset depots;
    double reader_rate;  /* of a player that reads, in bytes per second; 0: none
                            does */
    unsigned repetition; /* from 1 on */
    size_t outcome;      /* the same number for runs that can only end alike */
};

struct sweep {
    struct values axes[AXES];
    struct run *runs;
    size_t n;
};

/*
 * Read the axes, with the values of `a` or those by default.  Returns 0, or a
 * status after the reason was said.
 * Ownership: whatever it returns, to release with sweep_fini().
 */
int sweep_init(struct sweep *s, const struct args *a);
void sweep_fini(struct sweep *s);

/* Add the runs of one input, each as often as `a` says.  Returns 0 or a
 * status, as above. */
int sweep_add(struct sweep *s, const struct args *a, size_t input,
              const struct subsets *depots);

/* Put the runs into the random order that belongs to the seed. */
void sweep_shuffle(struct sweep *s, uint64_t seed);

#define RUN_NAME_SIZE 400

/* "progress R=2 P=auto b=2m t=1 E3".  Returns `out`. */
const char *run_name(char out[RUN_NAME_SIZE], const struct run *r);

/*
 * Give runs that can only end alike in virtual time the same `outcome`, and put
 * them behind the first of them; before this call each run has its own.
 *
 * A block is requested from a depot once, so that a larger R than there are
 * depots changes nothing; and where no block is requested twice, the paper's
 * three algorithms are the same.
 */
void sweep_share_outcomes(struct sweep *s);

/* Whether a run's depots may deliver a block several times without being slow:
 * the paper's redundancy; else 1. */
unsigned run_copies(const struct run *r);

const char *run_word(size_t n); /* "run" or "runs" */

#endif
