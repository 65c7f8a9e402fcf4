/* SPDX-License-Identifier: MIT */
/*
 * Forecasts of throughputs, waiting times and the end of the download, computed
 * from the records.  Also the meters of throughput.
 */
#include "sched/adaptive2/adaptive2.h"

#include <math.h>

/* Throughput that is assumed while none is known, in bytes per second. */
#define ANY_RATE 1e6

double xd_rate_of(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];

    if (c->is_open && c->n_samples > 0)
        return xd_greater(c->rate, 1);
    if (d->rate > 0)
        return d->rate;
    return p->rate > 0 ? p->rate : ANY_RATE;
}

double xd_doubt_of(const struct xd_conn *c)
{
    if (!c->is_open || c->n_samples == 0 || c->rate <= 0)
        return XD_UNSURE;
    return xd_lesser(XD_UNSURE, xd_greater(XD_SUREST, c->deviation / c->rate));
}

/* Returns the seconds since the first request to a depot that has never
 * answered; 0 for other depots. */
static double silence_of(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_depot_record *d = &p->depots[depot];

    return d->n_answers == 0 && d->asked_at < p->now
               ? xd_seconds(p->now - d->asked_at)
               : 0;
}

/* Returns the round-trip time of the depot in seconds.  If it is unknown,
 * assumes half of the mean set-up time of the other depots, because a set-up
 * takes at least two round trips: connect and request.  If the depot has been
 * silent for longer than that set-up, half of the silence is assumed. */
static double rtt_of(const struct xd_adaptive2 *p, unsigned depot)
{
    if (p->depots[depot].rtt > 0)
        return p->depots[depot].rtt;
    return xd_greater(p->setup > 0 ? p->setup / 2 : XD_FIRST_WAIT_S,
                      silence_of(p, depot) / 2);
}

double xd_wait_of(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_depot_record *d = &p->depots[depot];
    double rtt = rtt_of(p, depot);

    return d->n_answers > 0 ? d->wait
                            : xd_greater(rtt, silence_of(p, depot) - rtt);
}

double xd_setup_of(const struct xd_adaptive2 *p, unsigned depot)
{
    return rtt_of(p, depot) + xd_wait_of(p, depot);
}

/* Returns the seconds until the first byte of a response, after `waited`
 * seconds.  `usual` is the mean for this kind of request.  A wait up to two
 * deviations above it is expected to end soon; a longer one, to last as long
 * again. */
static double first_byte_in(const struct xd_depot_record *d, double usual,
                            double waited)
{
    double deviation = d->n_answers > 0 ? d->wait_deviation : 0;

    if (waited < usual)
        return usual - waited;
    return waited < usual + 2 * deviation ? deviation / 2 : waited;
}

/* Returns the seconds until the next byte inside a response.  TCP may send one
 * window in each round trip, so a silence of up to one round trip is normal.  A
 * longer one is expected to last as long again.  Very short ones are expected
 * to end at once. */
static double between_bytes(double rtt, double silent)
{
    if (silent < xd_lesser(rtt, XD_SAMPLE_S))
        return 0;
    return silent < rtt ? rtt - silent : silent;
}

double xd_byte_in(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    const struct xd_depot_record *d = &p->depots[c->depot];
    double silent;

    if (!c->is_running)
        return c->is_open ? xd_wait_of(p, c->depot) : xd_setup_of(p, c->depot);
    silent = xd_seconds(p->now - c->heard_at);
    if (c->has_begun)
        return between_bytes(d->rtt, silent);
    return first_byte_in(d,
                         c->n_requests > 1 ? xd_wait_of(p, c->depot)
                                           : xd_setup_of(p, c->depot),
                         silent);
}

double xd_end_in(const struct xd_adaptive2 *p, const struct xd_conn *c)
{
    return c->is_running
               ? xd_byte_in(p, c) + xd_conn_left(p, c) / xd_rate_of(p, c)
               : 0;
}

/* ---- the throughput of a new connection ---- */

struct seen {
    xd_usec opened_at;
    double rate; /* mean including the set-up, in bytes per second */
};

/* Inserts a connection into the list, which is sorted by opened_at, newest
 * first.  A full list drops the oldest. */
static void insert(struct seen *list, unsigned *n, xd_usec opened_at,
                   double rate)
{
    unsigned i = *n;

    if (i == XD_PAST && opened_at <= list[i - 1].opened_at)
        return;
    if (i == XD_PAST)
        i--;
    else
        ++*n;
    for (; i > 0 && list[i - 1].opened_at < opened_at; i--)
        list[i] = list[i - 1];
    list[i] = (struct seen){opened_at, rate};
}

/* Lists the last connections of the depot, newest first, and returns their
 * number.  The throughput of an open one is its highest mean, or the mean that
 * a connection with its current throughput would reach until the end if it were
 * opened now. */
static unsigned last_of(const struct xd_adaptive2 *p, unsigned depot,
                        struct seen *list)
{
    const struct xd_depot_record *d = &p->depots[depot];
    const struct xd_conn *c;
    double time = xd_lesser(p->time_left, 1e3),
           go = time / (time + xd_setup_of(p, depot));
    unsigned n = 0;

    for (unsigned i = 0; i < d->n_past; i++)
        insert(list, &n, d->past[i].opened_at, d->past[i].best);
    if (p->book->depots[depot].slot == XD_NO_SLOT)
        return n;
    c = xd_conns_of(p, depot);
    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++, c++)
        if (c->is_open && c->n_samples >= XD_MATURE)
            insert(list, &n, c->opened_at, xd_greater(c->best, c->rate * go));
    return n;
}

