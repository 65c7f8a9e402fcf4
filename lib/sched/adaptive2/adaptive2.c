/* SPDX-License-Identifier: MIT */
/*
 * Implements the functions of policy.h.  look() makes a plan, which is one
 * action.  The scheduler then calls shorten(), cancel() and choose(), and the
 * one that fits the plan carries it out.
 */
#include "sched/adaptive2/adaptive2.h"

#include <math.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

static void adaptive2_free(void *policy)
{
    struct xd_adaptive2 *p = policy;

    if (p == NULL)
        return;
    xd_free(p->conns);
    xd_free(p->depots);
    xd_free(p);
}

/* Begins the record of a depot with what earlier downloads say: how many
 * connections it was worth, the throughput of each, and its latency. */
static void begin_depot(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_depot_record *d = &p->depots[depot];
    const struct xd_guess *guess = &p->book->depots[depot].guess;

    d->width = xd_first_width(p);
    if (guess->learned.useful > d->width)
        d->width = guess->learned.useful < p->book->o.connections_per_depot
                       ? guess->learned.useful
                       : p->book->o.connections_per_depot;
    d->gain = d->pause = 1;
    d->asked_at = XD_NEVER;
    d->rtt = xd_seconds(guess->latency);
    d->rate =
        guess->learned.cap > 0 ? guess->learned.cap : guess->rate / d->width;
}

static void *adaptive2_new(const struct xd_book *book)
{
    struct xd_adaptive2 *p = xd_alloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->book = book;
    p->is_stale = true;
    p->began_at = XD_NEVER;
    p->conns = xd_alloc(book->n_fetches, sizeof *p->conns);
    p->depots = xd_alloc(book->n_depots, sizeof *p->depots);
    if (p->conns == NULL || p->depots == NULL) {
        adaptive2_free(p);
        return NULL;
    }
    for (unsigned i = 0; i < book->n_depots; i++)
        begin_depot(p, i);
    return p;
}

static int adaptive2_grown(void *policy, unsigned n_depots, unsigned n_fetches)
{
    struct xd_adaptive2 *p = policy;
    const struct xd_book *b = p->book;

    if (xd_lengthen(&p->conns, n_fetches, b->n_fetches, sizeof *p->conns) < 0 ||
        xd_lengthen(&p->depots, n_depots, b->n_depots, sizeof *p->depots) < 0)
        return XD_E_NOMEM;
    for (unsigned i = n_depots; i < b->n_depots; i++)
        begin_depot(p, i);
    p->is_stale = true;
    return 0;
}

/* ---- look(): make a plan ---- */

/* Returns the number of bytes in all windows that have not arrived. */
static double missing(const struct xd_book *b)
{
    double n = 0;

    for (unsigned i = 0; i < b->n_windows; i++)
        n += (double)(xd_range_length(b->windows[i].range) -
                      xd_ledger_count(b->ledger, XD_BYTES_RECEIVED,
                                      b->windows[i].range));
    return n;
}

/* A depot that was slow in an earlier download may be faster now. */
static void bound_prior(struct xd_depot_record *d, double mean)
{
    if (d->n_answers == 0 && d->rate > 0)
        d->rate = xd_greater(d->rate, mean / XD_LEAST_PRIOR);
}

/* Updates the record of a depot before a plan:
 *
 * - its round-trip time, as soon as it has connected;
 * - its mean throughput, from the connections with samples or else from earlier
 *   ones, or from an earlier download.  Adds the sum to *sum and their number
 *   to *n;
 * - its number of requests after a refusal: one more after each back-off. */
