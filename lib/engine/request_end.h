/* SPDX-License-Identifier: MIT */
/*
 * What the end of a request means: for the scheduler, or for the size probe while the
 * size is asked for; for the depot, its source and the line; and a record of it.
 */
#ifndef XD_ENGINE_REQUEST_END_H
#define XD_ENGINE_REQUEST_END_H

#include "engine/engine.h"

/* The request on `lane`, of `depot`, has ended as lane->outcome says.  The
 * lane is free afterwards.  Called with engine.lock held. */
void xd_request_ended_locked(struct xd_engine *e, struct xd_depot *depot,
                             struct xd_lane *lane);

#endif
