#include "engine/trust/blame.h"

#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/trust/discard.h"
#include "engine/sched_events.h"
#include "engine/lanes.h"
#include "engine/trust/unverified.h"

typedef unsigned long long ull;

/* Of a longer piece no copy is held to be compared: the depots that delivered
 * it are then only found out when each is asked alone. */
#define MAX_COPY ((uint64_t)16 << 20)

/* A piece that was wrong, and came from several depots. */
struct xd_suspicion {
    struct xd_suspicion *next;
    size_t piece;
    struct xd_range range;
    unsigned char *copy;      /* the first, wrong one, or NULL */
    struct xd_runs origins;   /* of the copy */
    struct xd_rangeset asked; /* the depots that were, by number */
    unsigned alone;           /* the one that is asked now */
};

static void free_one(struct xd_suspicion *s)
{
    xd_free(s->copy);
    xd_rangeset_fini(&s->asked);
    xd_runs_fini(&s->origins);
    xd_free(s);
}

void xd_blame_free(struct xd_suspicion *list)
{
    while (list) {
        struct xd_suspicion *next = list->next;

        free_one(list);
        list = next;
    }
}

static struct xd_suspicion **find(struct xd_engine *e, size_t piece)
{
    struct xd_suspicion **s = &e->verify.suspicions;

    while (*s && (*s)->piece != piece)
        s = &(*s)->next;
    return s;
}

bool xd_blame_suspects_locked(const struct xd_engine *e, size_t piece)
{
    const struct xd_suspicion *s = e->verify.suspicions;

    while (s && s->piece != piece)
        s = s->next;
    return s != NULL;
}

