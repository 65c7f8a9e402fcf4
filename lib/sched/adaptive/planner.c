/* SPDX-License-Identifier: MIT */
/*
 * Chooses the next action.  The goal is to lower p->time_left, the time until
 * all bytes have arrived if every connection works until then.  An action is
 * worthwhile if it ends the download, or a late request, earlier by more than
 * its price.
 */
#include "sched/adaptive/adaptive.h"

#include <math.h>

/* Maximum number of unassigned gaps that are examined for one request. */
#define MOST_GAPS 32

/* Returns whether the byte belongs to an object of unknown size, which is not
 * divided among requests. */
static bool is_unsized(const struct xd_adaptive *p, uint64_t byte)
{
    return xd_rangeset_contains(&p->book->unsized,
                                (struct xd_range){byte, byte + 1});
}

/* ---- depots that suggest bytes ---- */

/* Returns the maximum length of a request to a depot that suggests bytes, so
 * that it can suggest others. */
static double most_heeding(const struct xd_adaptive *p, const struct xd_conn *c)
{
    return xd_rate_of(p, c) *
           xd_greater(XD_BULK_S, XD_BULK_WAITS * xd_wait_of(p, c->depot));
}

/* Shortens a longer request, which was made before the suggestion. */
static struct xd_sched_plan heed(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];
        struct xd_range rest = xd_conn_rest(p, c);
        double most = most_heeding(p, c);

        if (!c->is_running || c->is_leaving || c->n_samples < XD_MATURE ||
            !p->depots[c->depot].has_hints || is_unsized(p, rest.begin) ||
            xd_conn_left(p, c) < 2 * most + XD_GRAIN)
            continue;
        rest.begin = (rest.begin + (uint64_t)most) / XD_GRAIN * XD_GRAIN;
        if (rest.begin > c->got)
            return xd_make_plan(p, XD_PLAN_SHORTEN, c, rest);
    }
    return xd_no_plan;
}

/* ---- the length of a request ---- */

/* Returns how many connections all depots may have together, at least 1. */
static unsigned width_of_all(const struct xd_adaptive *p)
{
    unsigned n = 0;

    for (unsigned slot = 0; slot < p->book->n_slots; slot++)
        if (p->book->slots[slot] < p->book->n_depots)
            n += xd_most_at_a_time(p, p->book->slots[slot]);
    return n > 0 ? n : 1;
}

/* Returns the part of the missing bytes that the first requests ask for
 * together.  The rest stays unassigned, so that fast depots can take it when
 * the throughputs are known.  A single depot is asked for everything. */
static double first_part(const struct xd_adaptive *p)
{
    return 1 - XD_UNSURE * (1 - 1.0 / p->n_open);
}

/* Returns the length of a request while no throughput is known.  The requests
 * of a depot have different lengths, so that its connections do not all wait
 * for their next response at the same time.  If the user limits the throughput,
 * it is known, and nothing is gained by long requests. */
static double first_share(const struct xd_adaptive *p, const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];
    unsigned most = xd_most_at_a_time(p, c->depot), n = width_of_all(p);
    double part = most > 1 ? 1 - (double)d->n_running / most : 1 - XD_UNSURE;
    double limit = (double)p->book->limit_rate;
    double share =
        xd_greater(first_part(p) * p->left / n * xd_greater(part, 1.0 / most),
                   xd_lesser(XD_FIRST_WINDOW, p->left / p->n_open));

    return limit > 0 ? xd_lesser(share, XD_BULK_S * limit / n) : share;
}

/* Returns how many bytes the connection should request: what it can receive
 * until the end of the download.  The share is reduced by its uncertainty if an
 * error would cost more than the wait for another response. */
static double share_of(const struct xd_adaptive *p, const struct xd_conn *c)
{
    double rate = xd_rate_of(p, c), doubt = xd_doubt_of(c), share, unused;
    double others = xd_greater(0, 1 - rate / p->total);

    if (p->rate <= 0)
        return first_share(p, c);
    share = rate * (p->time_left - xd_byte_in(p, c));
    if (others * doubt * share / rate >= xd_wait_of(p, c->depot) + p->price)
        share *= 1 - doubt;
    if (share <= 0)
        return 0;
    return xd_lesser(share, xd_best_length(p, c, share, &unused));
}

