/* SPDX-License-Identifier: MIT */
/* The windows of readers, most urgent first. */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/check.h"
#include "sched/core.h"
#include "sched/holders.h"

/* Without readers there is a single window: everything, without a deadline.
 * Otherwise the first reader begins at the start. */
int xd_core_make_window(struct xd_sched *s)
{
    s->windows_capacity = 1;
    s->book.windows = xd_alloc(1, sizeof *s->book.windows);
    if (s->book.windows == NULL)
        return XD_E_NOMEM;
    s->book.windows[0].range = s->book.wanted;
    if (s->book.o.window_bytes > 0 &&
        s->book.o.window_bytes < xd_range_length(s->book.wanted))
        s->book.windows[0].range.end =
            s->book.wanted.begin + s->book.o.window_bytes;
    s->book.n_windows = !xd_range_is_empty(s->book.wanted);
    return 0;
}

/* Returns when the first missing byte of the window is needed. */
static xd_usec needed_at(const struct xd_sched *s, const struct xd_window *w)
{
    struct xd_range gap =
        xd_ledger_next_gap(s->book.ledger, XD_BYTES_RECEIVED, w->range);
    double later = (double)(gap.begin - w->range.begin) * (double)XD_SECOND;

    if (xd_range_is_empty(gap) || w->due == XD_NEVER)
        return XD_NEVER;
    if (w->bytes_per_s == 0)
        return w->due;
    later /= (double)w->bytes_per_s;
    return later < (double)(XD_NEVER - w->due) ? w->due + (xd_usec)later
                                               : XD_NEVER;
}

static bool is_before(const struct xd_sched *s, const struct xd_window *a,
                      const struct xd_window *b)
{
    xd_usec a_at = needed_at(s, a), b_at = needed_at(s, b);

    return a_at != b_at ? a_at < b_at : a->reader < b->reader;
}

void xd_core_rank_windows(struct xd_sched *s)
{
    struct xd_window *list = s->book.windows;

    for (unsigned i = 1; i < s->book.n_windows; i++)
        for (unsigned j = i; j > 0 && is_before(s, &list[j], &list[j - 1]);
             j--) {
            struct xd_window w = list[j];

            list[j] = list[j - 1];
            list[j - 1] = w;
        }
}

/* Returns whether a window still wants bytes of the fetch. */
static bool is_wanted(const struct xd_sched *s, const struct xd_fetch_state *f)
{
    struct xd_range rest = {f->got, f->range.end};

    if (xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, rest))
        return true; /* it is done or a loser */
    for (unsigned i = 0; i < s->book.n_windows; i++) {
        struct xd_range part = xd_core_clip(rest, s->book.windows[i].range);

        if (!xd_ledger_has(s->book.ledger, XD_BYTES_RECEIVED, part))
            return true;
    }
    return false;
}

/* Returns how far adjacent windows contain the bytes, starting at `byte`. */
static uint64_t wanted_to(const struct xd_book *b, uint64_t byte)
{
    uint64_t from;

    do {
        from = byte;
        for (unsigned i = 0; i < b->n_windows; i++)
            if (b->windows[i].range.begin <= byte &&
                byte < b->windows[i].range.end)
                byte = b->windows[i].range.end;
    } while (byte > from);
    return byte;
}

/* Returns true if a fetch without ranges is inside the window, or will reach it
 * when it continues. */
static bool leads_to(const struct xd_sched *s, const struct xd_fetch_state *f,
                     struct xd_range window)
{
    return f->got < window.end &&
           (window.begin < wanted_to(&s->book, f->got) ||
            (s->book.o.runs_on && window.begin < f->range.end));
}

/* Returns the most urgent window in which the depot of the fetch has work.  It
 * considers only windows that the fetch will reach if `led_to` is true, and
 * only the others if not. */
