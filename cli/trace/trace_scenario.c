/* SPDX-License-Identifier: MIT */
#include "trace/trace_scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"
#include "trace/trace_rates.h"

/* Scenarios contain rates of packets, traces contain rates of data.  This is
 * the factor between them. */
#define PACKET_SHARE (1500.0 / 1448.0)

/* TCP leaves a link idle from time to time.  So the client's link is assumed to
 * be faster than the data by this factor. */
#define CLIENT_SPARE 1.02

static double mbit(double bytes_per_s)
{
    return bytes_per_s * PACKET_SHARE * 8 / 1e6;
}

/* ---- the client's link ---- */

/* The rate of the client's link, and the changes that all depots have in
 * common. */
struct client {
    size_t n;                 /* number of changes */
    double at[RATES_WINDOWS]; /* seconds since the start of the trace */
    /* the rate before each change, and after the last change */
    double rates[RATES_WINDOWS + 1];
};

/* Adds up all depots as if they were one depot.  Its round-trip time is their
 * mean, weighted by the bytes that they delivered. */
static void add_up(struct profile_depot *out, const struct profile *p)
{
    double round_trips = 0;

    *out = (struct profile_depot){.least_first_byte = -1, .begin = p->end};
    for (size_t n = 0; n < p->n_depots; n++) {
        const struct profile_depot *d = p->depots[n];
        if (d->end < 0)
            continue;
        out->received += d->received;
        round_trips += (double)d->received * rates_round_trip(d);
        out->begin = d->begin < out->begin ? d->begin : out->begin;
        out->end = d->end > out->end ? d->end : out->end;
        for (size_t i = 0; i < PROFILE_SLOTS; i++) {
            out->bytes[i] += d->bytes[i];
            out->is_receiving[i] |= d->is_receiving[i];
        }
    }
    out->least_connect = round_trips / (double)out->received;
}

/* Returns true if the client's link has changed.  This is so if the other
 * depots change in the same way, no matter which depot is left out. */
static bool is_common(const struct profile *p, const struct profile_depot *all,
                      const struct rates *r, size_t begin, size_t change)
{
    const int way = rates_compare(r->at[change], rates_mean(r, begin, change));
    struct rates rest_rates = *r;
    struct profile_depot rest;

    for (size_t n = 0; n < p->n_depots; n++) {
        const struct profile_depot *d = p->depots[n];
        if (d->received == all->received)
            return false;
        rest = *all;
        for (size_t i = 0; i < PROFILE_SLOTS; i++)
            rest.bytes[i] -= d->bytes[i];
        rates_average(&rest_rates, p, &rest);
        if (rates_compare(rates_mean(&rest_rates, change, change + 2),
                          rates_mean(&rest_rates, begin, change)) != way)
            return false;
    }
    return true;
}

/* Returns the highest rate of all depots together in a window. */
static double most_together(const struct profile *p,
                            const struct profile_depot *all)
{
    const size_t window = PROFILE_SLOTS / RATES_WINDOWS;
    double most = 0;

    for (size_t i = 0; i + window <= PROFILE_SLOTS; i += window / 2) {
        double bytes = 0;
        for (size_t k = i; k < i + window; k++)
            bytes += all->bytes[k];
        most = bytes > most ? bytes : most;
    }
    return most / ((double)window * profile_slot_s(p));
}

static void find_client(struct client *c, const struct profile *p)
{
    struct profile_depot all;
    struct rates r;

    c->n = 0;
    add_up(&all, p);
    rates_read(&r, p, &all);
    for (size_t begin = r.first, since = r.first; begin < r.n;) {
        const size_t change = rates_next_change(&r, begin);
        if (change == r.n || is_common(p, &all, &r, begin, change)) {
            c->rates[c->n] = rates_mean(&r, since, change);
            if (change < r.n)
                c->at[c->n++] = r.begin + (double)change * r.window_s;
            since = change;
        }
        begin = change;
    }
    if (c->n == 0)
        c->rates[0] = most_together(p, &all);
}

static void put_client(FILE *to, const struct profile *p,
                       const struct client *c)
{
    fprintf(to, "client rate=%.4fmbit queue=1m\n",
            CLIENT_SPARE * mbit(c->rates[0]));
    for (size_t i = 0; i < c->n; i++)
        fprintf(to, "at %.0fms client rate=%.4fmbit\n",
                1e3 * (c->at[i] - p->begin),
                CLIENT_SPARE * mbit(c->rates[i + 1]));
}

/* ---- the depots ---- */

