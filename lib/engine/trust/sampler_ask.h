/* SPDX-License-Identifier: MIT */
/*
 * Requests samples: the thread of the sampler, its runner, and one request.
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

/* Wakes the thread because there may be something to request; starts it if
 * necessary. */
void xd_sampler_run_locked(struct xd_engine *e);

/* Wakes the thread so that it ends, because the download is over. */
void xd_sampler_wake_locked(struct xd_engine *e);

/* Joins the thread, if there is one.  Call it after the end, without the
 * lock. */
void xd_sampler_join(struct xd_engine *e);

/* Returns an unconditional request for `range` of `source`. */
struct xd_request xd_sampler_request(const struct xd_depot_source *source,
                                     struct xd_range range);

struct xd_sampler_question {
    struct xd_depot *depot;
    struct xd_depot_source *source;
    struct xd_range range; /* at most XD_SAMPLE_BYTES */
    struct xd_request request;
    bool is_anew; /* requested on a new connection */
    xd_usec asked_at;
};

/*
 * Take a question, send the request without the lock, and evaluate the
 * response. give() returns true if all of the range is in the sampler's buffer.
 * The sampler's `validator` is then the validator of the response.  Called by
 * the sampler's thread only.
 */
void xd_sampler_take_locked(struct xd_engine *e, struct xd_sampler_question *q);
void xd_sampler_ask(struct xd_engine *e, const struct xd_sampler_question *q);
bool xd_sampler_give_locked(struct xd_engine *e,
                            const struct xd_sampler_question *q);

#endif
