/* SPDX-License-Identifier: MIT */
/* The slots of a runner, shared by runner.c and runner_end.c.  Each slot has
 * one request. */
#ifndef XD_TRANSFER_RUNNER_SLOTS_H
#define XD_TRANSFER_RUNNER_SLOTS_H

#include "os/thread.h"
#include "transfer/hosts.h"
#include "transfer/runner.h"

/* One request.  It uses the slot of the same number in its transport. */
struct xd_runner_slot {
    /* the request, from the byte at which the last restart began */
    struct xd_request request;
    /* copy of *request.sends whose read() is on_read(), which obeys the rate
     * limit */
    struct xd_sending sending;
    struct xd_transport *transport; /* transport of the last request */
    struct xd_host *host;           /* host of the URL, or NULL */
    struct xd_governed governed;    /* state of the request in the governor */
    uint64_t delivered;        /* bytes of the current response, including those
                                  skipped before the range */
    int64_t reply_code;        /* code in a store's reply */
    xd_usec reply_retry_after; /* pause that a store asks for, or 0 */
    bool is_busy;
    bool waits;       /* the request waits until the governor lets it start */
    bool is_given_up; /* the URL has failed too often */
    xd_usec look_at;  /* when to ask the governor again */
    bool is_cut;      /* the next poll() requests the rest */
    bool is_stopped;  /* stop() was called while is_cut or waits was set */
    bool is_whole;    /* the response is the whole object instead of a range */
    bool is_shortened;
    bool has_less; /* the response covers only the beginning of `request` */
    bool is_held;  /* paused by the runner */
    /* size of the bytes for which the handler has no room yet */
    size_t held_bytes;
    xd_usec held_until;   /* when the rate limit allows the bytes */
    size_t prepaid;       /* bytes paid for, but not yet taken */
    uint64_t received;    /* bytes received of request.length */
    uint64_t object_size; /* according to the head */
    /* when it started; time from the start to the first response header */
    xd_usec started, waited;
};

struct xd_runner {
    /* constant after xd_runner_new() */
    struct xd_runner_config config;
    const struct xd_runner_handler *handler;
    struct xd_transport_handler callbacks;
    struct xd_runner_slot *slots;

    /* Owned by the thread. */
    struct xd_transport *current; /* polled while nothing is in flight */
    uint64_t rate;                /* limit last announced to the transports */

    /* a leaf lock; guards `transports`, which wakeup() reads */
    struct xd_mutex lock;

    /* written by the owning thread under lock */
    /* open transports, one for each kind */
    struct xd_transport *transports[XD_KINDS_MOST];
    bool is_woken; /* guarded by lock: wakeup() was called before a transport
                      was open */
};

/* Returns whether a reply refuses the request for now.  504 does not count: a
 * cache sends it if it does not have the bytes and may not fetch them
 * (only-if-cached, RFC 9111 section 5.2.1.7). */
bool xd_runner_is_refusal(int64_t status);

/* Returns whether a pause is longer than the user's patience.  `is_asked`: the
 * host asked for the pause. */
bool xd_runner_is_too_long(const struct xd_runner *d, xd_usec pause,
                           bool is_asked);

/* Makes the request fail, because the pause before a retry would be too
 * long. */
void xd_runner_refuse_to_wait(const struct xd_runner *d,
                              const struct xd_runner_slot *s,
                              struct xd_outcome *out, xd_usec pause,
                              bool is_asked);

/* Ends a request for a URL that has failed too often.  Other depots may have
 * the same bytes, so this URL must not delay them. */
void xd_runner_give_up(const struct xd_runner_slot *s, struct xd_outcome *out,
                       xd_usec pause);

/* Tells the governor of the host how the request has ended, frees the slot, and
 * calls the handler. */
void xd_runner_end(struct xd_runner *d, unsigned slot,
                   const struct xd_outcome *outcome);

/* Ends a request for which the transport will not call end(). */
void xd_runner_end_unasked(struct xd_runner *d, unsigned slot,
                           enum xd_verdict verdict,
                           const struct xd_error *error);

/* Called by a transport at the end of a request. */
void xd_runner_on_end(void *user, unsigned slot,
                      const struct xd_outcome *outcome);

#endif
