/* SPDX-License-Identifier: MIT */
/*
 * Chooses the next action.  The goal is to lower p->time_left, the time until
 * all bytes have arrived if every connection works until then.  An action is
 * worthwhile if it ends the download, or a late request, earlier by more than
 * its price.
 */
#include "sched/adaptive2/adaptive2.h"

#include <math.h>

/* Maximum number of unassigned gaps that are examined for one request. */
#define MOST_GAPS 32

/* Returns how many requests the depot may get at a time, at least 1. */
static unsigned most_at_a_time(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];
    unsigned most = xd_most_requests(p, depot);

    if (p->depots[depot].allowed > 0 && p->depots[depot].allowed < most)
        most = p->depots[depot].allowed;
    /* After a failure, a single request shows whether the depot works again. */
    if (d->failures + d->preempted > 0 || p->line.is_slow)
        most = 1;
    if (d->max_lanes > 0 && d->max_lanes < most)
        most = d->max_lanes;
    if (d->ceiling > 0 && d->ceiling < most)
        most = d->ceiling;
    if (d->governed > 0 && d->governed < most)
        most = d->governed;
    return most;
}

/* Returns whether the connection is stalled: its next byte is expected much
 * later than a new connection would deliver its first. */
static bool is_late(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    double late = 2 * xd_setup_of(p, c->depot);

    return xd_byte_in(p, c) >
           xd_greater(late, c->has_begun ? 2 * XD_QUIET_S : XD_QUIET_S);
}

/* Returns whether a request to the depot waits for its first byte and is not
 * stalled. */
static bool has_waiting(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (c[i].is_running && !c[i].has_begun && !is_late(p, &c[i]))
            return true;
    return false;
}

/* Returns how long the first request to a depot is its only one, in
 * microseconds, unless it is answered before.  The answer shows whether the
 * depot gives ranges; if not, each request would deliver the whole file.  If
 * there are several depots, or an earlier download has used several
 * connections, the wait would cost more than it saves. */
static xd_usec first_wait(const struct xd_adaptive2 *p, unsigned depot)
{
    if (p->book->n_depots > 1 ||
        p->book->depots[depot].guess.learned.useful > 0)
        return 2 * XD_FIRST_TICK;
    return XD_ALONE_TICK;
}

unsigned xd_room_of(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];
    unsigned most = most_at_a_time(p, depot);

    if (!xd_holder_is_ready(d) || d->running >= most || xd_is_surplus(p, depot))
        return 0;
    /* One request shows whether the depot has the file, if it answers soon. */
    if (xd_is_unheard(p, depot) &&
        p->now < p->depots[depot].asked_at + first_wait(p, depot))
        return d->running > 0 ? 0 : 1;
    /* The next request shows whether a depot that has refused some accepts
     * more. */
    if (d->is_spared)
        return has_waiting(p, depot) ? 0 : 1;
    return most - d->running;
}

static struct xd_sched_plan action(const struct xd_adaptive2 *p,
                                   enum xd_sched_plan_kind kind,
                                   const struct xd_conn *c, struct xd_range r)
{
    return (struct xd_sched_plan){kind, (unsigned)(c - p->conns), r};
}

static const struct xd_sched_plan nothing = {.kind = XD_PLAN_WAIT};

/* Returns the bytes on the way from the server, which are lost if the
 * connection is closed: throughput times round-trip time. */
static double in_flight(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    return c->has_begun
               ? c->rate * xd_greater(p->depots[c->depot].rtt, c->rtt_now)
               : 0;
}

/* ---- needless requests and slow connections ---- */

/* Returns whether another request is receiving the range that contains the next
 * byte of this one. */
static bool is_replaced(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *o = &p->conns[i];

        if (o != c && o->is_running && !o->is_leaving && o->has_begun &&
            o->range.begin <= c->got && c->got < p->book->assigned[i].end)
            return true;
    }
    return false;
}

/* Returns whether the request should be canceled.  Either another request has
 * taken over all its remaining bytes, or the next ones have already arrived and
 * skipping them saves more time than connecting again takes. */
