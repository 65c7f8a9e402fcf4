/* SPDX-License-Identifier: MIT */
/*
 * The rate of a depot in windows of time, and where it changes.
 */
#ifndef CLI_TRACE_RATES_H
#define CLI_TRACE_RATES_H

#include "trace/profile.h"

/* Rates are averaged over windows of time, at most so many. */
#define RATES_WINDOWS 24

struct rates {
    size_t n;
    double begin, window_s;   /* since the trace began */
    double at[RATES_WINDOWS]; /* bytes per second; < 0: not known */
    size_t first; /* window in which it has ceased to grow by itself */
};

/* From the end of the depot's slow start to that of the run. */
void rates_read(struct rates *out, const struct profile *p,
                const struct profile_depot *d);

/* The rates of another depot in the windows that `r` has. */
void rates_average(struct rates *r, const struct profile *p,
                   const struct profile_depot *d);

/* The mean of what is known from window `begin` to before `end`; < 0: nothing
 * is. */
double rates_mean(const struct rates *r, size_t begin, size_t end);

/* Whether a rate is another one: 1 it has risen, -1 it has fallen, 0 it has not
 * changed, or is not known. */
int rates_compare(double rate, double from);

/* Where the rate changes for the first time after window `begin`, or the end. */
size_t rates_next_change(const struct rates *r, size_t begin);

/* Of a round trip to the depot, in seconds. */
double rates_round_trip(const struct profile_depot *d);

#endif