/* ---- the range of a request ---- */

/* Returns a part of the range that no request of this depot covers.  Bytes that
 * were offered to others count as unassigned, but the depot may already be
 * sending them, even if the request is stalled now. */
static struct xd_range without_own(const struct xd_adaptive *p, unsigned depot,
                                   struct xd_range r)
{
    const struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++) {
        if (!c[i].is_running || c[i].got >= r.end || c[i].range.end <= r.begin)
            continue;
        if (c[i].got > r.begin)
            r.end = c[i].got;
        else
            r.begin = c[i].range.end < r.end ? c[i].range.end : r.end;
    }
    return r;
}

/* Returns the first unassigned range in `within` that the depot holds and that
 * has `length` bytes or ends at a cut.  If there is none, returns the longest
 * one, which may be empty. */
static struct xd_range find_unasked(const struct xd_adaptive *p, unsigned depot,
                                    struct xd_range within, double length)
{
    const struct xd_book *b = p->book;
    const struct xd_rangeset *held = &b->depots[depot].held;
    struct xd_range best = {0, 0};

    for (unsigned i = 0; i < MOST_GAPS && within.begin < within.end;) {
        struct xd_range gap = xd_ledger_next_gap(b->ledger, XD_BYTES_ASSIGNED,
                                                 within),
                        run = xd_rangeset_next(held, gap), whole;

        if (xd_range_is_empty(gap))
            break;
        if (xd_range_is_empty(run)) { /* does not count */
            gap = (struct xd_range){gap.end, within.end};
            within.begin = xd_rangeset_next(held, gap).begin;
            continue;
        }
        i++;
        within.begin = run.end;
        whole = without_own(p, depot, run);
        run = xd_book_cut(b, whole);
        if (xd_range_is_empty(run))
            continue;
        if (run.end < whole.end)
            within.begin = run.end;
        if (xd_range_length(run) > xd_range_length(best))
            best = run;
        if ((double)xd_range_length(run) >= length || run.end < whole.end)
            return run;
    }
    return best;
}

/* Shortens the range to about `length` bytes: a multiple of XD_GRAIN, or all of
 * it if the rest would be very short. */
static struct xd_range limit(const struct xd_adaptive *p, struct xd_range r,
                             double length)
{
    uint64_t n = (uint64_t)(length / XD_GRAIN + 0.5) * XD_GRAIN;

    if (is_unsized(p, r.begin) ||
        (xd_is_place(p->book, r) &&
         (p->rate <= 0 || xd_expected(p, r) <= xd_greater(length, XD_GRAIN))))
        return r;
    if (length < XD_GRAIN)
        n = p->rate > 0 ? XD_GRAIN
                        : (uint64_t)xd_greater(length, XD_LEAST_REQUEST);
    if (xd_range_length(r) > n + (n < 4 * XD_GRAIN ? n / 2 : 4 * XD_GRAIN))
        r.end = r.begin + n;
    return r;
}

/* Finds the bytes of a request that was already running when the download
 * began, such as the one that inspected the file.  It begins at offset 0.
 * Returns false if there is none or its bytes have been assigned. */
static bool is_begun(const struct xd_adaptive *p, unsigned depot,
                     struct xd_range *out)
{
    const struct xd_book *b = p->book;
    struct xd_range r = {0, b->depots[depot].guess.begun_to};

    if (r.end == 0 || b->windows[0].range.begin > 0 ||
        !xd_rangeset_contains(&b->depots[depot].held, (struct xd_range){0, 1}))
        return false;
    r = xd_range_clip(r, b->windows[0].range);
    r.end = xd_rangeset_next_gap(&b->depots[depot].held, r).begin;
    *out = xd_book_cut(b, xd_ledger_next_gap(b->ledger, XD_BYTES_ASSIGNED, r));
    return out->begin == 0 && !xd_range_is_empty(*out);
}

/* ---- work for an idle connection ---- */

/* Returns how many seconds a request ends after the deadline of its next byte.
 * Without a deadline, returns `end`. */