static bool is_needless(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    struct xd_range rest = {c->got, c->range.end}, gap;

    if (xd_range_is_empty(rest))
        return false;
    if (xd_range_is_empty(xd_conn_rest(p, c)) && is_replaced(p, c))
        return true;
    if (!c->has_begun)
        return false;
    gap = xd_ledger_next_gap(p->book->ledger, XD_BYTES_RECEIVED, rest);
    return (double)(gap.begin - rest.begin) / xd_rate_of(p, c) >
           2 * xd_setup_of(p, c->depot);
}

static struct xd_sched_plan drop_needless(const struct xd_adaptive2 *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];

        if (c->is_running && !c->is_leaving && is_needless(p, c))
            return action(p, XD_PLAN_CANCEL, c, c->range);
    }
    return nothing;
}

/* Returns whether this is the only response that the depot has accepted: the
 * first one, or one beside which it refuses all others.  The depot may never
 * accept another, so this one is not given up for a promise. */
static bool is_only_answer(const struct xd_adaptive2 *p,
                           const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];

    return c->has_begun && p->book->depots[c->depot].most_flowing <= 1 &&
           (d->allowed > 0 || (c->n_requests == 1 && d->n_past == 0));
}

/* Compares the connections of a depot with a new one. */
struct slowness {
    double fresh;                /* expected throughput of a new connection */
    unsigned fast, young;        /* fast connections, and not yet known ones */
    const struct xd_conn *worst; /* slowest of the others, or NULL */
    double worst_rate;           /* its throughput; 0: it is stalled */
};

bool xd_is_young(const struct xd_conn *c)
{
    return c->n_samples < XD_MATURE || c->is_rising || !c->has_begun;
}

/* Returns whether a shared queue explains the silence of the connection.  If it
 * overflows, TCP waits before it sends again.  Before the first byte of the
 * connection, others of its depot show the queue.  A new connection would wait
 * in the same queue. */
static bool waits_in_queue(const struct xd_adaptive2 *p,
                           const struct xd_conn *c)
{
    const struct xd_conn *other = xd_conns_of(p, c->depot);

    if (c->has_begun)
        return xd_is_contended(p, c);
    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (other[i].is_running && other[i].has_begun &&
            xd_is_queued(p, &other[i]) &&
            xd_seconds(p->now - c->heard_at) <
                XD_QUEUE_WAITS * other[i].rtt_now)
            return true;
    return false;
}

static void compare(const struct xd_adaptive2 *p, const struct xd_conn *c,
                    struct slowness *r)
{
    double rate = c->rate;

    if (!c->is_running || c->is_leaving || is_only_answer(p, c))
        return;
    if (is_late(p, c) && !waits_in_queue(p, c)) {
        rate = 0;
    } else if (c->n_samples > 0 && c->rate > r->fresh / XD_RENEW) {
        r->fast++;
        return;
    } else if (xd_is_contended(p, c)) {
        return;
    } else if (xd_is_young(c)) {
        r->young++;
        return;
    }
    if (!r->worst || rate < r->worst_rate) {
        r->worst = c;
        r->worst_rate = rate;
    }
}

/* Returns the slowest connection of the depot if replacing it by a new one
 * pays, or NULL.  While more connections are still unknown than are fast, none
 * is replaced. */
static const struct xd_conn *find_slow(const struct xd_adaptive2 *p,
                                       unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    struct slowness r = {.fresh = xd_fresh_rate(p, depot)};
    double time = p->time_left - 2 * xd_settles_in(p, depot), lost;

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        compare(p, &c[i], &r);
    if (r.fast == 0 && r.worst_rate > 0 && p->now < p->depots[depot].renew_at)
        return NULL;
    if (!r.worst || r.young > r.fast || time <= 0)
        return NULL;
    lost = xd_lesser(in_flight(p, r.worst), xd_conn_left(p, r.worst));
    if (r.worst_rate > 0 &&
        r.fresh < XD_RENEW * (r.worst_rate + r.worst->deviation))
        return NULL;
    if ((r.fresh - r.worst_rate) * time - lost < p->price * p->total)
        return NULL;
    return r.worst;
}

