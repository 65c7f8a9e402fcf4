/*
 * The adaptive policy: every depot has its next bytes asked for before the last
 * ones are in, and all come to their end together.
 *
 *     - While bytes are left that nobody was asked for, a lane takes the first
 *       of them: about a second's worth, and towards the end half of what the
 *       depot will still bring before all is done.  So requests become small
 *       where it matters, and their ends meet.
 *     - When none are left, the request that will end last gives its tail to
 *       the lane, so much that both end together.  It is cut short there.  Bytes
 *       that are on the wire already are left to it.
 *     - A request that says nothing for longer than its depot ever needs
 *       gives all that is missing, and is not cut: what still comes counts.
 *
 * Times and rates are forecasts by what each depot did so far (forecast.h).
 */
#include "sched/policy.h"

#include <xdownload/error.h>

#include "base/alloc.h"
#include "sched/forecast.h"

/* A request asks for block_bytes, or, if that is more, for what the depot
 * brings in a second, up to so many blocks.  Longer requests are seldom, shorter
 * ones follow the depots sooner. */
#define REQUEST_S 1.0
#define MOST_BLOCKS 8

/* The first of a depot that is not known yet asks for a block, or where that
 * would be more than its share, for no less than this part of one. */
#define FIRST_PARTS 16

/* Of what a depot will still bring, one request asks for this share, so that
 * a wrong forecast can still be made good. */
#define SHARE 0.5

/* No request, and no tail, is worth less time than this, or less than this
 * part of a block. */
#define LEAST_S 0.02
#define LEAST_PARTS 64

/* So much later than all others may a request end. */
#define SLACK 0.25

/* When no more than this is left to ask for, ends are brought together. */
#define END_S 0.5

/* A depot's next request is made when what it owes lasts for so many times its
 * latency: then TCP has found its speed again when it must. */
#define LEAD 24

#define NEW_LATENCIES 3

/* Of all that is wanted, so much may be asked for twice to be done sooner. */
#define MOST_HEDGED 0.005
#define LEAST_HEDGED 65536.0
#define WORTH_WASTE_S 0.5
#define HEDGE_GAIN 2

#define FIRST_OPEN 16
#define GROW_EVERY (100 * XD_MS)
#define GROWTH 1.1

#define FOR_EVER 1e9

struct flow {
    bool is_running;
    bool has_begun;  /* a byte of it came */
    bool is_offered; /* others may have been asked for all that is left */
    bool is_new;     /* it had to connect */
    bool is_broken;  /* its lane has no connection any more */
    unsigned depot;
    struct xd_range range;
    uint64_t asked_end; /* before it was shortened */
    uint64_t got;       /* all before it is here */
    xd_usec asked_at, heard_at;
    struct xd_forecast forecast; /* of itself alone */
};

/* What is known of a depot besides its forecast. */
struct stock {
    double owed;       /* bytes that it was asked for and has not brought */
    bool is_overdue;   /* with some of them */
    uint64_t taken_to; /* it holds none that nobody was asked for before */
};

struct adaptive {
    const struct xd_book *book;
    struct flow *flows;            /* one per fetch */
    struct xd_forecast *forecasts; /* one per depot */
    struct stock *depots;          /* likewise */
    struct xd_rangeset taken;      /* arrived, or asked for */

    unsigned most_open; /* depots, for now */
    xd_usec grown_at;   /* when it was raised last, or the first request */
    double rate_before; /* all of them brought then */
    double hedged;      /* bytes asked for twice, to be done sooner */
    double wasted;      /* that were on the wire behind a new end */
    double most_hedged; /* of each */

    /* Set by take_stock(). */
    double unasked, overdue; /* bytes */
    double rate;             /* of all depots together */
    double time_left;        /* seconds until all is here, if all goes well */
};

static void adaptive_free(void *policy)
{
    struct adaptive *p = policy;

    if (p == NULL)
        return;
    xd_rangeset_fini(&p->taken);
    xd_free(p->flows);
    xd_free(p->forecasts);
    xd_free(p->depots);
    xd_free(p);
}

static void look_again(struct adaptive *p)
{
    for (unsigned i = 0; i < p->book->n_depots; i++)
        p->depots[i].taken_to = p->book->wanted.begin;
}

/* Between two events each request begins once and is shortened once, and what
 * is late is offered; none of that may need memory. */
static int make_room(struct adaptive *p)
{
    return xd_rangeset_reserve(&p->taken,
                               p->taken.n + 4 * (size_t)p->book->n_fetches);
}

