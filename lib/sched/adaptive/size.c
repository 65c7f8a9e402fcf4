/* SPDX-License-Identifier: MIT */
/*
 * How much one request asks for: of a depot that is not known yet, of one that
 * is, and of one that has to say something first.
 */
#include "sched/adaptive/adaptive.h"

#include <math.h>

/* A request asks for no more blocks than this.  Longer requests are seldom,
 * shorter ones follow the depots sooner. */
#define MOST_BLOCKS 8

/* Where depots are far, a request asks for what the depot delivers in so many
 * latencies: between two requests on a connection it is silent for one of
 * them. */
#define REQUEST_LATENCIES 8

/* The first of a depot that is not known yet asks for a block, or where that
 * would be more than its share, for no less than this part of one. */
#define FIRST_PARTS 16

/* What was learned of a depot may hold no longer.  Before it says anything, its
 * second connection, which is to find its speed, is asked for no more than what
 * the depot brought in so many latencies. */
#define UNHEARD_LATENCIES 2

/* Of a file that is at least so long each depot's second connection begins as
 * soon as the first has answered, or is seen to take long for it: one that came
 * later would be held down by the queue that the first has filled, and never find
 * its speed.  Each is asked for this part of what the depot would bring if all
 * were equal, and not for a block: TCP, while it looks for its speed, loses more
 * by each pause than ever after. */
#define WORTH_BOTH ((uint64_t)2 << 20)
#define PARTS_OF_BOTH 4

/* Of what a depot will still bring, one request asks for this share, so that
 * a wrong forecast can still be made good. */
#define SHARE 0.5

/* Where connections bound a depot each is as steady as its bound, and each pause
 * between requests is lost: one asks for what its connection brings in so much of
 * the time that is left. */
#define BOUND_SHARE 0.8

/* Whoever asks for so many connections to a depot, which are more than it gets
 * unasked, has servers in mind that cap each of them.  All are opened at once, and
 * what each delivers need not be found out first: a first request takes this part
 * of what a connection has to deliver if all are equal, and a later one this part
 * of what is left. */
#define MANY_GIVEN 8
#define GIVEN_FIRST_SHARE 0.8
#define GIVEN_SHARE 0.9

/* And while that is only tried, for what it brings in so long. */
#define TRIED_S 0.5

/* What a server has written of a request that is taken back comes all the same
 * on a connection that is shared, and who went elsewhere waits for it.  So while
 * a reader may do that, a depot is asked for what lasts until the next request
 * is there, and so long for us to make it.  One that is farther would not find
 * its speed like that, and answers late in any case. */
#define SUPPLY_S 0.03
#define SUPPLY_FAR (100 * XD_MS)
#define LEAST_SUPPLY 65536.0
#define RESTLESS_BLOCKS 8

bool xd_opens_both(const struct xd_adaptive *p)
{
    const struct xd_book *b = p->book;

    return b->o.window_bytes == 0 && b->o.connections_per_depot > 1 &&
           xd_range_length(b->wanted) >= WORTH_BOTH;
}

/* No first request asks for less. */
static double least_first(const struct xd_adaptive *p)
{
    return (double)p->book->o.block_bytes / FIRST_PARTS + 1;
}

/* Whether its user asks for many connections to each depot. */
static bool are_many_given(const struct xd_adaptive *p)
{
    return p->book->o.first_lanes == 0 &&
           p->book->o.connections_per_depot >= MANY_GIVEN;
}

/* Into how many first requests what one depot has to deliver is cut. */
static double parts_of_all(const struct xd_adaptive *p)
{
    unsigned lanes = xd_connections_first(&p->connections, p->is_far);

    if (lanes <= PARTS_OF_BOTH / 2)
        return PARTS_OF_BOTH;
    return are_many_given(p) ? lanes / GIVEN_FIRST_SHARE : 2.0 * lanes;
}

double xd_first_size(const struct xd_adaptive *p)
{
    bool both = xd_opens_both(p);
    double block = (double)p->book->o.block_bytes;
    double share = both ? p->unasked / (parts_of_all(p) * p->n_open)
                        : p->unasked / (2.0 * p->book->n_slots);
    double least = least_first(p);
    double most = both ? block * MOST_BLOCKS : block;

    if (share >= most)
        return most;
    return share > least ? share : least;
}

/* Nearly all depots that refuse have done so by then; but whoever asks for
 * many connections does not wait. */
static bool may_open_second(const struct xd_adaptive *p, unsigned depot)
{
    return xd_opens_both(p) &&
           (are_many_given(p) || p->forecasts[depot].latency > 0 ||
            p->now >= p->depots[depot].far_at);
}

/* Who is not known yet is asked only if there is time to do without. */
static double size_for_unknown(struct xd_adaptive *p, unsigned depot,
                               struct xd_range r)
{
    if ((p->depots[depot].owed > 0 && !may_open_second(p, depot)) ||
        (p->time_left <
             xd_seconds(xd_forecast_patience(&p->forecasts[depot])) &&
         xd_others_bring(p, depot, r, HUGE_VAL)))
        return 0;
    return xd_first_size(p);
}

/* For a second request; at least what one of an unknown depot asks for. */
static double most_unheard(const struct xd_adaptive *p,
                           const struct xd_forecast *f)
{
    double most = f->rate * UNHEARD_LATENCIES * xd_seconds(f->latency);
    double least = least_first(p);

    return most > least ? most : least;
}

