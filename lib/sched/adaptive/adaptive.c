/* SPDX-License-Identifier: MIT */
/*
 * The adaptive policy: every depot has its next bytes asked for before the last
 * ones are in, and all come to their end together.
 *
 *     - While bytes are left that nobody was asked for, a lane takes the first
 *       of them: a part of what each would bring if all were equal, once the
 *       depot is known about a second's worth, and towards the end half of what
 *       it will still bring before all is done.  So requests become small where
 *       it matters, and their ends meet (size.c).
 *     - When few are left, a request that would end later than all others gives
 *       its tail to them, and is shortened.  Bytes that are on the wire already
 *       are left to it (ends.c).
 *     - A request that says nothing for longer than its depot ever needs gives
 *       all that is missing, and is not shortened: what still comes counts.
 *
 * Times and rates are forecasts by what each depot did so far (forecast.h).
 */
#include "sched/adaptive/adaptive.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/array.h"

/* A depot's second connection is used when what it owes lasts for less than so
 * many of its latencies: TCP needs some of them to find its speed. */
#define LEAD 24

/* For a reader it is used later: requests side by side come to their end later
 * than one after the other. */
#define URGENT_LEAD 8
#define HEAD_LEAD 3

/* Where requests share a connection that has found its speed, the next has to
 * be there when the last is written: in so many latencies, and so long for us to
 * notice.  What is asked for earlier only waits. */
#define SHARED_LEAD 4
#define SHARED_LEAD_S 0.1

/* Of all that is wanted, this part or so many bytes may be asked for twice to be
 * done sooner, and as many may be lost on the wire behind a new end. */
#define MOST_HEDGED 0.005
#define LEAST_HEDGED 65536.0

/* Another depot is opened in the place of one that brings less than this part of
 * its share of what all bring, or has not answered after so many latencies of
 * the nearest: a depot more must not keep away those behind it.  Of all that are
 * open no more than half are taken for such, for it may be us who is slow. */
#define USELESS_PARTS 8.0
#define SILENT_LATENCIES 4

/* So many depots are opened at once where it is worth it to ping the others: the
 * first byte need not wait for a ping, and few bytes are asked of a depot that
 * may be far. */
#define MOST_UNSEEN 4

/* How often silence is looked at when nothing is left to ask for. */
#define LOOK (20 * XD_MS)

static void adaptive_free(void *policy)
{
    struct xd_adaptive *p = policy;

    if (p == NULL)
        return;
    xd_connections_fini(&p->connections);
    xd_free(p->flows);
    xd_free(p->late);
    xd_free(p->forecasts);
    xd_free(p->depots);
    xd_free(p);
}

static void *adaptive_new(const struct xd_book *book)
{
    struct xd_adaptive *p = xd_alloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->book = book;
    p->flows = xd_alloc(book->n_fetches, sizeof *p->flows);
    p->late = xd_alloc(book->n_fetches, sizeof *p->late);
    p->forecasts = xd_alloc(book->n_depots, sizeof *p->forecasts);
    p->depots = xd_alloc(book->n_depots, sizeof *p->depots);
    if (p->flows == NULL || p->late == NULL || p->forecasts == NULL ||
        p->depots == NULL ||
        xd_connections_init(&p->connections, book->n_depots, book->n_fetches,
                            book->o.connections_per_depot,
                            book->o.first_lanes) < 0) {
        adaptive_free(p);
        return NULL;
    }
    p->most_hedged = MOST_HEDGED * (double)xd_range_length(book->wanted);
    if (p->most_hedged < LEAST_HEDGED)
        p->most_hedged = LEAST_HEDGED;
    if (xd_is_small(book))
        p->most_hedged = (double)xd_range_length(book->wanted) / 2;
    xd_growth_init(&p->growth, xd_range_length(book->wanted));
    p->began_at = XD_NEVER;
    p->trusted = book->n_fetches;
    p->risen = book->n_depots;
    for (unsigned i = 0; i < book->n_fetches; i++)
        p->flows[i].is_broken = true;
    for (unsigned i = 0; i < book->n_depots; i++) {
        const struct xd_guess *guess = &book->depots[i].guess;

        xd_forecast_guess(&p->forecasts[i], guess->rate, guess->latency);
        xd_connections_remember(&p->connections, i, &guess->learned);
    }
    xd_search_anew(p);
    return p;
}

