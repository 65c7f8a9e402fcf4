/* SPDX-License-Identifier: MIT */
/*
 * How samples are asked for: the sampler's thread, its runner, and one request.
 */
#ifndef XD_ENGINE_SAMPLER_ASK_H
#define XD_ENGINE_SAMPLER_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "base/time.h"
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

struct xd_sampler_question {
    struct xd_depot *depot;
    struct xd_depot_source *source;
    struct xd_range range; /* of at most XD_SAMPLE_BYTES */
    struct xd_request request;
    bool is_anew; /* over a connection of its own */
    xd_usec asked_at;
};

/*
 * Take a question, ask it without the lock, and give what came.  True: all of
 * the range is in the sampler's buffer, and what the head said in `validator`.
 * Only the sampler's thread calls these.
 */
void xd_sampler_take_locked(struct xd_engine *e, struct xd_sampler_question *q);
void xd_sampler_ask(struct xd_engine *e, const struct xd_sampler_question *q);
bool xd_sampler_give_locked(struct xd_engine *e,
                            const struct xd_sampler_question *q);

#endif
