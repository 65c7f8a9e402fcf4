/* SPDX-License-Identifier: MIT */
/* Puts each depot into the sets that are searched, and into the list of near
 * depots, by round trip. */
#include "sched/core.h"

/* Returns the position of the depot in `near`, or where it would be
 * inserted. */
static unsigned place_in_near(const struct xd_book *b, unsigned depot)
{
    unsigned i = 0;

    while (i < b->n_near && b->near[i] != depot &&
           b->depots[b->near[i]].round_trip <= b->depots[depot].round_trip)
        i++;
    return i;
}

static void enter_near(struct xd_book *b, unsigned depot)
{
    unsigned at = place_in_near(b, depot);

    for (unsigned i = b->n_near++; i > at; i--)
        b->near[i] = b->near[i - 1];
    b->near[at] = depot;
}

static void leave_near(struct xd_book *b, unsigned depot)
{
    b->n_near--;
    for (unsigned i = place_in_near(b, depot); i < b->n_near; i++)
        b->near[i] = b->near[i + 1];
}

/* Updates the sets of depots to ping and the list of near depots. */
static void list(struct xd_book *b, unsigned depot, bool is_ready,
                 bool is_fresh)
{
    struct xd_holder *d = &b->depots[depot];
    bool is_unseen =
        is_ready && d->nearness == XD_NOT_PINGED && d->guess.rate <= 0;
    bool is_listed = is_ready && is_fresh && d->nearness == XD_IS_NEAR;

    xd_depot_set_put(&b->unseen, depot, is_unseen && is_fresh);
    xd_depot_set_put(&b->unseen_tried, depot, is_unseen && !is_fresh);
    if (is_listed == d->is_listed)
        return;
    d->is_listed = is_listed;
    if (is_listed)
        enter_near(b, depot);
    else
        leave_near(b, depot);
}

void xd_core_place(struct xd_sched *s, unsigned depot)
{
    struct xd_book *b = &s->book;
    const struct xd_holder *d = &b->depots[depot];
    bool is_usable = d->state != XD_HOLDER_DROPPED;
    bool is_ready = d->state == XD_HOLDER_RESERVE && !d->is_backing_off;
    bool is_fresh =
        d->failures + d->preempted == 0 && d->nearness != XD_IS_SILENT;

    xd_depot_set_put(&b->usable, depot, is_usable);
    xd_depot_set_put(&b->proven, depot,
                     is_usable && d->has_delivered && !d->no_ranges);
    xd_depot_set_put(&b->without_ranges, depot, is_usable && d->no_ranges);
    xd_depot_set_put(&b->fresh, depot, is_ready && is_fresh);
    xd_depot_set_put(&b->tried, depot, is_ready && !is_fresh);
    if (b->has_pings)
        list(b, depot, is_ready, is_fresh);
}
