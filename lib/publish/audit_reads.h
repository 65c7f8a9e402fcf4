/* SPDX-License-Identifier: MIT */
/*
 * Ranges of objects, read from their depots: each depot is asked one thing at a
 * time, in the order of the list, and several depots at once.  What breaks off
 * goes on where it was.
 *
 *     run():  a thread of its own --- start, poll, pause, go on ---> handler
 *
 * A batch (transfer/batch.h) makes a request that failed from its beginning, and
 * several of one depot at a time; here they may be as long as a file.
 *
 * Threads: one caller at a time; the cancel of the options ends a run.
 */
#ifndef XD_PUBLISH_AUDIT_READS_H
#define XD_PUBLISH_AUDIT_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/options.h"
#include "io/transport.h"

struct xd_audit_reads;

struct xd_audit_read {
    /* Set by the caller. */
    struct xd_request request; /* what is left of it, while it runs */
    size_t depot;
    size_t replica, first_cell, n_cells; /* whose they are, to the caller */
    bool
        reads_whole; /* of a depot without ranges all that lies before it is read
                         too; else no more than XD_SAMPLE_SKIP_MAX */

    /* The run's own. */
    size_t next; /* of this depot */
    unsigned failures;
    xd_usec retry_at, head_at;
    uint64_t received; /* by the last attempt */
    uint64_t marked;   /* of that, at this moment: */
    xd_usec marked_at;
    bool is_given_up; /* for it sends too little */
    char *validator;  /* of its first answer; or NULL */
};

/* What was learnt of a depot on the way; its user's, from one run to the next. */
struct xd_audit_line {
    bool has_answered;
    bool is_dead;           /* it is not asked any more */
    xd_usec answered_after; /* the least time to a first byte, or XD_NEVER */
    uint64_t bytes;         /* that came, in */
    xd_usec received_in;
    /* The run's own. */
    unsigned n_failed; /* reads in a row that broke off, or got no answer */
    size_t first;      /* read, or XD_NO_READ */
    bool is_busy;
};

#define XD_NO_READ SIZE_MAX

/*
 * Called by the run's thread.  May call: nothing of the reads.
 */
struct xd_audit_handler {
    void *user;
    /* Each answer; < 0 refuses the rest. */
    int (*head)(void *user, const struct xd_audit_read *r,
                const struct xd_head *head);
    /* The next bytes, in order; none comes twice. */
    int (*bytes)(void *user, const struct xd_audit_read *r, const void *data,
                 size_t len);
    /* Exactly once for each read, unless the run is ended. */
    void (*end)(void *user, const struct xd_audit_read *r,
                const struct xd_outcome *outcome);
};

/*
 * `o` outlives the reads.
 * Ownership: *out is the caller's, to release with xd_audit_reads_end().
 * Errors:    NOMEM; IO, for a file that the options name.
 */
int xd_audit_reads_new(struct xd_audit_reads **out, const struct xd_options *o,
                       size_t n_depots, struct xd_error *err);

/*
 * Read all of the list.
 * Blocks: until each has ended, or the cancel of the options, or max-time.
 * Errors: NOMEM, TIMEOUT.  What is wrong with a read goes to the handler.
 */
int xd_audit_reads_run(struct xd_audit_reads *a, struct xd_audit_read *list,
                       size_t n, struct xd_audit_line *lines, size_t n_lines,
                       const struct xd_audit_handler *handler,
                       struct xd_error *err);

/* Release it, after runs that have returned `rc`.  Returns CANCELED if they were
 * canceled, else `rc`. */
int xd_audit_reads_end(struct xd_audit_reads *a, int rc, struct xd_error *err);

#endif