static void *adaptive_new(const struct xd_book *book)
{
    struct adaptive *p = xd_alloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->book = book;
    p->flows = xd_alloc(book->n_fetches, sizeof *p->flows);
    p->forecasts = xd_alloc(book->n_depots, sizeof *p->forecasts);
    p->depots = xd_alloc(book->n_depots, sizeof *p->depots);
    if (p->flows == NULL || p->forecasts == NULL || p->depots == NULL ||
        make_room(p) < 0) {
        adaptive_free(p);
        return NULL;
    }
    p->most_hedged = MOST_HEDGED * (double)xd_range_length(book->wanted);
    if (p->most_hedged < LEAST_HEDGED)
        p->most_hedged = LEAST_HEDGED;
    p->most_open = FIRST_OPEN;
    p->grown_at = XD_NEVER - GROW_EVERY;
    for (unsigned i = 0; i < book->n_fetches; i++)
        p->flows[i].is_broken = true;
    /* The first sample, watched for longer than no time, overrules them. */
    for (unsigned i = 0; i < book->n_depots; i++) {
        p->forecasts[i].rate = book->depots[i].guess.rate;
        p->forecasts[i].latency = book->depots[i].guess.latency;
    }
    look_again(p);
    return p;
}

static double seconds(xd_usec t)
{
    return (double)t / (double)XD_SECOND;
}

/* Bytes before `end` that nobody was asked for. */
static double unasked_before(const struct adaptive *p, uint64_t end)
{
    struct xd_range r = {p->book->wanted.begin, end};

    if (xd_range_is_empty(r))
        return 0;
    return (double)(xd_range_length(r) - xd_rangeset_overlap(&p->taken, r));
}

static double bytes_left(const struct flow *f)
{
    return f->got < f->range.end ? (double)(f->range.end - f->got) : 0;
}

static xd_usec overdue_at(const struct adaptive *p, const struct flow *f)
{
    return (f->has_begun ? f->heard_at : f->asked_at) +
           xd_forecast_patience(&p->forecasts[f->depot]);
}

/* A new connection costs a round trip, and then TCP has to find its speed. */
static double latency_of(const struct adaptive *p, const struct flow *f)
{
    double latency = seconds(p->forecasts[f->depot].latency);

    return f->is_new ? latency * NEW_LATENCIES : latency;
}

/*
 * Look at all requests, and say when everything will be here if everybody
 * brings as much as he can.  What is overdue counts as if nobody had it.
 */
static void take_stock(struct adaptive *p, xd_usec now)
{
    const struct xd_book *b = p->book;
    double rate = 0;

    for (unsigned i = 0; i < b->n_depots; i++) {
        p->depots[i].owed = 0;
        p->depots[i].is_overdue = false;
    }
    p->unasked = unasked_before(p, b->wanted.end);
    p->overdue = 0;
    for (unsigned i = 0; i < b->n_fetches; i++) {
        struct flow *f = &p->flows[i];

        if (!f->is_running)
            continue;
        p->depots[f->depot].owed += bytes_left(f);
        if (overdue_at(p, f) > now)
            continue;
        p->depots[f->depot].is_overdue = true;
        if (!f->is_offered)
            p->overdue += bytes_left(f);
    }
    p->time_left = p->unasked + p->overdue;
    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned i = b->slots[slot];

        if (i == b->n_depots || p->depots[i].is_overdue ||
            p->forecasts[i].rate <= 0)
            continue;
        p->time_left += p->depots[i].owed;
        rate += p->forecasts[i].rate;
    }
    p->rate = rate;
    p->time_left = rate > 0 ? p->time_left / rate : FOR_EVER;
}

/* The least that is worth a request: below its latency, a depot would idle more
 * than it brings. */
static double least_worth(const struct adaptive *p, double rate, double latency)
{
    double part = (double)p->book->o.block_bytes / LEAST_PARTS + 1;
    double least = rate * (latency > LEAST_S ? latency : LEAST_S);

    return least > part ? least : part;
}

static double first_size(const struct adaptive *p)
{
    double block = (double)p->book->o.block_bytes;
    double share = p->unasked / (2.0 * p->book->n_slots);
    double least = block / FIRST_PARTS + 1;

    if (share >= block)
        return block;
    return share > least ? share : least;
}

static double time_to_bring(const struct adaptive *p, unsigned depot,
                            double bytes)
{
    return seconds(p->forecasts[depot].latency) +
           (p->depots[depot].owed + bytes) / p->forecasts[depot].rate;
}

