/*
 * What the line (sched/line.h) says, carried out: while it is down, one pause
 * for all depots.  What becomes of a request is told to the line by those who
 * tell it to the scheduler.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_OUTAGE_H
#define XD_ENGINE_OUTAGE_H

#include "engine/engine.h"

/* With a new scheduler of so many depots at a time.  Errors: NOMEM. */
int xd_outage_start_locked(struct xd_engine *e, unsigned max_open);

/* Whether something new is to be decided: a route has appeared.  Cheap enough
 * for every turn of a worker. */
bool xd_outage_look_locked(struct xd_engine *e);

/* True: nothing is to be decided before e->until.  Requests that go nowhere are
 * stopped. */
bool xd_outage_pauses_locked(struct xd_engine *e, xd_usec now);

/* The moment, at most `until`, at which decisions are due for the line's
 * sake. */
xd_usec xd_outage_until_locked(const struct xd_engine *e, xd_usec now,
                               xd_usec until);

#endif
