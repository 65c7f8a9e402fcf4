/* SPDX-License-Identifier: MIT */
/*
 * What each request in flight is to deliver: the only place where bytes become
 * ASSIGNED, and cease to be, for every policy.
 *
 *     request 0   |=== received ===|---- assigned ----|...... offered ......|
 *     request 1                                       |------ assigned -----|
 *
 * Of two requests for the same bytes one has them assigned: a request that asks
 * only for what others are to deliver has none, nor has a stopgap.
 */
#include <xdownload/error.h>

#include "sched/core.h"

/* For the requests of one round of decisions, so that none waits for memory:
 * each is assigned once, and offered once. */
int xd_core_make_room(struct xd_sched *s)
{
    return xd_ledger_reserve(s->book.ledger, 2 * (size_t)s->book.n_fetches);
}

void xd_core_assign(struct xd_sched *s, unsigned fetch, struct xd_range r,
                    bool is_stopgap)
{
    /* Without the memory for it others may be asked for them as well. */
    s->book.assigned[fetch] = r;
    if (is_stopgap || xd_ledger_has(s->book.ledger, XD_BYTES_ASSIGNED, r) ||
        xd_ledger_change(s->book.ledger, XD_ASSIGN, r) < 0)
        s->book.assigned[fetch].end = r.begin;
}

int xd_book_offer(const struct xd_book *b, unsigned fetch, struct xd_range r)
{
    if (xd_ledger_change(b->ledger, XD_RELEASE, r) < 0)
        return XD_E_NOMEM;
    b->assigned[fetch].end = r.begin;
    return 0;
}

int xd_core_release(struct xd_sched *s, struct xd_range r)
{
    const struct xd_book *b = &s->book;
    int rc = xd_ledger_change(b->ledger, XD_RELEASE, r);

    for (unsigned i = 0; rc == 0 && i < b->n_fetches; i++) {
        struct xd_range rest = {s->fetches[i].got, b->assigned[i].end};

        /* What it has delivered it does not deliver again. */
        if (s->fetches[i].is_live)
            rc = xd_ledger_change(b->ledger, XD_ASSIGN, xd_core_clip(rest, r));
    }
    return rc;
}

int xd_core_unassign(struct xd_sched *s, unsigned fetch)
{
    struct xd_range r = s->fetches[fetch].range;

    /* The end of a file may have become known since. */
    if (r.end < s->book.assigned[fetch].end)
        r.end = s->book.assigned[fetch].end;
    s->book.assigned[fetch].end = s->book.assigned[fetch].begin;
    return xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, r)
               ? 0
               : xd_core_release(s, r);
}
