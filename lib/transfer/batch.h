/* SPDX-License-Identifier: MIT */
/*
 * A batch: a few requests to any depots that run in parallel while the caller
 * waits.
 *
 *     run():  a thread of its own --- start, poll, pause, retry ---> handler
 *     any:    cancel()
 *
 * The batch keeps its connections, and what it has learned about the network
 * connection, from one run to the next.
 *
 * Threads: one caller at a time; only cancel() may be called by others.
 */
#ifndef XD_TRANSFER_BATCH_H
#define XD_TRANSFER_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"
#include "io/transport.h"

struct xd_batch;
struct xd_net_context;
struct xd_runner;

struct xd_batch_config {
    const struct xd_net_options *net; /* may be NULL; must outlive the batch */
    /* hosts not to ask, as in base/hosts.h; may be NULL */
    const char *exclude;
    bool https_only; /* as in struct xd_choice */
    bool allow_file; /* local files may be read */
    /* as in struct xd_transport_config */
    xd_usec silence, first_byte;
    /* Largest number of attempts for each request, at least 1.  Attempts while
     * the network is down (base/line.h) do not count. */
    unsigned max_failures;
    xd_usec patience; /* how long to wait while the network is down */
    /* Called each second by the batch's thread while no request has answered.
     * `waited` is the time since the request for `url` was started.  May be
     * NULL. */
    void (*waits)(void *user, const struct xd_url *url, bool is_connected,
                  xd_usec waited);
    void *user;
};

/* Receives the results of request `i` of a run.  Called by the batch's thread.
 * Must not call any function of the batch. */
struct xd_batch_handler {
    void *user;
    /* As in struct xd_transport_handler.  A second response header for a
     * request belongs to a new attempt: discard the bytes of the first. */
    int (*head)(void *user, size_t i, const struct xd_head *head);
    /* Return XD_E_AGAIN to keep the request for xd_batch_take_runner().  In
     * this run the request has then ended, and end() follows. */
    int (*bytes)(void *user, size_t i, const void *data, size_t len);
    /*
     * Called exactly once for each request.  outcome->error says why it failed:
     * - AGAIN: it was late.  If an earlier attempt failed, the message and the
     *   status are those of the last failure.
     * - TIMEOUT, CANCELED: the run was ended.
     * - NOREPLICA: the configuration does not allow this URL.
     * - Otherwise: the error of the transport.
     * The verdict STOPPED without an error means that the handler ended it.
     */
    void (*end)(void *user, size_t i, const struct xd_outcome *outcome);
    /* Returns true if no more answers are needed.  The remaining requests then
     * count as late.  Called after each end().  May be NULL. */
    bool (*is_enough)(void *user);
};

/* Minimum grace (see struct xd_batch_times) for runs that can do without slow
 * depots. */
#define XD_BATCH_GRACE (3 * XD_SECOND / 10)

/* Time limits of a run. */
struct xd_batch_times {
    xd_usec until; /* XD_NEVER: no limit */
    /* If no request has answered this long after the start, all are late.
     * XD_NEVER: wait for the first answer. */
    xd_usec first;
    /* After the first answer, the other requests are late if they are not
     * answered within this time and within twice the time that the first answer
     * took.  Late requests are ended and not repeated.  XD_NEVER: wait for
     * all. */
    xd_usec grace;
    /* Requests that were not started within this time after the first answer
     * are late too.  XD_NEVER: start all. */
    xd_usec turn;
};

/*
 * Creates a batch for at most `n_slots` requests at a time.
 * Ownership: *out is the caller's; release it with xd_batch_free().
 * Errors:    NOMEM; IO if a file that the options name cannot be read.
 */
int xd_batch_new(struct xd_batch **out, const struct xd_batch_config *config,
                 unsigned n_slots, struct xd_error *err);

/*
 * Runs the `n` requests, which must live until it returns.
 * Blocks: until each request has ended, the time `until` is reached, or
 *         cancel() is called.  If an earlier run has left requests open, also
 *         as long as xd_transport_stop().
 * Errors: NOMEM (no thread could be started; the handler was not called).
 *         Errors of single requests go to the handler.
 */
int xd_batch_run(struct xd_batch *b, const struct xd_request *requests,
                 size_t n, const struct xd_batch_times *times,
                 const struct xd_batch_handler *handler, struct xd_error *err);

/*
 * Takes the runner with the request that was kept, in slot *out_slot.  Returns
 * NULL if none was kept.  After this, run() must not be called.
 * Ownership: the caller's; release it before the batch.
 */
struct xd_runner *xd_batch_take_runner(struct xd_batch *b, unsigned *out_slot);

/* Returns the context that the transports share.  It is valid as long as the
 * batch. */
struct xd_net_context *xd_batch_context(struct xd_batch *b);

/* Ends the current run and all later ones at once; their requests end with
 * CANCELED.  Threads: any.  Blocks: no. */
void xd_batch_cancel(struct xd_batch *b);

/* Accepts NULL.  Blocks: like xd_transport_stop(). */
void xd_batch_free(struct xd_batch *b);

#endif
