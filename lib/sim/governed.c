/* SPDX-License-Identifier: MIT */
#include "sim/governed.h"

#include "base/alloc.h"
#include "base/governor.h"
#include "sim/request.h"

/* Interval for asking again when the governor cannot tell when a request may
 * start; the same as in transfer/runner.c. */
#define ASK_EVERY (50 * XD_MS)

struct xd_sim_governed {
    struct xd_governor governor;
    struct xd_governor_terms terms; /* terms last told to the scheduler */
};

int xd_sim_governed_start(struct xd_run *r)
{
    r->governed = xd_alloc(r->out->n_depots, sizeof *r->governed);
    if (!r->governed)
        return XD_E_NOMEM;
    for (size_t i = 0; i < r->out->n_depots; i++)
        r->governed[i].governor.seed = r->o->seed + i;
    return 0;
}

void xd_sim_governed_fini(struct xd_run *r)
{
    xd_free(r->governed);
}

void xd_sim_governed_tell(struct xd_run *r)
{
    const xd_usec now = xd_run_usec(r->net.now);

    for (unsigned i = 0; i < r->n_joined; i++) {
        struct xd_sim_governed *g = &r->governed[i];
        struct xd_governor_terms terms = xd_governor_terms(&g->governor, now);

        if (terms.not_before > now + r->o->sched.patience)
            terms.not_before = 0;
        if (terms.most_open == g->terms.most_open &&
            terms.has_refused == g->terms.has_refused &&
            (terms.not_before <= now ||
             terms.not_before == g->terms.not_before))
            continue;
        g->terms = terms;
        xd_run_take_event(
            r, (struct xd_sched_event){.kind = XD_EV_GOVERNED,
                                       .depot = i,
                                       .max_lanes = terms.most_open,
                                       .is_sparing = terms.has_refused,
                                       .retry_at = terms.not_before});
    }
}

xd_usec xd_sim_governed_ask(struct xd_run *r, struct xd_sim_request *q)
{
    const xd_usec now = xd_run_usec(r->net.now);
    struct xd_governor *g = &r->governed[q->depot].governor;
    const xd_usec at = xd_governor_ask(g, false, now);

    if (at > now)
        return at == XD_NEVER ? now + ASK_EVERY : at;
    xd_governor_begin(g, &q->governed, now);
    return 0;
}

static uint64_t delivered(const struct xd_sim_request *q)
{
    return q->in.received - q->range.begin;
}

static bool has_progress(const struct xd_sim_request *q)
{
    return delivered(q) >= XD_PROGRESS_BYTES ||
           2 * delivered(q) >= xd_range_length(q->range);
}

void xd_sim_governed_bytes(struct xd_run *r, struct xd_sim_request *q)
{
    struct xd_governor *g = &r->governed[q->depot].governor;

    if (!q->governed.is_accepted)
        xd_governor_accepted(g, &q->governed);
    if (!q->governed.has_progress && has_progress(q))
        xd_governor_progress(g, &q->governed);
}

static enum xd_governed_end end_of(const struct xd_sim_request *q,
                                   enum xd_sched_event_kind kind)
{
    if (kind == XD_EV_DONE)
        return XD_GOVERNED_SERVED;
    if (kind != XD_EV_FAILED)
        return XD_GOVERNED_NEUTRAL;
    if (q->is_unanswered)
        return XD_GOVERNED_UNREACHED;
    if (!has_progress(q))
        return XD_GOVERNED_REFUSED;
    return 2 * delivered(q) >= xd_range_length(q->range) ? XD_GOVERNED_SERVED
                                                         : XD_GOVERNED_BROKEN;
}

void xd_sim_governed_end(struct xd_run *r, struct xd_sim_request *q,
                         enum xd_sched_event_kind kind)
{
    const xd_usec now = xd_run_usec(r->net.now);
    xd_usec pause;

    if (!q->governed.is_open)
        return;
    pause = xd_governor_end(&r->governed[q->depot].governor, &q->governed,
                            end_of(q, kind), delivered(q),
                            q->retry_at > now ? q->retry_at - now : 0, now);
    if (kind == XD_EV_FAILED && pause > 0 && q->retry_at < now + pause)
        q->retry_at = now + pause;
}
