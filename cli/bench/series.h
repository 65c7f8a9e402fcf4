/* SPDX-License-Identifier: MIT */
/*
 * The remaining runs of a sweep, for use by several threads.  A thread takes a
 * run, carries it out, and gives back its row.
 */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include <pthread.h>

#include "args/args.h"
#include "bench/results.h"
#include "bench/subject.h"
#include "bench/sweep.h"

struct series {
    /* constant after series_init() */
    const struct args *args;
    const struct subject *subjects;
    struct results *results;

    pthread_mutex_t lock;
    /* guarded by lock */
    struct run *runs; /* runs that earlier sweeps have not done */
    size_t n, next;
    size_t n_before; /* runs done by earlier sweeps */
    size_t n_done, n_failed;
    uint64_t bytes; /* bytes received by the runs */
    bool is_stopped;
    int status; /* status of the first failure, which ends the series */
};

/* Collects the runs of the sweep, except runs that already have a row in
 * `results`.  Fails if the library refuses the settings.  Returns 0; after a
 * failure, prints the error and returns the exit status.
 * Ownership: the arguments stay the caller's; call fini() in any case. */
int series_init(struct series *s, const struct args *a, struct sweep *sweep,
                const struct subject *subjects, struct results *results);
void series_fini(struct series *s);

/* Takes the next run.  If `likes` is true, also takes the runs after it that
 * must have the same result.  *out_n is their number.  Returns false if no run
 * is left, or the series has ended. */
bool series_take(struct series *s, bool likes, const struct run **out,
                 size_t *out_n);

/* Fills in the cells that are known before the run. */
void series_describe(const struct series *s, const struct run *r,
                     struct row *row);

/* Adds the row of a run, and releases the row.  If rc < 0, the run could not be
 * carried out or was interrupted, and no row is added. */
void series_give(struct series *s, struct row *row, int rc,
                 const struct xd_error *err);

/* Returns the number of runs that have ended, and how many of these failed. */
void series_progress(struct series *s, size_t *out_done, size_t *out_failed);

/* Ends the series: no more runs can be taken. */
void series_stop(struct series *s, int status);
bool series_has_ended(struct series *s);

#endif
