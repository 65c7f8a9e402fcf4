/* SPDX-License-Identifier: MIT */
/*
 * The line: is it a depot that fails, or is it our own connection to all of
 * them?
 *
 *     requests: begun, answered, failed           "a route has appeared"
 *                      |                                 |
 *                      v                                 v
 *                 up  --- nothing from any depot --->  down
 *                 up  <-- a byte or a refusal -------  down: ask, wait, ask ...
 *
 * The line is down when a request fails without an answer from its depot, no
 * other depot has answered in the meantime, and another one was asked in vain
 * as well, or there is no other: no depot is to blame.  Then there is one pause
 * for all.  At the end of each pause every request that has received nothing is
 * to be stopped, so that it can be made again over a new connection, for a
 * short while decisions are made, and the next pause begins; a route or an
 * address that appears ends it at once.  The first byte, or refusal, from any
 * depot ends the outage.  When patience is at its end, so is the download.
 *
 * Before that, while several depots are silent and the others are not asked, it
 * is in doubt: the answer of any other depot, to a ping for example, tells that
 * the line is up, and that those that are silent have failed.
 *
 * Before the first answer nothing tells a line that is down from depots that do
 * not exist.  It is taken to be down once no depot is left that was not asked,
 * but not for longer than half a minute, and no request is stopped meanwhile
 * but for a new route: it is not known how long an answer takes.  A depot that
 * is alone may not exist: its failure is its own.  Where depots have refused,
 * and none has delivered, each failure is its depot's.
 *
 * Pure: what drives the scheduler, or a batch of requests, reports to it.
 *
 * Not thread-safe.
 */
#ifndef XD_BASE_LINE_H
#define XD_BASE_LINE_H

#include <stdbool.h>

#include "base/time.h"

struct xd_line;

/* Requests have numbers below `n_fetches`, and fail after a silence of
 * `silence`.  NULL: out of memory. */
struct xd_line *xd_line_new(unsigned n_fetches, xd_usec silence,
                            xd_usec patience);
void xd_line_free(struct xd_line *l); /* NULL does nothing */

/* What happens to a request: it is made; bytes of it have come; it is over, as
 * it has all its bytes or was stopped. */
void xd_line_begun(struct xd_line *l, unsigned fetch, unsigned depot,
                   xd_usec now);
void xd_line_received(struct xd_line *l, unsigned fetch, xd_usec now);
void xd_line_ended(struct xd_line *l, unsigned fetch);

/* Its next bytes are here, and wait until there is room for them: nothing can
 * be said of its silence; or wait no longer. */
void xd_line_held(struct xd_line *l, unsigned fetch, xd_usec now);
void xd_line_released(struct xd_line *l, unsigned fetch, xd_usec now);

struct xd_line_failure {
    bool is_unanswered; /* its depot has said nothing, not even no */
    bool is_only;       /* there is no other depot that could be asked */
    bool is_depots_own; /* if no depot has ever answered, it is the depot's
                            nevertheless: others have not been asked yet, or it
                            may have no address in any case */
};

/* The request has failed.  True: the line is down, it was no failure of the
 * depot, which may be asked again at *retry_at. */
bool xd_line_failed(struct xd_line *l, unsigned fetch,
                    const struct xd_line_failure *failure, xd_usec now,
                    xd_usec *retry_at);

/* A depot has answered, or refused, something else than a request. */
void xd_line_answered(struct xd_line *l, xd_usec now);

/* A route or an address of this machine has appeared. */
void xd_line_changed(struct xd_line *l, xd_usec now);

/* Call until false: *fetch is to be stopped, and has not failed. */
bool xd_line_next_stop(struct xd_line *l, xd_usec now, unsigned *fetch);

/* Until when nothing is to be decided, because the line is down; `now` or
 * before: it is not so. */
xd_usec xd_line_pause(const struct xd_line *l, xd_usec now);

/* When it has something to say though nothing happens, or XD_NEVER. */
xd_usec xd_line_wake(const struct xd_line *l);

bool xd_line_is_down(const struct xd_line *l);

/* Whether a depot has ever answered, or refused. */
bool xd_line_was_up(const struct xd_line *l);

/* Whether depots that no request is made of should be pinged now: those that
 * are asked are silent, and one answer tells whether it is they or the line.
 * Ask again at doubt_at(), which is XD_NEVER while nothing can be in doubt. */
bool xd_line_is_in_doubt(struct xd_line *l, xd_usec now);
xd_usec xd_line_doubt_at(const struct xd_line *l);

/* Whether it has been down for as long as patience lasts, or, if no depot has
 * ever answered, for half a minute; then *silent is for how long no depot has
 * answered. */
bool xd_line_is_lost(const struct xd_line *l, xd_usec now, xd_usec *silent);

/* How often it went down: a connection from before may lead nowhere. */
unsigned xd_line_outages(const struct xd_line *l);

#endif