static void average(struct xd_adaptive2 *p, unsigned depot, double *sum,
                    unsigned *n)
{
    struct xd_depot_record *d = &p->depots[depot];
    const struct xd_conn *c = xd_conns_of(p, depot);
    double own = 0;
    unsigned known = 0;

    if (d->rtt <= 0 && d->asked_at < p->now &&
        p->book->depots[depot].has_connected)
        d->rtt = xd_greater(1e-4, xd_seconds(p->now - d->asked_at));
    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (c[i].is_open && c[i].n_samples > 0) {
            own += c[i].rate;
            known++;
        }
    if (known > 0)
        d->rate = own / known;
    else if (d->n_past > 0)
        d->rate = xd_fresh_rate(p, depot);
    else
        bound_prior(d, p->rate);
    *sum += own;
    *n += known;
    if (p->book->depots[depot].is_backing_off && d->allowed > 0 &&
        d->more_at < XD_NEVER &&
        d->more_at < p->book->depots[depot].back_off_until +
                         (xd_usec)(d->back_off * (double)XD_SECOND))
        d->more_at = p->book->depots[depot].back_off_until +
                     (xd_usec)(d->back_off * (double)XD_SECOND);
    if (d->allowed > 0 && d->n_running >= d->allowed && p->now >= d->more_at) {
        d->allowed++;
        d->more_at = p->now + (xd_usec)(d->back_off * (double)XD_SECOND);
    }
}

/* Returns where the object with this number begins; of the number of objects,
 * the end of the last. */
static uint64_t begin_of(const struct xd_book *b, size_t object)
{
    if (object == 0)
        return b->wanted.begin;
    return object <= b->n_cuts ? b->cuts[object - 1] : b->wanted.end;
}

bool xd_is_place(const struct xd_book *b, struct xd_range r)
{
    const size_t i =
        xd_count_up_to(r.begin, b->cuts, b->n_cuts, sizeof *b->cuts, 0);

    return b->n_cuts > 0 && begin_of(b, i) == r.begin &&
           begin_of(b, i + 1) == r.end && r.end - r.begin <= b->o.block_bytes;
}

double xd_expected(const struct xd_adaptive2 *p, struct xd_range r)
{
    const struct xd_book *b = p->book;
    double length = r.begin < r.end ? (double)(r.end - r.begin) : 0;

    return b->n_sized > 0 && xd_is_place(b, r)
               ? xd_lesser(length, b->mean_size + 1)
               : length;
}

double xd_conn_left(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    const struct xd_range r = xd_conn_rest(p, c);

    return xd_lesser(
        r.begin < r.end ? (double)(r.end - r.begin) : 0,
        xd_expected(p, (struct xd_range){c->range.begin, c->asked_end}));
}

/* Returns the minimum gain of an action, in seconds. */
static double price_of(const struct xd_adaptive2 *p)
{
    double gone = p->now > p->began_at ? xd_seconds(p->now - p->began_at) : 0;

    return xd_lesser(XD_PRICE_S,
                     XD_PRICE_PART * (gone + xd_lesser(p->time_left, 1e3)));
}

/* Returns the mean set-up time of the depots that have answered, in seconds:
 * connecting and waiting for the first byte.  0: none has answered. */
static double mean_setup(const struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;
    double sum = 0;
    unsigned n = 0;

    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots &&
            p->depots[b->slots[slot]].n_answers > 0) {
            sum +=
                p->depots[b->slots[slot]].rtt + p->depots[b->slots[slot]].wait;
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* Returns the mean throughput of the connections of those open depots for which
 * an earlier download has measured it; 0: of none.  Raises what is far below
 * it. */
static double take_priors(const struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;
    double sum = 0;
    unsigned n = 0;

    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots &&
            p->depots[b->slots[slot]].rate > 0) {
            sum += p->depots[b->slots[slot]].rate;
            n++;
        }
    for (unsigned slot = 0; n > 0 && slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots)
            bound_prior(&p->depots[b->slots[slot]], sum / n);
    return n > 0 ? sum / n : 0;
}

/* Number of objects whose lengths are averaged for the length of the next. */
#define NEXT_OBJECTS 16

/* Returns the mean length of the next unassigned objects in bytes, or HUGE_VAL
 * if the file is not divided into objects.  Objects of unknown size are assumed
 * to be like those whose size has become known. */
