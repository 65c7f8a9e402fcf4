/* SPDX-License-Identifier: MIT */
#include "engine/trust/blame.h"

#include <string.h>

#include "base/defence.h"
#include "base/error.h"
#include "base/url.h"
#include "engine/coded.h"
#include "engine/depot.h"
#include "engine/depots.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/source.h"
#include "engine/trust/discard.h"
#include "engine/trust/relayed.h"
#include "engine/sched_events.h"
#include "engine/lanes.h"
#include "engine/trust/unverified.h"

typedef unsigned long long ull;

static bool has_range(const struct xd_depot *d, struct xd_range range)
{
    struct xd_rangeset held;
    bool result;

    if (xd_depot_holds(d, range, &held) < 0)
        return false;
    result = xd_rangeset_contains(&held, range);
    xd_rangeset_fini(&held);
    return result;
}

static struct xd_blame_depot look(const void *engine, unsigned depot,
                                  struct xd_range range)
{
    const struct xd_engine *e = engine;
    const struct xd_depot *d = e->depots.list[depot];

    return (struct xd_blame_depot){
        d->is_banned, !d->is_banned && has_range(d, range), d->bytes};
}

void xd_blame_begin(struct xd_engine *e)
{
    struct xd_verify *v = &e->verify;

    v->blame = (struct xd_blame){.ledger = &e->ledger,
                                 .pieces = &v->pieces,
                                 .wanted = &e->wanted,
                                 .world = e,
                                 .look = look};
}

/* What is in flight of `range` at other depots than `but` must not count. */
static void distrust_lanes_locked(struct xd_engine *e, struct xd_range range,
                                  const struct xd_depot *but)
{
    for (unsigned i = 0; i < e->workers.n; i++) {
        struct xd_worker *w = e->workers.list[i];

        for (unsigned j = 0; w->depot && w->depot != but && j < w->n_lanes;
             j++) {
            struct xd_lane *lane = &w->lanes[j];

            if (lane->state == LANE_FREE || lane->range.begin >= range.end ||
                lane->range.end <= range.begin)
                continue;
            lane->is_distrusted = true;
            xd_lanes_stop_locked(e, lane);
        }
    }
}

void xd_blame_discard_locked(struct xd_engine *e, unsigned depot)
{
    struct xd_range rest = {e->readers.handed_out, e->wanted.end}, run;
    struct xd_worker *w = e->depots.list[depot]->worker;

    for (unsigned j = 0; w && j < w->n_lanes; j++) {
        if (w->lanes[j].state == LANE_FREE)
            continue;
        w->lanes[j].is_distrusted = true;
        xd_lanes_stop_locked(e, &w->lanes[j]);
    }
    xd_coded_drop_depot_locked(e, depot);
    while (run = xd_blame_next_unproved(&e->verify.blame, depot, rest),
           !xd_range_is_empty(run) && !xd_engine_is_over_locked(e)) {
        xd_discard_locked(e, run, XD_DISCARD_BANNED);
        rest.begin = run.end;
    }
}

void xd_blame_ban_locked(struct xd_engine *e, unsigned depot,
                         const struct xd_error *why)
{
    struct xd_depot *d = e->depots.list[depot];

    for (size_t i = 0; i < e->sampler.n; i++) /* it is no witness */
        xd_sample_copies_forget(&e->sampler.samples[i], depot);
    if (d->is_banned || !XD_DEFENDS("blame"))
        return;
    d->is_banned = true;
    xd_depot_note_failure(d, why);
    xd_depots_set_state(&e->depots, d, XD_DEPOT_FAILED);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s; it is not used again", why->msg);
    xd_depot_drop_sources(d);
    xd_report_banned_locked(e, depot);
    xd_blame_discard_locked(e, depot);
    if (d->node_id)
        xd_relayed_distrust_locked(e, d->node);
}

void xd_blame_confirm_bad_locked(struct xd_engine *e, unsigned depot,
                                 const struct xd_error *why)
{
    if (!XD_DEFENDS("blame"))
        return;
    xd_blame_ban_locked(e, depot, why);
    xd_unverified_revoke_locked(e, depot, e->wanted, why);
    if (xd_blame_doubts_held(&e->verify.blame))
        xd_unverified_revoke_locked(e, XD_HELD, e->wanted, why);
}

static bool is_one_wrong_copy(struct xd_engine *e, struct xd_depot *d)
{
    if (!e->dest.output->has_many_files)
        return false;
    d->n_wrong_copies++;
    return xd_blame_spares(d->n_wrong_copies, d->blocks);
}

/* The depot is asked for this file no more. */
static void drop_copy_locked(struct xd_engine *e, struct xd_depot *d,
                             struct xd_range range, const struct xd_error *why)
{
    struct xd_depot_source *source;
    struct xd_range lost = range;

    while ((source = xd_depot_source(d, range))) {
        lost = source->range;
        xd_depot_lose_source(d, source, why);
    }
    xd_depot_note_failure(d, why);
    xd_engine_log_locked(e, XD_LOG_WARN,
                         "%s; it is not asked for that file again", why->msg);
    distrust_lanes_locked(e, range, NULL);
    xd_report_lost_locked(e, d->number, lost);
}

static const char *algorithm_of(const struct xd_engine *e,
                                struct xd_range piece)
{
    const struct xd_pieces *p = &e->verify.pieces;

    return xd_pieces_algorithm(p, xd_pieces_find(p, piece.begin));
}