static double lateness_of(const struct xd_adaptive *p, struct xd_range rest,
                          double end)
{
    for (unsigned i = 0; i < p->book->n_windows; i++) {
        const struct xd_window *w = &p->book->windows[i];

        if (xd_is_read(p, w) && w->range.begin < rest.end &&
            rest.begin < w->range.end)
            return end - xd_shown_in(p, w, rest.begin);
    }
    return end;
}

/* Returns whether the other requests explain why this one takes long: they fill
 * the slow line of the client.  Its bytes wait in the same queue, and arrive
 * before those of a new request would. */
static bool is_excused(const struct xd_adaptive *p, const struct xd_conn *c)
{
    return p->line.is_slow && p->line.is_busy &&
           p->now < c->heard_at +
                        xd_bottleneck_silence(&p->book->bottleneck, p->now);
}

/* Returns whether help from another connection of the same depot would only
 * take turns with this one.  If the line is full, the end of the request then
 * takes time from its next bytes, which a reader needs sooner. */
static bool is_filling_line(const struct xd_adaptive *p,
                            const struct xd_conn *c)
{
    return p->book->o.window_bytes > 0 && xd_has_queue(p, c->depot) &&
           !xd_is_late(p, c);
}

/* Returns whether other short objects may be requested soon, when some of those
 * that have been requested are complete. */
static bool begins_more(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;

    return b->o.window_bytes == 0 && p->object < XD_SHORT &&
           b->windows[0].range.end < b->wanted.end;
}

/* Returns the request that ends last, relative to its deadline, or NULL.  *end:
 * when it ends.  Requests are skipped if the depot of `c` does not hold their
 * remaining bytes, or if all of them have been offered already.  While no
 * throughput is known, the user's limit is reached, or more short objects are
 * to be requested, only those that are stalled count.  A depot that is slow to
 * begin is not asked the same twice. */
static const struct xd_conn *find_latest(const struct xd_adaptive *p,
                                         const struct xd_conn *c, double *end)
{
    const struct xd_conn *latest = NULL;
    double most = 0;

    *end = 0;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];
        struct xd_range rest;
        double at, late;

        if (!v->is_running || v->is_leaving || is_excused(p, v))
            continue;
        rest = xd_conn_rest(p, v);
        if (xd_range_is_empty(rest) ||
            (v->depot == c->depot && xd_is_young(v) && !xd_is_late(p, v)) ||
            (v->depot == c->depot && is_filling_line(p, v)) ||
            ((p->rate <= 0 || p->is_limited || begins_more(p)) &&
             xd_byte_in(p, v) <= XD_QUIET_S) ||
            !xd_rangeset_contains(&p->book->depots[c->depot].held, rest))
            continue;
        at = xd_end_in(p, v);
        late = lateness_of(p, rest, at);
        if (late > most) {
            most = late;
            *end = at;
            latest = v;
        }
    }
    return latest;
}

/* Lets the idle connection `c` take over the end of the request on `v`, so that
 * both end together.  If `c` would deliver all of it before `v` continues, it
 * takes over everything.  `end` is when the request would end otherwise. */
static struct xd_sched_plan help(const struct xd_adaptive *p,
                                 const struct xd_conn *c,
                                 const struct xd_conn *v, double end,
                                 double price)
{
    double left, x, gain, lost, its, mine = xd_rate_of(p, c),
                                     wait = xd_byte_in(p, c);
    struct xd_range rest = xd_conn_rest(p, v);
    uint64_t middle;

    left = xd_conn_left(p, v);
    its = xd_rate_of(p, v);
    x = xd_lesser(left, (end - wait) * its * mine / (its + mine));
    if (xd_byte_in(p, v) > wait + left / mine)
        x = left;
    middle = x >= left ? rest.begin
                       : (rest.end - (uint64_t)xd_greater(x, 0)) / XD_GRAIN *
                             XD_GRAIN;
    if (middle <= rest.begin + XD_GRAIN / 2)
        middle = rest.begin;
    if (x < XD_GRAIN || is_unsized(p, rest.begin)) /* not to be split */
        middle = rest.begin;
    x = xd_lesser(left, (double)(rest.end - middle));
    gain = end - (wait + x / mine);
    lost = xd_lesser(xd_in_flight(p, v), x);
    if (gain < price + (lost > 0 ? XD_WASTE * lost / p->total : 0) ||
        (v->depot == c->depot &&
         (xd_is_only_answer(p, v) || is_unsized(p, rest.begin))))
        return xd_no_plan;
    rest.begin = middle;
    if (v->depot != c->depot)
        return xd_make_plan(p, XD_PLAN_OFFER, v, rest);
    return middle > v->got ? xd_make_plan(p, XD_PLAN_SHORTEN, v, rest)
                           : xd_make_plan(p, XD_PLAN_CANCEL, v, rest);
}

