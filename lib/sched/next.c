/*
 * What to do next: the first of these that applies.
 *
 *     CANCEL a fetch of which others brought the rest
 *     FINISH when all is accepted
 *     FAIL   when a missing byte has no holder left
 *     PARK   a depot that runs nothing and is dropped, or can do no more
 *     OPEN   a depot, if a slot is free
 *     FETCH  on a free lane, what the policy chooses
 *     PARK   a depot that runs nothing, if one in reserve could bring the next
 *            byte and no open one can
 *     WAIT
 */
#include "sched/sched.h"

#include "sched/core.h"
#include "sched/holders.h"

/* As far as a fetch is going to bring the bytes; `byte` itself if none is. */
static uint64_t in_flight_to(const struct xd_sched *s, uint64_t byte)
{
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];

        if (f->is_live && f->got <= byte && byte < f->range.end)
            return f->range.end;
    }
    return byte;
}

/* The first byte from `from` on that has not arrived and that no fetch is
 * bringing; wanted.end if there is none. */
static uint64_t next_idle_byte(const struct xd_sched *s, uint64_t from)
{
    uint64_t end = s->book.wanted.end;

    while (from < end) {
        uint64_t byte =
            xd_rangeset_next_gap(&s->book.arrived, (struct xd_range){from, end})
                .begin;

        from = in_flight_to(s, byte);
        if (from == byte)
            return byte;
    }
    return end;
}

static bool try_cancel(struct xd_sched *s, struct xd_sched_action *a)
{
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        struct xd_fetch_state *f = &s->fetches[i];

        if (!f->is_live || !f->is_loser || f->is_canceled)
            continue;
        f->is_canceled = true;
        a->kind = XD_DO_CANCEL;
        a->fetch = i;
        a->depot = f->depot;
        a->lane = i % s->book.o.lanes_per_depot;
        a->range = f->range;
        return true;
    }
    return false;
}

static bool try_finish(struct xd_sched *s, struct xd_sched_action *a)
{
    struct xd_range wanted = s->book.wanted;

    if (!xd_range_is_empty(wanted) &&
        s->book.accepted.bytes < xd_range_length(wanted))
        return false;
    a->kind = XD_DO_FINISH;
    return true;
}

static bool try_fail(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;
    uint64_t byte = b->wanted.begin;

    if (s->all_have_holders)
        return false;
    while (byte = next_idle_byte(s, byte), byte < b->wanted.end) {
        if (xd_holders_bringer(b, 0, byte, &byte) < b->n_depots)
            continue;
        a->kind = XD_DO_FAIL;
        a->range = (struct xd_range){byte, byte + 1};
        return true;
    }
    /* Bytes in flight were passed over: they may still come to nothing. */
    s->all_have_holders = true;
    for (unsigned i = 0; i < b->n_fetches; i++)
        if (s->fetches[i].is_live &&
            b->depots[s->fetches[i].depot].state == XD_HOLDER_DROPPED)
            s->all_have_holders = false;
    return false;
}

static bool has_work(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    d->idle_to = xd_holders_work(&s->book, depot, d->idle_to);
    return d->idle_to < s->book.wanted.end;
}

static void park(struct xd_sched *s, unsigned depot, struct xd_sched_action *a)
{
    struct xd_holder *d = &s->book.depots[depot];
    unsigned slot = d->slot;

    s->book.slots[slot] = s->book.n_depots;
    d->slot = XD_NO_SLOT;
    if (d->state == XD_HOLDER_OPEN)
        d->state = XD_HOLDER_RESERVE;
    s->covered_to = s->book.wanted.begin;
    s->book.o.policy->parked(s->policy, depot, slot);
    a->kind = XD_DO_PARK;
    a->depot = depot;
}

static bool try_park(struct xd_sched *s, struct xd_sched_action *a)
{
    for (unsigned slot = 0; slot < s->book.n_slots; slot++) {
        unsigned depot = s->book.slots[slot];
        const struct xd_holder *d = &s->book.depots[depot];

        if (depot == s->book.n_depots || d->running > 0)
            continue;
        if (d->state == XD_HOLDER_OPEN && has_work(s, depot))
            continue;
        park(s, depot, a);
        return true;
    }
    return false;
}

/* The depot in reserve that could bring the first byte which is neither in
 * flight nor held by an open depot that is awake; n_depots if there is none.
 * A byte for which there is no such depot now is passed over. */
static unsigned find_urgent(struct xd_sched *s)
{
    const struct xd_book *b = &s->book;
    uint64_t byte;

    while (byte = next_idle_byte(s, s->covered_to), byte < b->wanted.end) {
        unsigned depot;

        s->covered_to = byte;
        if (xd_holders_bringer(b, XD_NEED_OPEN | XD_NEED_AWAKE, byte,
                               &s->covered_to) < b->n_depots)
            continue;
        depot =
            xd_holders_bringer(b, XD_NEED_RESERVE | XD_NEED_AWAKE, byte, &byte);
        if (depot < b->n_depots)
            return depot;
        if (xd_holders_bringer(b, 0, byte, &s->covered_to) == b->n_depots)
            s->covered_to++;
    }
    s->covered_to = b->wanted.end;
    return b->n_depots;
}

static unsigned find_preferred(struct xd_sched *s)
{
    for (unsigned i = 0; i < s->book.n_depots; i++) {
        const struct xd_holder *d = &s->book.depots[i];

        if (d->state == XD_HOLDER_RESERVE && !d->resting && has_work(s, i))
            return i;
    }
    return s->book.n_depots;
}