/* Bytes of a piece, which does not match its hash, are of this depot alone. */
static void ban_locked(struct xd_engine *e, unsigned number,
                       struct xd_range range)
{
    const uint64_t begin = xd_set_begin_of(e, range.begin);
    struct xd_depot *d = e->depots.list[number];
    const struct xd_depot_source *source = xd_depot_source(d, range);
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CORRUPT,
            "%s: sent wrong bytes within %llu-%llu: their %s does not match",
            source ? xd_url_name(xd_source_url(source)).s : d->shown_url,
            (ull)(range.begin - begin), (ull)(range.end - begin - 1),
            algorithm_of(e, range));
    if (xd_relayed_excuses_locked(e, d, range, &error))
        return;
    if (is_one_wrong_copy(e, d))
        drop_copy_locked(e, d, range, &error);
    else
        xd_blame_confirm_bad_locked(e, number, &error);
}

/* Tell the scheduler that the depot holds of `range` what it does hold. */
static void restore_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range)
{
    struct xd_rangeset held;

    if (xd_depot_holds(e->depots.list[depot], range, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    while (!xd_range_is_empty(range)) {
        struct xd_range run = xd_rangeset_next(&held, range);

        if (!xd_range_is_empty(run))
            xd_report_holds_locked(e, depot, run);
        range.begin = run.end;
    }
    xd_rangeset_fini(&held);
}

/* For the scheduler all depots hold the range that do. */
static void release_locked(struct xd_engine *e, struct xd_range range)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        if (!e->depots.list[i]->is_banned)
            restore_locked(e, i, range);
}

/* For the scheduler only one depot holds it, and nothing of it stays that
 * another delivered. */
static void ask_locked(struct xd_engine *e, unsigned depot,
                       struct xd_range range)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        if (i != depot && !e->depots.list[i]->is_banned)
            xd_report_lost_locked(e, i, range);
    restore_locked(e, depot, range);
    distrust_lanes_locked(e, range, e->depots.list[depot]);
    xd_discard_locked(e, range, XD_DISCARD_BAD_PIECE);
}

void xd_blame_joined_locked(struct xd_engine *e, unsigned depot)
{
    const struct xd_suspicion *s = e->verify.blame.list;

    for (; s; s = s->next)
        if (s->alone != depot)
            xd_report_lost_locked(e, depot, s->range);
}

static void give_up_locked(struct xd_engine *e, struct xd_range range)
{
    const uint64_t begin = xd_set_begin_of(e, range.begin);
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CORRUPT,
            "no depot has bytes %llu-%llu that match their %s",
            (ull)(range.begin - begin), (ull)(range.end - begin - 1),
            algorithm_of(e, range));
    if (!xd_set_fail_locked(e, range, &error))
        xd_engine_fail_locked(e, &error);
}

/* Which depots' parts of the copy differ from the piece as it is now. */
static void compare_locked(struct xd_engine *e, struct xd_suspicion *s,
                           const unsigned char *now)
{
    struct xd_range rest = s->range, run;
    unsigned depot;

    while (s->copy && now &&
           (run = xd_runs_next_depot(&s->origins, rest, &depot),
            !xd_range_is_empty(run))) {
        size_t at = (size_t)(run.begin - s->range.begin);

        if (memcmp(now + at, s->copy + at, (size_t)xd_range_length(run)) != 0 &&
            xd_rangeset_add(&s->differs, run) < 0)
            xd_engine_fail_nomem_locked(e);
        rest.begin = run.end;
    }
}

/* `bytes`: of the piece that was hashed, or *bytes is NULL. */
static void carry_out_locked(struct xd_engine *e,
                             const struct xd_blame_action *a,
                             unsigned char **bytes)
{
    switch (a->kind) {
    case XD_BLAME_COPY:
        a->suspicion->copy = *bytes;
        *bytes = NULL;
        break;
    case XD_BLAME_DISCARD:
        xd_discard_locked(e, a->range, XD_DISCARD_BAD_PIECE);
        break;
    case XD_BLAME_BAN:
        ban_locked(e, a->depot, a->range);
        break;
    case XD_BLAME_ASK:
        ask_locked(e, a->depot, a->range);
        break;
    case XD_BLAME_COMPARE:
        compare_locked(e, a->suspicion, *bytes);
        break;
    case XD_BLAME_RELEASE:
        release_locked(e, a->range);
        break;
    case XD_BLAME_GIVE_UP:
        give_up_locked(e, a->range);
        break;
    case XD_BLAME_NO_MEMORY:
        xd_engine_fail_nomem_locked(e);
        break;
    case XD_BLAME_NOTHING:
        break;
    }
}

void xd_blame_hashed_locked(struct xd_engine *e, size_t i, bool is_right,
                            unsigned char **bytes)
{
    struct xd_blame *b = &e->verify.blame;
    struct xd_blame_action a;

    if (is_right)
        xd_blame_right(b, i);
    else if (xd_blame_wrong(b, i) < 0)
        xd_engine_fail_nomem_locked(e);
    while (a = xd_blame_next(b, e->depots.n), a.kind != XD_BLAME_NOTHING)
        carry_out_locked(e, &a, bytes);
    xd_engine_decide_later_locked(e);
}

bool xd_blame_ask_another_locked(struct xd_engine *e, uint64_t byte)
{
    const struct xd_blame_action a =
        xd_blame_ask_another(&e->verify.blame, byte, e->depots.n);
    unsigned char *none = NULL;

    carry_out_locked(e, &a, &none);
    return a.kind != XD_BLAME_NOTHING;
}