/* Whether another depot will bring these bytes sooner, though it is asked
 * later. */
static bool is_outdone(const struct adaptive *p, unsigned depot,
                       struct xd_range r)
{
    double bytes = (double)xd_range_length(r);
    double mine = time_to_bring(p, depot, bytes);

    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        if (i < p->book->n_depots && i != depot &&
            xd_holder_is_ready(&p->book->depots[i]) &&
            !p->depots[i].is_overdue && p->forecasts[i].rate > 0 &&
            time_to_bring(p, i, bytes) < mine &&
            xd_rangeset_contains(&p->book->depots[i].held, r))
            return true;
    }
    return false;
}

static bool others_could_bring(const struct adaptive *p, unsigned depot,
                               struct xd_range r)
{
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        if (i < p->book->n_depots && i != depot &&
            xd_holder_is_ready(&p->book->depots[i]) &&
            !p->depots[i].is_overdue && p->forecasts[i].rate > 0 &&
            xd_rangeset_contains(&p->book->depots[i].held, r))
            return true;
    }
    return false;
}

/* Who is not known yet is asked only if there is time to do without. */
static double size_for_unknown(const struct adaptive *p, unsigned depot,
                               struct xd_range r)
{
    if (p->depots[depot].owed > 0 ||
        (p->time_left < seconds(xd_forecast_patience(&p->forecasts[depot])) &&
         others_could_bring(p, depot, r)))
        return 0;
    return first_size(p);
}

/* How much to ask a depot for of these bytes; 0: it owes as much as it can
 * bring. */
static double request_size(const struct adaptive *p, unsigned fetch,
                           unsigned depot, struct xd_range r)
{
    double block = (double)p->book->o.block_bytes;
    double rate = p->forecasts[depot].rate;
    double share, most, least;

    if (rate <= 0)
        return size_for_unknown(p, depot, r);
    most = rate * REQUEST_S;
    if (most < block)
        most = block;
    if (most > block * MOST_BLOCKS)
        most = block * MOST_BLOCKS;
    least = least_worth(p, rate, seconds(p->forecasts[depot].latency));
    share = rate * p->time_left - p->depots[depot].owed;
    if (p->flows[fetch].is_broken && p->depots[depot].owed <= 0)
        share -= rate * NEW_LATENCIES * seconds(p->forecasts[depot].latency);
    if (share * SHARE >= least)
        return share * SHARE < most ? share * SHARE : most;
    if (share < least) {
        if (least < (double)xd_range_length(r))
            r.end = r.begin + (uint64_t)least;
        return is_outdone(p, depot, r) ? 0 : least;
    }
    return share;
}

/* Less what the depot itself was asked for already: others were too, when it
 * was overdue. */
static struct xd_range without_own(const struct adaptive *p, unsigned depot,
                                   struct xd_range r)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct flow *f = &p->flows[i];

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

/* The first bytes of the window that the depot holds and nobody was asked
 * for. */
static bool find_unasked(struct adaptive *p, unsigned depot,
                         struct xd_range *out)
{
    const struct xd_book *b = p->book;
    uint64_t *taken_to = &p->depots[depot].taken_to;
    struct xd_range rest = b->window->range;

    if (rest.begin < *taken_to)
        rest.begin = *taken_to;
    while (rest.begin < rest.end) {
        struct xd_range gap = xd_rangeset_next_gap(&p->taken, rest), run;

        run = xd_rangeset_next(&b->depots[depot].held, gap);
        rest.begin = xd_range_is_empty(run) ? gap.end : run.end;
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
static bool fit(const struct adaptive *p, unsigned fetch, unsigned depot,
                struct xd_range *out)
{
    double size;

    *out = within_cuts(p->book, *out);
    size = request_size(p, fetch, depot, *out);
    if ((double)xd_range_length(*out) > size)
        out->end = out->begin + (uint64_t)size;
    return size > 0;
}

/* Whether what it was asked for lasts until another request, made later, would
 * be at full speed. */
static bool is_supplied(const struct adaptive *p, unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];

    return f->watched > 4 * f->latency &&
           p->depots[depot].owed > f->rate * seconds(f->latency) * LEAD;
}

/* What has not arrived of these bytes may be asked for elsewhere. */
static int offer(struct adaptive *p, struct xd_range r)
{
    int rc = 0;

    look_again(p);
    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range gap = xd_rangeset_next_gap(&p->book->arrived, r);

        if (!xd_range_is_empty(gap))
            rc = xd_rangeset_remove(&p->taken, gap);
        r.begin = gap.end;
    }
    return rc;
}

