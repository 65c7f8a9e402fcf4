/* SPDX-License-Identifier: MIT */
/*
 * Fetches the whole file from one depot in a single response.
 *
 * A load balancer whose servers have different files cannot serve a file in
 * parts, but it can serve one of these files in a single response.  If no depot
 * is left, and one was dropped because its file or size differed between
 * responses, the whole file is requested again from that depot, without a
 * range.  If the response breaks off, another response continues it only if it
 * belongs to the same file.  Otherwise everything starts again, a few times at
 * most.
 *
 * This is done only for files that no hash proves.  It is not done for pipes,
 * whose bytes cannot be replaced.  Every function is called with engine.lock
 * held.
 */
#ifndef XD_ENGINE_SINGLE_ANSWER_H
#define XD_ENGINE_SINGLE_ANSWER_H

#include <stdbool.h>

struct xd_engine;

/* Call it when the scheduler has no depot for some byte.  Returns true if the
 * whole file will be requested again as soon as no request is running. */
bool xd_single_answer_begins_locked(struct xd_engine *e);

/* Call prepare() when no request is running, before the next scheduler is
 * created, and begin() after that.  The new scheduler uses no depot except
 * `only`. */
void xd_single_answer_prepare_locked(struct xd_engine *e, unsigned only);
void xd_single_answer_begin_locked(struct xd_engine *e, unsigned only);

#endif