static double object_length(const struct xd_book *b)
{
    double length;
    size_t i, end;

    if (b->n_cuts == 0)
        return HUGE_VAL;
    i = xd_count_up_to(
        xd_ledger_first_gap(b->ledger, XD_BYTES_ASSIGNED, b->wanted), b->cuts,
        b->n_cuts, sizeof *b->cuts, 0);
    end = i + NEXT_OBJECTS <= b->n_cuts ? i + NEXT_OBJECTS : b->n_cuts + 1;
    i = end > NEXT_OBJECTS ? end - NEXT_OBJECTS : 0;
    length = (double)(begin_of(b, end) - begin_of(b, i)) / (double)(end - i);
    return b->n_sized > 0 ? xd_lesser(b->mean_size, length) : length;
}

/* Updates everything that a plan is based on. */
static void observe(struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;
    double sum = 0;
    unsigned n = 0;

    p->n_open = 0;
    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots) {
            average(p, b->slots[slot], &sum, &n);
            p->n_open++;
        }
    if (n > 0)
        p->rate = sum / n;
    else if (p->rate <= 0)
        p->rate = take_priors(p);
    p->object = object_length(b);
    p->left = missing(b);
    p->is_limited =
        b->limit_rate > 0 && xd_rate_meter_of(&p->meter, p->bytes, p->now) >=
                                 XD_NEAR_LIMIT * (double)b->limit_rate;
    p->setup = mean_setup(p);
    p->time_left = p->rate > 0 ? xd_horizon(p, p->left, &p->total) : HUGE_VAL;
    p->price = price_of(p);
}

/* Lets other requests ask for the range of the plan.  Returns false when out of
 * memory. */
static bool offer(struct xd_adaptive2 *p)
{
    return xd_book_offer(p->book, p->plan.fetch, p->plan.range) == 0;
}

/* Returns whether the most urgent window has changed since the last plan. */
static bool has_moved(struct xd_adaptive2 *p)
{
    const struct xd_window *w = &p->book->windows[0];
    bool is_so =
        p->book->n_windows > 0 && p->book->o.window_bytes > 0 &&
        (w->jumped_to != p->seen.jumped_to ||
         w->range.end != p->seen.range.end || w->reader != p->seen.reader);

    if (is_so)
        p->seen = *w;
    return is_so;
}

static unsigned adaptive2_look(void *policy, xd_usec now)
{
    struct xd_adaptive2 *p = policy;

    if (!has_moved(p) && !p->is_stale && p->n_running > 0 && now < p->next_at)
        return 0;
    p->now = now;
    p->is_stale = false;
    xd_watch_line(p);
    observe(p);
    if (p->rate > 0)
        xd_control(p);
    do
        p->plan = xd_next_action(p);
    while (p->plan.kind == XD_PLAN_OFFER && offer(p));
    if (p->plan.kind == XD_PLAN_WAIT)
        p->next_at = now + (p->rate > 0 ? XD_TICK : XD_FIRST_TICK);
    return 0;
}

/* ---- shorten(), cancel(), choose(): carry out the plan ---- */

/* Marks the plan as carried out, so that the next look makes another one. */
static void applied(struct xd_adaptive2 *p)
{
    p->plan.kind = XD_PLAN_WAIT;
    p->is_stale = true;
}

static bool adaptive2_shorten(void *policy, unsigned *fetch, uint64_t *end)
{
    struct xd_adaptive2 *p = policy;

    if (p->plan.kind != XD_PLAN_SHORTEN || !offer(p))
        return false;
    *fetch = p->plan.fetch;
    *end = p->plan.range.begin;
    p->conns[*fetch].range.end = *end;
    applied(p);
    return true;
}

