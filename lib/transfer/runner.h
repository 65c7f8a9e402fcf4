/* SPDX-License-Identifier: MIT */
/*
 * A runner carries out requests over transports, for one thread.
 *
 *     its thread:  start(slot) ... poll() --> head, bytes, bytes, end
 *     any thread:  wakeup()
 *
 * Depot threads, the sampler, inspection and stores all make their requests
 * through a runner.  A runner:
 *
 * - opens the transports that are needed;
 * - starts a request only when the governor of its host allows it
 *   (transfer/hosts.h); until then the request waits in its slot;
 * - pays for bytes received and sent from the rate limit;
 * - pauses a request while the handler has no room;
 * - ends a request early if it was shortened;
 * - requests the rest of a response that was cut.
 *
 * The user of the runner decides what a request means and whether to repeat it.
 *
 * Threads: one thread owns a runner; others may only call wakeup().
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
 * Called on the runner's thread, without locks.  Must not call the runner.
 */
struct xd_runner_handler {
    void *user;
    /* Called before the first byte of each response.  < 0 refuses the rest. */
    int (*head)(void *user, unsigned slot, const struct xd_head *head);
    /* Receives bytes in order; < 0 refuses the rest.  After XD_E_AGAIN the same
     * bytes are passed to the handler that takes the runner over, unless
     * xd_runner_can_change_hands() returns false. */
    int (*bytes)(void *user, unsigned slot, const void *data, size_t len);
    /* Returns whether bytes() may be called with `len` bytes.  If not, the
     * request is paused, and each poll() asks again.  NULL: always true. */
    bool (*has_room)(void *user, unsigned slot, size_t len);
    /* Called when the runner has paused the request, or resumed it.  May be
     * NULL. */
    void (*hold)(void *user, unsigned slot, bool is_held);
    /* Called when the request begins to wait for the governor of its host, and
     * when it stops waiting because it is started.  Silence in between says
     * nothing about the host.  May be NULL. */
    void (*wait)(void *user, unsigned slot, bool waits);
    /* Called exactly once per successful start().  outcome->retry_after is the
     * pause before another attempt.  If the host has refused and the pause is
     * longer than config.patience, the verdict is GONE. */
    void (*end)(void *user, unsigned slot, const struct xd_outcome *outcome);
};

struct xd_runner_config {
    unsigned n_slots, n_connections; /* as in struct xd_transport_config */
    xd_usec silence, first_byte;     /* as in struct xd_transport_config */
    xd_usec patience; /* longest pause for a host that refuses; 0: no limit */
    const struct xd_net_options *net;
    struct xd_net_context *context;
    /* limits the rate; NULL: no limit.  Must outlive the runner */
    struct xd_budget *budget;
    const struct xd_registry *registry; /* NULL: the library's own */
    bool asks_for_rest; /* request the rest of a cut response; otherwise the
                           request ends with is_cut */
};

/* Pause before another attempt if no file descriptor was free.  Other threads
 * release descriptors either soon, or not for a long time. */
#define XD_LOCAL_PAUSE (XD_SECOND / 2)

/*
 * Creates a runner without open transports.  `handler` and its user must
 * outlive it.
 * Ownership: *out is the caller's; release it with xd_runner_free().
 * Errors: NOMEM.
 */
int xd_runner_new(struct xd_runner **out, const struct xd_runner_config *config,
                  const struct xd_runner_handler *handler,
                  struct xd_error *err);

/* Drops all requests without calling the handler, and closes the transports
 * with their connections.  open() and start() may be called afterwards. */
void xd_runner_close(struct xd_runner *d);

/* Accepts NULL. */
void xd_runner_free(struct xd_runner *d);

/* Opens the transport of a kind, unless it is open.  Errors: those of its
 * create(). */
int xd_runner_open(struct xd_runner *d, const struct xd_transport_kind *kind,
                   struct xd_error *err);

/* Makes poll() wait in the transport of this kind while no request is in
 * flight.  Returns false if it is not open. */
bool xd_runner_use(struct xd_runner *d, const struct xd_transport_kind *kind);

/*
 * Starts a request in a free slot.  Its strings must live until its end.
 * Errors: NOREPLICA (no transport for the URL), NOMEM, those of open().  After
 * an error the handler is not called.
 */
int xd_runner_start(struct xd_runner *d, unsigned slot,
                    const struct xd_request *request, struct xd_error *err);

/* Stops the slot's request; the next poll() calls end().  Does nothing for a
 * free slot.  Blocks: like xd_transport_stop(). */
void xd_runner_stop(struct xd_runner *d, unsigned slot);

/* Continues a request whose body had no bytes to send (its read() returned
 * XD_E_AGAIN).  Does nothing for other requests and free slots. */
void xd_runner_resume(struct xd_runner *d, unsigned slot);

/* ---- handing a runner with a waiting request to another thread ---- */

/* Returns whether the slot's request can be taken over. */
bool xd_runner_can_change_hands(const struct xd_runner *d, unsigned slot);

/* Gives the runner to another thread, with its own handler and budget.  Only
 * `budget` and `asks_for_rest` are taken from `config`; the rest must be as in
 * xd_runner_new(), except that there may be fewer slots. */
void xd_runner_take_over(struct xd_runner *d,
                         const struct xd_runner_config *config,
                         const struct xd_runner_handler *handler);

/* Like start(), but uses the response that is waiting in the slot.  `request`
 * has the same URL and begins at byte 0, but may have another length.  Calls
 * head() again. */
void xd_runner_go_on(struct xd_runner *d, unsigned slot,
                     const struct xd_request *request);

/* For a request that can be taken over.  carries() returns the length of its
 * response.  knows_no_ranges() returns whether the response is a whole object
 * that is longer than the requested range.  waited() returns the time from
 * start() to the first head(). */
uint64_t xd_runner_carries(const struct xd_runner *d, unsigned slot);
bool xd_runner_knows_no_ranges(const struct xd_runner *d, unsigned slot);
xd_usec xd_runner_waited(const struct xd_runner *d, unsigned slot);

/* Ends the request at byte `end` of the object, with verdict OK once all bytes
 * before it have arrived.  Does nothing if the request ends earlier, or if it
 * sends a body. */
void xd_runner_shorten(struct xd_runner *d, unsigned slot, uint64_t end);

/* Transfers data until something happens, wakeup() is called, or the time
 * `until` is reached (XD_NEVER: no limit).  May return earlier. */
void xd_runner_poll(struct xd_runner *d, xd_usec until);

/* Stops all requests and polls until they have ended.  Blocks: like stop(). */
void xd_runner_settle(struct xd_runner *d);

bool xd_runner_is_busy(const struct xd_runner *d, unsigned slot);
bool xd_runner_is_held(const struct xd_runner *d, unsigned slot);

/* Returns whether the slot's request has a connection. */
bool xd_runner_is_connected(struct xd_runner *d, unsigned slot);

/* Like xd_transport_way(). */
bool xd_runner_way(struct xd_runner *d, unsigned slot, struct xd_way *out);

/* Changes config.silence and config.first_byte. */
void xd_runner_set_silence(struct xd_runner *d, xd_usec silence,
                           xd_usec first_byte);

/* Makes poll() return at once.  Threads: any. */
void xd_runner_wakeup(struct xd_runner *d);

/* Returns whether a request with this verdict may succeed in another
 * attempt. */
static inline bool xd_verdict_may_pass(enum xd_verdict verdict)
{
    return verdict == XD_VERDICT_AGAIN || verdict == XD_VERDICT_LOCAL;
}

#endif
