/*
 * The adaptive policy: every depot has its next bytes asked for before the last
 * ones are in, and all come to their end together.
 *
 *     - While bytes are left that nobody was asked for, a lane takes the first
 *       of them: about a second's worth, and towards the end half of what the
 *       depot will still bring before all is done.  So requests become small
 *       where it matters, and their ends meet.
 *     - When few are left, a request that would end later than all others gives
 *       its tail to them, and is shortened.  Bytes that are on the wire already
 *       are left to it (ends.c).
 *     - A request that says nothing for longer than its depot ever needs gives
 *       all that is missing, and is not shortened: what still comes counts.
 *
 * Times and rates are forecasts by what each depot did so far (forecast.h).
 */
#include "sched/adaptive/adaptive.h"

#include <math.h>
#include <xdownload/error.h>

#include "base/alloc.h"

/* A request asks for no more blocks than this.  Longer requests are seldom,
 * shorter ones follow the depots sooner. */
#define MOST_BLOCKS 8

/* The first of a depot that is not known yet asks for a block, or where that
 * would be more than its share, for no less than this part of one. */
#define FIRST_PARTS 16

/* Of what a depot will still bring, one request asks for this share, so that
 * a wrong forecast can still be made good. */
#define SHARE 0.5

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

/* A first request connects, which takes as long as its answer; and where
 * connections are shared agrees on keys as well. */
#define FIRST_PARTS_OF_WAIT 2
#define SHARED_PARTS_OF_WAIT 3

/* Of all that is wanted, this part or so many bytes may be asked for twice to be
 * done sooner, and as many may be lost on the wire behind a new end. */
#define MOST_HEDGED 0.005
#define LEAST_HEDGED 65536.0

/* How often silence is looked at when nothing is left to ask for. */
#define LOOK (20 * XD_MS)

/* So many depots are opened at once, and up to twice as many if each has so many
 * bytes to bring: a short download is not to trouble them all. */
#define FIRST_OPEN 16
#define MOST_FIRST_OPEN 32
#define WORTH_OPENING ((uint64_t)2 << 20)

/* A turn, in which bytes are counted, is so long, and more depots pay if they
 * make it faster by this factor. */
#define TURN (200 * XD_MS)
#define GROWTH 1.1

static void adaptive_free(void *policy)
{
    struct xd_adaptive *p = policy;

    if (p == NULL)
        return;
    xd_rangeset_fini(&p->taken);
    xd_free(p->flows);
    xd_free(p->late);
    xd_free(p->forecasts);
    xd_free(p->depots);
    xd_free(p);
}

/* Between two events each request begins once and is shortened once, and what
 * is late is offered; none of that may need memory. */
static int make_room(struct xd_adaptive *p)
{
    return xd_rangeset_reserve(&p->taken,
                               p->taken.n + 4 * (size_t)p->book->n_fetches);
}

static unsigned first_open(uint64_t bytes)
{
    uint64_t n = bytes / WORTH_OPENING;

    if (n < FIRST_OPEN)
        return FIRST_OPEN;
    return n < MOST_FIRST_OPEN ? (unsigned)n : MOST_FIRST_OPEN;
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
        p->depots == NULL || make_room(p) < 0) {
        adaptive_free(p);
        return NULL;
    }
    p->most_hedged = MOST_HEDGED * (double)xd_range_length(book->wanted);
    if (p->most_hedged < LEAST_HEDGED)
        p->most_hedged = LEAST_HEDGED;
    if (xd_is_small(book))
        p->most_hedged = (double)xd_range_length(book->wanted) / 2;
    p->growth = (struct xd_growth){
        .most_open = first_open(xd_range_length(book->wanted)),
        .began = XD_NEVER};
    p->began_at = XD_NEVER;
    p->trusted = book->n_fetches;
    for (unsigned i = 0; i < book->n_fetches; i++)
        p->flows[i].is_broken = true;
    /* The first sample, watched for longer than no time, overrules them. */
    for (unsigned i = 0; i < book->n_depots; i++) {
        p->forecasts[i].rate = book->depots[i].guess.rate;
        p->forecasts[i].latency = book->depots[i].guess.latency;
    }
    xd_search_anew(p);
    return p;
}

double xd_first_size(const struct xd_adaptive *p)
{
    double block = (double)p->book->o.block_bytes;
    double share = p->unasked / (2.0 * p->book->n_slots);
    double least = block / FIRST_PARTS + 1;

    if (share >= block)
        return block;
    return share > least ? share : least;
}

