/* SPDX-License-Identifier: MIT */
#include "engine/trust/single_answer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/source.h"
#include "engine/trust/discard.h"
#include "engine/sched_events.h"

/* Number of attempts.  If a load balancer chooses at random between two servers
 * with different sizes, all four attempts miss the right server once in sixteen
 * downloads. */
#define MAX_ATTEMPTS 4

static struct xd_depot_source *whole_source(const struct xd_engine *e,
                                            const struct xd_depot *d)
{
    for (size_t i = 0; i < d->n_sources; i++) {
        struct xd_depot_source *s = &d->sources[i];

        if (s->range.begin <= e->wanted.begin &&
            s->range.end >= e->wanted.end && xd_source_offset(s) == 0)
            return s;
    }
    return NULL;
}

bool xd_single_answer_begins_locked(struct xd_engine *e)
{
    if (!e->dest.output->is_seen_at_end || e->wanted.end == XD_SIZE_UNKNOWN)
        return false;
    for (size_t i = 0; i < e->depots.n; i++) {
        struct xd_depot *d = e->depots.list[i];

        if (d->answers_differ && whole_source(e, d) &&
            d->n_single_answers < MAX_ATTEMPTS) {
            xd_engine_step_locked(
                e, (struct xd_session_event){
                       .kind = XD_SESSION_RESTART,
                       .round = {XD_ROUND_SINGLE_ANSWER, d->number}});
            return true;
        }
    }
    return false;
}

/* Drops the validator, so that the next response defines the file. */
static void forget_validator(struct xd_depot *d, struct xd_depot_source *s)
{
    struct xd_source_facts *f = s->facts;

    if (f) {
        xd_free(f->validator);
        xd_free(f->stated_by);
        f->validator = NULL;
        f->stated_by = NULL;
    }
    if (f && f->check)
        f->check->n_alike = 0;
    s->validators = XD_VALIDATORS_HOLD;
    xd_depot_restore_source(d, s);
}

/* Drops mesh nodes, which hold the old version.  That is not their fault, so no
 * error is stored. */
static void leave_nodes_locked(struct xd_engine *e)
{
    for (unsigned i = 0; i < e->depots.n; i++) {
        struct xd_depot *node = e->depots.list[i];

        if (!node->node_id)
            continue;
        xd_depot_drop_sources(node);
        xd_depots_set_state(&e->depots, node, XD_DEPOT_FAILED);
        for (size_t k = 0; k < e->sampler.n; k++)
            xd_sample_copies_forget(&e->sampler.samples[k], i);
    }
}

void xd_single_answer_prepare_locked(struct xd_engine *e, unsigned only)
{
    struct xd_depot *d = e->depots.list[only];

    if (d->n_single_answers++ == 0)
        xd_engine_log_locked(e, XD_LOG_WARN,
                             "%s; the whole file is asked for in one request",
                             d->last_error->msg);
    forget_validator(d, whole_source(e, d));
    xd_junctions_forget_locked(e);
    d->is_banned = d->answers_differ = false;
    d->knows_no_ranges = true;
    xd_depots_set_state(&e->depots, d, XD_DEPOT_IDLE);
    leave_nodes_locked(e);
    xd_discard_locked(e, e->wanted, XD_DISCARD_RESTARTED);
}

void xd_single_answer_begin_locked(struct xd_engine *e, unsigned only)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        if (i != only)
            xd_report_banned_locked(e, i);
}
