/* SPDX-License-Identifier: MIT */
#include "engine/trust/blame.h"

#include <stdio.h>
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

/* Returns true if the depot has some bytes of the range, or parity for its
 * first or last byte. */
static bool has_some(const struct xd_depot *d, struct xd_range range)
{
    struct xd_rangeset held;
    bool result;

    if (xd_depot_parity(d, range.begin, 0) ||
        xd_depot_parity(d, range.end - 1, 0))
        return true;
    if (xd_depot_holds(d, range, &held) < 0)
        return false;
    result = held.n > 0;
    xd_rangeset_fini(&held);
    return result;
}

/* Returns true if xd_blame_pardon_locked() could use the depot for some of the
 * range. */
static bool has_pardonable(const struct xd_engine *e, const struct xd_depot *d,
                           struct xd_range range)
{
    const struct xd_depot_source *s = NULL;

    while ((s = xd_depot_next_source(d, s))) {
        const struct xd_range both = xd_range_clip(s->range, range);

        if (!xd_range_is_empty(both) &&
            xd_blame_may_pardon_locked(e, d, s, both))
            return true;
    }
    return false;
}

static struct xd_blame_depot look(const void *engine, unsigned depot,
                                  struct xd_range range)
{
    const struct xd_engine *e = engine;
    const struct xd_depot *d = e->depots.list[depot];

    return (struct xd_blame_depot){
        .is_banned = d->is_banned,
        .has_range = !d->is_banned && has_range(d, range),
        .has_some = (!d->is_banned && has_some(d, range)) ||
                    has_pardonable(e, d, range),
        .bytes = d->bytes};
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

/* Stops requests for bytes of `range` at all depots but `but`.  Bytes that
 * still arrive from them are not used. */
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

    for (size_t i = 0; i < e->sampler.n; i++) /* a banned depot has no vote */
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

/* Returns true if the depot has several objects and each is proved
 * independently of the others. */
static bool has_several_objects(const struct xd_engine *e,
                                const struct xd_depot *d)
{
    return e->dest.output->has_many_files ||
           (d->n_sources + d->n_parity > 1 &&
            xd_pieces_cover(&e->verify.pieces, e->wanted));
}

bool xd_blame_spare_locked(struct xd_engine *e, unsigned depot,
                           struct xd_depot_source *source,
                           const struct xd_error *why)
{
    struct xd_depot *d = e->depots.list[depot];

    if (!has_several_objects(e, d))
        return false;
    d->n_wrong_copies += !source->is_gone;
    if (!xd_blame_spares(d->n_wrong_copies, d->blocks))
        return false;
    xd_depot_note_failure(d, why);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s; that object is not used again",
                         why->msg);
    xd_coded_lose_source_locked(e, d, source, why);
    return true;
}

/* Gives up the wrong object instead of the depot.  Returns false if the depot
 * has too many wrong objects to be spared. */
static bool is_one_wrong_copy_locked(struct xd_engine *e, struct xd_depot *d,
                                     struct xd_range range,
                                     const struct xd_error *why)
{
    struct xd_depot_source *source = xd_depot_source(d, range);

    if (!source || !xd_blame_spare_locked(e, d->number, source, why))
        return false;
    /* Other URLs of the depot for this range lead to the same object. */
    while ((source = xd_depot_source(d, range)))
        xd_coded_lose_source_locked(e, d, source, why);
    distrust_lanes_locked(e, range, NULL);
    return true;
}

static const char *algorithm_of(const struct xd_engine *e,
                                struct xd_range piece)
{
    const struct xd_pieces *p = &e->verify.pieces;

    return xd_pieces_algorithm(p, xd_pieces_find(p, piece.begin));
}

/* Returns the first part of the range that lies in one object of the depot. */
static struct xd_range part_of_object(struct xd_depot *d, struct xd_range range)
{
    const struct xd_depot_source *s =
        xd_depot_any_source(d, (struct xd_range){range.begin, range.begin + 1});

    return s ? xd_range_clip(range, s->range) : range;
}

/* Bans the depot that delivered all bytes of `range`, or gives up only the
 * object from which they came, because the piece with `range` does not match
 * its hash. */
static void ban_for_locked(struct xd_engine *e, struct xd_depot *d,
                           struct xd_range range)
{
    const uint64_t begin = xd_set_begin_of(e, range.begin);
    const struct xd_depot_source *source = xd_depot_source(d, range);
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CORRUPT,
            "%s: sent wrong bytes within %llu-%llu: their %s does not match",
            source ? xd_url_name(xd_source_url(source)).s : d->shown_url,
            (ull)(range.begin - begin), (ull)(range.end - begin - 1),
            algorithm_of(e, range));
    if (xd_relayed_excuses_locked(e, d, range, &error))
        return;
    if (xd_rangeset_add(&d->wrong, range) < 0)
        xd_engine_fail_nomem_locked(e);
    if (!is_one_wrong_copy_locked(e, d, range, &error))
        xd_blame_confirm_bad_locked(e, d->number, &error);
}