static struct xd_sched_plan help_latest(const struct xd_adaptive *p,
                                        const struct xd_conn *c)
{
    double end;
    const struct xd_conn *v = find_latest(p, c, &end);

    return v ? help(p, c, v, end, p->price) : xd_no_plan;
}

/* Returns the minimum gain of an action for the reader, in seconds.  While it
 * waits, it gains from each millisecond. */
static double price_of_delay(const struct xd_adaptive *p,
                             const struct xd_window *w)
{
    return xd_shown_in(p, w, w->range.begin) > 0 ? p->price : 0;
}

/* Returns whether `v` is receiving bytes of the range `awaited` too late for
 * their reader, and `c` could deliver them much sooner. */
static bool is_awaited(const struct xd_adaptive *p, const struct xd_conn *c,
                       const struct xd_conn *v, const struct xd_window *w,
                       struct xd_range awaited)
{
    struct xd_range rest = xd_conn_rest(p, v);
    double end = xd_end_in(p, v), mine;

    if (!v->is_running || v->is_leaving || is_excused(p, v) ||
        v->depot == c->depot || xd_range_is_empty(rest) ||
        rest.begin >= awaited.end || rest.end <= awaited.begin ||
        !xd_rangeset_contains(&p->book->depots[c->depot].held, rest))
        return false;
    mine = xd_byte_in(p, c) + xd_conn_left(p, v) / xd_rate_of(p, c);
    return end > XD_RENEW * mine + price_of_delay(p, w) &&
           end > xd_shown_in(p, w, rest.begin);
}

/* Returns whether depots race for the request, which has not begun: it delivers
 * the first missing byte, or its depot has never answered and it delivers a
 * part of the first block. */
static bool is_raced_for(const struct xd_adaptive *p, const struct xd_conn *v,
                         const struct xd_window *w, uint64_t byte)
{
    struct xd_range rest = xd_conn_rest(p, v);

    return (rest.begin <= byte && byte < rest.end) ||
           (xd_is_unheard(p, v->depot) &&
            !xd_range_is_empty(xd_range_clip(rest, xd_first_block(p, w))));
}

/* Offers a request that makes a reader wait for its first block, if its depot
 * has not begun to answer and that of `c` would as soon.  The depots race for
 * it. */
static struct xd_sched_plan race(const struct xd_adaptive *p,
                                 const struct xd_conn *c,
                                 const struct xd_window *w)
{
    uint64_t byte =
        xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, w->range);

    if (xd_shown_in(p, w, w->range.begin) > 0 || byte >= w->range.end ||
        p->depots[c->depot].n_answers == 0)
        return xd_no_plan;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];
        struct xd_range rest = xd_conn_rest(p, v);

        if (v->is_running && !v->is_leaving && !v->has_begun &&
            v->depot != c->depot && is_raced_for(p, v, w, byte) &&
            xd_byte_in(p, v) >= xd_byte_in(p, c) &&
            xd_rangeset_contains(&p->book->depots[c->depot].held, rest))
            return xd_make_plan(p, XD_PLAN_OFFER, v, rest);
    }
    return xd_no_plan;
}

/* Takes over a request that makes the reader of the window wait.  After a jump
 * this can be any request for the first block; later only the one for the first
 * missing byte. */
