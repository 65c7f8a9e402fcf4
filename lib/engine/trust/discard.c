/* SPDX-License-Identifier: MIT */
#include "engine/trust/discard.h"

#include "engine/engine.h"
#include "engine/sched_events.h"

/* Logs the discarded bytes.  Other reasons are logged where they are found. */
static void log_discarded_locked(struct xd_engine *e, struct xd_range range,
                                 uint64_t bytes, enum xd_discard_reason why)
{
    if (bytes > 0)
        xd_engine_log_locked(
            e, why == XD_DISCARD_BAD_PIECE ? XD_LOG_INFO : XD_LOG_DEBUG,
            "%llu bytes are discarded, from byte %llu on: %s",
            (unsigned long long)bytes,
            (unsigned long long)(range.begin - xd_set_begin_of(e, range.begin)),
            xd_discard_reason_text(why));
}

static void discard_now_locked(struct xd_engine *e, struct xd_range range,
                               enum xd_discard_reason why)
{
    struct xd_verify *v = &e->verify;
    uint64_t before = e->ledger.discarded[why];

    if (xd_range_is_empty(range))
        return;
    v->era++;
    xd_resume_dropped_locked(e, range);
    xd_set_dropped_locked(e, range);
    if (xd_ledger_discard(&e->ledger, range, why) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    log_discarded_locked(e, range, e->ledger.discarded[why] - before, why);
    xd_pieces_reopen(&v->pieces, range);
    if (range.begin < v->hashed_to)
        v->hashed_to = e->wanted.begin;
    xd_report_rejected_locked(e, range);
}

void xd_discard_locked(struct xd_engine *e, struct xd_range range,
                       enum xd_discard_reason why)
{
    struct xd_verify *v = &e->verify;
    const struct xd_range read = xd_range_clip(v->reading, range);

    if (xd_range_is_empty(read)) {
        discard_now_locked(e, range, why);
        return;
    }
    v->postponed_why = why;
    if (xd_rangeset_add(&v->postponed, read) < 0)
        xd_engine_fail_nomem_locked(e);
    discard_now_locked(e, (struct xd_range){range.begin, read.begin}, why);
    discard_now_locked(e, (struct xd_range){read.end, range.end}, why);
}

void xd_discard_postponed_locked(struct xd_engine *e)
{
    struct xd_rangeset postponed = e->verify.postponed;

    e->verify.postponed = (struct xd_rangeset){0};
    for (size_t i = 0; i < postponed.n; i++)
        discard_now_locked(e, postponed.ranges[i], e->verify.postponed_why);
    xd_rangeset_fini(&postponed);
}

void xd_discard_held_locked(struct xd_engine *e)
{
    struct xd_range rest = e->wanted, run;

    while (run = xd_runs_next_of(&e->ledger.origins, XD_HELD, rest),
           !xd_range_is_empty(run) && !xd_engine_is_over_locked(e)) {
        xd_discard_locked(e, run, XD_DISCARD_BAD_FILE);
        rest.begin = run.end; /* the run is still in the ledger if the keeper is
                                 reading it */
    }
}