static struct xd_sched_plan replace(const struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot];
        const struct xd_conn *c;

        if (depot == b->n_depots || !xd_holder_is_ready(&b->depots[depot]) ||
            p->depots[depot].rtt <= 0)
            continue;
        c = find_slow(p, depot);
        if (c)
            return action(p, XD_PLAN_RENEW, c, c->range);
    }
    return nothing;
}

/* ---- depots that suggest bytes ---- */

/* Returns the maximum length of a request to a depot that suggests bytes, so
 * that it can suggest others. */
static double most_heeding(const struct xd_adaptive2 *p,
                           const struct xd_conn *c)
{
    return xd_rate_of(p, c) *
           xd_greater(XD_BULK_S, XD_BULK_WAITS * xd_wait_of(p, c->depot));
}

/* Shortens a longer request, which was made before the suggestion. */
static struct xd_sched_plan heed(const struct xd_adaptive2 *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *c = &p->conns[i];
        struct xd_range rest = xd_conn_rest(p, c);
        double most = most_heeding(p, c);

        if (!c->is_running || c->is_leaving || c->n_samples < XD_MATURE ||
            !p->depots[c->depot].has_hints ||
            xd_conn_left(p, c) < 2 * most + XD_GRAIN)
            continue;
        rest.begin = (rest.begin + (uint64_t)most) / XD_GRAIN * XD_GRAIN;
        if (rest.begin > c->got)
            return action(p, XD_PLAN_SHORTEN, c, rest);
    }
    return nothing;
}

/* ---- the length of a request ---- */

/* Returns how many connections all depots may have together, at least 1. */
static unsigned width_of_all(const struct xd_adaptive2 *p)
{
    unsigned n = 0;

    for (unsigned slot = 0; slot < p->book->n_slots; slot++)
        if (p->book->slots[slot] < p->book->n_depots)
            n += most_at_a_time(p, p->book->slots[slot]);
    return n > 0 ? n : 1;
}

/* Returns the part of the missing bytes that the first requests ask for
 * together.  The rest stays unassigned, so that fast depots can take it when
 * the throughputs are known.  A single depot is asked for everything. */
static double first_part(const struct xd_adaptive2 *p)
{
    return 1 - XD_UNSURE * (1 - 1.0 / p->n_open);
}

/* Returns the length of a request while no throughput is known.  The requests
 * of a depot have different lengths, so that its connections do not all wait
 * for their next response at the same time.  If the user limits the throughput,
 * it is known, and nothing is gained by long requests. */