static int adaptive_grown(void *policy, unsigned n_depots, unsigned n_fetches)
{
    struct xd_adaptive *p = policy;
    const struct xd_book *b = p->book;

    if (xd_lengthen(&p->flows, n_fetches, b->n_fetches, sizeof *p->flows) < 0 ||
        xd_lengthen(&p->late, n_fetches, b->n_fetches, sizeof *p->late) < 0 ||
        xd_lengthen(&p->forecasts, n_depots, b->n_depots,
                    sizeof *p->forecasts) < 0 ||
        xd_lengthen(&p->depots, n_depots, b->n_depots, sizeof *p->depots) < 0 ||
        xd_connections_grow(&p->connections, b->n_depots, b->n_fetches) < 0)
        return XD_E_NOMEM;
    for (unsigned i = n_fetches; i < b->n_fetches; i++)
        p->flows[i].is_broken = true;
    if (p->trusted == n_fetches)
        p->trusted = b->n_fetches; /* none */
    if (p->risen == n_depots)
        p->risen = b->n_depots; /* none */
    return 0;
}

/* Less what the depot itself was asked for already: others were too, when it
 * was overdue. */
static struct xd_range without_own(struct xd_adaptive *p, unsigned depot,
                                   struct xd_range r)
{
    const struct xd_book *b = p->book;
    unsigned n = b->o.lanes_per_depot;
    const struct xd_flow *lane = &p->flows[b->depots[depot].slot * n];

    if (!p->depots[depot].is_offered)
        return r;
    p->visits += n;
    for (unsigned i = 0; i < n; i++) {
        const struct xd_flow *f = &lane[i];

        if (!f->is_running || f->got >= r.end || f->range.end <= r.begin)
            continue;
        if (f->got > r.begin)
            r.end = f->got;
        else
            r.begin = f->range.end < r.end ? f->range.end : r.end;
    }
    return r;
}

static uint64_t *taken_to_of(struct xd_adaptive *p, unsigned depot)
{
    struct xd_stock *d = &p->depots[depot];

    if (d->search != p->search)
        d->taken_to = p->book->wanted.begin;
    d->search = p->search;
    return &d->taken_to;
}

bool xd_find_unasked(struct xd_adaptive *p, unsigned depot, uint64_t from,
                     struct xd_range *out)
{
    const struct xd_book *b = p->book;
    uint64_t *taken_to = taken_to_of(p, depot);
    struct xd_range rest = {from, b->window->range.end};
    bool is_all = from <= *taken_to; /* that was passed over so far */

    if (rest.begin < *taken_to)
        rest.begin = *taken_to;
    while (p->visits++, rest.begin < rest.end) {
        struct xd_range gap = xd_ledger_next_gap(p->book->ledger,
                                                 XD_BYTES_ASSIGNED, rest),
                        run;

        run = xd_rangeset_next(&b->depots[depot].held, gap);
        rest.begin = xd_range_is_empty(run) ? gap.end : run.end;
        if (is_all && !xd_range_is_empty(run)) {
            *taken_to = run.begin;
            is_all = false;
        }
        run = without_own(p, depot, run);
        if (!xd_range_is_empty(run)) {
            *out = run;
            return true;
        }
    }
    return false;
}

/* Make a request of the first of these bytes; false: they are not for it. */
static bool fit(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                struct xd_range *out)
{
    double size;

    *out = xd_book_cut(p->book, *out);
    size = xd_request_size(p, fetch, depot, *out);
    xd_shorten(out, size);
    return size >= 1;
}

/* Whether what it was asked for lasts for so many latencies more: then another
 * request, made later, would be at full speed as well. */
static bool is_supplied(const struct xd_adaptive *p, unsigned depot,
                        double lead)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double latency = xd_seconds(f->latency);
    double seconds;

    if (xd_connections_bound(p, depot) || xd_lane_is_probe(p, depot))
        return false;
    seconds = xd_shares(p, depot) ? SHARED_LEAD * latency + SHARED_LEAD_S
                                  : lead * latency;

    return (f->watched > 4 * f->latency || lead < LEAD) &&
           p->depots[depot].owed > f->rate * seconds;
}

static bool find_or_offer(struct xd_adaptive *p, unsigned depot,
                          struct xd_range *out)
{
    uint64_t from = p->book->window->range.begin;

    return xd_find_unasked(p, depot, from, out) ||
           (!xd_waits_for_objects(p) && xd_offer_late(p, depot) == 0 &&
            xd_find_unasked(p, depot, from, out));
}

/* Its lane was cut for a new connection, which is to find its speed whatever the
 * depot seems to bring and has to. */
static bool choose_anew(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                        struct xd_range *out)
{
    const struct xd_flow *f = &p->flows[fetch];

    if (!f->begins_anew || f->depot != depot ||
        !xd_find_unasked(p, depot, p->book->window->range.begin, out))
        return false;
    *out = xd_book_cut(p->book, *out);
    xd_shorten(out, xd_most_of(p, depot));
    return true;
}

/* For how many latencies ahead a depot is asked.  In the first block the order
 * does not matter, and two connections find their speed sooner than one. */
