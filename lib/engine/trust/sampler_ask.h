/* SPDX-License-Identifier: MIT */
/*
 * How samples are asked for: the sampler's thread, its runner, and one request.
 *
 * Every function is called with engine.lock held, but xd_sampler_join().
 */
#ifndef XD_ENGINE_SAMPLER_ASK_H
#define XD_ENGINE_SAMPLER_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "io/transport.h"

struct xd_depot;
struct xd_depot_source;
struct xd_engine;

/* There may be something to ask: the thread looks, and is started before. */
void xd_sampler_run_locked(struct xd_engine *e);

/* The download is over: the thread leaves. */
void xd_sampler_wake_locked(struct xd_engine *e);

/* Joins the thread, if there is one, after the end.  Without the lock. */
void xd_sampler_join(struct xd_engine *e);

/* What asks for `range` of `source`, without a condition. */
struct xd_request xd_sampler_request(const struct xd_depot_source *source,
                                     struct xd_range range);

/* Carry it out.  True: all of `range`, of at most XD_SAMPLE_BYTES, is in the
 * sampler's buffer, and what the head said in `validator`.  Releases the lock.
 * Only the sampler's thread calls this, and the next. */
bool xd_sampler_ask_locked(struct xd_engine *e, struct xd_depot *depot,
                           const struct xd_request *request,
                           struct xd_range range);

/* Likewise, over a new connection and whatever its validator is. */
bool xd_sampler_ask_anew_locked(struct xd_engine *e, struct xd_depot *depot,
                                const struct xd_depot_source *source,
                                struct xd_range range);

#endif
