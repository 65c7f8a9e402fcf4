/* SPDX-License-Identifier: MIT */
/*
 * Reads ranges of objects from their depots.  Several depots are read in
 * parallel, each one range at a time, in the order of the list.  A read that
 * breaks off continues where it stopped.
 *
 *     run():  a thread of its own --- start, poll, pause, continue ---> handler
 *
 * A batch (transfer/batch.h) would repeat a failed request from its beginning,
 * and send several requests to a depot at a time.  Reads of an audit can be as
 * long as a file.
 *
 * Threads: one caller at a time.  A cancel in the options ends a run.
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
    /* the bytes still to read, once the read has started */
    struct xd_request request;
    size_t depot;
    /* for the caller: the replica and cells to read */
    size_t replica, first_cell, n_cells;
    /* If the depot ignores Range, the bytes before the range are read and
     * skipped.  True: all of them.  False: at most XD_SAMPLE_SKIP_MAX bytes. */
    bool reads_whole;

    /* Private to the run. */
    size_t next; /* index of the next read of this depot */
    unsigned failures;
    xd_usec retry_at, head_at;
    uint64_t received; /* bytes received in the last attempt */
    uint64_t marked;   /* value of `received` at the time marked_at */
    xd_usec marked_at;
    bool is_given_up; /* true if the depot sends too slowly */
    char *validator;  /* validator in the first answer, or NULL */
};

/* Facts about a depot that are known so far.  The caller keeps this struct from
 * one run to the next. */
struct xd_audit_line {
    bool has_answered;
    bool is_dead; /* true: do not ask the depot any more */
    /* shortest time from a request to its first byte, or XD_NEVER */
    xd_usec answered_after;
    uint64_t bytes; /* bytes received during received_in */
    xd_usec received_in;
    /* Private to the run. */
    /* URL of the object of the last read, if the object did not exist */
    const struct xd_url *gone;
    /* number of consecutive reads that broke off or got no answer */
    unsigned n_failed;
    size_t first; /* index of the first read of the depot, or XD_NO_READ */
    bool is_busy;
};

#define XD_NO_READ SIZE_MAX

/* xd_audit_reads_run() calls these functions on the thread that it starts.
 * They must not call functions of this header. */
struct xd_audit_handler {
    void *user;
    /* Called for each answer.  A result < 0 refuses the rest of the answer. */
    int (*head)(void *user, const struct xd_audit_read *r,
                const struct xd_head *head);
    /* Called with the next bytes, in order.  No byte is passed twice. */
    int (*bytes)(void *user, const struct xd_audit_read *r, const void *data,
                 size_t len);
    /* Called exactly once for each read, unless the run is ended. */
    void (*end)(void *user, const struct xd_audit_read *r,
                const struct xd_outcome *outcome);
};

/*
 * Prepares reads.  `o` must outlive the reads.
 * Ownership: *out is the caller's; release it with xd_audit_reads_end().
 * Errors:    NOMEM; IO (a file that the options name cannot be read).
 */
int xd_audit_reads_new(struct xd_audit_reads **out, const struct xd_options *o,
                       size_t n_depots, struct xd_error *err);

/*
 * Reads everything in the list.
 * Blocks: until each read has ended, a cancel, or max-time.
 * Errors: NOMEM, TIMEOUT.  The handler receives the errors of each read.
 */
int xd_audit_reads_run(struct xd_audit_reads *a, struct xd_audit_read *list,
                       size_t n, struct xd_audit_line *lines, size_t n_lines,
                       const struct xd_audit_handler *handler,
                       struct xd_error *err);

/* Releases the reads.  `rc` is the result of the last run.  Returns CANCELED if
 * the reads were canceled, otherwise `rc`. */
int xd_audit_reads_end(struct xd_audit_reads *a, int rc, struct xd_error *err);

#endif
