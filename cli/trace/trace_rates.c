/* SPDX-License-Identifier: MIT */
#include "trace/trace_rates.h"

/* Smallest size of a window.  It must hold more bytes than one response of a
 * nearby depot, and several values of the depot's counter, which is recorded
 * ten times a second. */
#define WINDOW_BYTES (1 << 20)
#define WINDOW_S 0.5

/* Number of round trips of slow start, which are left out (but at most half of
 * the time), because the simulator has a slow start of its own. */
#define SLOW_START 6

/* If the rate grows by this factor from one window to the next, within GROWTH
 * round trips after the first byte, TCP is still speeding up. */
#define GREW 1.15
#define GROWTH 14

/* The rate of a window counts only if the depot was delivering during at least
 * this fraction of the window. */
#define FULL_WINDOW 0.6

/* The rate of the path is thought to have changed if, in two consecutive
 * windows, it is lower or higher than before by these factors. */
#define FELL 0.6
#define ROSE 1.67

/* Assumed round-trip time in seconds of a depot that never answered. */
#define USUAL_RTT_S 0.1

double rates_round_trip(const struct profile_depot *d)
{
    const double a = d->least_connect, b = d->least_first_byte;

    if (a > 0 && b > 0)
        return a < b ? a : b;
    return a > 0 ? a : b > 0 ? b : USUAL_RTT_S;
}

static void place_windows(struct rates *out, const struct profile *p,
                          const struct profile_depot *d)
{
    const double lasts = d->end - d->begin;
    const double slow = SLOW_START * rates_round_trip(d);

    out->begin = d->begin + (slow < lasts / 2 ? slow : lasts / 2);
    const double rest = p->end - out->begin;
    double n = (double)d->received / WINDOW_BYTES;
    n = n < rest / WINDOW_S ? n : rest / WINDOW_S;
    out->n = n < 1 ? 1 : n > RATES_WINDOWS ? RATES_WINDOWS : (size_t)n;
    out->window_s = rest / (double)out->n;
}

void rates_average(struct rates *r, const struct profile *p,
                   const struct profile_depot *d)
{
    const double slot_s = profile_slot_s(p);
    double bytes[RATES_WINDOWS] = {0}, received[RATES_WINDOWS] = {0};

    for (size_t i = 0; i < PROFILE_SLOTS; i++) {
        const double at = p->begin + ((double)i + 0.5) * slot_s - r->begin;
        const size_t w = at > 0 ? (size_t)(at / r->window_s) : 0;
        if (at < 0 || w >= r->n)
            continue;
        bytes[w] += d->bytes[i];
        received[w] += d->is_receiving[i] ? slot_s : 0;
    }
    for (size_t w = 0; w < r->n; w++)
        r->at[w] = received[w] >= FULL_WINDOW * r->window_s ||
                           (r->n == 1 && received[w] > 0)
                       ? bytes[w] / received[w]
                       : -1;
}

double rates_mean(const struct rates *r, size_t begin, size_t end)
{
    double sum = 0;
    size_t n = 0;

    for (size_t w = begin; w < end; w++) {
        sum += r->at[w] >= 0 ? r->at[w] : 0;
        n += r->at[w] >= 0;
    }
    return n > 0 ? sum / (double)n : -1;
}

int rates_compare(double rate, double from)
{
    if (rate < 0 || from < 0)
        return 0;
    return rate > from * ROSE ? 1 : rate < from * FELL ? -1 : 0;
}

size_t rates_next_change(const struct rates *r, size_t begin)
{
    for (size_t w = begin + 1; w + 1 < r->n; w++) {
        const double before = rates_mean(r, begin, w);
        const int change = rates_compare(r->at[w], before);
        if (change != 0 && rates_compare(r->at[w + 1], before) == change)
            return w;
    }
    return r->n;
}

static size_t after_growth(const struct rates *r, const struct profile_depot *d)
{
    const double until = d->begin + GROWTH * rates_round_trip(d);
    size_t w = 0;

    while (w + 1 < r->n && r->at[w + 1] > r->at[w] * GREW &&
           r->begin + (double)(w + 1) * r->window_s < until)
        w++;
    return w;
}

void rates_read(struct rates *out, const struct profile *p,
                const struct profile_depot *d)
{
    place_windows(out, p, d);
    rates_average(out, p, d);
    out->first = after_growth(out, d);
}