/* Who is not known yet is asked only if there is time to do without. */
static double size_for_unknown(struct xd_adaptive *p, unsigned depot,
                               struct xd_range r)
{
    if (p->depots[depot].owed > 0 ||
        (p->time_left <
             xd_seconds(xd_forecast_patience(&p->forecasts[depot])) &&
         xd_others_bring(p, depot, r, HUGE_VAL)))
        return 0;
    return xd_first_size(p);
}

static double most_of(const struct xd_adaptive *p, unsigned depot)
{
    double block = (double)p->book->o.block_bytes;
    double most = p->forecasts[depot].rate * XD_REQUEST_S;

    if (most < block)
        return block;
    return most < block * MOST_BLOCKS ? most : block * MOST_BLOCKS;
}

/* What a depot brings before it could begin with something new. */
static double bytes_before(const struct xd_adaptive *p, unsigned fetch,
                           unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double meanwhile = xd_has_to_connect(p, fetch, depot)
                           ? f->rate * XD_NEW_LATENCIES * xd_seconds(f->latency)
                           : 0;

    return p->depots[depot].owed > meanwhile ? p->depots[depot].owed
                                             : meanwhile;
}

/* How much to ask a depot for of these bytes; 0: it owes as much as it can
 * bring. */
static double request_size(struct xd_adaptive *p, unsigned fetch,
                           unsigned depot, struct xd_range r)
{
    double rate = p->forecasts[depot].rate;
    double share, most, least, within;

    if (rate <= 0)
        return size_for_unknown(p, depot, r);
    most = most_of(p, depot);
    least = xd_least_worth(p, rate, xd_seconds(p->forecasts[depot].latency));
    if (least > most)
        least = most;
    share = rate * p->time_left - bytes_before(p, fetch, depot);
    if (share * SHARE >= least)
        return share * SHARE < most ? share * SHARE : most;
    if (share < least) {
        if (least < (double)xd_range_length(r))
            r.end = r.begin + (uint64_t)least;
        within = xd_time_to_bring(p, depot, (double)xd_range_length(r));
        if (p->depots[depot].owed > 0) /* its other lane may take it later */
            within +=
                (bytes_before(p, fetch, depot) - p->depots[depot].owed) / rate;
        return xd_others_bring(p, depot, r, within) ? 0 : least;
    }
    return share;
}

/* Less what the depot itself was asked for already: others were too, when it
 * was overdue. */
static struct xd_range without_own(struct xd_adaptive *p, unsigned depot,
                                   struct xd_range r)
{
    if (!p->depots[depot].is_offered)
        return r;
    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_flow *f = &p->flows[i];

        if (!f->is_running || f->depot != depot || f->got >= r.end ||
            f->range.end <= r.begin)
            continue;
        if (f->got > r.begin)
            r.end = f->got;
        else
            r.begin = f->range.end < r.end ? f->range.end : r.end;
    }
    return r;
}

bool xd_find_unasked(struct xd_adaptive *p, unsigned depot, uint64_t from,
                     struct xd_range *out)
{
    const struct xd_book *b = p->book;
    uint64_t *taken_to = &p->depots[depot].taken_to;
    struct xd_range rest = {from, b->window->range.end};
    bool is_all = from <= *taken_to; /* that was passed over so far */

    if (rest.begin < *taken_to)
        rest.begin = *taken_to;
    while (p->visits++, rest.begin < rest.end) {
        struct xd_range gap = xd_rangeset_next_gap(&p->taken, rest), run;

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

/* Up to the next edge of an extent. */
static struct xd_range within_cuts(const struct xd_book *b, struct xd_range r)
{
    size_t low = 0, high = b->n_cuts;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (b->cuts[middle] <= r.begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < b->n_cuts && b->cuts[low] < r.end)
        r.end = b->cuts[low];
    return r;
}

/* Make a request of the first of these bytes; false: they are not for it. */
static bool fit(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                struct xd_range *out)
{
    double size;

    *out = within_cuts(p->book, *out);
    size = request_size(p, fetch, depot, *out);
    if ((double)xd_range_length(*out) > size + 1) /* leave no single byte */
        out->end = out->begin + (uint64_t)size;
    return size >= 1;
}

/* Whether what it was asked for lasts for so many latencies more: then another
 * request, made later, would be at full speed as well. */
static bool is_supplied(const struct xd_adaptive *p, unsigned depot,
                        double lead)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double latency = xd_seconds(f->latency);
    double seconds = xd_shares(p, depot) ? SHARED_LEAD * latency + SHARED_LEAD_S
                                         : lead * latency;

    return (f->watched > 4 * f->latency || lead < LEAD) &&
           p->depots[depot].owed > f->rate * seconds;
}

static bool find_or_offer(struct xd_adaptive *p, unsigned depot,
                          struct xd_range *out)
{
    uint64_t from = p->book->window->range.begin;