/* For how long one request is to last, in seconds. */
static double request_time(const struct xd_adaptive *p,
                           const struct xd_forecast *f)
{
    double latencies = REQUEST_LATENCIES * xd_seconds(f->latency);

    return p->is_far && latencies > XD_REQUEST_S ? latencies : XD_REQUEST_S;
}

double xd_most_of(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    const struct xd_stock *d = &p->depots[depot];
    double block = (double)p->book->o.block_bytes;
    double most = f->rate * request_time(p, f);

    if (xd_connections_are_tried(&p->connections, depot) && d->n_running > 1) {
        most = f->rate / d->n_running * TRIED_S;
        return most > least_first(p) ? most : least_first(p);
    }
    if (d->heard_at == 0 && d->owed > 0 && f->latency > 0 &&
        most_unheard(p, f) < block)
        return most_unheard(p, f);
    if (most < block)
        return block;
    return most < block * MOST_BLOCKS ? most : block * MOST_BLOCKS;
}

/* A reader has not read much where it is, or its player has enough ahead.  A
 * pipe goes nowhere. */
static bool may_go_elsewhere(const struct xd_adaptive *p)
{
    const struct xd_window *w = p->book->window;
    uint64_t restless = RESTLESS_BLOCKS * p->book->o.block_bytes;

    return w->bytes_per_s > 0 &&
           (xd_good_to(p, w) - w->jumped_to < restless || xd_has_time(p, w));
}

double xd_supply(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double supply = f->rate * (xd_seconds(f->latency) + SUPPLY_S);

    if (!xd_shares(p, depot) || f->rate <= 0 || f->latency > SUPPLY_FAR ||
        !may_go_elsewhere(p))
        return HUGE_VAL;
    return supply > LEAST_SUPPLY ? supply : LEAST_SUPPLY;
}

/* What a depot brings before it could begin with something new. */
static double bytes_before(const struct xd_adaptive *p, unsigned fetch,
                           unsigned depot)
{
    const struct xd_forecast *f = &p->forecasts[depot];
    double meanwhile = xd_has_to_connect(p, fetch, depot)
                           ? xd_rate_of_lane(p, depot) * XD_NEW_LATENCIES *
                                 xd_seconds(f->latency)
                           : 0;

    if (xd_connections_bound(p, depot))
        return meanwhile;
    return p->depots[depot].owed > meanwhile ? p->depots[depot].owed
                                             : meanwhile;
}

/* How many more requests the depot may get now, this one included. */
static unsigned count_free(const struct xd_adaptive *p, unsigned depot)
{
    const struct xd_holder *d = &p->book->depots[depot];
    unsigned n = xd_connections_allowed(&p->connections, depot);

    if (d->governed > 0 && d->governed < n)
        n = d->governed;
    return n > d->running ? n - d->running : 1;
}

/* Returns the most that one request takes of a depot that has refused requests.  As few
 * as possible are made: together they take all that is left, and the last bytes are not
 * shared. */
static double most_of_spared(const struct xd_adaptive *p, unsigned depot)
{
    const double least = least_first(p);
    double share = HUGE_VAL;

    if (p->unasked > 0)
        share = p->unasked / count_free(p, depot);
    return share > least ? share : least;
}

/* The part of what a depot will still deliver that one request takes. */
static double share_of(const struct xd_adaptive *p, unsigned depot)
{
    if (p->book->depots[depot].is_spared)
        return 1;
    if (!xd_connections_bound(p, depot))
        return SHARE;
    return are_many_given(p) ? GIVEN_SHARE : BOUND_SHARE;
}

/* Whether the last bytes are for the depot's other connections, which are done
 * before this one is made. */
static bool leaves_to_others(const struct xd_adaptive *p, unsigned fetch,
                             unsigned depot)
{
    return xd_has_to_connect(p, fetch, depot) &&
           xd_connections_bound(p, depot) && xd_lanes_in_use(p, depot) > 0;
}

/* No request is for less, in bytes: the depot would idle more than it delivers.
 * Where its connections bound it, the others go on while one waits. */
static double least_of(const struct xd_adaptive *p, unsigned depot, double rate)
{
    xd_usec latency = p->forecasts[depot].latency;

    return xd_least_worth(
        p, rate, xd_connections_bound(p, depot) ? 0 : xd_seconds(latency));
}

static double size_among_others(struct xd_adaptive *p, unsigned fetch,
                                unsigned depot, struct xd_range r)
{
    double rate = xd_rate_of_lane(p, depot);
    double part = share_of(p, depot);
    double share, most, least, within;

    if (rate <= 0)
        return size_for_unknown(p, depot, r);
    most = p->book->depots[depot].is_spared ? most_of_spared(p, depot)
                                            : xd_most_of(p, depot);
    least = least_of(p, depot, rate);
    if (least > most)
        least = most;
    share = rate * p->time_left - bytes_before(p, fetch, depot);
    if (share * part >= least)
        return share * part < most ? share * part : most;
    if (share < least && leaves_to_others(p, fetch, depot))
        return 0;
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

double xd_request_size(struct xd_adaptive *p, unsigned fetch, unsigned depot,
                       struct xd_range r)
{
    if (xd_surplus_is_one(&p->surplus))
        return (double)p->book->o.block_bytes * MOST_BLOCKS;
    return size_among_others(p, fetch, depot, r);
}
