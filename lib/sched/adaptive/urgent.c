/* SPDX-License-Identifier: MIT */
/*
 * What a reader waits for: who may be asked for the next bytes, and when others
 * are asked for them as well.
 *
 *     window   |#######|--a--|-----b-----|...........|......|
 *               here    head  in flight   unasked     end
 *                       ^ needed first
 *
 *     - A depot is asked for bytes only if it will be done before they are
 *       needed, with something to spare, or before all others could have
 *       brought what lies in front of them.  A slow one is asked for bytes
 *       further behind, or for none.
 *     - Requests are short while the reader waits, and grow with what it has
 *       ahead of it.
 *     - Who is going to be late has what he will not bring in time offered to
 *       others before it is needed.
 *     - While no depot has ever answered, all are asked for the first bytes; so
 *       are those with a shared connection where a reader goes elsewhere.
 */
#include <math.h>

#include "sched/adaptive/adaptive.h"

/* A reader that waits is served by requests of about this time, and of this part
 * of the time since the first, or since it went elsewhere: short requests cost
 * more than they gain when it has waited for long. */
#define GRAIN_S 0.2
#define GRAIN_PARTS 3

/* What came since it went elsewhere tells how long that is ago, but for the rate
 * at which it is played: this many times as long at most. */
#define JUMP_PARTS 4

/* What a silent depot was asked for is asked of others so long before it is
 * needed. */
#define SOON_S 5.0

/* Of the time until bytes are needed, or until others would have brought what
 * lies in front of them, a request may take so much by its forecast. */
#define NEED_SHARE 0.5
#define AHEAD_SHARE 0.8

/* Of the time until bytes are needed, so much has to be over when a request is
 * going to be done, before it counts as late. */
#define LATE_SHARE 0.8

/* The first request to a depot that is not known: this part of a block. */
#define START_PARTS 8

/* A depot that is alone is asked for so many blocks at first: how long the window
 * is going to be may not be known yet. */
#define ALONE_FIRST 4

/* What all are asked for at first: it comes in one round trip, with the first
 * window of a TCP connection. */
#define RACE_BYTES XD_FIRST_WINDOW

/* How long a depot that is not known is taken to need. */
#define UNKNOWN_S 2.0

/* Bytes that are needed are asked for twice only if that brings them so many
 * times sooner; and so much of all, or so many bytes, may come twice. */
#define RUSH_GAIN 1.5
#define MOST_RUSHED 0.015
#define LEAST_RUSHED 524288.0

/* A request of a depot that is not known brings so much before it loses. */
#define UNKNOWN_WASTE 32768.0

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static uint64_t lesser_byte(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first byte of the window that is not here. */
static uint64_t head_of(const struct xd_adaptive *p)
{
    return xd_ledger_first_gap(p->book->ledger, XD_BYTES_RECEIVED,
                               p->book->window->range);
}

static double grain(const struct xd_adaptive *p)
{
    double passed = p->now > p->began_at ? xd_seconds(p->now - p->began_at) : 0;
    double since = (double)(head_of(p) - p->book->window->jumped_to);

    if (p->rate > 0)
        passed = lesser(passed, JUMP_PARTS * since / p->rate);
    if (xd_lateness(p, p->book->window) > 0)
        return GRAIN_S;
    return lesser(greater(GRAIN_S, passed / GRAIN_PARTS), XD_REQUEST_S);
}

/* Bytes of the window before `byte` that are not here. */
static double missing_before(const struct xd_adaptive *p, uint64_t byte)
{
    struct xd_range front = {p->book->window->range.begin, byte};

    return (double)(xd_range_length(front) -
                    xd_ledger_count(p->book->ledger, XD_BYTES_RECEIVED, front));
}

/* What the others bring in a second, as far as they are known. */
static double rate_of_others(struct xd_adaptive *p, unsigned depot)
{
    double rate = 0;

    p->visits += p->book->n_slots;
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        if (i < p->book->n_depots && i != depot && !p->depots[i].is_overdue &&
            xd_holder_is_ready(&p->book->depots[i]))
            rate += p->forecasts[i].rate;
    }
    return rate;
}

/* Within how many seconds a request for bytes from `byte` on should be done.
 * The first block is needed at once, however slowly it is played. */