static struct xd_sched_plan rescue(const struct xd_adaptive *p,
                                   const struct xd_conn *c,
                                   const struct xd_window *w)
{
    struct xd_range awaited = w->range;
    struct xd_sched_plan plan = race(p, c, w);

    if (plan.kind != XD_PLAN_WAIT || p->rate <= 0)
        return plan;
    awaited.end =
        xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, w->range) + 1;
    if (awaited.end < w->jumped_to + p->book->o.block_bytes)
        awaited.end = w->jumped_to + p->book->o.block_bytes;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];

        if (!is_awaited(p, c, v, w, awaited))
            continue;
        plan = help(p, c, v, xd_end_in(p, v), price_of_delay(p, w));
        if (plan.kind != XD_PLAN_WAIT)
            return plan;
    }
    return xd_no_plan;
}

/* Takes over a request that makes any reader wait. */
static struct xd_sched_plan rescue_any(const struct xd_adaptive *p,
                                       const struct xd_conn *c)
{
    for (unsigned i = 0; i < p->book->n_windows; i++) {
        struct xd_sched_plan plan = xd_no_plan;

        if (xd_is_read(p, &p->book->windows[i]))
            plan = rescue(p, c, &p->book->windows[i]);
        if (plan.kind != XD_PLAN_WAIT)
            return plan;
    }
    return xd_no_plan;
}

/* Returns the request for the first missing byte of the window, if it is
 * stalled and its reader would have to wait; NULL otherwise. */
static const struct xd_conn *find_overdue(const struct xd_adaptive *p,
                                          const struct xd_window *w)
{
    uint64_t byte =
        xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, w->range);

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];
        struct xd_range rest = xd_conn_rest(p, v);

        if (byte < w->range.end && v->is_running && !v->is_leaving &&
            rest.begin <= byte && byte < rest.end && !is_excused(p, v) &&
            xd_byte_in(p, v) > XD_QUIET_S &&
            xd_end_in(p, v) >
                xd_shown_in(p, w, rest.begin) + price_of_delay(p, w))
            return v;
    }
    return NULL;
}

/* Shortens a request for later bytes of the window, so that its connection can
 * help with the request on `v`, for which a reader has to wait.  Does so only
 * if no connection of another depot is free to help as soon. */
static struct xd_sched_plan make_way(const struct xd_adaptive *p,
                                     const struct xd_conn *v)
{
    const struct xd_conn *best = NULL;
    double left = xd_conn_left(p, v), least = xd_end_in(p, v) / XD_RENEW;
    struct xd_range rest = xd_conn_rest(p, v), cut = {0, 0};

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];
        double need = left / xd_rate_of(p, c), at;
        struct xd_range end = xd_conn_rest(p, c);

        if (c->depot == v->depot || !c->is_open || c->is_leaving ||
            !xd_rangeset_contains(&p->book->depots[c->depot].held, rest))
            continue;
        at = c->is_running ? xd_end_in(p, c) + xd_wait_of(p, c->depot)
                           : xd_byte_in(p, c);
        if (at + need < least) {
            least = at + need;
            best = NULL;
        }
        if (!c->is_running || !c->has_begun || end.begin <= rest.begin ||
            xd_is_only_answer(p, c) || is_unsized(p, end.begin))
            continue;
        end.begin =
            (end.begin + (uint64_t)xd_in_flight(p, c)) / XD_GRAIN * XD_GRAIN +
            XD_GRAIN;
        at = xd_setup_of(p, c->depot) + need;
        if (end.begin < end.end && at + p->price < least) {
            least = at;
            best = c;
            cut = end;
        }
    }
    return best ? xd_make_plan(p, XD_PLAN_SHORTEN, best, cut) : xd_no_plan;
}

static struct xd_sched_plan make_way_any(const struct xd_adaptive *p)
{
    for (unsigned i = 0; p->rate > 0 && i < p->book->n_windows; i++) {
        const struct xd_window *w = &p->book->windows[i];
        const struct xd_conn *v = xd_is_read(p, w) ? find_overdue(p, w) : NULL;
        struct xd_sched_plan plan = v ? make_way(p, v) : xd_no_plan;

        if (plan.kind != XD_PLAN_WAIT)
            return plan;
    }
    return xd_no_plan;
}

/* Returns whether a request is running with bytes that it has not offered to
 * others.  A request that has offered everything may be stalled, and does not
 * count. */
