/* SPDX-License-Identifier: MIT */
/*
 * Tracks the bytes that each request in flight has to deliver.  For every
 * policy, this is the only file in which bytes become ASSIGNED and stop being
 * so.
 *
 *     request 0   |=== received ===|---- assigned ----|...... offered ......|
 *     request 1                                       |------ assigned -----|
 *
 * Bytes are assigned to one request only.  A request that only asks for bytes
 * assigned to others has none, and neither has a stopgap.
 */
#include <xdownload/error.h>

#include "sched/core.h"

/* Reserves memory for a whole round of decisions, so that none of them fails:
 * each request is assigned once and offered once. */
int xd_core_make_room(struct xd_sched *s)
{
    return xd_ledger_reserve(s->book.ledger, 2 * (size_t)s->book.n_fetches);
}

void xd_core_assign(struct xd_sched *s, unsigned fetch, struct xd_range r,
                    bool is_stopgap)
{
    /* If memory runs out, the bytes stay free for other depots. */
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

        /* A fetch does not deliver again what it has already delivered. */
        if (s->fetches[i].is_live)
            rc = xd_ledger_change(b->ledger, XD_ASSIGN, xd_core_clip(rest, r));
    }
    return rc;
}

int xd_core_unassign(struct xd_sched *s, unsigned fetch)
{
    struct xd_range r = s->fetches[fetch].range;

    /* The size of the file may have become known since. */
    if (r.end < s->book.assigned[fetch].end)
        r.end = s->book.assigned[fetch].end;
    s->book.assigned[fetch].end = s->book.assigned[fetch].begin;
    return xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, r)
               ? 0
               : xd_core_release(s, r);
}
