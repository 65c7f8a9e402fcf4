/* SPDX-License-Identifier: MIT */
#include "engine/trust/sampler_thread.h"

#include "engine/depot.h"
#include "engine/engine.h"
#include "engine/trust/validator_check.h"
#include "engine/trust/sampler_ask.h"
#include "engine/trust/validators.h"

/* Requests a copy of sample `i` from the depot. */
static void take_locked(struct xd_engine *e, size_t i, unsigned number,
                        struct xd_sampler_question *q)
{
    struct xd_depot *depot = e->depots.list[number];
    struct xd_range range = e->sampler.samples[i].range;
    struct xd_depot_source *source = xd_depot_source(depot, range);

    *q = (struct xd_sampler_question){.depot = depot,
                                      .source = source,
                                      .range = range,
                                      .request =
                                          xd_sampler_request(source, range)};
    q->request.if_range =
        xd_validators_if_range_locked(e, source, q->request.url);
    depot->samples_asked |= UINT64_C(1) << i;
    xd_sampler_take_locked(e, q);
}

static void give_locked(struct xd_engine *e, size_t i,
                        const struct xd_sampler_question *q)
{
    const struct xd_sampler *s = &e->sampler;
    const bool is_here = xd_sampler_give_locked(e, q);
    struct xd_depot *depot = q->depot;

    if (xd_engine_is_over_locked(e))
        return;
    if (is_here && !xd_validators_sampled_locked(e, depot, q->source,
                                                 s->validator, s->final_url))
        /* the depot may be asked again */
        depot->samples_asked &= ~(UINT64_C(1) << i);
    else if (is_here)
        xd_sampler_received_locked(e, i, depot->number, s->buffer);
    else
        xd_sampler_refused_locked(e, depot->number);
    xd_engine_wake_readers_locked(e);
    xd_engine_decide_later_locked(e);
}

void *xd_sampler_main(void *arg)
{
    struct xd_engine *e = arg;
    struct xd_sampler *s = &e->sampler;
    struct xd_sampler_question q;
    unsigned depot;
    size_t i;

    xd_engine_lock(e);
    while (!xd_engine_is_over_locked(e)) {
        if (e->pause.since == 0 && xd_validator_check_can_work_locked(e)) {
            xd_validator_check_work_locked(e);
        } else if (e->pause.since == 0 &&
                   xd_sampler_choose_locked(e, &i, &depot)) {
            take_locked(e, i, depot, &q);
            xd_engine_unlock(e);
            xd_sampler_ask(e, &q);
            xd_engine_lock(e);
            give_locked(e, i, &q);
        } else {
            xd_engine_wait_locked(e, &s->changed, XD_NEVER);
        }
    }
    xd_engine_unlock(e);
    xd_runner_close(s->runner);
    return NULL;
}
