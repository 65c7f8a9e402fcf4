/* SPDX-License-Identifier: MIT */
/*
 * Decides how many connections each depot may have.  A trial gives a depot more
 * of them and compares the throughput before and after, of this depot and of
 * all together.  Connections that replaced slow ones are judged here as well.
 */
#include "sched/adaptive2/adaptive2.h"

#include <math.h>

unsigned xd_first_width(const struct xd_adaptive2 *p)
{
    const struct xd_sched_options *o = &p->book->o;
    unsigned n = p->book->n_depots < p->book->n_slots ? p->book->n_depots
                                                      : p->book->n_slots;

    if (o->first_lanes == 0)
        return o->connections_per_depot;
    n = XD_FIRST_CONNECTIONS / n;
    if (n > o->connections_per_depot)
        n = o->connections_per_depot;
    return n > 0 ? n : 1;
}

/* Allows 6 round trips for connecting and slow start, besides the wait for the
 * first byte. */
double xd_settles_in(const struct xd_adaptive2 *p, unsigned depot)
{
    return 6 * p->depots[depot].rtt + xd_wait_of(p, depot);
}

/* Returns the duration of a measurement, in seconds. */
static double span_of(const struct xd_depot_record *d)
{
    return xd_greater(4 * XD_SAMPLE_S, 2 * d->rtt);
}

static xd_usec usec(double seconds)
{
    return (xd_usec)(seconds * (double)XD_SECOND);
}

/* Ends the trial.  Compares the gain with what was expected, for this depot and
 * for all depots together.  The smaller of the two counts, because a depot may
 * only have taken throughput from others.  If it is negative, the trial is
 * undone. */
static void end_trial(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_depot_record *d = &p->depots[depot];
    struct xd_width_trial *t = &d->trial;
    double seconds = xd_seconds(p->now - t->from), own, all, gain;

    own = (d->bytes - t->from_own) / seconds - t->own;
    all = (p->bytes - t->from_all) / seconds - t->all;
    gain = xd_lesser(1, xd_lesser(own, all) / t->hoped);
    d->gain = (d->gain + xd_greater(0, gain)) / 2;
    if (gain < XD_KEEP) {
        d->next_trial =
            p->now + usec(d->pause * (xd_settles_in(p, depot) + span_of(d)));
        d->pause *= 2;
    }
    if (gain < 0)
        d->width = t->before;
    t->is_on = false;
}

/* Returns whether the depot uses all its connections, and the throughput of
 * each is known. */
static bool is_known(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    unsigned n = 0;

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++) {
        if (c[i].is_open && c[i].n_samples < XD_MATURE)
            return false;
        n += c[i].is_open;
    }
    return n >= p->depots[depot].width;
}

/* Returns whether packets wait in a queue on at least half of the connections.
 * Then the line is full, and more connections would not help. */
static bool is_queued(const struct xd_adaptive2 *p, unsigned depot)
{
    const struct xd_conn *c = xd_conns_of(p, depot);
    const double most = 1.2 * p->depots[depot].rtt + XD_QUEUE_S;
    unsigned n = 0, queued = 0;

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++) {
        n += c[i].is_open;
        queued += c[i].is_open && c[i].rtt_now > most;
    }
    return 2 * queued >= n;
}

/* Begins a trial with up to twice as many connections, if it is time for one
 * and the expected gain until the end of the download is worth its price. */
static void begin_trial(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_depot_record *d = &p->depots[depot];
    unsigned most = p->book->o.connections_per_depot, more = d->width;
    double time = p->time_left - xd_setup_of(p, depot);

    if (p->now < d->next_trial || d->width >= most || d->rate <= 0 ||
        !is_known(p, depot) || is_queued(p, depot))
        return;
    if (more > most - d->width)
        more = most - d->width;
    if (d->gain * d->rate * time < XD_PRICE_S * p->total)
        return;
    d->trial = (struct xd_width_trial){
        .is_on = true,
        .before = d->width,
        .own = xd_rate_meter_of(&d->meter, d->bytes, p->now),
        .all = xd_rate_meter_of(&p->meter, p->bytes, p->now),
        .hoped = more * d->rate,
        .from = p->now + usec(xd_settles_in(p, depot)),
        .until = p->now + usec(xd_settles_in(p, depot) + span_of(d))};
    d->width += more;
    p->is_stale = true;
}

/* Judges a connection that replaced a slow one, when its throughput is known.
 * If it is slow too or was closed, the next replacement waits twice as long. */
static void judge_renewal(struct xd_adaptive2 *p, struct xd_conn *c,
                          double fresh)
{
    struct xd_depot_record *d = &p->depots[c->depot];

    if (xd_is_young(c) && c->is_open)
        return;
    c->is_renewed = false;
    if (c->is_open && c->rate * XD_RENEW >= fresh) {
        d->renew_pause = 0;
        return;
    }
    d->renew_pause = d->renew_pause > 0
                         ? 2 * d->renew_pause
                         : xd_settles_in(p, c->depot) + span_of(d);
    d->renew_at = p->now + usec(d->renew_pause);
}

static void judge_renewals(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        if (c[i].is_renewed)
            judge_renewal(p, &c[i], xd_fresh_rate(p, depot));
}

static void control(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_depot_record *d = &p->depots[depot];
    struct xd_width_trial *t = &d->trial;

    judge_renewals(p, depot);
    xd_rate_meter_turn(&d->meter, d->bytes, usec(span_of(d)), p->now);
    if (!t->is_on) {
        begin_trial(p, depot);
        return;
    }
    if (t->from_own <= 0 && p->now >= t->from) {
        t->from = p->now;
        t->from_own = d->bytes;
        t->from_all = p->bytes;
    }
    if (t->from_own > 0 && p->now >= t->until && p->now > t->from)
        end_trial(p, depot);
}

void xd_control(struct xd_adaptive2 *p)
{
    const struct xd_book *b = p->book;

    xd_rate_meter_turn(&p->meter, p->bytes, 4 * usec(XD_SAMPLE_S), p->now);
    for (unsigned slot = 0; slot < b->n_slots; slot++)
        if (b->slots[slot] < b->n_depots &&
            xd_holder_is_ready(&b->depots[b->slots[slot]]))
            control(p, b->slots[slot]);
}