static double time_allowed(struct xd_adaptive *p, unsigned depot, uint64_t byte)
{
    const struct xd_window *w = p->book->window;
    bool is_first = xd_has_yet_to_begin(p, w) &&
                    byte - w->range.begin < p->book->o.block_bytes;
    double need = NEED_SHARE * xd_needed_in(p, w, byte);
    double others = rate_of_others(p, depot), allowed = grain(p);

    if (others > 0)
        allowed = greater(allowed, AHEAD_SHARE * missing_before(p, byte) /
                                       (others + p->forecasts[depot].rate));
    return w->bytes_per_s > 0 && !is_first ? greater(allowed, need) : allowed;
}

double xd_time_for_new(const struct xd_adaptive *p, unsigned fetch,
                       unsigned depot, double bytes)
{
    double latency = xd_seconds(p->forecasts[depot].latency);

    return xd_time_to_bring(p, depot, bytes) +
           (xd_has_to_connect(p, fetch, depot) && p->depots[depot].owed <= 0
                ? latency
                : 0);
}

/* To no less than a byte. */
static void shorten(struct xd_range *r, double size)
{
    if ((double)xd_range_length(*r) > size)
        r->end = r->begin + (size > 1 ? (uint64_t)size : 1);
}

/* A request of about half a second lies where that is soon enough. */
static bool skip_ahead(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                       struct xd_range *out)
{
    const struct xd_window *w = p->book->window;
    double rate = p->forecasts[depot].rate, size, takes, from;

    if (rate <= 0) {
        size = (double)p->book->o.block_bytes / START_PARTS + 1;
        takes = UNKNOWN_S;
    } else {
        size = xd_least_worth(p, rate, xd_seconds(p->forecasts[depot].latency));
        size = greater(size, rate * XD_REQUEST_S / 2);
        takes = xd_time_for_new(p, fetch, depot, size);
    }
    from = (double)out->begin + takes / AHEAD_SHARE * rate_of_others(p, depot);
    if (w->bytes_per_s > 0)
        from = lesser(from, (double)w->range.begin +
                                (takes / NEED_SHARE -
                                 xd_needed_in(p, w, w->range.begin)) *
                                    (double)w->bytes_per_s);
    if (from < (double)out->begin)
        from = (double)out->begin;
    if (from + size > (double)w->range.end ||
        !xd_find_unasked(p, depot, (uint64_t)from, out))
        return false;
    shorten(out, size);
    return true;
}

static bool fit_unknown(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                        struct xd_range *out)
{
    double size = (double)p->book->o.block_bytes / START_PARTS + 1;

    if (p->depots[depot].owed > 0)
        return false;
    if (p->rate > 0 && xd_others_bring(p, depot, *out, HUGE_VAL))
        return skip_ahead(p, fetch, depot, out);
    size = lesser(size, xd_first_size(p));
    shorten(out, size);
    return true;
}

bool xd_is_alone(const struct xd_adaptive *p, unsigned depot)
{
    for (unsigned slot = 0; slot < p->book->n_slots; slot++) {
        unsigned i = p->book->slots[slot];

        if (i < p->book->n_depots && i != depot &&
            xd_holder_is_ready(&p->book->depots[i]))
            return false;
    }
    return true;
}

bool xd_fit_urgent(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                   double most, struct xd_range *out)
{
    double rate = xd_rate_of_lane(p, depot);
    double latency = xd_seconds(p->forecasts[depot].latency);
    double least, size, takes;
    struct xd_range first = *out;

    if (rate <= 0)
        return fit_unknown(p, fetch, depot, out);
    least = rate * (grain(p) + latency);
    least = greater(least, xd_least_worth(p, rate, latency));
    least = lesser(least, most);
    size = (time_allowed(p, depot, out->begin) -
            xd_time_for_new(p, fetch, depot, 0)) *
           rate;
    if (size < least) {
        shorten(&first, least);
        takes = xd_time_to_bring(p, depot, (double)xd_range_length(first));
        if (xd_others_bring(p, depot, first, takes / RUSH_GAIN))
            return skip_ahead(p, fetch, depot, out);
        size = least;
    }
    size = lesser(size, most);
    shorten(out, size);
    return true;
}

bool xd_brings_head(const struct xd_adaptive *p, unsigned depot)
{
    uint64_t head = head_of(p);

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_flow *f = &p->flows[i];

        if (f->is_running && f->depot == depot && f->got <= head &&
            head < f->range.end)
            return true;
    }
    return false;
}

/* A second connection would share its line, one that idles has to find its speed
 * anew, and between two requests a round trip is lost. */
bool xd_choose_alone(struct xd_adaptive *p, unsigned depot,
                     struct xd_range *out)
{
    if (xd_brings_head(p, depot) ||
        !xd_find_unasked(p, depot, p->book->window->range.begin, out))
        return false;
    if (p->forecasts[depot].rate <= 0)
        shorten(out, ALONE_FIRST * (double)p->book->o.block_bytes);
    return true;
}