/* Bans the depot, or gives up its objects, because it delivered `range`, which
 * is part of a piece that does not match its hash. */
static void ban_locked(struct xd_engine *e, unsigned number,
                       struct xd_range range)
{
    struct xd_depot *d = e->depots.list[number];

    while (!xd_range_is_empty(range)) {
        const struct xd_range part = part_of_object(d, range);

        ban_for_locked(e, d, part);
        range.begin = part.end;
    }
}

/* Tells the scheduler again which bytes of `range` the depot has. */
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

/* Stops asking one depot alone: tells the scheduler about all depots that have
 * bytes of the range. */
static void release_locked(struct xd_engine *e, struct xd_range range)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        if (!e->depots.list[i]->is_banned)
            restore_locked(e, i, range);
}

/* Makes the scheduler fetch the range from one depot alone, by telling it that
 * no other depot has the range.  Discards what other depots have delivered. */
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
        if (xd_blame_keeps_out(s, depot))
            xd_report_lost_locked(e, depot, s->range);
}

/* Writes the names of the hosts that delivered the first copy of the piece, as
 * many as fit. */
static void name_origins(const struct xd_engine *e,
                         const struct xd_suspicion *s, char *out, size_t size)
{
    size_t n = 0;

    *out = '\0';
    for (unsigned i = 0; i < e->depots.n; i++) {
        const char *host = e->depots.list[i]->host;

        if (xd_range_is_empty(xd_runs_next_of(&s->origins, i, s->range)) ||
            strlen(host) + sizeof ", " > size - n)
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? ", " : "",
                              host);
    }
}

/* Writes how many combinations of copies were tried, or "". */
static void describe_combinations(const struct xd_engine *e,
                                  const struct xd_suspicion *s, char *out,
                                  size_t size)
{
    char hosts[160];

    *out = '\0';
    name_origins(e, s, hosts, sizeof hosts);
    if (s->n_combined == 0 && s->has_more)
        snprintf(out, size,
                 ": they came from %s; they have too many parts to try all "
                 "combinations",
                 hosts);
    if (s->n_combined == 0)
        return;
    if (s->has_more)
        snprintf(out, size,
                 ": they came from %s; the first %u combinations of copies and "
                 "parity are wrong, and no more are tried",
                 hosts, s->n_combined);
    else
        snprintf(out, size,
                 ": they came from %s; %u combinations of copies and parity "
                 "are wrong, and there are no others",
                 hosts, s->n_combined);
}

/* Fails only the readers of the range.  Other readers may want bytes that are
 * right. */
static void leave_gap_locked(struct xd_engine *e, struct xd_range range,
                             const struct xd_error *why)
{
    for (unsigned i = 0; i < e->depots.n; i++)
        xd_report_lost_locked(e, i, range);
    xd_readers_gap_locked(e, range, why);
}

static void give_up_locked(struct xd_engine *e, const struct xd_suspicion *s)
{
    const struct xd_range range = s->range;
    const uint64_t begin = xd_set_begin_of(e, range.begin);
    struct xd_error error = {0};
    char combined[320];

    describe_combinations(e, s, combined, sizeof combined);
    xd_fail(&error, XD_E_CORRUPT,
            "no depot has bytes %llu-%llu that match their %s%s",
            (ull)(range.begin - begin), (ull)(range.end - begin - 1),
            algorithm_of(e, range), combined);
    if (xd_set_fail_locked(e, range, &error))
        return;
    if (e->readers.by_demand)
        leave_gap_locked(e, range, &error);
    else
        xd_engine_fail_locked(e, &error);
}

/* Compares the kept copy with the present piece, object by object, and stores
 * the parts that differ. */
static void compare_locked(struct xd_engine *e, struct xd_suspicion *s,
                           const unsigned char *now)
{
    struct xd_range rest = s->range, run;
    unsigned depot;

    while (s->copy && now &&
           (run = xd_runs_next_depot(&s->origins, rest, &depot),
            !xd_range_is_empty(run))) {
        size_t at;

        if (depot < e->depots.n)
            run = part_of_object(e->depots.list[depot], run);
        at = (size_t)(run.begin - s->range.begin);
        if (memcmp(now + at, s->copy + at, (size_t)xd_range_length(run)) != 0 &&
            xd_rangeset_add(&s->differs, run) < 0)
            xd_engine_fail_nomem_locked(e);
        rest.begin = run.end;
    }
}