static bool anything_runs(const struct xd_adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->conns[i].is_running &&
            !xd_range_is_empty(xd_conn_rest(p, &p->conns[i])))
            return true;
    return false;
}

/* Ends a range that begins in the first block at the end of that block.  Bytes
 * after it would share the line with the rest of the block. */
static struct xd_range before_block_end(const struct xd_adaptive *p,
                                        const struct xd_window *w,
                                        struct xd_range r)
{
    struct xd_range part = xd_range_clip(r, xd_first_block(p, w));

    return xd_range_is_empty(part) ? r : part;
}

/* Returns the next range for a reader, short enough to arrive before its
 * deadline.  A connection that is too slow for the next bytes gets later
 * ones. */
static struct xd_range find_urgent(const struct xd_adaptive *p,
                                   const struct xd_conn *c,
                                   const struct xd_window *w)
{
    double rate = xd_rate_of(p, c), wait = xd_byte_in(p, c);
    double allowed = xd_time_allowed(p, w, w->range.end), most;
    double least = rate * (xd_lesser(XD_READ_S / 2, allowed) + wait);
    struct xd_range r = find_unasked(p, c->depot, w->range, 0);
    uint64_t from;

    if (xd_range_is_empty(r))
        return r;
    if (p->rate <= 0)
        return limit(
            p, r,
            xd_lesser(first_share(p, c),
                      (double)p->book->o.block_bytes / XD_FIRST_PARTS));
    if (xd_would_delay_start(p, c->depot, w, r.begin))
        return (struct xd_range){0, 0};
    allowed = xd_time_allowed(p, w, r.begin);
    if (!xd_is_alone(p)) {
        r = before_block_end(p, w, r);
        allowed = xd_lesser(allowed, xd_greater(xd_longest_read(p, w),
                                                XD_LONGEST_READ_WAITS * wait));
    }
    most = rate * (allowed - wait);
    if (most >= least)
        return limit(p, r, most);
    from = xd_skip_to(p, c, w, r.begin, wait + least / rate);
    if (from > r.begin && anything_runs(p))
        r = find_unasked(p, c->depot, (struct xd_range){from, w->range.end}, 0);
    return xd_range_is_empty(r) ? r : limit(p, r, least);
}

/* Returns the next range of the window for a request of `share` bytes.  It
 * begins with the block that the depot suggests, if nobody was asked for that
 * and the request is at least one block long. */
static struct xd_range find_bulk(const struct xd_adaptive *p,
                                 const struct xd_conn *c,
                                 const struct xd_window *w, double share)
{
    struct xd_range hint = p->depots[c->depot].hint, r;
    const uint64_t block = p->book->o.block_bytes;

    if (!xd_range_is_empty(hint) && share >= (double)block) {
        struct xd_range rest = {hint.begin - hint.begin % block, w->range.end};

        r = find_unasked(p, c->depot, xd_range_clip(rest, w->range), share);
        if (!xd_range_is_empty(r) && r.begin < hint.end)
            return r;
    }
    return find_unasked(p, c->depot, w->range, share);
}

/* Returns the next range of the window for the connection; empty if there is
 * none. */
static struct xd_range find_for(const struct xd_adaptive *p,
                                const struct xd_conn *c,
                                const struct xd_window *w, double share)
{
    struct xd_range r;

    if (xd_is_read(p, w))
        return find_urgent(p, c, w);
    if (share <= 0)
        return (struct xd_range){0, 0};
    if (p->book->o.window_bytes > 0)
        share = xd_lesser(share, XD_BULK_S * xd_rate_of(p, c));
    else if (p->rate > 0 && p->depots[c->depot].has_hints)
        share = xd_lesser(share, most_heeding(p, c));
    r = find_bulk(p, c, w, share);
    return xd_range_is_empty(r) ? r : limit(p, r, share);
}

/* Returns whether one request of `c` could cover both ranges, `a` before `b`.
 * The bytes between them must have arrived, must not be on the way from the
 * same depot again, and must be so few that receiving them again costs less
 * than an action. */
static bool follows(const struct xd_adaptive *p, const struct xd_conn *c,
                    struct xd_range a, struct xd_range b)
{
    struct xd_range between = {a.end, b.begin}, both = {a.begin, b.end};