/* Cut the range to what others have been asked for, of whom none has begun;
 * false: some have, or `depot` was asked for a part of it. */
static bool is_awaited(const struct xd_adaptive *p, unsigned depot,
                       struct xd_range *r)
{
    bool is_asked = false;

    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        const struct xd_flow *f = &p->flows[i];

        if (!f->is_running || r->end <= f->range.begin ||
            f->range.end <= r->begin)
            continue;
        if (f->depot == depot || f->has_begun)
            return false;
        if (f->range.begin <= r->begin) {
            is_asked = true;
            r->end = lesser_byte(r->end, f->range.end);
        }
    }
    return is_asked;
}

/* At the start all are asked for the first bytes, for nobody is known; and where
 * a reader goes elsewhere those of which what is in their queues already cannot
 * be taken back, for how much that is is not known. */
static bool is_a_race(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_book *b = p->book;

    if (xd_shares(p, depot))
        return head_of(p) == b->window->jumped_to &&
               !xd_range_is_empty(xd_first_block(p));
    return p->forecasts[depot].latency == 0 &&
           xd_ledger_bytes(b->ledger, XD_BYTES_RECEIVED) == 0;
}

bool xd_race(const struct xd_adaptive *p, unsigned fetch, unsigned depot,
             struct xd_range *out)
{
    const struct xd_book *b = p->book;
    uint64_t head = head_of(p);
    struct xd_range first = {head, b->window->range.end};

    if (fetch % b->o.lanes_per_depot == 0 || p->depots[depot].owed <= 0 ||
        xd_range_is_empty(first) || !is_a_race(p, depot))
        return false;
    first.end = lesser_byte(first.end, head + RACE_BYTES);
    if (!is_awaited(p, depot, &first) ||
        !xd_rangeset_contains(&b->depots[depot].held, first))
        return false;
    *out = first;
    return true;
}

/* What comes twice when others bring the rest of a request. */
static double waste_of(const struct xd_adaptive *p, const struct xd_flow *f,
                       double bytes, double takes)
{
    const struct xd_forecast *its = &p->forecasts[f->depot];
    double waste = its->rate > 0
                       ? its->rate * (takes + xd_seconds(its->latency))
                       : UNKNOWN_WASTE;

    return lesser(waste, bytes);
}

/* By when a request should have brought `rest`.  That at the head is late as
 * soon as it keeps a reader waiting: others are behind it.  So is that in the
 * first block, for there may be pieces. */
static double time_given(struct xd_adaptive *p, struct xd_range rest)
{
    const struct xd_window *w = p->book->window;
    bool waits = w->bytes_per_s > 0 && !xd_has_time(p, w);
    uint64_t first =
        waits ? xd_good_to(p, w) + p->book->o.block_bytes - 1 : head_of(p);
    double given =
        rest.begin <= first
            ? 2 * XD_LEAST_S
            : greater(2 * GRAIN_S, missing_before(p, rest.end) / p->rate);

    if (w->bytes_per_s > 0 && !(waits && rest.begin <= first))
        given = greater(given, LATE_SHARE * xd_needed_in(p, w, rest.end));
    return given;
}

/* Whether bytes that come twice are few enough.  When a picture would stand
 * still otherwise, and soon, they do not matter. */
static bool is_affordable(struct xd_adaptive *p, struct xd_range rest,
                          double takes, double waste)
{
    const struct xd_window *w = p->book->window;
    double most = greater(
        LEAST_RUSHED, MOST_RUSHED * (double)xd_range_length(p->book->wanted));

    if (w->bytes_per_s > 0 && xd_has_time(p, w) &&
        takes > xd_needed_in(p, w, rest.end) &&
        xd_needed_in(p, w, rest.begin) < SOON_S)
        return true;
    return p->rushed + waste <= most;
}

/* Whether a request takes too long for `rest`, which somebody brings in `mine`
 * seconds; *takes: how long.  For the first block a depot that brings is taken at
 * once for one that has never said a word. */
static bool takes_too_long(struct xd_adaptive *p, const struct xd_flow *f,
                           double mine, struct xd_range rest, double *takes)
{
    if (!f->has_begun && p->forecasts[f->depot].latency == 0 &&
        rest.begin < xd_first_block(p).end) {
        *takes = xd_time_for_silent(p, f, rest.end);
        return *takes >= mine;
    }
    *takes = xd_time_for_flow(p, f, rest.end);
    return *takes >= RUSH_GAIN * mine + XD_LEAST_S &&
           *takes >= time_given(p, rest);
}

