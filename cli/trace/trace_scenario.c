#include "trace/trace_scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

/* The rates of scenarios are those of packets. */
#define PACKET_SHARE (1500.0 / 1448.0)

/* Rates are averaged over windows of time, at most so many, each of at least so
 * many bytes and seconds: counters go by what is written at a time, which is
 * 256 KiB, and are read ten times a second. */
#define WINDOWS 24
#define WINDOW_BYTES (1 << 20)
#define WINDOW_S 0.5

/* Slow start takes so many round trips, or half of the time if that is less; it
 * is the simulator's own matter. */
#define SLOW_START 6

/* A rate that grows by so much in a window, so many round trips after the first
 * byte, still does so by itself. */
#define GREW 1.15
#define GROWTH 14

/* A depot that delivers in less of a window says nothing of its rate. */
#define FULL_WINDOW 0.6

/* A rate has changed if it is below, or above, for two windows. */
#define FELL 0.6
#define ROSE 1.67

/* Of a round trip, where no answer tells it. */
#define USUAL_RTT_S 0.1

struct rates {
    size_t n;
    double begin, window_s; /* since the trace began */
    double at[WINDOWS];     /* bytes per second; < 0: not known */
};

static double mbit(double bytes_per_s)
{
    return bytes_per_s * PACKET_SHARE * 8 / 1e6;
}

static double round_trip(const struct profile_depot *d)
{
    const double a = d->least_connect, b = d->least_first_byte;

    if (a > 0 && b > 0)
        return a < b ? a : b;
    return a > 0 ? a : b > 0 ? b : USUAL_RTT_S;
}

/* From the end of slow start on. */
static void place_windows(struct rates *out, const struct profile *p,
                          const struct profile_depot *d)
{
    const double lasts = d->end - d->begin;
    const double slow = SLOW_START * round_trip(d);

    out->begin = d->begin + (slow < lasts / 2 ? slow : lasts / 2);
    const double rest = p->end - out->begin;
    double n = (double)d->received / WINDOW_BYTES;
    n = n < rest / WINDOW_S ? n : rest / WINDOW_S;
    out->n = n < 1 ? 1 : n > WINDOWS ? WINDOWS : (size_t)n;
    out->window_s = rest / (double)out->n;
}

static void find_rates(struct rates *out, const struct profile *p,
                       const struct profile_depot *d)
{
    const double slot_s = profile_slot_s(p);
    double bytes[WINDOWS] = {0}, received[WINDOWS] = {0};

    place_windows(out, p, d);
    for (size_t i = 0; i < PROFILE_SLOTS; i++) {
        const double at = p->begin + ((double)i + 0.5) * slot_s - out->begin;
        const size_t w = at > 0 ? (size_t)(at / out->window_s) : 0;
        if (at < 0 || w >= out->n)
            continue;
        bytes[w] += d->bytes[i];
        received[w] += d->is_receiving[i] ? slot_s : 0;
    }
    for (size_t w = 0; w < out->n; w++)
        out->at[w] = received[w] >= FULL_WINDOW * out->window_s ||
                             (out->n == 1 && received[w] > 0)
                         ? bytes[w] / received[w]
                         : -1;
}

/* The mean of what is known from window `begin` to before `end`; < 0: nothing
 * is. */
static double mean(const struct rates *r, size_t begin, size_t end)
{
    double sum = 0;
    size_t n = 0;

    for (size_t w = begin; w < end; w++) {
        sum += r->at[w] >= 0 ? r->at[w] : 0;
        n += r->at[w] >= 0;
    }
    return n > 0 ? sum / (double)n : -1;
}

static bool differs(double rate, double from)
{
    return rate >= 0 && (rate < from * FELL || rate > from * ROSE);
}

/* Where the rate changes for the first time after window `begin`, or the end. */
static size_t next_change(const struct rates *r, size_t begin)
{
    for (size_t w = begin + 1; w + 1 < r->n; w++) {
        const double before = mean(r, begin, w);
        if (before >= 0 && differs(r->at[w], before) &&
            differs(r->at[w + 1], before) &&
            (r->at[w] < before) == (r->at[w + 1] < before))
            return w;
    }
    return r->n;
}