static bool adaptive2_cancel(void *policy, unsigned *fetch)
{
    struct xd_adaptive2 *p = policy;

    if (p->plan.kind != XD_PLAN_CANCEL && p->plan.kind != XD_PLAN_RENEW)
        return false;
    *fetch = p->plan.fetch;
    if (p->plan.kind == XD_PLAN_RENEW)
        p->depots[p->conns[*fetch].depot].n_renewing++;
    applied(p);
    return true;
}

static void adaptive2_canceled(void *policy, unsigned fetch)
{
    struct xd_adaptive2 *p = policy;

    p->conns[fetch].is_leaving = p->is_stale = true;
}

static bool adaptive2_choose(void *policy, unsigned fetch, unsigned depot,
                             xd_usec now, struct xd_range *out,
                             unsigned *visits)
{
    struct xd_adaptive2 *p = policy;
    struct xd_range window = p->book->window->range;

    (void)now;
    *visits = 0;
    if (p->plan.kind != XD_PLAN_ASK || p->plan.fetch != fetch ||
        p->plan.range.begin < window.begin || p->plan.range.end > window.end)
        return false;
    *out = p->plan.range;
    xd_told_asked(p, fetch, depot, *out);
    applied(p);
    return true;
}

static void adaptive2_received(void *policy, unsigned fetch, uint64_t to,
                               xd_usec now)
{
    xd_told_received(policy, fetch, to, now);
}

static void adaptive2_path(void *policy, unsigned fetch, bool is_disordered,
                           xd_usec round_trip, xd_usec now)
{
    struct xd_adaptive2 *p = policy;
    struct xd_depot_record *d = &p->depots[p->conns[fetch].depot];

    if (is_disordered)
        p->conns[fetch].disordered_at = now;
    p->conns[fetch].rtt_now = xd_seconds(round_trip);
    if (round_trip > 0 && xd_seconds(round_trip) < d->rtt)
        d->rtt = xd_seconds(round_trip); /* the shortest has no queue in it */
}

static int adaptive2_ended(void *policy, unsigned fetch, bool failed)
{
    xd_told_ended(policy, fetch, failed);
    return 0;
}

static int adaptive2_missing(void *policy, struct xd_range r)
{
    struct xd_adaptive2 *p = policy;

    (void)r;
    p->is_stale = true;
    return 0;
}

static void adaptive2_opened(void *policy, unsigned depot)
{
    xd_told_opened(policy, depot);
}

static void adaptive2_parked(void *policy, unsigned depot, unsigned slot)
{
    xd_told_parked(policy, depot, slot);
}

/* The holdings of a depot have changed, or whether it may be asked. */
static void adaptive2_changed(void *policy, unsigned depot)
{
    struct xd_adaptive2 *p = policy;

    (void)depot;
    p->is_stale = true;
}

static xd_usec adaptive2_wake(void *policy, xd_usec now)
{
    const struct xd_adaptive2 *p = policy;

    return p->next_at > now ? p->next_at : now + XD_TICK;
}

/* Requests for short objects share a connection if they can.  There are so many
 * at a time that together they are as long as an object that is not short. */
unsigned xd_most_requests(const struct xd_adaptive2 *p, unsigned depot)
{
    unsigned n = p->depots[depot].width;

    if (!p->book->depots[depot].shares || p->object * n >= XD_SHORT)
        return n;
    return (unsigned)xd_lesser(p->book->o.lanes_per_depot,
                               XD_SHORT / xd_greater(p->object, 1));
}

static unsigned adaptive2_lanes(void *policy, unsigned depot,
                                enum xd_lanes_reason *out_why)
{
    const struct xd_adaptive2 *p = policy;
    const struct xd_depot_record *d = &p->depots[depot];
    unsigned n = xd_most_requests(p, depot);

    *out_why = XD_LANES_USUAL;
    if (n > d->width)
        *out_why = XD_LANES_SHORT;
    else if (d->trial.is_on)
        *out_why = XD_LANES_TRIAL;
    else if (d->next_trial > 0)
        *out_why = XD_LANES_USELESS;
    else if (d->trial.before > 0)
        *out_why = XD_LANES_USEFUL;
    return n;
}