/* A connection that is slow to find its speed is slower than its depot. */
static double rate_of(const struct adaptive *p, const struct flow *f)
{
    double rate = p->forecasts[f->depot].rate;

    return f->forecast.rate > 0 && f->forecast.rate < rate ? f->forecast.rate
                                                           : rate;
}

/*
 * A request that would end after all others gives the tail that it will not
 * bring until then.  What is on the wire already is left to it.
 */
static bool trim(struct adaptive *p, struct flow *f)
{
    double latency = seconds(p->forecasts[f->depot].latency);
    double left = bytes_left(f), rate = rate_of(p, f), keep, waste;
    struct xd_range tail = f->range;

    if (left / rate < p->time_left * (1 + SLACK) + LEAST_S)
        return false;
    keep = rate * (p->time_left > latency ? p->time_left : latency);
    waste = left - keep < rate * latency ? left - keep : rate * latency;
    if (left - keep < least_worth(p, rate, latency) ||
        (p->wasted + waste > p->most_hedged &&
         left / rate - p->time_left < WORTH_WASTE_S))
        return false;
    tail.begin = f->got + (uint64_t)keep + 1;
    if (!others_could_bring(p, f->depot, tail) || offer(p, tail) < 0)
        return false;
    p->wasted += waste;
    f->range.end = tail.begin;
    return true;
}

static bool adaptive_shorten(void *policy, xd_usec now, unsigned *fetch,
                             uint64_t *end)
{
    struct adaptive *p = policy;

    take_stock(p, now);
    if (p->rate <= 0 || p->unasked > p->rate * END_S)
        return false;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        struct flow *f = &p->flows[i];

        if (!f->is_running || !f->has_begun || f->is_offered ||
            overdue_at(p, f) <= now || p->forecasts[f->depot].rate <= 0 ||
            !trim(p, f))
            continue;
        *fetch = i;
        *end = f->range.end;
        return true;
    }
    return false;
}

/* How long until a request is at its end.  What has not begun when it should
 * is taken to wait as long again. */
static double time_for(const struct adaptive *p, const struct flow *f,
                       xd_usec now)
{
    const struct xd_forecast *forecast = &p->forecasts[f->depot];
    double silent = seconds(now - (f->has_begun ? f->heard_at : f->asked_at));
    double wait = f->has_begun ? 0 : latency_of(p, f) - silent;

    if (forecast->rate <= 0)
        return silent;
    return (wait > 0       ? wait
            : f->has_begun ? silent
                           : -wait) +
           bytes_left(f) / rate_of(p, f);
}

/* Whether others should be asked for it as well: its depot owes us too long, or
 * `depot`, which has nothing else to do, brings it so much sooner that a few
 * bytes that come twice do not matter. */
static bool is_late(const struct adaptive *p, const struct flow *f,
                    unsigned depot, xd_usec now)
{
    const struct xd_forecast *mine = &p->forecasts[depot];
    double bytes = bytes_left(f);

    if (overdue_at(p, f) <= now)
        return true;
    return mine->rate > 0 && p->hedged + bytes <= p->most_hedged &&
           time_for(p, f, now) >
               HEDGE_GAIN * (seconds(mine->latency) + bytes / mine->rate) +
                   LEAST_S;
}

/* All that is late, when there is nothing else to ask for. */
static int offer_late(struct adaptive *p, unsigned depot, xd_usec now)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < p->book->n_fetches; i++) {
        struct flow *f = &p->flows[i];
        struct xd_range rest = {f->got, f->range.end};

        if (!f->is_running || f->is_offered || f->depot == depot ||
            !is_late(p, f, depot, now))
            continue;
        f->is_offered = true;
        if (overdue_at(p, f) > now)
            p->hedged += bytes_left(f);
        rc = offer(p, rest);
    }
    return rc;
}

static bool adaptive_choose(void *policy, unsigned fetch, unsigned depot,
                            xd_usec now, struct xd_range *out, unsigned *visits)
{
    struct adaptive *p = policy;

    *visits = 0;
    take_stock(p, now);
    if (p->depots[depot].is_overdue || is_supplied(p, depot))
        return false;
    if (!find_unasked(p, depot, out) &&
        (offer_late(p, depot, now) < 0 || !find_unasked(p, depot, out)))
        return false;
    if (!fit(p, fetch, depot, out))
        return false;
    if (xd_rangeset_add(&p->taken, *out) < 0)
        return false;
    if (p->grown_at > now)
        p->grown_at = now;
    p->flows[fetch] = (struct flow){.is_running = true,
                                    .is_new = p->flows[fetch].is_broken,
                                    .depot = depot,
                                    .range = *out,
                                    .asked_end = out->end,
                                    .got = out->begin,
                                    .asked_at = now};
    return true;
}