static double urgent_lead(struct xd_adaptive *p, unsigned depot)
{
    struct xd_range next;

    if (!xd_range_is_empty(xd_first_block(p)))
        return LEAD;
    if (xd_find_unasked(p, depot, p->book->window->range.begin, &next) &&
        !xd_order_matters(p, next.begin))
        return LEAD;
    return xd_brings_head(p, depot) ? HEAD_LEAD : URGENT_LEAD;
}

static bool find_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                        struct xd_range *out)
{
    uint64_t from = p->book->window->range.begin;
    double supply = xd_supply(p, depot);

    if (xd_is_alone(p, depot) && !xd_connections_bound(p, depot) &&
        !xd_lane_is_probe(p, depot))
        return xd_choose_alone(p, depot, out);
    if (xd_race(p, fetch, depot, out))
        return true;
    if (is_supplied(p, depot, urgent_lead(p, depot)) ||
        p->depots[depot].owed > supply)
        return xd_rescue(p, fetch, depot, out);
    if (xd_offer_urgent(p, depot) < 0)
        return false;
    if (xd_player_has_time(p)
            ? !xd_find_unasked(p, depot, from, out)
            : !find_or_offer(p, depot, out) || !fit(p, fetch, depot, out))
        return false;
    if (!xd_fit_urgent(p, fetch, depot, xd_most_of(p, depot), out))
        return false;
    xd_shorten(out, supply);
    return xd_leave_to_first(p, depot, out);
}

static bool choose_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                          struct xd_range *out)
{
    if (!find_urgent(p, fetch, depot, out))
        return false;
    *out = xd_book_cut(p->book, *out);
    return true;
}

static bool choose(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                   struct xd_range *out)
{
    if (p->book->window->bytes_per_s == 0 && xd_player_waits(p, depot))
        return false;
    if (xd_window_is_urgent(p->book, p->book->window))
        return choose_urgent(p, fetch, depot, out);
    if (xd_is_small(p->book)) {
        if (!xd_may_ask_small(p, depot))
            return false;
        if (xd_choose_small(p, fetch, depot, out))
            return true;
    }
    return choose_anew(p, fetch, depot, out) ||
           (!is_supplied(p, depot, LEAD) &&
            (xd_choose_hinted(p, fetch, depot, out) ||
             (find_or_offer(p, depot, out) && fit(p, fetch, depot, out))));
}

static unsigned adaptive_look(void *policy, xd_usec now)
{
    struct xd_adaptive *p = policy;

    p->visits = 0;
    xd_take_stock(p, now);
    xd_decide_connections(p);
    return p->visits;
}

/* What a request has of the file that was made already: to ask for less would cost
 * its connection, and for more a round trip.  True: it is to be gone on with. */
static bool choose_begun(const struct xd_adaptive *p, unsigned depot,
                         struct xd_range *out)
{
    const struct xd_book *b = p->book;
    const struct xd_holder *d = &b->depots[depot];
    struct xd_range begun = {0, d->guess.begun_to};

    if (begun.end == 0 || b->window->range.begin > 0)
        return false;
    begun.end = xd_rangeset_next_gap(&d->held, begun).begin;
    if (begun.end > b->window->range.end)
        begun.end = b->window->range.end;
    *out =
        xd_book_cut(b, xd_ledger_next_gap(b->ledger, XD_BYTES_ASSIGNED, begun));
    return out->begin == 0 && !xd_range_is_empty(*out);
}

/* A depot is asked for an object of unknown size in one request, because any part
 * of it may not exist.  Returns false if a request of the depot gets it. */
static bool take_unsized_whole(const struct xd_adaptive *p, unsigned depot,
                               struct xd_range *out)
{
    const struct xd_book *b = p->book;
    const struct xd_range place =
        xd_book_cut(b, (struct xd_range){out->begin, b->wanted.end});

    if (!xd_rangeset_contains(&b->unsized, place))
        return true;
    for (unsigned i = 0; i < b->n_fetches; i++)
        if (p->flows[i].is_running && p->flows[i].depot == depot &&
            xd_book_cut(
                b, (struct xd_range){p->flows[i].range.begin, b->wanted.end})
                    .end == place.end)
            return false;
    *out = xd_ledger_next_gap(b->ledger, XD_BYTES_RECEIVED, place);
    return true;
}

