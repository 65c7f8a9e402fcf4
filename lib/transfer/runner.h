/* SPDX-License-Identifier: MIT */
/*
 * A runner runs requests on transports, for one thread.
 *
 *     its thread:  start(slot) ... poll() --> head, bytes, bytes, end
 *     any thread:  wakeup()
 *
 * It is where requests of depot threads, of samples and of inspection meet the
 * transports: it opens those that are needed, pays for the bytes, holds a
 * request back while its handler has no room and lets it go on, ends it where
 * it was shortened to, and asks for the rest of an answer that was cut.  Of a request
 * that sends it pays for the body, and passes all else on.  What a request means,
 * and whether it is made again, is its client's matter.
 *
 * Threads: one owns it; only wakeup() may be called by others.
 */
#ifndef XD_TRANSFER_RUNNER_H
#define XD_TRANSFER_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "io/transport.h"
#include "transfer/registry.h"

struct xd_runner;
struct xd_budget;

/*
 * Called on the runner's thread, with no lock held.
 * May call: nothing of the runner.
 */
struct xd_runner_handler {
    void *user;
    /* Before the first byte of each answer; < 0 refuses the rest. */
    int (*head)(void *user, unsigned slot, const struct xd_head *head);
    /* The next bytes, in order; < 0 refuses the rest.  XD_E_AGAIN: they come
     * again to the handler that takes the runner over, unless
     * xd_runner_can_change_hands() says no. */
    int (*bytes)(void *user, unsigned slot, const void *data, size_t len);
    /* Whether bytes() may be called with so many; while it may not, the request
     * is held back, and each poll() asks again.  NULL: always. */
    bool (*has_room)(void *user, unsigned slot, size_t len);
    /* The request is held back by us, or waits for its depot again.  May be
     * NULL. */
    void (*hold)(void *user, unsigned slot, bool is_held);
    /* Exactly once for each start() that succeeded. */
    void (*end)(void *user, unsigned slot, const struct xd_outcome *outcome);
};

struct xd_runner_config {
    unsigned n_slots, n_connections; /* as in struct xd_transport_config */
    xd_usec silence;                 /* likewise */
    const struct xd_net_options *net;
    struct xd_net_context *context;
    struct xd_budget *budget;           /* or NULL; outlives the runner */
    const struct xd_registry *registry; /* NULL: that of this library */
    bool asks_for_rest; /* of an answer that is_cut; else it ends so */
};

/* Between two attempts for which this machine had no descriptors: others give
 * theirs back within moments, or not for long. */
#define XD_LOCAL_PAUSE (XD_SECOND / 2)

/*
 * `handler` and its user outlive the runner.  No transport is opened yet.
 * Ownership: *out is the caller's, to release with xd_runner_free().
 * Errors:    NOMEM.
 */
int xd_runner_new(struct xd_runner **out, const struct xd_runner_config *config,
                  const struct xd_runner_handler *handler,
                  struct xd_error *err);

/* End all requests, without a word to the handler, and close the transports
 * with their connections.  open() and start() may follow. */
void xd_runner_close(struct xd_runner *d);

/* NULL does nothing. */
void xd_runner_free(struct xd_runner *d);

/* Open the transport of a kind, unless it is open.  Errors: as its create(). */
int xd_runner_open(struct xd_runner *d, const struct xd_transport_kind *kind,
                   struct xd_error *err);

/* Let poll() wait in the transport of a kind while nothing is in flight; false:
 * it is not open. */
bool xd_runner_use(struct xd_runner *d, const struct xd_transport_kind *kind);

/*
 * Start a request in a free slot; its strings live until its end.
 * Errors: NOREPLICA: no transport is for its URL; as open(); NOMEM; and then
 *         the handler is not called.
 */
int xd_runner_start(struct xd_runner *d, unsigned slot,
                    const struct xd_request *request, struct xd_error *err);

/* End what is in the slot; the next poll() calls end().  A free slot: does
 * nothing.  Blocks: as xd_transport_stop(). */
void xd_runner_stop(struct xd_runner *d, unsigned slot);

/* Ask a request that sends for its body again, of which it had none.  Another one,
 * and a free slot: does nothing. */
void xd_runner_resume(struct xd_runner *d, unsigned slot);

/* ---- a runner changes hands, with a request that waits for it ---- */

/* Whether what is in the slot can be taken over. */
bool xd_runner_can_change_hands(const struct xd_runner *d, unsigned slot);

/* The runner is another thread's, which has a handler and a budget of its own;
 * of `config` the rest is as new() had it, but that there may be fewer slots. */
void xd_runner_take_over(struct xd_runner *d,
                         const struct xd_runner_config *config,
                         const struct xd_runner_handler *handler);

/* As start() does, for what the slot carries already: the answer to a request for
 * the same URL from byte 0 to another end.  Calls head(). */
void xd_runner_go_on(struct xd_runner *d, unsigned slot,
                     const struct xd_request *request);

/* The bytes that its answer has, in all; and the time from its start to its
 * head. */
uint64_t xd_runner_carries(const struct xd_runner *d, unsigned slot);
xd_usec xd_runner_waited(const struct xd_runner *d, unsigned slot);

/* The request ends at byte `end` of the object, sooner than it was asked for:
 * with verdict OK when all before it is here.  A later `end` does nothing, nor
 * does any to a request that sends. */
void xd_runner_shorten(struct xd_runner *d, unsigned slot, uint64_t end);

/* Move bytes until something happened, wakeup(), or the moment `until`
 * (XD_NEVER: no bound).  May return earlier with nothing done. */
void xd_runner_poll(struct xd_runner *d, xd_usec until);

/* Stop all requests, and poll until they have ended.  Blocks: as stop(). */
void xd_runner_settle(struct xd_runner *d);

bool xd_runner_is_busy(const struct xd_runner *d, unsigned slot);
bool xd_runner_is_held(const struct xd_runner *d, unsigned slot);

/* Whether what the slot carries has a connection that it may be sent on. */
bool xd_runner_is_connected(struct xd_runner *d, unsigned slot);

/* What config.silence says, from now on. */
void xd_runner_set_silence(struct xd_runner *d, xd_usec silence);

/* poll() returns at once.  Threads: any. */
void xd_runner_wakeup(struct xd_runner *d);

/* Whether a request that ended so may do better in another attempt. */
static inline bool xd_verdict_may_pass(enum xd_verdict verdict)
{
    return verdict == XD_VERDICT_AGAIN || verdict == XD_VERDICT_LOCAL;
}

/* The pause before the next attempt, after so many failures in a row, at least
 * 1, of which the last ended with `outcome`. */
xd_usec xd_runner_pause(const struct xd_outcome *outcome, unsigned failures);

#endif
