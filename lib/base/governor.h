/* SPDX-License-Identifier: MIT */
/*
 * Limits the requests to one host: when the next one may start, and how many
 * may be open at a time.
 *
 *     ask() --> "now", "not before T", "when another one ends"
 *     begin() ... accepted() ... progress() ... end()
 *
 * Rules:
 *
 * - Retry-After (RFC 9110 section 10.2.3) delays all new requests to the host.
 * - After a refusal, no request starts for 0.5 s plus a random time.  Each
 *   further refusal doubles this pause.  Refusals of requests that were running
 *   when the first refusal was noticed do not count again.
 * - A refusal lowers the limit on open requests to the number that the host has
 *   accepted.  If the host refuses a request although it accepted as many open
 *   requests before, the rate of requests is lowered too, to the rate accepted
 *   since the last pause.  Both limits rise again slowly, and more slowly after
 *   each refusal.  If a ban by the host ends requests that it had accepted, the
 *   limit soon returns to their number.
 * - The next request that makes progress ends a series of refusals.
 * - A request is wasted if the host refuses it, or if it fails in the same way
 *   as an earlier request for the same URL.  The latter says nothing about
 *   other URLs, so it does not delay them.  A repeat (a request for a URL that
 *   has failed before) waits longer than other requests only when the allowance
 *   below is used up.  For callers that repeat a request on their own,
 *   xd_governor_end() returns a pause.
 * - At most XD_GOVERNOR_FIRST requests may be wasted in the minute after the
 *   first wasted one, and at most XD_GOVERNOR_LATER in each later minute.  For
 *   repeats, all wasted requests count; for other requests, only refusals.  The
 *   number of open requests without progress therefore never exceeds the rest
 *   of this allowance.  Each request that makes progress allows one more open
 *   request, until the next wasted request.  After XD_GOVERNOR_SOUND requests
 *   with progress in a row, the count starts again from 0.
 *
 * Pure: the caller passes the time.  Threads: not thread-safe.
 */
#ifndef XD_BASE_GOVERNOR_H
#define XD_BASE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

/* Largest number of wasted requests: in the first minute, and in each later
 * minute. */
#define XD_GOVERNOR_FIRST 30u
#define XD_GOVERNOR_LATER 2u

/* After this many requests with progress in a row, earlier wasted requests are
 * forgotten. */
#define XD_GOVERNOR_SOUND 100u

/* A request made progress if it delivered this many bytes, or half of the
 * requested bytes. */
#define XD_PROGRESS_BYTES 512u

enum xd_governed_end {
    XD_GOVERNED_SERVED, /* it delivered at least half of the requested bytes */
    /* the host refused it: status 429 or 503, a reset, or no progress */
    XD_GOVERNED_REFUSED,
    /* it failed in the same way as an earlier request for its URL */
    XD_GOVERNED_FAILED_AGAIN,
    XD_GOVERNED_BROKEN,    /* it broke off after some progress */
    XD_GOVERNED_UNREACHED, /* no connection was made, or the host was silent */
    /* the request was stopped, or its end says nothing about the host */
    XD_GOVERNED_NEUTRAL
};

/* The state of a request.  A zeroed struct is a request that is not open. */
struct xd_governed {
    uint64_t number;
    bool is_open, is_accepted, has_progress;
};

/* For a new host, everything but the seed is zero. */
struct xd_governor {
    uint64_t seed; /* seed of the random jitter */

    /* Requests. */
    uint64_t n_begun;
    unsigned n_open;
    unsigned n_accepted; /* open requests that the host has accepted */
    unsigned n_unproven; /* number of open requests without progress */
    uint64_t n_proven;   /* requests with progress since the last wasted one */

    /* Pauses. */
    xd_usec not_before;        /* when the next request may start */
    xd_usec asked_until;       /* end of the longest Retry-After, or 0 */
    unsigned refusals;         /* refusals in a row */
    xd_usec repeat_not_before; /* end of the pause after the last repeat */
    unsigned repeats;          /* number of wasted repeats in a row */
    /* requests with lower numbers began before the last refusal was noticed */
    uint64_t noticed_to;
    unsigned n_broken;     /* requests in a row that broke off early */
    uint64_t broken_to;    /* like noticed_to, for n_broken */
    unsigned n_unreached;  /* requests in a row that did not reach the host */
    uint64_t unreached_to; /* like noticed_to, for n_unreached */
    xd_usec unreached_at;  /* end of the last of them */

    /* Wasted requests. */
    bool is_in_trouble;
    /* wasted requests in this minute, and the maximum allowed */
    unsigned n_wasted, most_wasted;
    unsigned n_refused; /* how many of the n_wasted requests were refused */
    xd_usec minute_from, wasted_at;

    /* Limits; 0: none. */
    unsigned most_open;
    /* largest number of open requests accepted since the limit was lowered */
    unsigned proven_open;
    /* largest number of open requests accepted before this series of
     * refusals */
    unsigned held_open;
    /* smallest number of open requests at which the host refused one */
    unsigned refused_open;
    xd_usec interval; /* minimum time from one start to the next */
    xd_usec rise_pause, rise_at, quicken_at;
    xd_usec begun_at; /* when the last request started */
    /* start of the time in which n_counted requests were accepted */
    xd_usec counted_from;
    unsigned n_counted;
};

/* Returns the time at which one more request may start.  A result of `now` or
 * earlier means at once.  XD_NEVER means as soon as another request ends or
 * makes progress.  `is_repeat`: an earlier request for the same URL has
 * failed. */
xd_usec xd_governor_ask(struct xd_governor *g, bool is_repeat, xd_usec now);

/* Limits on requests that are not repeats.  The scheduler plans with them. */
struct xd_governor_terms {
    xd_usec not_before; /* no request may start before this time */
    unsigned most_open; /* largest number of open requests; 0: unlimited */
    bool has_refused;   /* the host refused a request in the last minute, or a
                           limit is in force: prefer few, long requests */
};

struct xd_governor_terms xd_governor_terms(struct xd_governor *g, xd_usec now);

/* Call when a request starts, even if ask() did not allow it. */
void xd_governor_begin(struct xd_governor *g, struct xd_governed *r,
                       xd_usec now);

/* Call when the host responds with anything but a refusal.  An upload may call
 * it earlier, when the host has taken many bytes. */
void xd_governor_accepted(struct xd_governor *g, struct xd_governed *r);

/* Call when the request has delivered XD_PROGRESS_BYTES. */
void xd_governor_progress(struct xd_governor *g, struct xd_governed *r);

/*
 * Call when the request has ended after `bytes` bytes.  `retry_after` is the
 * pause that the host asked for, or 0.  Returns the pause before another
 * attempt.  If the request did not reach the host, the pause does not apply to
 * other requests.
 */
xd_usec xd_governor_end(struct xd_governor *g, struct xd_governed *r,
                        enum xd_governed_end end, uint64_t bytes,
                        xd_usec retry_after, xd_usec now);

/* Returns whether the governor can be freed without losing anything: no request
 * is open, no pause is in force, and no wasted request is remembered. */
bool xd_governor_is_idle(struct xd_governor *g, xd_usec now);

#endif