/* A few depots are opened at once, so that the first byte does not wait for a
 * ping.  The others are opened in the order of their pings.  If each depot
 * would deliver little, pings are not worth it. */
static void adaptive2_opens(void *policy, unsigned *out_first,
                            unsigned *out_unseen)
{
    const struct xd_adaptive2 *p = policy;

    *out_first = XD_FIRST_CONNECTIONS;
    *out_unseen = xd_range_length(p->book->wanted) <
                          XD_FIRST_CONNECTIONS * (uint64_t)XD_GRAIN
                      ? XD_FIRST_CONNECTIONS
                      : XD_FIRST_UNSEEN;
}

/* Returns the number of depots that are open and are not silent. */
static unsigned count_well(const struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;
    unsigned n = 0;

    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots)
            n += p->depots[b->slots[slot]].n_answers > 0 ||
                 xd_wait_of(p, b->slots[slot]) <
                     xd_greater(XD_QUIET_S, 2 * p->setup);
    return n;
}

/* While no throughput is known, as many depots are opened as there are
 * connections at the start.  Later, one more is opened if the end would come
 * sooner by more than the price of an action. */
static bool adaptive2_wants_more(void *policy)
{
    const struct xd_adaptive2 *p = policy;

    if (count_well(p) < XD_FIRST_CONNECTIONS)
        return true;
    return p->rate > 0 && p->rate * (p->time_left - 2 * p->setup) >
                              p->price * (p->total + p->rate);
}

static bool adaptive2_spreads(void *policy, unsigned depot)
{
    const struct xd_adaptive2 *p = policy;

    (void)depot;
    return p->object >= XD_SHORT;
}

/* More connections than at the start were useful, or a trial would have undone
 * them. */
static struct xd_learned adaptive2_learned(void *policy, unsigned depot)
{
    const struct xd_adaptive2 *p = policy;
    const struct xd_depot_record *d = &p->depots[depot];
    struct xd_learned learned = p->book->depots[depot].guess.learned;
    unsigned n = d->trial.is_on ? d->trial.before : d->width;

    if (d->trial.before == 0 || n <= xd_first_width(p) || d->rate <= 0)
        return learned;
    return (struct xd_learned){
        .useful = n,
        .cap = d->rate,
        .spreads = true,
        .latency = (xd_usec)((d->rtt + d->wait) * (double)XD_SECOND)};
}

static void adaptive2_hinted(void *policy, unsigned depot, struct xd_range r)
{
    struct xd_adaptive2 *p = policy;

    p->depots[depot].hint = r;
    p->depots[depot].has_hints = !xd_range_is_empty(r);
    p->is_stale = true;
}

static void settle_adaptive2(struct xd_sched_options *o)
{
    o->redundancy = 0;
    o->progress = 0;
}

const struct xd_policy xd_policy_adaptive2 = {.name = "adaptive2",
                                              .settle = settle_adaptive2,
                                              .new = adaptive2_new,
                                              .free = adaptive2_free,
                                              .look = adaptive2_look,
                                              .choose = adaptive2_choose,
                                              .received = adaptive2_received,
                                              .path = adaptive2_path,
                                              .shorten = adaptive2_shorten,
                                              .cancel = adaptive2_cancel,
                                              .canceled = adaptive2_canceled,
                                              .wake = adaptive2_wake,
                                              .grown = adaptive2_grown,
                                              .opened = adaptive2_opened,
                                              .parked = adaptive2_parked,
                                              .opens = adaptive2_opens,
                                              .wants_more =
                                                  adaptive2_wants_more,
                                              .lanes = adaptive2_lanes,
                                              .spreads = adaptive2_spreads,
                                              .learned = adaptive2_learned,
                                              .hinted = adaptive2_hinted,
                                              .ended = adaptive2_ended,
                                              .missing = adaptive2_missing,
                                              .readiness = adaptive2_changed,
                                              .lost = adaptive2_changed};
