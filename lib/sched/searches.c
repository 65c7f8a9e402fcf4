/* SPDX-License-Identifier: MIT */
/* Searches for depots that hold a missing byte, and remembers the results. */
#include "sched/core.h"
#include "sched/holders.h"

void xd_core_forget_searches(struct xd_sched *s)
{
    s->all_have_holders = false;
    s->covered_to = s->book.wanted.begin;
    s->book.search++;
}

bool xd_core_has_work(struct xd_sched *s, unsigned depot)
{
    struct xd_holder *d = &s->book.depots[depot];

    if (d->idle_search != s->book.search)
        d->idle_to = s->book.wanted.begin;
    d->idle_search = s->book.search;
    d->idle_to = xd_holders_work(&s->book, depot, d->idle_to);
    return d->idle_to < s->book.wanted.end;
}

unsigned xd_core_find_worker(struct xd_sched *s, const struct xd_depot_set *set)
{
    unsigned i = xd_depot_set_next(set, 0);

    if (xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, s->book.wanted))
        return s->book.n_depots;
    while (i < s->book.n_depots && ++s->steps && !xd_core_has_work(s, i))
        i = xd_depot_set_next(set, i + 1);
    return i;
}