static const struct xd_window *first_work(const struct xd_sched *s,
                                          const struct xd_fetch_state *f,
                                          bool led_to)
{
    const struct xd_book *b = &s->book;
    const struct xd_window *first = NULL;

    for (unsigned i = 0; i < b->n_windows; i++) {
        const struct xd_window *w = &b->windows[i];
        uint64_t from = w->range.begin;

        if (leads_to(s, f, w->range) != led_to)
            continue;
        if (led_to && f->got > from)
            from = f->got;
        if (xd_holders_work(b, f->depot, from) < w->range.end &&
            (!first || is_before(s, w, first)))
            first = w;
    }
    return first;
}

/* The engine pauses a fetch without ranges where no window is.  It may wait
 * there, but not while its depot has work elsewhere.  And once it has delivered
 * enough to be worth its start, a reader here must not block a more urgent one
 * elsewhere. */
static bool keeps_others_waiting(const struct xd_sched *s,
                                 const struct xd_fetch_state *f)
{
    const struct xd_window *here = first_work(s, f, true);
    const struct xd_window *elsewhere = first_work(s, f, false);

    if (f->got == f->range.end || !elsewhere)
        /* a fetch that has delivered everything ends by itself */
        return false;
    if (!here)
        return true;
    return elsewhere->bytes_per_s > 0 && is_before(s, elsewhere, here) &&
           f->got - f->range.begin >= xd_range_length(elsewhere->range) / 2;
}

/* Returns whether proven depots hold everything that a stopgap has not
 * delivered. */
static bool gives_way(const struct xd_sched *s, const struct xd_fetch_state *f)
{
    return f->is_stopgap && f->got < f->range.end &&
           xd_holders_work(&s->book, f->depot, f->got) >= f->range.end;
}

/* The last quarter costs less than a new request elsewhere. */
static bool is_nearly_done(const struct xd_fetch_state *f)
{
    return f->range.end - f->got <= xd_range_length(f->range) / 4;
}

static bool is_outside(const struct xd_sched *s, const struct xd_fetch_state *f)
{
    return !is_nearly_done(f) && !is_wanted(s, f);
}

/* Marks the fetches outside of all windows, after one has moved.  Bytes that
 * others deliver before the next move do not make a fetch unwanted, because a
 * window may still reach its rest. */
static void find_outside(struct xd_sched *s)
{
    for (unsigned i = 0; i < s->book.n_fetches; i++) {
        struct xd_fetch_state *f = &s->fetches[i];

        f->is_outside = f->is_live && is_outside(s, f);
    }
}

bool xd_core_is_unwanted(const struct xd_sched *s,
                         const struct xd_fetch_state *f)
{
    if (s->size_is_unknown)
        return false;
    return f->is_chosen ? f->is_outside && is_outside(s, f)
                        : gives_way(s, f) || keeps_others_waiting(s, f);
}

static int add_window(struct xd_sched *s, struct xd_window w)
{
    if (s->book.n_windows == s->windows_capacity) {
        unsigned n = 2 * s->windows_capacity;
        struct xd_window *list = xd_realloc(s->book.windows, n, sizeof *list);

        if (list == NULL)
            return XD_E_NOMEM;
        s->book.windows = list;
        s->windows_capacity = n;
    }
    s->book.windows[s->book.n_windows++] = w;
    return 0;
}

int xd_core_demand(struct xd_sched *s, const struct xd_sched_event *ev)
{
    struct xd_window w = {.reader = ev->reader,
                          .range = xd_core_clip(ev->range, s->book.wanted),
                          .due = ev->due,
                          .bytes_per_s = ev->bytes_per_s};
    struct xd_book *b = &s->book;
    unsigned i = 0;
    int rc = 0;

    XD_ASSERT(b->o.window_bytes > 0);
    while (i < b->n_windows && b->windows[i].reader != w.reader)
        i++;
    w.jumped_to = w.range.begin;
    if (i < b->n_windows) {
        struct xd_window old = b->windows[i];

        if (old.range.begin <= w.range.begin && w.range.begin <= old.range.end)
            w.jumped_to = old.jumped_to;
        b->windows[i] = b->windows[--b->n_windows];
    }
    if (!xd_range_is_empty(w.range))
        rc = add_window(s, w);
    if (b->o.has_gaps)
        s->all_have_holders = false;
    find_outside(s);
    return rc;
}