double xd_fresh_rate(const struct xd_adaptive2 *p, unsigned depot)
{
    struct seen list[XD_PAST];
    unsigned n = last_of(p, depot, list);
    double weight[XD_PAST], decay = 1, w = 0, mean = 0, deviation = 0;

    for (unsigned i = 0; i < n; i++, decay *= XD_MEMORY) {
        /* Connections that were opened together have the same weight. */
        weight[i] = i > 0 && list[i].opened_at == list[i - 1].opened_at
                        ? weight[i - 1]
                        : decay;
        w += weight[i];
        mean += weight[i] * list[i].rate;
    }
    if (n == 0)
        return 0;
    mean /= w;
    for (unsigned i = 0; i < n; i++)
        deviation += weight[i] * xd_size_of(list[i].rate - mean);
    return mean + deviation / w;
}

/* ---- the best length of a request ---- */

double xd_best_length(const struct xd_adaptive2 *p, const struct xd_conn *c,
                      double most, double *out_rate)
{
    const struct xd_depot_record *d = &p->depots[c->depot];
    const struct xd_profile *own =
        c->is_open && c->n_requests > 0 ? &d->later : &d->first;
    double takes = xd_wait_of(p, c->depot), length = 0, slow = 0, best = 0;
    double best_length = most, end = XD_FIRST_BIN;

    for (unsigned i = 0; length < most; i++, end *= XD_HALF_OCTAVE) {
        double next = xd_lesser(most, end), known = 0;

        if (i < XD_BINS)
            known = own->s_per_byte[i] > 0 ? own->s_per_byte[i]
                                           : d->first.s_per_byte[i];
        if (known > 0)
            slow = known;
        takes += (next - length) * slow;
        length = next;
        if (slow > 0 && length / takes > best && length >= XD_LEAST_BURST) {
            best = length / takes;
            best_length = length;
        }
    }
    *out_rate = slow > 0 ? most / takes : 0;
    if (slow <= 0 || best < XD_RENEW * *out_rate)
        return most;
    *out_rate = best;
    return best_length;
}

/* ---- the end of the download ---- */

/* The expected work of a connection.  It receives `rate` bytes per second from
 * `from` until its request ends at `until`, then waits `pause` seconds for the
 * next response, and goes on at the same rate.  Times are in seconds from
 * now. */
struct works {
    double rate, from, until, pause;
};

/* Returns the bytes that the connection receives within t seconds. */
static double brings(const struct works *w, double t)
{
    double works = t - w->from;

    if (works <= 0)
        return 0;
    if (t > w->until)
        works -= xd_lesser(w->pause, t - w->until);
    return works * w->rate;
}

static struct works works_of(const struct xd_adaptive2 *p,
                             const struct xd_conn *c)
{
    struct works w = {.rate = xd_rate_of(p, c),
                      .from = xd_byte_in(p, c),
                      .until = HUGE_VAL,
                      .pause = xd_wait_of(p, c->depot)};

    if (c->is_running)
        w.until = w.from + xd_conn_left(p, c) / w.rate;
    return w;
}

/* Lists the connections that are usable and returns their number: all that run,
 * and as many idle ones as their depots may get requests. */
static unsigned list_works(const struct xd_adaptive2 *p, struct works *list)
{
    const struct xd_book *b = p->book;
    unsigned n = 0;

    for (unsigned slot = 0; slot < b->n_slots; slot++) {
        unsigned depot = b->slots[slot], room;
        const struct xd_conn *c;

        if (depot == b->n_depots)
            continue;
        room = xd_room_of(p, depot);
        c = xd_conns_of(p, depot);
        for (unsigned i = 0; i < b->o.lanes_per_depot; i++, c++) {
            if ((!c->is_running && room == 0) || n == XD_MOST_WORKS)
                continue;
            room -= !c->is_running;
            list[n++] = works_of(p, c);
        }
    }
    return n;
}

static double all_bring(const struct works *list, unsigned n, double t)
{
    double sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += brings(&list[i], t);
    return sum;
}

/* Searches the end by bisection: doubles an upper limit, then halves the
 * interval 8 times, to about 0.4 % of the result. */
double xd_horizon(const struct xd_adaptive2 *p, double bytes, double *total)
{
    struct works list[XD_MOST_WORKS];
    unsigned n = list_works(p, list);
    double low = 0, high = 0.05;

    *total = 0;
    for (unsigned i = 0; i < n; i++)
        *total += list[i].rate;
    while (all_bring(list, n, high) < bytes && high < 1e5) {
        low = high;
        high *= 2;
    }
    for (unsigned i = 0; i < 8; i++) {
        double middle = (low + high) / 2;

        if (all_bring(list, n, middle) < bytes)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- meters ---- */

void xd_rate_meter_turn(struct xd_rate_meter *m, double bytes, xd_usec span,
                        xd_usec now)
{
    if (m->at[0] > 0 && now < m->at[0] + span)
        return;
    m->at[1] = m->at[0];
    m->bytes[1] = m->bytes[0];
    m->at[0] = now;
    m->bytes[0] = bytes;
}

double xd_rate_meter_of(const struct xd_rate_meter *m, double bytes,
                        xd_usec now)
{
    unsigned i = m->at[1] > 0;

    return now > m->at[i] ? (bytes - m->bytes[i]) / xd_seconds(now - m->at[i])
                          : 0;
}