static bool try_open(struct xd_sched *s, struct xd_sched_action *a)
{
    struct xd_book *b = &s->book;
    unsigned slot = 0, preferred, depot;

    while (slot < b->n_slots && b->slots[slot] < b->n_depots)
        slot++;
    if (slot == b->n_slots)
        return false;
    preferred = find_preferred(s);
    if (preferred == b->n_depots)
        return false;
    depot = find_urgent(s);
    if (depot == b->n_depots)
        depot = preferred;
    b->slots[slot] = depot;
    b->depots[depot].slot = slot;
    b->depots[depot].state = XD_HOLDER_OPEN;
    b->o.policy->opened(s->policy, depot);
    a->kind = XD_DO_OPEN;
    a->depot = depot;
    return true;
}

/* A depot without ranges sends its object from the start, so it is asked once,
 * for all that only it can bring.  The window does not cut that short: each
 * further request would bring everything again. */
static bool choose_without_ranges(struct xd_sched *s, unsigned depot,
                                  struct xd_range *out)
{
    const struct xd_book *b = &s->book;
    uint64_t byte = b->depots[depot].idle_to, idle;
    struct xd_range rest, gap;

    if (b->depots[depot].running > 0)
        return false;
    for (;;) {
        byte = xd_holders_work(b, depot, byte);
        if (byte >= b->wanted.end || byte >= b->limit)
            return false;
        idle = in_flight_to(s, byte);
        if (idle == byte)
            break;
        byte = idle;
    }
    rest = (struct xd_range){byte, xd_holders_sole_end(b, depot, byte)};
    for (unsigned i = 0; i < b->n_fetches; i++) {
        const struct xd_fetch_state *f = &s->fetches[i];

        if (f->is_live && f->got < f->range.end && f->got > byte &&
            f->got < rest.end)
            rest.end = f->got;
    }
    *out = (struct xd_range){byte, byte};
    while (gap = xd_rangeset_next_gap(&b->arrived, rest),
           !xd_range_is_empty(gap)) {
        out->end = gap.end;
        rest.begin = gap.end;
    }
    return true;
}

static bool choose(struct xd_sched *s, unsigned fetch, unsigned depot,
                   struct xd_range *out)
{
    unsigned visits = 0;
    bool chosen;

    if (s->book.depots[depot].no_ranges)
        return choose_without_ranges(s, depot, out);
    chosen = s->book.o.policy->choose(s->policy, fetch, depot, out, &visits);
    if (visits > s->visits)
        s->visits = visits;
    return chosen;
}

static bool try_lane(struct xd_sched *s, unsigned slot, unsigned lane,
                     xd_usec now, struct xd_sched_action *a)
{
    unsigned fetch = slot * s->book.o.lanes_per_depot + lane;
    unsigned depot = s->book.slots[slot];
    struct xd_holder *d = &s->book.depots[depot];

    if (depot == s->book.n_depots || d->state != XD_HOLDER_OPEN || d->resting ||
        s->fetches[fetch].is_live)
        return false;
    if ((d->max_lanes > 0 && lane >= d->max_lanes) ||
        !choose(s, fetch, depot, &a->range))
        return false;
    s->fetches[fetch] = (struct xd_fetch_state){
        .is_live = true,
        .is_chosen = !d->no_ranges,
        .depot = depot,
        .range = a->range,
        .got = a->range.begin,
        .number = s->n_begun++,
    };
    d->running++;
    if (s->heard_at == XD_NEVER)
        s->heard_at = now;
    a->kind = XD_DO_FETCH;
    a->fetch = fetch;
    a->depot = depot;
    a->lane = lane;
    return true;
}

/* The first lane of each depot before the second of any, so that few blocks
 * are spread over many depots. */
static bool try_fetch(struct xd_sched *s, xd_usec now,
                      struct xd_sched_action *a)
{
    for (unsigned lane = 0; lane < s->book.o.lanes_per_depot; lane++)
        for (unsigned slot = 0; slot < s->book.n_slots; slot++)
            if (try_lane(s, slot, lane, now, a))
                return true;
    return false;
}

/* Nothing more can be begun.  If that is because those who could bring the
 * next byte are in reserve, or rest, one that runs nothing makes room.  Only
 * the first such byte counts, which then has an open depot: two depots never
 * take turns without work done. */
static bool try_swap(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;
    uint64_t byte, unused;
    unsigned victim = b->n_depots;

    if (find_preferred(s) == b->n_depots)
        return false;
    byte = next_idle_byte(s, b->wanted.begin);
    if (byte >= b->wanted.end || byte >= b->limit ||
        xd_holders_bringer(b, XD_NEED_OPEN | XD_NEED_AWAKE, byte, &unused) <
            b->n_depots ||
        xd_holders_bringer(b, XD_NEED_RESERVE | XD_NEED_AWAKE, byte, &unused) ==
            b->n_depots)
        return false;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot];

        if (depot < b->n_depots && b->depots[depot].running == 0 &&
            (victim == b->n_depots || !b->depots[victim].resting))
            victim = depot;
    }
    if (victim == b->n_depots)
        return false;
    park(s, victim, a);
    return true;
}

struct xd_sched_action xd_sched_next(struct xd_sched *s, xd_usec now)
{
    struct xd_sched_action a = {.kind = XD_DO_WAIT};

    s->visits = 0;
    if (s->wake_at <= now)
        xd_core_wake(s, now);
    if (try_cancel(s, &a) || try_finish(s, &a) || try_fail(s, &a) ||
        try_park(s, &a) || try_open(s, &a) || try_fetch(s, now, &a) ||
        try_swap(s, &a))
        return a;
    a.until = s->wake_at;
    return a;
}