/* Carries out an action.  *bytes is the content of the piece that was hashed,
 * or NULL. */
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
        give_up_locked(e, a->suspicion);
        break;
    case XD_BLAME_NO_MEMORY:
        xd_engine_fail_nomem_locked(e);
        break;
    case XD_BLAME_NOTHING:
        break;
    }
}

static void advance_locked(struct xd_engine *e, unsigned char **bytes)
{
    struct xd_blame *b = &e->verify.blame;
    struct xd_blame_action a;

    while (a = xd_blame_next(b, e->depots.n), a.kind != XD_BLAME_NOTHING)
        carry_out_locked(e, &a, bytes);
    xd_engine_decide_later_locked(e);
}

void xd_blame_hashed_locked(struct xd_engine *e, size_t i, bool is_right,
                            unsigned char **bytes)
{
    struct xd_blame *b = &e->verify.blame;

    if (is_right)
        xd_blame_right(b, i);
    else if (xd_blame_wrong(b, i) < 0)
        xd_engine_fail_nomem_locked(e);
    advance_locked(e, bytes);
}

void xd_blame_combined_in_vain_locked(struct xd_engine *e, size_t i,
                                      unsigned n_combined, bool has_more)
{
    unsigned char *none = NULL;

    xd_blame_in_vain(&e->verify.blame, i, n_combined, has_more);
    advance_locked(e, &none);
}

bool xd_blame_ask_another_locked(struct xd_engine *e, uint64_t byte)
{
    const struct xd_blame_action a =
        xd_blame_ask_another(&e->verify.blame, byte, e->depots.n);
    unsigned char *none = NULL;

    carry_out_locked(e, &a, &none);
    return a.kind != XD_BLAME_NOTHING;
}

/* ---- pardons ---- */

/* Returns true if the source was given up only because of wrong bytes.  Its
 * other bytes may be right. */
static bool may_be_pardoned(const struct xd_depot *d,
                            const struct xd_depot_source *s)
{
    const struct xd_kept_error *why = xd_source_known(s)->error;

    return s->is_gone && (why ? why->code == XD_E_CORRUPT : d->is_banned);
}

/* Returns true if depots can be pardoned.  Other bytes of a wrong object may be
 * right, if each is proved by its piece. */
static bool can_pardon(const struct xd_engine *e)
{
    return !e->dest.output->has_many_files &&
           xd_pieces_cover(&e->verify.pieces, e->wanted);
}

bool xd_blame_may_pardon_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                const struct xd_depot_source *source,
                                struct xd_range range)
{
    return can_pardon(e) && !depot->node_id && may_be_pardoned(depot, source) &&
           !xd_rangeset_contains(&depot->wrong, range);
}

/* Tells the scheduler that the depot has its bytes again, except those that
 * were wrong. */
static void report_pardoned_locked(struct xd_engine *e, struct xd_depot *d)
{
    struct xd_rangeset held;

    if (xd_depot_holds(d, e->wanted, &held) < 0) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    for (size_t i = 0; i < held.n; i++)
        xd_report_joined_locked(e, d->number, held.ranges[i], 0,
                                e->depots.via ? XD_TIER_DIRECT : XD_TIER_OWNER);
    for (size_t i = 0; i < d->wrong.n; i++)
        xd_report_lost_locked(e, d->number, d->wrong.ranges[i]);
    xd_blame_joined_locked(e, d->number);
    xd_rangeset_fini(&held);
}

static bool pardon_depot_locked(struct xd_engine *e, struct xd_depot *d,
                                uint64_t byte)
{
    const struct xd_range at = {byte, byte + 1};
    struct xd_depot_source *s = NULL;
    bool has_byte = false;

    if (d->wrong.n == 0 || d->node_id || xd_rangeset_contains(&d->wrong, at))
        return false;
    while ((s = xd_depot_next_source(d, s)))
        has_byte |= may_be_pardoned(d, s) &&
                    !xd_range_is_empty(xd_range_clip(s->range, at));
    if (!has_byte)
        return false;
    while ((s = xd_depot_next_source(d, s)))
        if (may_be_pardoned(d, s))
            xd_depot_restore_source(d, s);
    d->is_banned = false;
    xd_depots_set_state(&e->depots, d,
                        d->worker ? XD_DEPOT_IDLE : XD_DEPOT_RESERVE);
    xd_engine_log_locked(e, XD_LOG_WARN,
                         "%s: is asked again, but not for what it had wrong: "
                         "no other depot has byte %llu",
                         d->shown_url, (ull)byte);
    report_pardoned_locked(e, d);
    return true;
}

bool xd_blame_pardon_locked(struct xd_engine *e, uint64_t byte)
{
    bool has_any = false;

    if (!can_pardon(e))
        return false;
    for (size_t i = 0; i < e->depots.n; i++)
        has_any |= pardon_depot_locked(e, e->depots.list[i], byte);
    return has_any;
}
