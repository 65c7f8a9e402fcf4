/* SPDX-License-Identifier: MIT */
/*
 * Detects outages of our own network connection, as opposed to failures of
 * depots.
 *
 *     requests: begun, received, failed           "a route has appeared"
 *                      |                                 |
 *                      v                                 v
 *                 up  --- no depot answers ----------->  down
 *                 up  <-- a byte or a refusal --------   down: try, wait, ...
 *
 * The connection is considered down if a request fails without an answer, no
 * other depot has answered meanwhile, and either another depot was silent too
 * or there is no other depot.  Then no depot is blamed, and one pause applies
 * to all.  After each pause, requests that received nothing are stopped so that
 * they can be repeated on new connections; new requests may start for a short
 * time (ASKING in line.c), and the next pause begins.  A new route or address
 * ends the pause at once.  The first byte or refusal from any depot ends the
 * outage.  After `patience` without an answer the download fails.
 *
 * Doubt: several depots are silent but others have no requests.  Then the
 * answer of any other depot, for example to a ping, shows that the connection
 * is up and that the silent ones have failed.
 *
 * Before the first answer, an outage looks the same as depots that do not
 * exist.  The connection is then considered down only after every depot was
 * tried, and for at most 30 s.  Requests are not stopped in that time except
 * for a new route, because it is unknown how long an answer takes.  A single
 * depot may simply not exist, so its failure counts against it.  If depots
 * refused requests but none ever delivered a byte, every failure counts against
 * its depot.
 *
 * Pure: driven by a session (session/session.h), or by a batch of requests.
 * `now` must not decrease.
 * Threads: not thread-safe.
 */
#ifndef XD_BASE_LINE_H
#define XD_BASE_LINE_H

#include <stdbool.h>

#include "base/time.h"

struct xd_line;

/* Request numbers run from 0 to n_fetches - 1; any other number fails an
 * assertion.  `silence` is the time after which a request without data fails.
 * `patience` is the longest outage.  Returns NULL if out of memory. */
struct xd_line *xd_line_new(unsigned n_fetches, xd_usec silence,
                            xd_usec patience);
void xd_line_free(struct xd_line *l); /* NULL: does nothing */

/* Report that a request was started, has received bytes, or has ended (complete
 * or stopped).  Report a request that failed by xd_line_failed(); ended() in
 * addition does no harm.  Its number can then be used again. */
void xd_line_begun(struct xd_line *l, unsigned fetch, unsigned depot,
                   xd_usec now);
void xd_line_received(struct xd_line *l, unsigned fetch, xd_usec now);
void xd_line_ended(struct xd_line *l, unsigned fetch);

/* held() reports that the request is paused because its buffer is full, so its
 * silence means nothing.  released() reports that it continues. */
void xd_line_held(struct xd_line *l, unsigned fetch, xd_usec now);
void xd_line_released(struct xd_line *l, unsigned fetch, xd_usec now);

struct xd_line_failure {
    bool is_unanswered; /* the depot sent nothing, not even a refusal */
    bool is_only;       /* no other depot could be used */
    /* True if the failure counts against the depot while no depot has ever
     * answered.  The reason is that other depots were not tried yet, or that
     * the address of this depot may not exist. */
    bool is_depots_own;
};

/* Reports a failed request, which ends it.  Returns true if the connection is
 * down: then the depot is not to blame, and may be tried again at *retry_at.
 * If it returns false, ignore *retry_at. */
bool xd_line_failed(struct xd_line *l, unsigned fetch,
                    const struct xd_line_failure *failure, xd_usec now,
                    xd_usec *retry_at);

/* Reports that a depot has answered or refused something other than a request,
 * such as a ping. */
void xd_line_answered(struct xd_line *l, xd_usec now);

/* Reports a new route or a new local address. */
void xd_line_changed(struct xd_line *l, xd_usec now);

/* Returns true if a request must be stopped because the connection is down,
 * with its number in *fetch.  Call it again until it returns false.  Report the
 * stopped request by xd_line_ended(): it does not count as a failure.  When a
 * pause is over, this call also begins the next attempt. */
bool xd_line_next_stop(struct xd_line *l, xd_usec now, unsigned *fetch);

/* Returns the time until which no requests should start because the connection
 * is down; `now` or earlier if they may. */
xd_usec xd_line_pause(const struct xd_line *l, xd_usec now);

/* Returns the time at which next_stop() or is_lost() must be called even if
 * nothing happens; XD_NEVER if there is no need. */
xd_usec xd_line_wake(const struct xd_line *l);

bool xd_line_is_down(const struct xd_line *l);

/* Returns whether any depot has ever answered or refused. */
bool xd_line_was_up(const struct xd_line *l);

/* Returns whether to ping depots that have no request now.  The depots with
 * requests are silent, and one answer tells whether they or the connection
 * failed.  The next call returns false for a while, so ping after each true.
 * doubt_at() returns when to call it again; XD_NEVER if there can be no doubt
 * at present. */
bool xd_line_is_in_doubt(struct xd_line *l, xd_usec now);
xd_usec xd_line_doubt_at(const struct xd_line *l);

/* Returns whether the outage has lasted for `patience` (30 s at most if no
 * depot ever answered).  Only then sets *silent to the time since the last
 * answer, or since the first request if there was none. */
bool xd_line_is_lost(const struct xd_line *l, xd_usec now, xd_usec *silent);

/* Returns the number of outages.  Connections from before an outage may be
 * dead. */
unsigned xd_line_outages(const struct xd_line *l);

#endif
