/* SPDX-License-Identifier: MIT */
#include "session/blame.h"

#include <xdownload/error.h>

#include "base/alloc.h"

static void free_one(struct xd_suspicion *s)
{
    xd_free(s->copy);
    xd_rangeset_fini(&s->differs);
    xd_rangeset_fini(&s->asked);
    xd_runs_fini(&s->origins);
    xd_free(s);
}

void xd_blame_fini(struct xd_blame *b)
{
    while (b->list) {
        struct xd_suspicion *next = b->list->next;

        free_one(b->list);
        b->list = next;
    }
}

static struct xd_suspicion *find(const struct xd_blame *b, size_t piece)
{
    struct xd_suspicion *s = b->list;

    while (s && s->piece != piece)
        s = s->next;
    return s;
}

bool xd_blame_suspects(const struct xd_blame *b, size_t piece)
{
    return find(b, piece) != NULL;
}

static void forget(struct xd_blame *b, struct xd_suspicion *s)
{
    struct xd_suspicion **where = &b->list;

    while (*where != s)
        where = &(*where)->next;
    *where = s->next;
    free_one(s);
}

/* ---- depots ---- */

static bool delivered_part(const struct xd_suspicion *s, unsigned depot)
{
    return !xd_range_is_empty(xd_runs_next_of(&s->origins, depot, s->range));
}