    return a.end <= b.begin &&
           xd_range_length(without_own(p, c->depot, both)) ==
               xd_range_length(both) &&
           b.begin - a.end <= XD_MOST_REPEATED &&
           XD_WASTE * (double)(b.begin - a.end) <= p->price * p->total &&
           xd_ledger_count(p->book->ledger, XD_BYTES_RECEIVED, between) ==
               xd_range_length(between) &&
           xd_book_cut(p->book, both).end == both.end &&
           xd_rangeset_contains(&p->book->depots[c->depot].held, both);
}

/* Extends the range over bytes that have arrived into the next unassigned
 * range, if that takes less time than waiting for another response. */
static struct xd_range go_on(const struct xd_adaptive *p,
                             const struct xd_conn *c, struct xd_range r,
                             struct xd_range window)
{
    struct xd_range next =
        find_unasked(p, c->depot, (struct xd_range){r.end, window.end}, 0);

    if (p->rate > 0 && next.begin > r.end && follows(p, c, r, next) &&
        (double)(next.end - r.end) < xd_wait_of(p, c->depot) * xd_rate_of(p, c))
        r.end = next.end;
    return r;
}

/* Requests the range, or first extends it.  If a request for the neighboring
 * bytes waits for its first byte at another depot, and `c` would deliver both
 * ranges sooner by more than the price, these bytes are offered first.  The
 * next plan requests both. */
static struct xd_sched_plan join(const struct xd_adaptive *p,
                                 const struct xd_conn *c, struct xd_range r,
                                 struct xd_range window)
{
    r = go_on(p, c, r, window);
    for (unsigned i = 0; p->rate > 0 && i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];
        struct xd_range rest = xd_conn_rest(p, v);
        double both;

        if (!v->is_running || v->is_leaving || v->has_begun ||
            is_excused(p, v) || v->depot == c->depot ||
            xd_range_is_empty(rest) ||
            (!follows(p, c, r, rest) && !follows(p, c, rest, r)))
            continue;
        if (lateness_of(p, rest, xd_end_in(p, v)) <= 0)
            continue;
        both = (double)(xd_range_length(r) + xd_range_length(rest));
        if (xd_end_in(p, v) >
            xd_byte_in(p, c) + both / xd_rate_of(p, c) + p->price)
            return xd_make_plan(p, XD_PLAN_OFFER, v, rest);
    }
    return xd_make_plan(p, XD_PLAN_ASK, c, r);
}

/* Cancels a stalled request of the same depot whose bytes were offered to
 * others and not taken, so that `c` can ask for them. */
static struct xd_sched_plan cancel_stalled(const struct xd_adaptive *p,
                                           const struct xd_conn *c)
{
    const struct xd_conn *v = xd_conns_of(p, c->depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++, v++) {
        struct xd_range rest = {v->got, v->range.end};

        if (v->is_running && !v->is_leaving && xd_is_late(p, v) &&
            !is_excused(p, v) && !xd_range_is_empty(rest) &&
            xd_range_is_empty(xd_conn_rest(p, v)) &&
            !xd_range_is_empty(
                xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, rest)))
            return xd_make_plan(p, XD_PLAN_CANCEL, v, v->range);
    }
    return xd_no_plan;
}

/* Returns the best action for an idle connection; XD_PLAN_WAIT if there is
 * none. */
static struct xd_sched_plan use(const struct xd_adaptive *p,
                                const struct xd_conn *c)
{
    const struct xd_book *b = p->book;
    double share = share_of(p, c);
    struct xd_sched_plan plan;
    struct xd_range r;

    if (share <= 0 && !anything_runs(p))
        share = XD_GRAIN;
    if (is_begun(p, c->depot, &r))
        return xd_make_plan(p, XD_PLAN_ASK, c, r);
    plan = rescue_any(p, c);
    if (plan.kind != XD_PLAN_WAIT)
        return plan;
    for (unsigned i = 0; i < b->n_windows; i++) {
        if (!xd_may_ask_for(p, &b->windows[i], c->depot))
            continue;
        r = find_for(p, c, &b->windows[i], share);
        if (!xd_range_is_empty(r))
            return join(p, c, r, b->windows[i].range);
    }
    plan = help_latest(p, c);
    return plan.kind == XD_PLAN_WAIT ? cancel_stalled(p, c) : plan;
}

