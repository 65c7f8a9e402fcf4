/* SPDX-License-Identifier: MIT */
/*
 * Limits how many objects are begun and not verified, if the wanted range
 * consists of many.  The window ends after the last object that may be begun,
 * and advances when one of them is done.
 *
 *     objects   |==|==|......|=====|...|......|      |    |         |
 *                     begun        begun      horizon
 */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "sched/core.h"

static bool is_bounded(const struct xd_sched *s)
{
    return s->horizon.begun != NULL;
}

/* Returns whether the object is verified, or never will be. */
static bool is_done_with(const struct xd_sched *s, struct xd_range object)
{
    return xd_ledger_has(s->book.ledger, XD_BYTES_DONE, object) ||
           !xd_range_is_empty(xd_rangeset_next(&s->unavailable, object));
}

static void move_on(struct xd_sched *s)
{
    struct xd_book *b = &s->book;
    struct xd_range *window = &b->windows[0].range;

    while (s->horizon.n < b->o.most_objects && window->end < b->wanted.end) {
        struct xd_range next =
            xd_book_cut(b, (struct xd_range){window->end, b->wanted.end});

        if (!is_done_with(s, next))
            s->horizon.begun[s->horizon.n++] = next;
        window->end = next.end;
        s->all_have_holders = false;
    }
}

int xd_core_make_horizon(struct xd_sched *s)
{
    struct xd_book *b = &s->book;

    if (b->o.most_objects == 0 || b->o.window_bytes > 0 || s->size_is_unknown ||
        b->n_windows == 0)
        return 0;
    s->horizon.begun = xd_alloc(b->o.most_objects, sizeof *s->horizon.begun);
    if (!is_bounded(s))
        return XD_E_NOMEM;
    b->windows[0].range.end = b->wanted.begin;
    move_on(s);
    return 0;
}

bool xd_core_extend_horizon(struct xd_sched *s)
{
    if (is_bounded(s))
        move_on(s);
    return is_bounded(s);
}

void xd_core_move_horizon(struct xd_sched *s, struct xd_range r)
{
    unsigned n = 0;

    if (!is_bounded(s))
        return;
    for (unsigned i = 0; i < s->horizon.n; i++) {
        const struct xd_range object = s->horizon.begun[i];

        if (object.begin >= r.end || r.begin >= object.end ||
            !is_done_with(s, object))
            s->horizon.begun[n++] = object;
    }
    s->horizon.n = n;
    move_on(s);
}