/* A queue of this length is longer than any real queue, and within the limits
 * of a scenario. */
#define MOST_QUEUE_KIB (1 << 20)

/* Estimates the queue of a path, because a trace does not show it.  The
 * estimate is a quarter of a second at the path's rate, within limits.  It is
 * at least the amount that slow start sends before it notices that the path is
 * full.  The rate already includes the effect of losses, so the queue is long
 * enough to cause no more losses. */
static unsigned queue_kib(double bytes_per_s, double rtt_s)
{
    const double kib = bytes_per_s / 4 / 1024;
    const double usual = kib < 64 ? 64 : kib > 512 ? 512 : kib;
    const double overshoot = 2 * bytes_per_s * rtt_s / 1024;

    return (unsigned)fmin(fmax(usual, overshoot), MOST_QUEUE_KIB);
}

static void put_silent_depot(FILE *to, const struct profile_depot *d,
                             size_t number)
{
    const bool refuses = strstr(d->error, "refused") != NULL;

    fprintf(to, "depot d%zu 198.18.%zu.%zu rate=10mbit rtt=%.1fms %s\n",
            number + 1, 1 + number / 250, 1 + number % 250,
            1e3 * rates_round_trip(d), refuses ? "refuses" : "down");
}

/* Returns the highest rate between two changes, or -1 if no rate is known. */
static double best_rate(const struct rates *r)
{
    double best = -1;

    for (size_t begin = r->first; begin < r->n;) {
        const size_t end = rates_next_change(r, begin);
        const double rate = rates_mean(r, begin, end);
        best = rate > best ? rate : best;
        begin = end;
    }
    return best;
}

static void put_changes(FILE *to, const struct profile *p,
                        const struct rates *r, size_t change, size_t number)
{
    while (change < r->n) {
        const size_t next = rates_next_change(r, change);
        const double rate = rates_mean(r, change, next);
        fprintf(to, "at %.0fms d%zu rate=%.4fmbit\n",
                1e3 * (r->begin - p->begin + (double)change * r->window_s),
                number + 1, mbit(rate > 125 ? rate : 125));
        change = next;
    }
}

/* Writes the depot and the changes of its rate.  Leaves out changes that
 * coincide with changes of the client's link. */
static void put_depot(FILE *to, const struct profile *p,
                      const struct profile_depot *d, size_t number,
                      bool is_steady)
{
    const double rtt_s = rates_round_trip(d);
    struct rates r;

    rates_read(&r, p, d);
    const size_t change = is_steady ? r.n : rates_next_change(&r, r.first);
    double rate = is_steady ? best_rate(&r) : rates_mean(&r, r.first, change);
    if (rate <= 0)
        rate = profile_rate(p, d);
    fprintf(to,
            "depot d%zu 198.18.%zu.%zu rate=%.4fmbit rtt=%.1fms "
            "queue=%uk\n",
            number + 1, 1 + number / 250, 1 + number % 250, mbit(rate),
            1e3 * rtt_s, queue_kib(rate, rtt_s));
    put_changes(to, p, &r, change, number);
    if (d->has_given_up && d->end < p->end - r.window_s)
        fprintf(to, "at %.0fms d%zu down\n", 1e3 * (d->end - p->begin),
                number + 1);
}

/* ---- output ---- */

static bool has_delivered(const struct profile *p)
{
    for (size_t i = 0; i < p->n_depots; i++)
        if (p->depots[i]->end >= 0)
            return true;
    return false;
}

int scenario_put(FILE *to, const struct profile *p, const char *path)
{
    char size[UNITS_SIZE];
    struct client client;

    if (!has_delivered(p)) {
        words_error("%s: no depot has delivered anything, and a scenario needs "
                    "one",
                    path);
        return STATUS_FAILED;
    }
    fprintf(to, "# As a run of ");
    text_put(to, p->name);
    fprintf(to, " found it: %s in %.3f s.\n", units_size(size, p->size),
            p->end - p->begin);
    fprintf(to, "# xdownload bench --virtual THIS-FILE --size %" PRIu64 "\n",
            p->size);
    find_client(&client, p);
    put_client(to, p, &client);
    for (size_t i = 0; i < p->n_depots; i++) {
        fprintf(to, "# d%zu is ", i + 1);
        text_put(to, p->depots[i]->host);
        fprintf(to, "\n");
        if (p->depots[i]->end >= 0)
            put_depot(to, p, p->depots[i], i, client.n > 0);
        else
            put_silent_depot(to, p->depots[i], i);
    }
    return 0;
}
