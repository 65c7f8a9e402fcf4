/* SPDX-License-Identifier: MIT */
/*
 * A batch: a few requests, to any depots, that are carried out at once while
 * the caller waits.
 *
 *     run():  a thread of its own --- start, poll, pause, retry ---> handler
 *     any:    cancel()
 *
 * The batch keeps its connections from one run to the next, and what it has
 * learnt of the line.
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
    const struct xd_net_options *net; /* or NULL; outlives the batch */
    const char *exclude;   /* hosts not to be asked: base/hosts.h; or NULL */
    bool https_only;       /* as in struct xd_choice */
    bool allow_file;       /* whether files of this machine may be read */
    xd_usec silence;       /* as in struct xd_transport_config */
    unsigned max_failures; /* attempts at one request, at least 1, beside those
                              made while the line is down (base/line.h) */
    xd_usec patience;      /* for a line that is down */
    /* Called each second by the batch's thread, while no request has answered:
     * for how long `url` was waited for, and whether it is connected.  May be
     * NULL. */
    void (*waits)(void *user, const struct xd_url *url, bool is_connected,
                  xd_usec waited);
    void *user;
};

/*
 * What becomes of request `i` of a run.
 * Called by the batch's thread.  May call: nothing of the batch.
 */
struct xd_batch_handler {
    void *user;
    /* As in struct xd_transport_handler.  A head that comes a second time is
     * that of another attempt: what came before it is void. */
    int (*head)(void *user, size_t i, const struct xd_head *head);
    /* XD_E_AGAIN: the request is kept, for xd_batch_take_runner(); for the run it
     * has ended, and end() follows. */
    int (*bytes)(void *user, size_t i, const void *data, size_t len);
    /*
     * Exactly once for each request.  `outcome->error` says why it failed:
     * AGAIN, if it was late; TIMEOUT and CANCELED, if the run was over;
     * NOREPLICA, if it may not be asked; else what the transport says.  With
     * the verdict STOPPED and no error the handler itself has ended it.
     */
    void (*end)(void *user, size_t i, const struct xd_outcome *outcome);
};

/* The least grace for runs in which a depot that is slow to answer can be done
 * without. */
#define XD_BATCH_GRACE (XD_SECOND / 2)

/* How long a run may take. */
struct xd_batch_times {
    xd_usec until; /* XD_NEVER: as long as it takes */
    /* If no request has answered so long after the start, all are late.
     * XD_NEVER: the first answer is waited for. */
    xd_usec first;
    /* Once a request has answered, each other one is late, and is ended, if it
     * has not done so after this long and after twice what the first one took;
     * none is made again.  XD_NEVER: all are waited for. */
    xd_usec grace;
    /* Those that have not had their turn so long after the first answer are
     * late, too.  XD_NEVER: all have their turn. */
    xd_usec turn;
};

/*
 * A batch for at most `n_slots` requests at a time.
 * Ownership: *out is the caller's, to release with xd_batch_free().
 * Errors:    NOMEM; IO, for a file that the options name.
 */
int xd_batch_new(struct xd_batch **out, const struct xd_batch_config *config,
                 unsigned n_slots, struct xd_error *err);

/*
 * Carry out the `n` requests, which live as long as the run does.
 * Blocks: until each has ended; no longer than to `until` or a cancel(), but
 *         as xd_transport_stop() may for what a run before it has left.
 * Errors: NOMEM (no thread could be started): the handler was not called.
 *         What is wrong with one request goes to the handler.
 */
int xd_batch_run(struct xd_batch *b, const struct xd_request *requests,
                 size_t n, const struct xd_batch_times *times,
                 const struct xd_batch_handler *handler, struct xd_error *err);

/* The runner, with a request that was kept in slot *out_slot; NULL: none was.
 * There are no further runs.
 * Ownership: the caller's, to release before the batch. */
struct xd_runner *xd_batch_take_runner(struct xd_batch *b, unsigned *out_slot);

/* What the transports have in common; lives as long as the batch. */
struct xd_net_context *xd_batch_context(struct xd_batch *b);

/* End this run and each further one at once: what they ask is CANCELED.
 * Threads: any.  Blocks: no. */
void xd_batch_cancel(struct xd_batch *b);

/* NULL does nothing.  Blocks: as xd_transport_stop() may. */
void xd_batch_free(struct xd_batch *b);

#endif