    return xd_find_unasked(p, depot, from, out) ||
           (xd_offer_late(p, depot) == 0 &&
            xd_find_unasked(p, depot, from, out));
}

/* For how many latencies ahead a depot is asked.  Its two connections bring more
 * than one while they find their speed, but what comes first comes later. */
static double urgent_lead(struct xd_adaptive *p, unsigned depot)
{
    struct xd_range next;

    if (xd_find_unasked(p, depot, p->book->window->range.begin, &next) &&
        (!xd_order_matters(p, next.begin) ||
         (xd_is_alone(p, depot) && xd_is_young(p, depot) &&
          !xd_player_has_time(p))))
        return LEAD;
    return xd_brings_head(p, depot) ? HEAD_LEAD : URGENT_LEAD;
}

static bool find_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                        struct xd_range *out)
{
    uint64_t from = p->book->window->range.begin;

    if (xd_race(p, fetch, depot, out))
        return true;
    if (is_supplied(p, depot, urgent_lead(p, depot)))
        return xd_rescue(p, fetch, depot, out);
    if (xd_offer_urgent(p, depot) < 0)
        return false;
    if (xd_player_has_time(p)
            ? !xd_find_unasked(p, depot, from, out)
            : !find_or_offer(p, depot, out) || !fit(p, fetch, depot, out))
        return false;
    return xd_fit_urgent(p, fetch, depot, most_of(p, depot), out);
}

static bool choose_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                          struct xd_range *out)
{
    if (!find_urgent(p, fetch, depot, out))
        return false;
    *out = within_cuts(p->book, *out);
    return true;
}

static bool choose(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                   struct xd_range *out)
{
    if (p->book->window->bytes_per_s == 0 && xd_player_waits(p))
        return false;
    if (xd_window_is_urgent(p->book, p->book->window))
        return choose_urgent(p, fetch, depot, out);
    if (xd_is_small(p->book)) {
        if (!xd_may_ask_small(p, depot))
            return false;
        if (xd_choose_small(p, fetch, depot, out))
            return true;
    }
    return !is_supplied(p, depot, LEAD) && find_or_offer(p, depot, out) &&
           fit(p, fetch, depot, out);
}

static unsigned adaptive_look(void *policy, xd_usec now)
{
    struct xd_adaptive *p = policy;

    p->visits = 0;
    xd_take_stock(p, now);
    return p->visits;
}

static bool adaptive_choose(void *policy, unsigned fetch, unsigned depot,
                            xd_usec now, struct xd_range *out, unsigned *visits)
{
    struct xd_adaptive *p = policy;
    bool chosen = !p->depots[depot].is_overdue && choose(p, fetch, depot, out);
    bool is_race;

    *visits = p->visits;
    if (!chosen)
        return false;
    is_race = xd_rangeset_contains(&p->taken, *out);
    if (xd_rangeset_add(&p->taken, *out) < 0)
        return false;
    if (p->began_at > now)
        p->began_at = now;
    p->flows[fetch] = (struct xd_flow){
        .is_running = true,
        .is_new = xd_has_to_connect(p, fetch, depot),
        .is_queued = xd_shares(p, depot) && p->depots[depot].owed > 0,
        .depot = depot,
        .range = *out,
        .is_offered = is_race,
        .offered = is_race ? out->begin : out->end,
        .asked_end = out->end,
        .got = out->begin,
        .asked_at = p->now};
    return true;
}

/* Bytes came: begin a turn with the first. */
static void count_turn(struct xd_growth *g, xd_usec now, uint64_t bytes)
{
    if (g->began == XD_NEVER)
        g->began = now;
    g->bytes += bytes;
}

static void count_round(struct xd_flow *f, xd_usec latency, xd_usec now)
{
    struct xd_round *r = &f->round;

    if (f->has_begun && now - r->began < latency)
        return;
    if (f->has_begun) {
        r->before = r->bytes;
        r->bytes = (double)(f->got - r->from) * (double)latency /
                   (double)(now - r->began);
    }
    r->began = now;
    r->from = f->got;
}

static void adaptive_heard(void *policy, unsigned fetch, uint64_t to,
                           xd_usec now)
{
    struct xd_adaptive *p = policy;
    struct xd_flow *f = &p->flows[fetch];
    struct xd_forecast *forecast = &p->forecasts[f->depot];

    if (to <= f->got)
        return;
    if (!f->has_begun && f->is_queued)
        xd_forecast_queued(forecast, now - f->asked_at);
    else if (!f->has_begun)
        xd_forecast_answered(forecast, now - f->asked_at,
                             xd_shares(p, f->depot) ? SHARED_PARTS_OF_WAIT
                                                    : FIRST_PARTS_OF_WAIT);
    count_round(f, forecast->latency, now);
    f->has_begun = true;
    f->heard_at = p->depots[f->depot].heard_at = now;
    count_turn(&p->growth, now, to - f->got);
    p->brought += (double)(to - f->got);
    xd_forecast_heard(forecast, now, to - f->got);
    xd_forecast_heard(&f->forecast, now, to - f->got);
    f->got = to;
}

