/*
 * A lane carries one request at a time: it starts it at the runner, gathers
 * the bytes that come, and flushes them to the sink.
 *
 * Only the worker's thread calls these.
 */
#ifndef XD_ENGINE_LANE_H
#define XD_ENGINE_LANE_H

#include "engine/engine.h"

/* What the runner of `w` calls. */
struct xd_runner_handler xd_lane_handler(struct xd_worker *w);

/* Under the lock: an asked-for request becomes the thread's own. */
void xd_lane_take_locked(struct xd_worker *w, struct xd_lane *lane);

/* Under the lock: end an asked-for request that the worker has no transport for, as
 * `error` says; the depot has nothing to do with that. */
void xd_lane_fail_locally_locked(struct xd_worker *w, struct xd_lane *lane,
                                 const struct xd_error *error);

/* Without the lock: start, shorten or stop it at the runner. */
void xd_lane_carry_out(struct xd_worker *w, unsigned slot);

/* All of the file from range.begin to this has come in. */
static inline uint64_t xd_lane_end(const struct xd_lane *lane)
{
    return lane->in.received;
}

/* Whether what is missing when it is stopped can be asked for by itself. */
static inline bool xd_lane_can_go_on_later(const struct xd_lane *lane)
{
    return !lane->asks_whole && lane->range.end != XD_SIZE_UNKNOWN;
}

/* Under the lock: tell the scheduler what has come in. */
void xd_lane_report_locked(struct xd_engine *e, struct xd_lane *lane);

/* Under the lock, when the download is over: what it carries has ended. */
void xd_lane_abandon_locked(struct xd_worker *w, struct xd_lane *lane);

/* Without the lock: claim, write and report what is in the buffer. */
void xd_lane_flush(struct xd_worker *w, struct xd_lane *lane);

#endif