static void adaptive_heard(void *policy, unsigned fetch, uint64_t to,
                           xd_usec now)
{
    struct adaptive *p = policy;
    struct flow *f = &p->flows[fetch];
    struct xd_forecast *forecast = &p->forecasts[f->depot];

    if (to <= f->got)
        return;
    if (!f->has_begun)
        xd_forecast_answered(forecast, now - f->asked_at);
    f->has_begun = true;
    f->heard_at = now;
    xd_forecast_heard(forecast, now, to - f->got);
    xd_forecast_heard(&f->forecast, now, to - f->got);
    f->got = to;
}

static bool is_flowing(const struct adaptive *p, unsigned depot)
{
    for (unsigned i = 0; i < p->book->n_fetches; i++)
        if (p->flows[i].is_running && p->flows[i].has_begun &&
            p->flows[i].depot == depot)
            return true;
    return false;
}

/* Whoever else was asked for a part of `r` still is. */
static int give_back(struct adaptive *p, struct xd_range r)
{
    int rc = xd_rangeset_remove(&p->taken, r);

    for (unsigned i = 0; rc == 0 && i < p->book->n_fetches; i++) {
        const struct flow *f = &p->flows[i];

        if (f->is_running && !f->is_offered)
            rc = xd_rangeset_add(&p->taken, f->range);
    }
    while (rc == 0 && !xd_range_is_empty(r)) {
        struct xd_range here = xd_rangeset_next(&p->book->arrived, r);

        if (xd_range_is_empty(here))
            break;
        rc = xd_rangeset_add(&p->taken, here);
        r.begin = here.end;
    }
    look_again(p);
    return rc;
}

/* Few depots at first; twice as many each time that the last ones made it
 * faster, so that a line that is full is not shared among ever more. */
static bool adaptive_wants_more(void *policy, xd_usec now)
{
    struct adaptive *p = policy;
    unsigned n = 0;

    take_stock(p, now);
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        n += i < p->book->n_depots && !p->depots[i].is_overdue;
    }
    if (n < p->most_open)
        return true;
    if (now < p->grown_at + GROW_EVERY || p->rate < p->rate_before * GROWTH)
        return false;
    p->rate_before = p->rate;
    p->grown_at = now;
    p->most_open *= 2;
    return true;
}

/* When a request that is well becomes overdue, for then others may take it. */
static xd_usec adaptive_wake(void *policy, xd_usec now)
{
    struct adaptive *p = policy;
    xd_usec least = XD_NEVER;

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct flow *f = &p->flows[i];

        if (f->is_running && overdue_at(p, f) > now && overdue_at(p, f) < least)
            least = overdue_at(p, f);
    }
    return least;
}

static int adaptive_arrived(void *policy, struct xd_range r)
{
    struct adaptive *p = policy;
    int rc = xd_rangeset_add(&p->taken, r);

    return rc < 0 ? rc : make_room(p);
}

static int adaptive_missing(void *policy, struct xd_range r)
{
    struct adaptive *p = policy;
    int rc = give_back(p, r);

    return rc < 0 ? rc : make_room(p);
}

static int adaptive_ended(void *policy, unsigned fetch, bool failed)
{
    struct adaptive *p = policy;
    struct flow *f = &p->flows[fetch];

    f->is_broken = f->got < f->asked_end;
    f->is_running = false;
    if (!is_flowing(p, f->depot))
        xd_forecast_paused(&p->forecasts[f->depot]);
    if (failed)
        xd_forecast_forget(&p->forecasts[f->depot]);
    if (xd_rangeset_contains(&p->book->arrived, f->range))
        return make_room(p);
    return adaptive_missing(p, f->range);
}

static void adaptive_lost(void *policy, unsigned depot)
{
    struct adaptive *p = policy;

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
                                             .choose = adaptive_choose,
                                             .heard = adaptive_heard,
                                             .shorten = adaptive_shorten,
                                             .wants_more = adaptive_wants_more,
                                             .wake = adaptive_wake,
                                             .ended = adaptive_ended,
                                             .arrived = adaptive_arrived,
                                             .missing = adaptive_missing,
                                             .lost = adaptive_lost};