/* The first window in which the rate has ceased to grow from what it began
 * with. */
static size_t after_growth(const struct rates *r, const struct profile_depot *d)
{
    const double until = d->begin + GROWTH * round_trip(d);
    size_t w = 0;

    while (w + 1 < r->n && r->at[w + 1] > r->at[w] * GREW &&
           r->begin + (double)(w + 1) * r->window_s < until)
        w++;
    return w;
}

/* The most that came in a window, of all depots together. */
static double most_together(const struct profile *p)
{
    const double slots = WINDOW_S / profile_slot_s(p);
    const size_t window = slots < PROFILE_SLOTS / WINDOWS
                              ? PROFILE_SLOTS / WINDOWS
                          : slots > PROFILE_SLOTS ? PROFILE_SLOTS
                                                  : (size_t)slots;
    double most = 0;

    for (size_t i = 0; i + window <= PROFILE_SLOTS; i += window / 2) {
        double bytes = 0;
        for (size_t k = i; k < i + window; k++)
            for (size_t n = 0; n < p->n_depots; n++)
                bytes += p->depots[n]->bytes[k];
        most = bytes > most ? bytes : most;
    }
    return most / ((double)window * profile_slot_s(p));
}

/* A quarter of a second of its rate: no measured quantity. */
static unsigned queue_kib(double bytes_per_s)
{
    const double kib = bytes_per_s / 4 / 1024;

    return kib < 64 ? 64 : kib > 512 ? 512 : (unsigned)kib;
}

static void put_silent_depot(FILE *to, const struct profile_depot *d,
                             size_t number)
{
    const bool refuses = strstr(d->error, "refused") != NULL;

    fprintf(to, "depot d%zu 198.18.%zu.%zu rate=10mbit rtt=%.1fms %s\n",
            number + 1, 1 + number / 250, 1 + number % 250, 1e3 * round_trip(d),
            refuses ? "refuses" : "down");
}

/* The depot, and the changes of its rate. */
static void put_depot(FILE *to, const struct profile *p,
                      const struct profile_depot *d, size_t number)
{
    struct rates r;

    find_rates(&r, p, d);
    const size_t first = after_growth(&r, d);
    size_t change = next_change(&r, first);
    double rate = mean(&r, first, change);
    if (rate <= 0)
        rate = profile_rate(p, d);
    fprintf(to,
            "depot d%zu 198.18.%zu.%zu rate=%.4fmbit rtt=%.1fms "
            "queue=%uk\n",
            number + 1, 1 + number / 250, 1 + number % 250, mbit(rate),
            1e3 * round_trip(d), queue_kib(rate));
    while (change < r.n) {
        const size_t next = next_change(&r, change);
        rate = mean(&r, change, next);
        fprintf(to, "at %.0fms d%zu rate=%.4fmbit\n",
                1e3 * (r.begin - p->begin + (double)change * r.window_s),
                number + 1, mbit(rate > 125 ? rate : 125));
        change = next;
    }
    if (d->has_given_up && d->end < p->end - r.window_s)
        fprintf(to, "at %.0fms d%zu down\n", 1e3 * (d->end - p->begin),
                number + 1);
}

int scenario_put(FILE *to, const struct profile *p, const char *path)
{
    char size[UNITS_SIZE];
    size_t n = 0;

    for (size_t i = 0; i < p->n_depots; i++)
        n += p->depots[i]->end >= 0;
    if (n == 0) {
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
    fprintf(to, "client rate=%.4fmbit queue=1m\n",
            1.02 * mbit(most_together(p)));
    for (size_t i = 0; i < p->n_depots; i++) {
        fprintf(to, "# d%zu is ", i + 1);
        text_put(to, p->depots[i]->host);
        fprintf(to, "\n");
        if (p->depots[i]->end >= 0)
            put_depot(to, p, p->depots[i], i);
        else
            put_silent_depot(to, p->depots[i], i);
    }
    return 0;
}