static bool adaptive_choose(void *policy, unsigned fetch, unsigned depot,
                            xd_usec now, struct xd_range *out, unsigned *visits)
{
    struct xd_adaptive *p = policy;
    const bool is_begun = choose_begun(p, depot, out);
    bool chosen =
        is_begun ||
        (xd_lane_is_allowed(p, fetch, depot) && !p->depots[depot].is_overdue &&
         choose(p, fetch, depot, out) && take_unsized_whole(p, depot, out));

    *visits = p->visits;
    if (!chosen)
        return false;
    if (p->began_at > now)
        p->began_at = now;
    p->flows[fetch] = (struct xd_flow){
        .is_running = true,
        .is_new = xd_has_to_connect(p, fetch, depot),
        .owns_connection = xd_connections_spread(&p->connections, depot),
        .is_queued = xd_shares(p, depot) && p->depots[depot].owed > 0,
        .depot = depot,
        .range = *out,
        .asked_end = out->end,
        .got = out->begin,
        .asked_at =
            p->now - (is_begun ? p->book->depots[depot].guess.begun_for : 0)};
    return true;
}

/* Whether a depot is slow to answer where others have. */
static bool keeps_silent(const struct xd_adaptive *p, unsigned slot)
{
    const struct xd_flow *f = &p->flows[slot * p->book->o.lanes_per_depot];
    double wait = xd_seconds(p->now - f->asked_at);

    return p->rate > 0 && f->is_running && !f->has_begun &&
           wait > SILENT_LATENCIES * xd_seconds(p->best_latency) + XD_LEAST_S;
}

static bool is_useful(const struct xd_adaptive *p, unsigned slot)
{
    unsigned depot = p->book->slots[slot];
    double rate = p->forecasts[depot].rate;

    if (p->depots[depot].is_overdue)
        return false;
    if (p->depots[depot].heard_at == 0)
        return !keeps_silent(p, slot);
    return rate <= 0 || rate * p->n_well * USELESS_PARTS >= p->rate;
}

static unsigned count_useful(const struct xd_adaptive *p)
{
    unsigned n = 0;

    for (unsigned slot = 0; slot < p->book->n_slots; slot++)
        n += p->book->slots[slot] < p->book->n_depots && is_useful(p, slot);
    return n > p->n_open / 2 ? n : p->n_open / 2;
}

/* Bulk is brought by those that answer first; for a small file nobody but those
 * that bring it is troubled. */
static void adaptive_opens(void *policy, unsigned *out_first,
                           unsigned *out_unseen)
{
    const struct xd_adaptive *p = policy;

    *out_first = p->growth.most_open;
    *out_unseen = xd_is_small(p->book) ? p->growth.most_open : MOST_UNSEEN;
}

static bool adaptive_wants_more(void *policy)
{
    struct xd_adaptive *p = policy;

    return xd_growth_wants_more(&p->growth, count_useful(p), p->now);
}

/* When a request that is well becomes overdue, for then others may take it.  When
 * nothing else is left to do they may sooner, if it says nothing: then nobody may
 * be saying anything. */
static xd_usec adaptive_wake(void *policy, xd_usec now)
{
    const struct xd_adaptive *p = policy;

    if (p->unasked <= 0 && p->wake_at != XD_NEVER && p->wake_at > now + LOOK)
        return now + LOOK;
    return p->wake_at;
}

static bool adaptive_spreads(void *policy, unsigned depot)
{
    const struct xd_adaptive *p = policy;

    return xd_connections_spread(&p->connections, depot);
}

static unsigned adaptive_lanes(void *policy, unsigned depot,
                               enum xd_lanes_reason *out_why)
{
    const struct xd_adaptive *p = policy;

    *out_why = xd_connections_why(&p->connections, depot);
    return xd_connections_allowed(&p->connections, depot);
}

static struct xd_learned adaptive_learned(void *policy, unsigned depot)
{
    const struct xd_adaptive *p = policy;

    return xd_connections_learned(&p->connections, depot,
                                  p->forecasts[depot].latency);
}

static void settle_adaptive(struct xd_sched_options *o)
{
    o->redundancy = 0;
    o->progress = 0;
}

const struct xd_policy xd_policy_adaptive = {.name = "adaptive",
                                             .settle = settle_adaptive,
                                             .new = adaptive_new,
                                             .free = adaptive_free,
                                             .look = adaptive_look,
                                             .choose = adaptive_choose,
                                             .received = xd_adaptive_heard,
                                             .shorten = xd_adaptive_shorten,
                                             .spares = xd_adaptive_spares,
                                             .opens = adaptive_opens,
                                             .wants_more = adaptive_wants_more,
                                             .wake = adaptive_wake,
                                             .grown = adaptive_grown,
                                             .spreads = adaptive_spreads,
                                             .lanes = adaptive_lanes,
                                             .learned = adaptive_learned,
                                             .canceled = xd_adaptive_canceled,
                                             .hinted = xd_adaptive_hinted,
                                             .ended = xd_adaptive_ended,
                                             .missing = xd_adaptive_missing,
                                             .lost = xd_adaptive_lost};
