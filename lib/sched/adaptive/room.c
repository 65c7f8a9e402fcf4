/* SPDX-License-Identifier: MIT */
/* How many requests a depot may get now. */
#include "sched/adaptive/adaptive.h"

#include <limits.h>

/* Returns how many requests at a time the depot serves, as far as it has
 * refused more; 0: it has not.  If it refused connections, and the next
 * requests share one, they are not limited. */
static unsigned ceiling_of(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];

    return d->ceiling_spreads == (d->shares && p->object >= XD_SHORT)
               ? d->ceiling
               : 0;
}

unsigned xd_most_at_a_time(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];
    unsigned most = xd_most_requests(p, depot);

    /* After a failure, a single request shows whether the depot works again. */
    if (d->failures + d->preempted > 0 || p->line.is_slow)
        most = 1;
    if (d->max_lanes > 0 && d->max_lanes < most)
        most = d->max_lanes;
    if (ceiling_of(p, depot) > 0 && ceiling_of(p, depot) < most)
        most = ceiling_of(p, depot);
    if (d->governed > 0 && d->governed < most)
        most = d->governed;
    return most;
}

bool xd_is_late(const struct xd_adaptive *p, const struct xd_conn *c)
{
    double late = 2 * xd_setup_of(p, c->depot);

    return xd_own_byte_in(p, c) >
           xd_greater(late, c->has_begun ? 2 * XD_QUIET_S : XD_QUIET_S);
}

/* Returns whether a request to the depot waits for its first byte and is not
 * stalled. */
static bool has_waiting(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (c[i].is_running && !c[i].has_begun && !xd_is_late(p, &c[i]))
            return true;
    return false;
}

/* Returns how many requests a depot may get that was asked and has not
 * answered.  The answer shows whether the depot has the file and gives ranges;
 * if not, each request fails, or delivers the whole file.  A far depot answers
 * too late: to wait for it would cost more than it saves, and a player would
 * see it.  If there are several depots, or an earlier download has used
 * several connections, one more is risked sooner.  If the user has given the
 * number of connections, all of them are. */
static unsigned most_unheard(const struct xd_adaptive *p, unsigned depot)
{
    xd_usec silence = p->now - p->depots[depot].asked_at;
    bool is_alone = p->book->n_depots == 1 &&
                    p->book->depots[depot].guess.learned.useful == 0;

    if (silence >= XD_NEAR_TICK ||
        ((xd_count_players(p) > 0 || p->book->o.first_lanes == 0) &&
         silence >= 2 * XD_FIRST_TICK))
        return UINT_MAX;
    return is_alone || silence < 2 * XD_FIRST_TICK ? 1 : 2;
}

unsigned xd_room_of(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];
    unsigned most = xd_most_at_a_time(p, depot);

    if (xd_is_unheard(p, depot) && most_unheard(p, depot) < most)
        most = most_unheard(p, depot);
    if (!xd_holder_is_ready(d) || d->running >= most || xd_is_surplus(p, depot))
        return 0;
    /* The next request shows whether a depot that has refused some accepts
     * more. */
    if (d->is_spared)
        return has_waiting(p, depot) ? 0 : 1;
    return most - d->running;
}
