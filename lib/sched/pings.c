/* SPDX-License-Identifier: MIT */
/*
 * Chooses which depots to ping, and which depot in reserve to open next:
 *
 *     unseen ---ping---> near, by round trip ---> opened
 *        ^        |----> refused: a failure; unseen again after a back-off
 *     parked      +----> silent: after all others
 *
 * There are enough pings to have a near depot in reserve for each slot, and a
 * choice.  If many depots refuse, more are pinged at a time.
 */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "sched/core.h"

/* Among this many depots some are near. */
#define ENOUGH 64

/* If there are at most this many times as many depots as are opened at first,
 * pings cost more time than the choice saves. */
#define FEW 1.5

/* Returns whether every depot that holds anything holds the whole wanted range.
 * Otherwise too few depots have a byte to choose from them. */
static bool are_mirrors(const struct xd_book *b)
{
    for (unsigned i = 0; i < b->n_depots; i++)
        if ((!b->has_tiers || b->depots[i].held.n > 0) &&
            !xd_rangeset_contains(&b->depots[i].held, b->wanted))
            return false;
    return true;
}

int xd_core_settle_pings(struct xd_sched *s)
{
    struct xd_book *b = &s->book;
    unsigned first = b->n_slots, unseen = b->n_slots;

    if (b->o.max_pings == 0)
        return 0;
    if (b->o.policy->opens)
        b->o.policy->opens(s->policy, &first, &unseen);
    s->most_unseen = unseen < b->n_slots ? unseen : b->n_slots;
    s->pings_first = unseen < first;
    if (b->n_depots <= FEW * first || !are_mirrors(b))
        return 0;
    b->near = xd_alloc(b->n_depots, sizeof *b->near);
    if (b->near == NULL)
        return XD_E_NOMEM;
    b->has_pings = true;
    for (unsigned i = 0; i < b->n_depots; i++)
        xd_core_place(s, i);
    return 0;
}

bool xd_sched_has_pings(const struct xd_sched *s)
{
    return s->book.has_pings;
}

static enum xd_nearness nearness_of(enum xd_ping_result result)
{
    switch (result) {
    case XD_PING_ANSWERED:
        return XD_IS_NEAR;
    case XD_PING_SILENT:
        return XD_IS_SILENT;
    case XD_PING_UNKNOWN:
        return XD_CANNOT_BE_PINGED;
    case XD_PING_REFUSED:
        break;
    }
    return XD_NOT_PINGED;
}

static void set_nearness(struct xd_sched *s, unsigned depot,
                         enum xd_nearness nearness, xd_usec round_trip)
{
    struct xd_holder *d = &s->book.depots[depot];

    s->n_pings -= d->nearness == XD_IS_PINGED;
    s->n_pings += nearness == XD_IS_PINGED;
    if (d->is_listed) { /* its position depends on the old values */
        d->nearness = XD_NOT_PINGED;
        xd_core_place(s, depot);
    }
    d->nearness = nearness;
    d->round_trip = round_trip;
    xd_core_place(s, depot);
}

void xd_core_pinged(struct xd_sched *s, const struct xd_sched_event *ev)
{
    struct xd_holder *d = &s->book.depots[ev->depot];

    if (ev->ping == XD_PING_ANSWERED)
        d->answered_at = ev->now;
    if (!s->book.has_pings)
        return;
    set_nearness(s, ev->depot, nearness_of(ev->ping), ev->round_trip);
    if (ev->ping != XD_PING_REFUSED)
        return;
    s->n_refused++;
    if (d->state == XD_HOLDER_RESERVE && !d->is_backing_off)
        xd_core_refused(s, ev->depot, ev->now, ev->retry_at);
}

static unsigned find_near(struct xd_sched *s)
{
    const struct xd_book *b = &s->book;

    for (unsigned i = 0; i < b->n_near; i++) {
        s->steps++;
        if (xd_core_has_work(s, b->near[i]))
            return b->near[i];
    }
    return b->n_depots;
}

static unsigned find_unseen(struct xd_sched *s)
{
    unsigned i = xd_core_find_worker(s, &s->book.unseen);

    return i < s->book.n_depots ? i
                                : xd_core_find_worker(s, &s->book.unseen_tried);
}

/* The policies of the paper open all depots that they may, and need pings only
 * to replace some. */
static bool wants_pings(const struct xd_sched *s)
{
    return s->needs_pings || (s->pings_first && s->n_unseen >= s->most_unseen);
}

/* Expects as many refusals among the pings in progress as before. */
static bool has_enough(struct xd_sched *s)
{
    const struct xd_book *b = &s->book;
    unsigned enough = b->n_slots > ENOUGH ? b->n_slots : ENOUGH;

    if (b->n_near < enough && b->n_near + s->n_pings < enough + s->n_refused)
        return false;
    return s->n_pings > 0 || find_near(s) < b->n_depots;
}

bool xd_core_try_ping(struct xd_sched *s, struct xd_sched_action *a)
{
    const struct xd_book *b = &s->book;
    unsigned depot;

    if (s->n_pings == b->o.max_pings || !wants_pings(s) || has_enough(s))
        return false;
    depot = find_unseen(s);
    if (depot == b->n_depots)
        return false;
    set_nearness(s, depot, XD_IS_PINGED, 0);
    a->kind = XD_DO_PING;
    a->depot = depot;
    return true;
}

unsigned xd_core_choose_reserve(struct xd_sched *s, unsigned preferred)
{
    const struct xd_book *b = &s->book;
    unsigned near;

    if (preferred < b->n_depots &&
        (b->depots[preferred].guess.rate > 0 ||
         b->depots[preferred].nearness == XD_CANNOT_BE_PINGED))
        return preferred;
    near = find_near(s);
    if (near < b->n_depots)
        return near;
    if (preferred < b->n_depots &&
        b->depots[preferred].nearness == XD_NOT_PINGED &&
        s->n_unseen < s->most_unseen)
        return preferred;
    s->needs_pings = true;
    return s->n_pings > 0 || find_unseen(s) < b->n_depots ? b->n_depots
                                                          : preferred;
}
