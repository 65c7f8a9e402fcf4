/* SPDX-License-Identifier: MIT */
/*
 * The runs of a sweep that are still to be done, and where their rows go; both
 * for several threads.
 *
 *     take -> carry it out -> give
 *
 * Runs that share an outcome (sweep.h) are taken together, and one of them is
 * carried out.
 */
#ifndef CLI_SERIES_H
#define CLI_SERIES_H

#include <pthread.h>

#include "args/args.h"
#include "bench/results.h"
#include "bench/subject.h"
#include "bench/sweep.h"

struct series {
    /* Constant after series_init(). */
    const struct args *args;
    const struct subject *subjects;
    struct results *results;

    pthread_mutex_t lock;
    /* Guarded by lock. */
    struct run *runs; /* the sweep's; those that are done already are gone */
    size_t n, next;
    size_t n_before; /* of all, were done in earlier sweeps */
    size_t n_done, n_failed;
    uint64_t bytes; /* that the runs received */
    bool is_stopped;
    int status; /* of the first trouble, which ends the series */
};

/* Runs whose rows `results` has already are left out, and settings that no run
 * can have are found.  Returns 0, or a status after the reason was said.
 * Ownership: all of it stays the caller's; fini() in any case. */
int series_init(struct series *s, const struct args *a, struct sweep *sweep,
                const struct subject *subjects, struct results *results);
void series_fini(struct series *s);

/* The next *out_n runs, which share an outcome; false: there are none, or the
 * series has ended. */
bool series_take(struct series *s, const struct run **out, size_t *out_n);

/* The cells of a run's row that are known before it.  False: no memory, and the
 * series ends. */
bool series_describe(struct series *s, const struct run *r, struct row *out);

/* What came of it: its row, to be added, or rc < 0: it could not be carried
 * out, or was interrupted, and there is no row.  Releases the row. */
void series_give(struct series *s, struct row *row, int rc,
                 const struct xd_error *err);

/* How far it is: runs done and failed. */
void series_progress(struct series *s, size_t *out_done, size_t *out_failed,
                     uint64_t *out_bytes);

/* No run is taken any more. */
void series_stop(struct series *s, int status);
bool series_has_ended(struct series *s);

#endif
