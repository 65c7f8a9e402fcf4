/* SPDX-License-Identifier: MIT */
/* Turns events into records, and decides nothing. */
#include "sched/adaptive2/adaptive2.h"

/* Returns the bin of a profile for an offset from the start of a response, in
 * bytes. */
static unsigned bin_of(double offset)
{
    unsigned bin = 0;

    for (double end = XD_FIRST_BIN; offset >= end && bin < XD_BINS - 1;
         end *= XD_HALF_OCTAVE)
        bin++;
    return bin;
}

static void smooth(double *mean, double value)
{
    *mean = *mean > 0 ? *mean + XD_GAIN * (value - *mean) : value;
}

/* Adds a wait for a first byte, in seconds, to the mean and deviation of the
 * depot. */
static void answered(struct xd_depot_record *d, double wait)
{
    if (d->n_answers++ == 0) {
        d->wait = wait;
        d->wait_deviation = wait / 2;
        return;
    }
    d->wait_deviation +=
        XD_GAIN * (xd_size_of(wait - d->wait) - d->wait_deviation);
    d->wait += XD_GAIN * (wait - d->wait);
}

/* Records the wait for the first byte.  The first wait on a connection includes
 * the round trip of the TCP handshake, which is subtracted. */
static void note_answer(struct xd_adaptive2 *p, const struct xd_conn *c)
{
    struct xd_depot_record *d = &p->depots[c->depot];
    double wait = xd_seconds(p->now - c->asked_at);

    if (c->n_requests == 1) {
        if (d->rtt <= 0)
            d->rtt = wait / 2;
        wait -= d->rtt;
    }
    answered(d, xd_greater(wait, 1e-4));
}

/* Updates the mean and deviation of the throughput by the sample x, in bytes
 * per second.  In slow start, a much higher sample replaces the mean.  Later, a
 * single outlier is ignored.  Two outliers in the same direction are a change,
 * and their average becomes the mean. */
static void note_sample(struct xd_conn *c, double x)
{
    double error = x - c->rate;
    bool is_jump =
        xd_size_of(error) > xd_greater(XD_CHANGE_DEVIATIONS * c->deviation,
                                       XD_CHANGE_PART * c->rate);

    c->n_samples++;
    if (c->n_samples == 1 || (c->is_rising && x > XD_RISING * c->rate)) {
        c->is_rising = true;
        c->n_flat = 0;
        c->rate = x;
        c->deviation = XD_UNSURE * x;
        return;
    }
    c->is_rising &= ++c->n_flat < XD_FLAT;
    if (is_jump && c->jump * error > 0) {
        c->rate += (error + c->jump) / 2;
        c->deviation = xd_size_of(error - c->jump);
        c->jump = 0;
    } else if (is_jump) {
        c->jump = error;
    } else {
        c->jump = 0;
        c->deviation += XD_GAIN * (xd_size_of(error) - c->deviation);
        c->rate += XD_GAIN * error;
    }
}

/* Ends the current sample if it has lasted for at least `least` seconds.  Also
 * adds it to the profile of the depot, in the bin of its middle byte, unless a
 * shared queue limits the connection. */
static void sample(struct xd_adaptive2 *p, struct xd_conn *c, xd_usec now,
                   double least)
{
    struct xd_depot_record *d = &p->depots[c->depot];
    struct xd_profile *profile = c->n_requests > 1 ? &d->later : &d->first;
    double took = xd_seconds(now - c->sample_at), middle;

    if (took <= 0 || took < least)
        return;
    middle = (double)(c->got - c->range.begin) - c->sample_bytes / 2;
    if (c->sample_bytes > 0 && !xd_is_contended(p, c))
        smooth(&profile->s_per_byte[bin_of(middle)], took / c->sample_bytes);
    note_sample(c, c->sample_bytes / took);
    c->is_sampled = true;
    c->sample_at = now;
    c->sample_bytes = 0;
}

/* Returns the duration of a sample, in seconds. */
static double span_of(const struct xd_depot_record *d)
{
    return xd_greater(XD_SAMPLE_S, d->rtt);
}

void xd_told_asked(struct xd_adaptive2 *p, unsigned fetch, unsigned depot,
                   struct xd_range r)
{
    const struct xd_guess *guess = &p->book->depots[depot].guess;
    struct xd_conn *c = &p->conns[fetch];
    struct xd_depot_record *d = &p->depots[depot];

    if (!c->is_open) {
        *c = (struct xd_conn){.depot = depot,
                              .is_open = true,
                              .is_renewed = d->n_renewing > 0,
                              .is_rising = true,
                              .opened_at = p->now};
        d->n_renewing -= d->n_renewing > 0;
    }
    if (d->asked_at == XD_NEVER)
        d->asked_at = p->now;
    if (p->began_at > p->now)
        p->began_at = p->now;
    c->n_requests++;
    c->is_running = true;
    c->has_begun = c->is_leaving = c->is_sampled = false;
    c->range = r;
    c->asked_end = r.end;
    c->got = r.begin;
    c->asked_at = c->heard_at = p->now;
    if (r.begin == 0 && guess->begun_to > 0)
        c->opened_at = c->asked_at = c->heard_at = p->now - guess->begun_for;
    d->n_running++;
    p->n_running++;
    if (r.begin <= d->hint.begin && d->hint.begin < r.end)
        d->hint.begin = r.end;
}

