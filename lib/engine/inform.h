/*
 * From everybody to the scheduler: what happened becomes an event, and a line
 * in the statistics.
 *
 * Every function is called with engine.lock held; none asks for decisions.
 */
#ifndef XD_ENGINE_INFORM_H
#define XD_ENGINE_INFORM_H

#include "engine/engine.h"

/* `lane` has brought all bytes up to `end`. */
void xd_inform_bytes_locked(struct xd_engine *e, const struct xd_lane *lane,
                            uint64_t end);

/* These bytes are written. */
void xd_inform_kept_locked(struct xd_engine *e, struct xd_range range);

/* The reader took everything before `position`. */
void xd_inform_reader_locked(struct xd_engine *e, uint64_t position);

/* The request on `lane`, of `depot`, has ended as lane->outcome says.  The
 * lane is free afterwards. */
void xd_inform_ended_locked(struct xd_engine *e, struct xd_depot *depot,
                            struct xd_lane *lane);

#endif