/* Returns how many bytes of verified pieces the depot delivered. */
static uint64_t proved_bytes(const struct xd_blame *b, unsigned depot)
{
    const struct xd_pieces *p = b->pieces;
    struct xd_range rest = *b->wanted, run;
    uint64_t bytes = 0;

    while (run = xd_runs_next_of(&b->ledger->origins, depot, rest),
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

/* Returns the number of pieces for which only this depot is asked. */
static unsigned count_asked(const struct xd_blame *b, unsigned depot)
{
    unsigned n = 0;

    for (const struct xd_suspicion *s = b->list; s; s = s->next)
        n += s->step == XD_SUSPICION_ASKED && s->alone == depot;
    return n;
}

/* Chooses the next depot to ask alone: the one with the most verified bytes,
 * because it is honest and fast.  Among equals, it chooses the depot that
 * delivered the most bytes.  The bytes of a depot count double if it delivered
 * no part of the wrong copy, and less if it is already asked alone for other
 * pieces. */
static bool choose(const struct xd_blame *b, struct xd_suspicion *s,
                   size_t n_depots)
{
    uint64_t most_proved = 0, most = 0;
    bool is_found = false;

    for (unsigned i = 0; i < n_depots; i++) {
        struct xd_blame_depot depot = b->look(b->world, i, s->range);
        uint64_t proved, delivered = depot.bytes;

        if (depot.is_banned || !depot.has_range ||
            xd_rangeset_contains(&s->asked, depot_range(i)))
            continue;
        proved = proved_bytes(b, i);
        if (!delivered_part(s, i))
            delivered *= 2;
        delivered /= 1 + count_asked(b, i);
        if (is_found && (proved < most_proved ||
                         (proved == most_proved && delivered <= most)))
            continue;
        most_proved = proved;
        most = delivered;
        s->alone = i;
        is_found = true;
    }
    return is_found;
}

/* ---- events ---- */

/* Returns whether one depot delivered the whole piece. */
static bool is_of_one(const struct xd_runs *origins, struct xd_range piece,
                      unsigned *out_depot)
{
    const struct xd_range run = xd_runs_next_depot(origins, piece, out_depot);

    return xd_range_length(run) == xd_range_length(piece);
}

bool xd_blame_needs_bytes(const struct xd_blame *b, size_t piece, bool is_right)
{
    unsigned depot;

    if (find(b, piece))
        return is_right;
    return !is_right && !is_of_one(&b->ledger->origins,
                                   xd_pieces_range(b->pieces, piece), &depot);
}

int xd_blame_wrong(struct xd_blame *b, size_t piece)
{
    struct xd_suspicion *s = find(b, piece);
    unsigned depot;

    /* Several depots delivered the piece if none was asked alone, or if a
     * banned depot was pardoned meanwhile, which restores its bytes. */
    if (s) {
        s->step = s->alone != XD_HELD &&
                          is_of_one(&b->ledger->origins, s->range, &depot) &&
                          depot == s->alone
                      ? XD_SUSPICION_REFUTED
                      : XD_SUSPICION_ASK;
        return 0;
    }
    s = xd_alloc(1, sizeof *s);
    if (!s)
        return XD_E_NOMEM;
    s->piece = piece;
    s->range = xd_pieces_range(b->pieces, piece);
    if (xd_runs_copy_depots(&s->origins, &b->ledger->origins, s->range) < 0) {
        free_one(s);
        return XD_E_NOMEM;
    }
    s->step = is_of_one(&s->origins, s->range, &s->alone) ? XD_SUSPICION_ONE
                                                          : XD_SUSPICION_COPY;
    s->next = b->list;
    b->list = s;
    return 0;
}

void xd_blame_right(struct xd_blame *b, size_t piece)
{
    struct xd_suspicion *s = find(b, piece);

    if (s)
        s->step = XD_SUSPICION_RIGHT;
}

bool xd_blame_to_combine(const struct xd_blame *b,
                         const struct xd_suspicion **out)
{
    for (*out = b->list; *out; *out = (*out)->next)
        if ((*out)->step == XD_SUSPICION_COMBINE)
            return true;
    return false;
}

void xd_blame_in_vain(struct xd_blame *b, size_t piece, unsigned n_combined,
                      bool has_more)
{
    struct xd_suspicion *s = find(b, piece);

    if (!s)
        return;
    s->step = XD_SUSPICION_IN_VAIN;
    s->n_combined = n_combined;
    s->has_more = has_more;
}

void xd_blame_refetch(struct xd_blame *b, size_t piece)
{
    struct xd_suspicion *s = find(b, piece);

    if (s)
        s->step = XD_SUSPICION_ASKED;
}

bool xd_blame_keeps_out(const struct xd_suspicion *s, unsigned depot)
{
    return s->alone != depot && s->alone != XD_HELD;
}

/* ---- actions ---- */

static struct xd_blame_action act(struct xd_suspicion *s,
                                  enum xd_blame_action_kind kind,
                                  enum xd_suspicion_step step)
{
    s->step = step;
    return (struct xd_blame_action){
        .kind = kind, .depot = s->alone, .range = s->range, .suspicion = s};
}

static struct xd_blame_action last_act(struct xd_blame *b,
                                       struct xd_suspicion *s,
                                       enum xd_blame_action_kind kind)
{
    struct xd_blame_action a = {
        .kind = kind, .depot = s->alone, .range = s->range};

    forget(b, s);
    return a;
}

static bool has_some(const struct xd_blame *b, struct xd_range range,
                     size_t n_depots)
{
    for (unsigned i = 0; i < n_depots; i++)
        if (b->look(b->world, i, range).has_some)
            return true;
    return false;
}

/* No single depot is left that has the whole piece, but depots with parts of it
 * may have right bytes.  If all of the piece is stored, combinations of copies
 * are tried.  Otherwise it is fetched once more from all depots. */
static struct xd_blame_action ask_all(const struct xd_blame *b,
                                      struct xd_suspicion *s, size_t n_depots)
{
    const bool was_asked = s->alone == XD_HELD;

    if (xd_ledger_has(b->ledger, XD_BYTES_STORED, s->range)) {
        s->step = XD_SUSPICION_COMBINE;
        s->alone = XD_HELD;
        return (struct xd_blame_action){.kind = XD_BLAME_NOTHING};
    }
    if (was_asked || !has_some(b, s->range, n_depots))
        return act(s, XD_BLAME_GIVE_UP, XD_SUSPICION_ASKED);
    s->alone = XD_HELD;
    return act(s, XD_BLAME_RELEASE, XD_SUSPICION_ASKED);
}

static struct xd_blame_action ask(const struct xd_blame *b,
                                  struct xd_suspicion *s, size_t n_depots)
{
    if (!choose(b, s, n_depots))
        return ask_all(b, s, n_depots);
    if (xd_rangeset_add(&s->asked, depot_range(s->alone)) < 0)
        return act(s, XD_BLAME_NO_MEMORY, XD_SUSPICION_ASKED);
    return act(s, XD_BLAME_ASK, XD_SUSPICION_ASKED);
}

/* Bans the depots with wrong bytes, one per call. */
static struct xd_blame_action ban_or_release(struct xd_blame *b,
                                             struct xd_suspicion *s)
{
    struct xd_range rest = {s->judged, s->range.end}, run;
    unsigned depot;

    while (run = xd_runs_next_depot(&s->origins, rest, &depot),
           !xd_range_is_empty(run)) {
        const struct xd_range wrong = xd_rangeset_next(&s->differs, run);

        rest.begin = s->judged = xd_range_is_empty(wrong) ? run.end : wrong.end;
        if (depot != XD_HELD && !xd_range_is_empty(wrong))
            return (struct xd_blame_action){
                .kind = XD_BLAME_BAN, .depot = depot, .range = wrong};
    }
    return last_act(b, s, XD_BLAME_RELEASE);
}

static struct xd_blame_action advance(struct xd_blame *b,
                                      struct xd_suspicion *s, size_t n_depots)
{
    switch (s->step) {
    case XD_SUSPICION_ONE:
        /* an earlier run received the bytes from an unknown depot */
        if (s->alone == XD_HELD)
            return last_act(b, s, XD_BLAME_DISCARD);
        return act(s, XD_BLAME_DISCARD, XD_SUSPICION_ONE_BAN);
    case XD_SUSPICION_ONE_BAN:
        return last_act(b, s, XD_BLAME_BAN);
    case XD_SUSPICION_COPY:
        return act(s, XD_BLAME_COPY, XD_SUSPICION_ASK);
    case XD_SUSPICION_REFUTED:
        return act(s, XD_BLAME_BAN, XD_SUSPICION_ASK);
    case XD_SUSPICION_ASK:
        return ask(b, s, n_depots);
    case XD_SUSPICION_RIGHT:
        s->judged = s->range.begin;
        return act(s, XD_BLAME_COMPARE, XD_SUSPICION_COMPARED);
    case XD_SUSPICION_COMPARED:
        return ban_or_release(b, s);
    case XD_SUSPICION_IN_VAIN:
        return act(s, XD_BLAME_GIVE_UP, XD_SUSPICION_ASKED);
    case XD_SUSPICION_ASKED:
    case XD_SUSPICION_COMBINE:
        break;
    }
    return (struct xd_blame_action){.kind = XD_BLAME_NOTHING};
}

/* Returns whether a depot that delivered part of the piece has been banned
 * meanwhile.  That explains the wrong piece, so any other depot may deliver
 * it. */
static bool is_explained(const struct xd_blame *b, const struct xd_suspicion *s,
                         size_t n_depots)
{
    for (unsigned i = 0; i < n_depots; i++)
        if (delivered_part(s, i) && b->look(b->world, i, s->range).is_banned)
            return true;
    return false;
}

struct xd_blame_action xd_blame_next(struct xd_blame *b, size_t n_depots)
{
    for (struct xd_suspicion *s = b->list, *next; s; s = next) {
        struct xd_blame_action a;

        next = s->next;
        a = advance(b, s, n_depots);
        if (a.kind != XD_BLAME_NOTHING)
            return a;
    }
    for (struct xd_suspicion *s = b->list; s; s = s->next)
        if (s->step == XD_SUSPICION_ASKED && is_explained(b, s, n_depots))
            return last_act(b, s, XD_BLAME_RELEASE);
    return (struct xd_blame_action){.kind = XD_BLAME_NOTHING};
}

struct xd_blame_action xd_blame_ask_another(struct xd_blame *b, uint64_t byte,
                                            size_t n_depots)
{
    struct xd_suspicion *s = b->list;
    struct xd_blame_action a = {.kind = XD_BLAME_NOTHING};

    while (s && (byte < s->range.begin || byte >= s->range.end))
        s = s->next;
    if (s && s->step == XD_SUSPICION_ASKED)
        a = ask(b, s, n_depots);
    if (a.kind == XD_BLAME_GIVE_UP)
        a.kind = XD_BLAME_NOTHING;
    return a;
}

/* A single wrong copy may just be outdated.  A depot is bad only if it sent
 * more wrong copies than this, and if more than half of its copies were
 * wrong. */
#define MOST_WRONG_COPIES 3

bool xd_blame_spares(unsigned n_wrong, uint64_t n_delivered)
{
    return n_wrong <= MOST_WRONG_COPIES || 2 * (uint64_t)n_wrong <= n_delivered;
}

/* ---- consequences of a ban ---- */

bool xd_blame_doubts_held(const struct xd_blame *b)
{
    return !xd_pieces_cover(b->pieces, *b->wanted);
}

/* Returns the part of `run` before the first boundary of a piece in it. */
static struct xd_range clip_to_piece(const struct xd_pieces *p, size_t piece,
                                     struct xd_range run)
{
    struct xd_range in;
    uint64_t edge;

    if (piece == p->n)
        return run;
    in = xd_pieces_range(p, piece);
    edge = in.begin > run.begin ? in.begin : in.end;
    if (edge < run.end)
        run.end = edge;
    return run;
}

static bool is_proved(const struct xd_pieces *p, size_t piece, uint64_t byte)
{
    return piece < p->n && xd_pieces_range(p, piece).begin <= byte &&
           p->states[piece] == XD_PIECE_GOOD;
}

struct xd_range xd_blame_next_unproved(const struct xd_blame *b, unsigned depot,
                                       struct xd_range within)
{
    bool and_held = xd_blame_doubts_held(b);
    struct xd_range run;
    unsigned origin;

    while (run = xd_runs_next_depot(&b->ledger->origins, within, &origin),
           !xd_range_is_empty(run)) {
        size_t piece = xd_pieces_find(b->pieces, run.begin);
        bool is_its = origin == depot || (and_held && origin == XD_HELD);

        if (is_its)
            run = clip_to_piece(b->pieces, piece, run);
        if (is_its && !is_proved(b->pieces, piece, run.begin))
            return run;
        within.begin = run.end;
    }
    return (struct xd_range){within.end, within.end};
}