void xd_told_received(struct xd_adaptive2 *p, unsigned fetch, uint64_t to,
                      xd_usec now)
{
    struct xd_conn *c = &p->conns[fetch];
    struct xd_depot_record *d = &p->depots[c->depot];
    double n = (double)(to - c->got);

    if (to <= c->got)
        return;
    p->now = now;
    c->got = to;
    c->bytes += n;
    d->bytes += n;
    p->bytes += n;
    c->heard_at = now;
    if (!c->has_begun) {
        note_answer(p, c);
        c->has_begun = p->is_stale = true;
        c->sample_at = now;
        c->sample_bytes = 0;
    } else {
        c->sample_bytes += n;
        sample(p, c, now, span_of(d));
    }
    if (now > c->opened_at)
        c->best =
            xd_greater(c->best, c->bytes / xd_seconds(now - c->opened_at));
}

/* Closes the connection, and remembers its throughput for xd_fresh_rate(). */
static void closed(struct xd_adaptive2 *p, struct xd_conn *c)
{
    struct xd_depot_record *d = &p->depots[c->depot];

    d->past[d->next_past].opened_at = c->opened_at;
    d->past[d->next_past].best = c->best;
    d->next_past = (d->next_past + 1) % XD_PAST;
    d->n_past += d->n_past < XD_PAST;
    c->is_open = false;
}

/* Records a request that failed before its first byte, and assumes that the
 * depot refused it because too many were running.  The back-off doubles, and
 * counts as a wait for a first byte. */
static void refused(struct xd_adaptive2 *p, struct xd_depot_record *d)
{
    d->allowed = d->n_running > 0 ? d->n_running : 1;
    if (p->now < d->more_at)
        return; /* refused together with an earlier request */
    d->back_off = xd_lesser(XD_LONGEST_BACK_OFF_S,
                            d->back_off > 0 ? 2 * d->back_off : XD_BACK_OFF_S);
    d->more_at = p->now + (xd_usec)(d->back_off * (double)XD_SECOND);
    answered(d, d->back_off);
}

/* Estimates the throughput, in bytes per second, from a response too short for
 * a sample.  At least one initial congestion window is possible in each round
 * trip, even if the response had fewer bytes. */
static double short_rate(const struct xd_conn *c,
                         const struct xd_depot_record *d)
{
    double n = (double)(c->got - c->range.begin);

    return xd_greater(n / xd_seconds(c->heard_at - c->asked_at),
                      XD_FIRST_WINDOW / xd_greater(d->rtt, 1e-4));
}

void xd_told_ended(struct xd_adaptive2 *p, unsigned fetch, bool failed)
{
    struct xd_conn *c = &p->conns[fetch];
    struct xd_depot_record *d = &p->depots[c->depot];
    double least;

    p->is_stale = true;
    d->n_running--;
    p->n_running--;
    c->is_running = false;
    if (c->has_begun && c->sample_bytes > 0)
        sample(p, c, c->heard_at, span_of(d) / 2);
    /* A response that is shorter than a sample still shows that the connection
     * is not slower than this.  Otherwise a low estimate would never be
     * corrected, because it leads to short requests. */
    least = (double)(c->got - c->range.begin) / span_of(d);
    /* Without a sample, the response even took less than half of span_of(), so
     * the depot is at least twice as fast.  Requests for readers are as short
     * as the estimate says, so it has to grow. */
    if (p->book->o.window_bytes > 0)
        least *= 2;
    if (c->has_begun && !c->is_sampled && c->n_samples > 0 && least > c->rate)
        c->rate += XD_GAIN * (least - c->rate);
    /* A rough estimate is better than no sample. */
    if (c->n_samples == 0 && c->has_begun && c->heard_at > c->asked_at)
        note_sample(c, short_rate(c, d));
    if (failed && !c->has_begun)
        refused(p, d);
    else if (failed) /* perhaps banned: do not try more requests */
        d->more_at = XD_NEVER;
    /* Canceled after an unusually long wait.  The real wait would have been
     * longer, so count at least this one. */
    else if (!c->has_begun && p->now > c->asked_at &&
             xd_seconds(p->now - c->asked_at) > d->wait + d->rtt)
        answered(d, xd_seconds(p->now - c->asked_at) - d->rtt);
    if (failed || c->got < c->asked_end)
        closed(p, c);
}

void xd_told_opened(struct xd_adaptive2 *p, unsigned depot)
{
    struct xd_conn *c = xd_conns_of(p, depot);

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++)
        c[i] = (struct xd_conn){.depot = depot};
    p->is_stale = true;
}

void xd_told_parked(struct xd_adaptive2 *p, unsigned depot, unsigned slot)
{
    struct xd_conn *c = &p->conns[slot * p->book->o.lanes_per_depot];

    for (unsigned i = 0; i < p->book->o.lanes_per_depot; i++, c++)
        if (c->is_open && c->depot == depot)
            closed(p, c);
    p->is_stale = true;
}