static double first_share(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];
    unsigned most = most_at_a_time(p, c->depot), n = width_of_all(p);
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
static double share_of(const struct xd_adaptive2 *p, const struct xd_conn *c)
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
static struct xd_range without_own(const struct xd_adaptive2 *p, unsigned depot,
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
static struct xd_range find_unasked(const struct xd_adaptive2 *p,
                                    unsigned depot, struct xd_range within,
                                    double length)
{
    const struct xd_book *b = p->book;
    struct xd_range best = {0, 0};

    for (unsigned i = 0; i < MOST_GAPS && within.begin < within.end; i++) {
        struct xd_range gap = xd_ledger_next_gap(b->ledger, XD_BYTES_ASSIGNED,
                                                 within),
                        run = xd_rangeset_next(&b->depots[depot].held, gap),
                        whole;

        within.begin = xd_range_is_empty(run) ? gap.end : run.end;
        if (xd_range_is_empty(gap))
            break;
        if (xd_range_is_empty(run))
            continue;
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

/* Returns whether the byte belongs to an object of unknown size, which is not
 * divided among requests. */
static bool is_unsized(const struct xd_adaptive2 *p, uint64_t byte)
{
    return xd_rangeset_contains(&p->book->unsized,
                                (struct xd_range){byte, byte + 1});
}

/* Shortens the range to about `length` bytes: a multiple of XD_GRAIN, or all of
 * it if the rest would be very short. */
static struct xd_range limit(const struct xd_adaptive2 *p, struct xd_range r,
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
static bool is_begun(const struct xd_adaptive2 *p, unsigned depot,
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
static double lateness_of(const struct xd_adaptive2 *p, struct xd_range rest,
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
static bool is_excused(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    return p->line.is_slow && p->line.is_busy &&
           p->now < c->heard_at +
                        xd_bottleneck_silence(&p->book->bottleneck, p->now);
}

/* Returns the request that ends last, relative to its deadline, or NULL.  *end:
 * when it ends.  Requests are skipped if the depot of `c` does not hold their
 * remaining bytes, or if all of them have been offered already.  While no
 * throughput is known, or the user's limit is reached, only those that are
 * stalled count.  A depot that is slow to begin is not asked the same twice. */
static const struct xd_conn *find_latest(const struct xd_adaptive2 *p,
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
            (v->depot == c->depot && xd_is_young(v) && !is_late(p, v)) ||
            ((p->rate <= 0 || p->is_limited) &&
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
static struct xd_sched_plan help(const struct xd_adaptive2 *p,
                                 const struct xd_conn *c,
                                 const struct xd_conn *v, double end)
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
    lost = xd_lesser(in_flight(p, v), x);
    if (gain < p->price + (lost > 0 ? XD_WASTE * lost / p->total : 0) ||
        (v->depot == c->depot &&
         (is_only_answer(p, v) || is_unsized(p, rest.begin))))
        return nothing;
    rest.begin = middle;
    if (v->depot != c->depot)
        return action(p, XD_PLAN_OFFER, v, rest);
    return middle > v->got ? action(p, XD_PLAN_SHORTEN, v, rest)
                           : action(p, XD_PLAN_CANCEL, v, rest);
}

static struct xd_sched_plan help_latest(const struct xd_adaptive2 *p,
                                        const struct xd_conn *c)
{
    double end;
    const struct xd_conn *v = find_latest(p, c, &end);

    return v ? help(p, c, v, end) : nothing;
}

/* Returns whether `v` is receiving bytes of the range `awaited` too late for
 * their reader, and `c` could deliver them much sooner. */
static bool is_awaited(const struct xd_adaptive2 *p, const struct xd_conn *c,
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
    return end > XD_RENEW * mine + p->price &&
           end > xd_shown_in(p, w, rest.begin);
}

/* Takes over a request that makes the reader of the window wait.  After a jump
 * this can be any request for the first block; later only the one for the first
 * missing byte. */
static struct xd_sched_plan rescue(const struct xd_adaptive2 *p,
                                   const struct xd_conn *c,
                                   const struct xd_window *w)
{
    struct xd_range awaited = w->range;

    awaited.end =
        xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED, w->range) + 1;
    if (awaited.end < w->jumped_to + p->book->o.block_bytes)
        awaited.end = w->jumped_to + p->book->o.block_bytes;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_conn *v = &p->conns[i];
        struct xd_sched_plan plan;

        if (!is_awaited(p, c, v, w, awaited))
            continue;
        plan = help(p, c, v, xd_end_in(p, v));
        if (plan.kind != XD_PLAN_WAIT)
            return plan;
    }
    return nothing;
}

/* Takes over a request that makes any reader wait. */
static struct xd_sched_plan rescue_any(const struct xd_adaptive2 *p,
                                       const struct xd_conn *c)
{
    for (unsigned i = 0; p->rate > 0 && i < p->book->n_windows; i++) {
        struct xd_sched_plan plan = nothing;

        if (xd_is_read(p, &p->book->windows[i]))
            plan = rescue(p, c, &p->book->windows[i]);
        if (plan.kind != XD_PLAN_WAIT)
            return plan;
    }
    return nothing;
}

/* Returns whether a request is running with bytes that it has not offered to
 * others.  A request that has offered everything may be stalled, and does not
 * count. */
static bool anything_runs(const struct xd_adaptive2 *p)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->conns[i].is_running &&
            !xd_range_is_empty(xd_conn_rest(p, &p->conns[i])))
            return true;
    return false;
}

/* Returns the next range for a reader, short enough to arrive before its
 * deadline.  A connection that is too slow for the next bytes gets later
 * ones. */
static struct xd_range find_urgent(const struct xd_adaptive2 *p,
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
    allowed =
        xd_lesser(xd_time_allowed(p, w, r.begin),
                  xd_greater(XD_LONGEST_READ_S, XD_LONGEST_READ_WAITS * wait));
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
static struct xd_range find_bulk(const struct xd_adaptive2 *p,
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
static struct xd_range find_for(const struct xd_adaptive2 *p,
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
static bool follows(const struct xd_adaptive2 *p, const struct xd_conn *c,
                    struct xd_range a, struct xd_range b)
{
    struct xd_range between = {a.end, b.begin}, both = {a.begin, b.end};

    return a.end <= b.begin &&
           xd_range_length(without_own(p, c->depot, both)) ==
               xd_range_length(both) &&
           XD_WASTE * (double)(b.begin - a.end) <= p->price * p->total &&
           xd_ledger_count(p->book->ledger, XD_BYTES_RECEIVED, between) ==
               xd_range_length(between) &&
           xd_book_cut(p->book, both).end == both.end &&
           xd_rangeset_contains(&p->book->depots[c->depot].held, both);
}

/* Extends the range over bytes that have arrived into the next unassigned
 * range, if that takes less time than waiting for another response. */
static struct xd_range go_on(const struct xd_adaptive2 *p,
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
static struct xd_sched_plan join(const struct xd_adaptive2 *p,
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
            return action(p, XD_PLAN_OFFER, v, rest);
    }
    return action(p, XD_PLAN_ASK, c, r);
}

/* Cancels a stalled request of the same depot whose bytes were offered to
 * others and not taken, so that `c` can ask for them. */
static struct xd_sched_plan cancel_stalled(const struct xd_adaptive2 *p,
                                           const struct xd_conn *c)
{
    const struct xd_conn *v = xd_conns_of(p, c->depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++, v++) {
        struct xd_range rest = {v->got, v->range.end};

        if (v->is_running && !v->is_leaving && is_late(p, v) &&
            !is_excused(p, v) && !xd_range_is_empty(rest) &&
            xd_range_is_empty(xd_conn_rest(p, v)) &&
            !xd_range_is_empty(
                xd_ledger_next_gap(p->book->ledger, XD_BYTES_ASSIGNED, rest)))
            return action(p, XD_PLAN_CANCEL, v, v->range);
    }
    return nothing;
}

/* Returns the best action for an idle connection; XD_PLAN_WAIT if there is
 * none. */
static struct xd_sched_plan use(const struct xd_adaptive2 *p,
                                const struct xd_conn *c)
{
    const struct xd_book *b = p->book;
    double share = share_of(p, c);
    struct xd_sched_plan plan;
    struct xd_range r;

    if (share <= 0 && !anything_runs(p))
        share = XD_GRAIN;
    if (is_begun(p, c->depot, &r))
        return action(p, XD_PLAN_ASK, c, r);
    plan = rescue_any(p, c);
    if (plan.kind != XD_PLAN_WAIT)
        return plan;
    for (unsigned i = 0; i < b->n_windows; i++) {
        if (!xd_may_ask_for(p, &b->windows[i]))
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
static const struct xd_conn *find_idle(const struct xd_adaptive2 *p,
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

/* Returns whether all packets from the depot wait in a long queue, and the
 * running requests will keep it full.  Another request would not increase the
 * throughput. */
static bool is_full(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    const double most = 2 * p->depots[depot].rtt + XD_LONG_QUEUE_S;
    double left = 0, rate = 0;

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
static double rank(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    return xd_byte_in(p, c) + p->left / width_of_all(p) / xd_rate_of(p, c) +
           SPREAD * p->depots[c->depot].n_running;
}

/* Returns the idle connection that follows `last` in the order of rank(), or
 * the first one if `last` is NULL.  Equal ones are in the order of their
 * addresses. */
static const struct xd_conn *next_idle(const struct xd_adaptive2 *p,
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

struct xd_sched_plan xd_next_action(const struct xd_adaptive2 *p)
{
    struct xd_sched_plan plan = drop_needless(p);
    const struct xd_conn *c = NULL;

    if (plan.kind == XD_PLAN_WAIT && p->rate > 0 && !p->is_limited &&
        !p->line.is_slow)
        plan = replace(p);
    if (plan.kind == XD_PLAN_WAIT && p->book->o.window_bytes == 0)
        plan = heed(p);
    while (plan.kind == XD_PLAN_WAIT && (c = next_idle(p, c)) != NULL)
        plan = use(p, c);
    return plan;
}