/* Whether a request is going to be late with `rest`, and who needs so long for
 * it would not be; then *rest is what it is not going to bring in time. */
static bool is_late(struct xd_adaptive *p, const struct xd_flow *f, double mine,
                    struct xd_range *rest)
{
    const struct xd_window *w = p->book->window;
    double bytes = (double)xd_range_length(*rest), takes, waste, keeps;

    if (!takes_too_long(p, f, mine, *rest, &takes))
        return false;
    waste = waste_of(p, f, bytes, mine);
    if (!is_affordable(p, *rest, takes, waste))
        return false;
    p->rushed += waste;
    keeps = mine;
    if (w->bytes_per_s > 0 && xd_has_time(p, w))
        keeps = greater(keeps, NEED_SHARE * xd_needed_in(p, w, rest->begin));
    if (f->has_begun && keeps < takes)
        rest->begin += (uint64_t)(bytes * keeps / takes);
    return true;
}

/* Whether it is overdue, and its bytes are needed soon.  Others are left alone
 * for a while, as they may only have paused. */
static bool is_missed(const struct xd_adaptive *p, const struct xd_flow *f)
{
    const struct xd_window *w = p->book->window;

    return xd_flow_overdue_at(p, f) <= p->now &&
           (w->bytes_per_s == 0 || xd_needed_in(p, w, f->got) < SOON_S);
}

/* What a request has yet to bring for the window, and others were not asked
 * for; it may be nothing. */
static struct xd_range rest_of(const struct xd_adaptive *p,
                               const struct xd_flow *f)
{
    struct xd_range w = p->book->window->range;
    struct xd_range rest = xd_flow_assigned(p, f);

    rest.begin = rest.begin > w.begin ? rest.begin : w.begin;
    rest.end = rest.end < w.end ? rest.end : w.end;
    if (xd_ledger_has(p->book->ledger, XD_BYTES_RECEIVED, rest))
        rest.end = rest.begin;
    return rest;
}

static int offer(struct xd_adaptive *p, struct xd_flow *f, struct xd_range rest)
{
    p->depots[f->depot].is_offered = true;
    return xd_offer(p, f, rest);
}

int xd_offer_urgent(struct xd_adaptive *p, unsigned depot)
{
    double rate = p->forecasts[depot].rate;
    int rc = 0;

    p->visits += p->book->n_fetches;
    for (unsigned i = 0; rc == 0 && i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];
        struct xd_range rest;

        if (!f->is_running || f->depot == depot)
            continue;
        rest = rest_of(p, f);
        if (xd_range_is_empty(rest))
            continue;
        if (is_missed(p, f) ||
            (rate > 0 &&
             is_late(p, f,
                     xd_time_to_bring(p, depot, (double)xd_range_length(rest)),
                     &rest)))
            rc = offer(p, f, rest);
    }
    return rc;
}

/* The request of another depot that is to bring the first byte which the window
 * lacks, or NULL. */
static struct xd_flow *flow_at_head(struct xd_adaptive *p, unsigned depot)
{
    uint64_t head = head_of(p);

    p->visits += p->book->n_fetches;
    for (unsigned i = 0; i < p->book->n_fetches; i++) {
        struct xd_flow *f = &p->flows[i];

        if (f->is_running && f->depot != depot && f->got <= head &&
            head < xd_flow_assigned(p, f).end)
            return f;
    }
    return NULL;
}

/* Its two requests share what it brings. */
bool xd_rescue(struct xd_adaptive *p, unsigned fetch, unsigned depot,
               struct xd_range *out)
{
    double rate = p->forecasts[depot].rate / 2;
    struct xd_flow *f = flow_at_head(p, depot);
    double latency = xd_seconds(p->forecasts[depot].latency);
    struct xd_range rest;
    double size;

    if (!xd_is_played(p->book->window) || f == NULL || rate <= 0 ||
        xd_shares(p, depot))
        return false;
    if (xd_has_to_connect(p, fetch, depot))
        latency *= 2;
    rest = rest_of(p, f);
    shorten(&rest, rate * XD_REQUEST_S);
    size = (double)xd_range_length(rest);
    if (size < 1 || !is_late(p, f, latency + size / rate, &rest) ||
        offer(p, f, (struct xd_range){rest.begin, xd_flow_assigned(p, f).end}) <
            0 ||
        !xd_find_unasked(p, depot, rest.begin, out) || out->begin >= rest.end)
        return false;
    shorten(out, size);
    return true;
}