/* Returns the fastest idle connection of the depot that is open.  If all open
 * ones are busy, returns one that can be opened, or NULL. */
static const struct xd_conn *find_idle(const struct xd_adaptive *p,
                                       unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot), *best = NULL;
    unsigned n = p->book->o.lanes_per_depot,
             most = p->book->depots[depot].max_lanes;

    if (most > 0 && most < n)
        n = most; /* the scheduler gives the others no work */
    for (unsigned i = 0; i < n; i++)
        if (!c[i].is_running &&
            (!best ||
             (c[i].is_open && (!best->is_open || c[i].rate > best->rate))))
            best = &c[i];
    return best;
}

/* Returns whether so many requests of the depot wait for their first byte that
 * the initial windows of their responses will fill its line for a while. */
static bool has_many_waiting(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_depot_record *d = &p->depots[depot];
    const struct xd_conn *c = xd_conns_of(p, depot);
    double rate = xd_rate_meter_of(&d->meter, d->bytes, p->now);
    unsigned n = 0;

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        n += c[i].is_running && !c[i].has_begun;
    return rate > 0 && n * XD_FIRST_WINDOW > rate * XD_QUIET_S;
}

/* Returns whether all packets from the depot wait in a long queue, and the
 * running requests will keep it full.  Another request would not increase the
 * throughput.  With readers, it would delay the next bytes. */
static bool is_full(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    const double most = 2 * p->depots[depot].rtt + XD_LONG_QUEUE_S;
    double left = 0, rate = 0;

    if (p->book->o.window_bytes > 0 && has_many_waiting(p, depot))
        return true;
    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++) {
        if (!c[i].is_running || !c[i].has_begun)
            continue;
        if (c[i].rtt_now <= most)
            return false;
        left += xd_conn_left(p, &c[i]);
        rate += xd_rate_of(p, &c[i]);
    }
    return left > 4 * most * rate;
}

/* Seconds that each running request of a depot adds to its rank.  This only
 * breaks ties: of equal connections, the one whose depot has fewer requests is
 * first. */
#define SPREAD 1e-6

/* Returns how soon the connection would have received an equal part of the
 * missing bytes, in seconds. */
static double rank(const struct xd_adaptive *p, const struct xd_conn *c)
{
    return xd_byte_in(p, c) + p->left / width_of_all(p) / xd_rate_of(p, c) +
           SPREAD * p->depots[c->depot].n_running;
}

/* Returns the idle connection that follows `last` in the order of rank(), or
 * the first one if `last` is NULL.  Equal ones are in the order of their
 * addresses. */
static const struct xd_conn *next_idle(const struct xd_adaptive *p,
                                       const struct xd_conn *last)
{
    const struct xd_book *b = p->book;
    const struct xd_conn *best = NULL;
    double after = last ? rank(p, last) : -1, least = HUGE_VAL;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot];
        const struct xd_conn *c;
        double at;

        if (depot == b->n_depots || xd_room_of(p, depot) == 0 ||
            is_full(p, depot))
            continue;
        c = find_idle(p, depot);
        if (!c)
            continue;
        at = rank(p, c);
        if ((at > after || (at == after && c > last)) && at < least) {
            least = at;
            best = c;
        }
    }
    return best;
}

struct xd_sched_plan xd_next_action(const struct xd_adaptive *p)
{
    struct xd_sched_plan plan = xd_drop_needless(p);
    const struct xd_conn *c = NULL;

    if (plan.kind == XD_PLAN_WAIT && p->rate > 0 && !p->is_limited &&
        !p->line.is_slow)
        plan = xd_replace_slow(p);
    if (plan.kind == XD_PLAN_WAIT && p->book->o.window_bytes == 0)
        plan = heed(p);
    while (plan.kind == XD_PLAN_WAIT && (c = next_idle(p, c)) != NULL)
        plan = use(p, c);
    if (plan.kind == XD_PLAN_WAIT)
        plan = make_way_any(p);
    return plan;
}