static bool holds_all(const struct xd_depot *d, struct xd_range range)
{
    struct xd_rangeset held;
    bool result;

    if (d->is_banned || xd_depot_holds(d, &held) < 0)
        return false;
    result = xd_rangeset_contains(&held, range);
    xd_rangeset_fini(&held);
    return result;
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

/* Of an earlier run's bytes, which no piece proves, any depot may have
 * delivered any. */
static bool may_have_delivered_held(const struct xd_engine *e)
{
    return !xd_pieces_cover(&e->verify.pieces, e->wanted);
}

/* What it delivered is fetched again, but for what is proved or out. */
static void discard_all_of_locked(struct xd_engine *e, unsigned depot)
{
    struct xd_verify *v = &e->verify;
    bool and_held = may_have_delivered_held(e);
    struct xd_range rest = {e->readers.handed_out, e->wanted.end}, run, proved;
    unsigned origin;
    size_t piece;

    while (run = xd_runs_next_depot(&e->ledger.origins, rest, &origin),
           !xd_range_is_empty(run) && !xd_engine_is_over_locked(e)) {
        rest.begin = run.end;
        if (origin != depot && !(and_held && origin == XD_HELD))
            continue;
        piece = xd_pieces_find(&v->pieces, run.begin);
        if (piece < v->pieces.n) {
            proved = xd_pieces_range(&v->pieces, piece);
            if (proved.begin > run.begin) {
                run.end = proved.begin < run.end ? proved.begin : run.end;
            } else {
                run.end = proved.end < run.end ? proved.end : run.end;
                if (v->pieces.states[piece] == XD_PIECE_GOOD)
                    run.begin = run.end;
            }
        }
        rest.begin = run.end;
        if (!xd_range_is_empty(run))
            xd_discard_locked(e, run, XD_DISCARD_BANNED);
    }
}

void xd_blame_ban_locked(struct xd_engine *e, unsigned depot,
                         const struct xd_error *why)
{
    struct xd_depot *d = e->depots.list[depot];

    if (d->is_banned || !XD_DEFENDS("blame"))
        return;
    d->is_banned = true;
    xd_depot_note_failure(d, why);
    xd_depots_set_state(&e->depots, d, XD_DEPOT_FAILED);
    xd_engine_raise_locked(e, &e->notifier);
    xd_engine_log_locked(e, XD_LOG_WARN, "%s; it is not used again", why->msg);
    xd_depot_drop_sources(d);
    for (unsigned j = 0; d->worker && j < d->worker->n_lanes; j++) {
        struct xd_lane *lane = &d->worker->lanes[j];

        if (lane->state == LANE_FREE)
            continue;
        lane->is_distrusted = true;
        xd_lanes_stop_locked(e, lane);
    }
    xd_report_banned_locked(e, depot);
    discard_all_of_locked(e, depot);
}

void xd_blame_confirm_bad_locked(struct xd_engine *e, unsigned depot,
                                 const struct xd_error *why)
{
    if (!XD_DEFENDS("blame"))
        return;
    xd_blame_ban_locked(e, depot, why);
    xd_unverified_revoke_locked(e, depot, e->wanted, why);
    if (may_have_delivered_held(e))
        xd_unverified_revoke_locked(e, XD_HELD, e->wanted, why);
}

/* Bytes of a piece, which does not match its hash, are of this depot alone. */
static void ban_locked(struct xd_engine *e, unsigned number,
                       struct xd_range range)
{
    struct xd_error error = {0};

    if (number == XD_HELD)
        return;
    xd_fail(&error, XD_E_CORRUPT,
            "%s: sent wrong bytes within %llu-%llu: their %s does not match",
            e->depots.list[number]->shown_url, (ull)range.begin,
            (ull)(range.end - 1), e->verify.pieces.algorithm);
    xd_blame_confirm_bad_locked(e, number, &error);
}

static bool delivered_part(const struct xd_suspicion *s, unsigned depot)
{
    return !xd_range_is_empty(xd_runs_next_of(&s->origins, depot, s->range));
}

/* Of what the depot delivered, how much lies in pieces that are right. */
static uint64_t proved_bytes(const struct xd_engine *e, unsigned depot)
{
    const struct xd_pieces *p = &e->verify.pieces;
    struct xd_range rest = e->wanted, run;
    uint64_t bytes = 0;

    while (run = xd_runs_next_of(&e->ledger.origins, depot, rest),
           !xd_range_is_empty(run)) {
        rest.begin = run.end;
        for (size_t j = xd_pieces_find(p, run.begin); j < p->n; j++) {
            struct xd_range in = xd_pieces_range(p, j);

            if (in.begin >= run.end)
                break;
            if (p->states[j] == XD_PIECE_GOOD)
                bytes += xd_range_length(xd_range_clip(in, run));
        }
    }
    return bytes;
}

static struct xd_range depot_range(unsigned depot)
{
    return (struct xd_range){depot, (uint64_t)depot + 1};
}

static bool was_asked(const struct xd_suspicion *s, unsigned depot)
{
    return xd_rangeset_contains(&s->asked, depot_range(depot));
}

/* The depot that is asked next, alone: the one with the most verified bytes,
 * for that one is honest and fast.  Where none has any, the one that delivered
 * most is fast at least, and one that had no part in the wrong copy is rather
 * honest. */
static bool choose(struct xd_engine *e, struct xd_suspicion *s)
{
    uint64_t most_proved = 0, most = 0;
    bool is_found = false;

    for (unsigned i = 0; i < e->depots.n; i++) {
        uint64_t proved, delivered = e->depots.list[i]->bytes;

        if (was_asked(s, i) || !holds_all(e->depots.list[i], s->range))
            continue;
        proved = proved_bytes(e, i);
        if (!delivered_part(s, i))
            delivered *= 2;
        if (is_found && (proved < most_proved ||
                         (proved == most_proved && delivered <= most)))
            continue;
        most_proved = proved;
        most = delivered;
        s->alone = i;
        is_found = true;
    }
    if (is_found && xd_rangeset_add(&s->asked, depot_range(s->alone)) < 0)
        xd_engine_fail_nomem_locked(e);
    return is_found;
}

/* Tell the scheduler that the depot holds of `range` what it does hold. */
static void restore_locked(struct xd_engine *e, unsigned depot,
                           struct xd_range range)
{
    struct xd_rangeset held;

    if (xd_depot_holds(e->depots.list[depot], &held) < 0) {
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

/* For the scheduler only one depot holds the piece, or again all that do. */
static void restrict_locked(struct xd_engine *e, const struct xd_suspicion *s,
                            bool to_one)
{
    for (unsigned i = 0; i < e->depots.n; i++) {
        if (e->depots.list[i]->is_banned)
            continue;
        if (to_one && i != s->alone)
            xd_report_lost_locked(e, i, s->range);
        else
            restore_locked(e, i, s->range);
    }
    if (to_one)
        distrust_lanes_locked(e, s->range, e->depots.list[s->alone]);
}

void xd_blame_joined_locked(struct xd_engine *e, unsigned depot)
{
    for (const struct xd_suspicion *s = e->verify.suspicions; s; s = s->next) {
        if (s->alone != depot)
            xd_report_lost_locked(e, depot, s->range);
    }
}

static void give_up_locked(struct xd_engine *e, const struct xd_suspicion *s)
{
    struct xd_error error = {0};

    xd_fail(&error, XD_E_CORRUPT,
            "no depot has bytes %llu-%llu that match their %s",
            (ull)s->range.begin, (ull)(s->range.end - 1),
            e->verify.pieces.algorithm);
    xd_engine_fail_locked(e, &error);
}

/* Read the piece as it is now, without the lock; NULL if it is too long or
 * cannot be read. */
static unsigned char *read_copy_locked(struct xd_engine *e,
                                       struct xd_range range)
{
    size_t len = (size_t)xd_range_length(range);
    unsigned char *copy = NULL;
    int rc = -1;

    if (xd_range_length(range) > MAX_COPY)
        return NULL;
    xd_engine_unlock(e);
    copy = xd_alloc(len, 1);
    if (copy)
        rc = xd_sink_read(e->dest.sink, range.begin - e->wanted.begin, copy,
                          len, NULL);
    xd_engine_lock(e);
    if (rc == 0)
        return copy;
    xd_free(copy);
    return NULL;
}

static struct xd_suspicion *suspect_locked(struct xd_engine *e, size_t piece)
{
    struct xd_suspicion *s = xd_alloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->piece = piece;
    s->range = xd_pieces_range(&e->verify.pieces, piece);
    if (xd_runs_copy_depots(&s->origins, &e->ledger.origins, s->range) < 0) {
        free_one(s);
        return NULL;
    }
    return s;
}

static void drop_locked(struct xd_engine *e, struct xd_suspicion **where)
{
    struct xd_suspicion *s = *where;

    *where = s->next;
    restrict_locked(e, s, false);
    free_one(s);
}

/* Ask the next depot alone for the piece of a suspicion: nothing of it stays
 * that another delivered.  False if there is none. */
static bool ask_next_locked(struct xd_engine *e, struct xd_suspicion *s)
{
    if (!choose(e, s))
        return false;
    restrict_locked(e, s, true);
    xd_discard_locked(e, s->range, XD_DISCARD_BAD_PIECE);
    return true;
}

/* Pieces in which a depot that is known to lie by now had a part: that explains
 * them, and any other may deliver them. */
static void drop_explained_locked(struct xd_engine *e)
{
    struct xd_suspicion **where = &e->verify.suspicions;

    while (*where) {
        bool is_explained = false;

        for (unsigned i = 0; i < e->depots.n && !is_explained; i++)
            is_explained =
                e->depots.list[i]->is_banned && delivered_part(*where, i);
        if (is_explained)
            drop_locked(e, where);
        else
            where = &(*where)->next;
    }
}

void xd_blame_bad_locked(struct xd_engine *e, size_t i)
{
    struct xd_suspicion **where = find(e, i);
    struct xd_suspicion *s = *where;
    struct xd_range range;
    unsigned only;

    if (s) {
        ban_locked(e, s->alone, s->range);
        if (!ask_next_locked(e, s))
            give_up_locked(e, s);
        drop_explained_locked(e);
        xd_engine_decide_later_locked(e);
        return;
    }
    s = suspect_locked(e, i);
    if (!s) {
        xd_engine_fail_nomem_locked(e);
        return;
    }
    range = s->range;
    if (xd_range_length(xd_runs_next_depot(&s->origins, range, &only)) ==
        xd_range_length(range)) {
        free_one(s);
        xd_discard_locked(e, range, XD_DISCARD_BAD_PIECE);
        ban_locked(e, only, range);
    } else {
        s->copy = read_copy_locked(e, s->range);
        s->next = e->verify.suspicions;
        e->verify.suspicions = s;
        if (!ask_next_locked(e, s))
            give_up_locked(e, s);
    }
    drop_explained_locked(e);
    xd_engine_decide_later_locked(e);
}

void xd_blame_good_locked(struct xd_engine *e, size_t i)
{
    struct xd_suspicion **where = find(e, i);
    struct xd_suspicion *s = *where;
    unsigned char *now;

    if (s) {
        struct xd_range rest = s->range, r;
        unsigned depot;

        now = s->copy ? read_copy_locked(e, s->range) : NULL;
        while (now && (r = xd_runs_next_depot(&s->origins, rest, &depot),
                       !xd_range_is_empty(r))) {
            uint64_t at = r.begin - s->range.begin;

            if (memcmp(now + at, s->copy + at, (size_t)xd_range_length(r)) != 0)
                ban_locked(e, depot, r);
            rest.begin = r.end;
        }
        xd_free(now);
        drop_locked(e, find(e, i));
        drop_explained_locked(e);
    }
    xd_engine_decide_later_locked(e);
}

bool xd_blame_next_locked(struct xd_engine *e, uint64_t byte)
{
    struct xd_suspicion *s = e->verify.suspicions;

    while (s && (byte < s->range.begin || byte >= s->range.end))
        s = s->next;
    return s && ask_next_locked(e, s);
}