static bool is_flowing(const struct xd_adaptive *p, unsigned depot)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->flows[i].is_running && p->flows[i].has_begun &&
            p->flows[i].depot == depot)
            return true;
    return false;
}

/* Whoever else was asked for a part of `r` still is. */
static int give_back(struct xd_adaptive *p, struct xd_range r)
{
    int rc = xd_rangeset_remove(&p->taken, r);

    for (unsigned i = 0; rc == 0 && i < p->book->n_fetches; i++) {
        const struct xd_flow *f = &p->flows[i];

        if (f->is_running && f->offered > f->range.begin)
            rc = xd_rangeset_add(&p->taken,
                                 (struct xd_range){f->range.begin, f->offered});
    }
    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range here = xd_rangeset_next(&p->book->arrived, r);

        if (xd_range_is_empty(here))
            break;
        rc = xd_rangeset_add(&p->taken, here);
        r.begin = here.end;
    }
    xd_search_anew(p);
    return rc;
}

/* Whether a turn is over in which all that are open found their speed, and it
 * is more than half as many brought. */
static bool has_grown(struct xd_growth *g, xd_usec now)
{
    double rate, last = g->rate;

    if (g->began == XD_NEVER || now < g->began + TURN)
        return false;
    rate = (double)g->bytes / xd_seconds(now - g->began);
    g->rate = rate;
    g->began = now;
    g->bytes = 0;
    return rate < last * GROWTH && rate > g->rate_before * GROWTH;
}

/* A line that is full is not to be shared among ever more. */
static bool adaptive_wants_more(void *policy)
{
    struct xd_adaptive *p = policy;
    struct xd_growth *g = &p->growth;

    if (p->n_well < g->most_open)
        return true;
    if (!has_grown(g, p->now))
        return false;
    g->rate_before = g->rate;
    g->most_open *= 2;
    return true;
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

static int adaptive_arrived(void *policy, struct xd_range r)
{
    struct xd_adaptive *p = policy;
    int rc = xd_rangeset_add(&p->taken, r);

    return rc < 0 ? rc : make_room(p);
}

static int adaptive_missing(void *policy, struct xd_range r)
{
    struct xd_adaptive *p = policy;
    int rc = give_back(p, r);

    return rc < 0 ? rc : make_room(p);
}

static void adaptive_canceled(void *policy, unsigned fetch)
{
    struct xd_adaptive *p = policy;

    p->flows[fetch].is_canceled = true;
}

/* It was too short for a sample: most of its time was its latency. */
static bool tells_least_rate(const struct xd_adaptive *p,
                             const struct xd_flow *f)
{
    const struct xd_forecast *its = &p->forecasts[f->depot];

    return its->rate <= 0 || f->heard_at == f->forecast.since ||
           f->heard_at - f->asked_at < 2 * its->latency;
}

static int adaptive_ended(void *policy, unsigned fetch, bool failed)
{
    struct xd_adaptive *p = policy;
    struct xd_flow *f = &p->flows[fetch];

    f->is_broken = f->got < f->asked_end;
    f->is_running = false;
    if (!is_flowing(p, f->depot))
        xd_forecast_paused(&p->forecasts[f->depot],
                           p->depots[f->depot].heard_at);
    if (f->has_begun && tells_least_rate(p, f))
        xd_forecast_gulped(&p->forecasts[f->depot], f->heard_at - f->asked_at,
                           f->got - f->range.begin);
    if (failed)
        xd_forecast_forget(&p->forecasts[f->depot]);
    if (xd_rangeset_contains(&p->book->arrived, f->range))
        return make_room(p);
    return adaptive_missing(p, f->range);
}

static void adaptive_lost(void *policy, unsigned depot)
{
    struct xd_adaptive *p = policy;

    p->depots[depot].taken_to = p->book->wanted.begin;
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
                                             .heard = adaptive_heard,
                                             .shorten = xd_adaptive_shorten,
                                             .wants_more = adaptive_wants_more,
                                             .wake = adaptive_wake,
                                             .canceled = adaptive_canceled,
                                             .ended = adaptive_ended,
                                             .arrived = adaptive_arrived,
                                             .missing = adaptive_missing,
                                             .lost = adaptive_lost};
