/* SPDX-License-Identifier: MIT */
/*
 * Handles the end of a request: tells the scheduler (or the size probe), the
 * depot, its source and the outage detector, and records the request.
 */
#ifndef XD_ENGINE_REQUEST_END_H
#define XD_ENGINE_REQUEST_END_H

#include "engine/engine.h"

/* Handles the end of the request on `lane`, with the result lane->outcome.
 * Frees the lane.  Call it with engine.lock held. */
void xd_request_ended_locked(struct xd_engine *e, struct xd_depot *depot,
                             struct xd_lane *lane);

/* Releases what the responses of `source` have stated, unless a request to it
 * is running.  Call it when its file is complete. */
void xd_request_forget_answers_locked(const struct xd_depot *depot,
                                      struct xd_depot_source *source);

#endif
