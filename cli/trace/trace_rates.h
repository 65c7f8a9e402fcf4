/* SPDX-License-Identifier: MIT */
/*
 * Computes the rate of a depot in windows of time, and finds changes of the
 * rate.
 */
#ifndef CLI_TRACE_RATES_H
#define CLI_TRACE_RATES_H

#include "trace/profile.h"

/* Largest number of windows in a run. */
#define RATES_WINDOWS 24

struct rates {
    size_t n;
    /* seconds since the start of the trace, and length of a window */
    double begin, window_s;
    double at[RATES_WINDOWS]; /* bytes per second; < 0: unknown */
    size_t first;             /* first window after slow start */
};

/* Computes the rates from the end of the depot's slow start to the end of the
 * run. */
void rates_read(struct rates *out, const struct profile *p,
                const struct profile_depot *d);

/* Computes the rates of another depot in the windows of `r`. */
void rates_average(struct rates *r, const struct profile *p,
                   const struct profile_depot *d);

/* Returns the mean of the known rates in the windows [begin, end), or -1 if no
 * rate is known. */
double rates_mean(const struct rates *r, size_t begin, size_t end);

/* Returns 1 if the rate is higher than `from`, -1 if it is lower, and 0 if it
 * has not changed or is unknown. */
int rates_compare(double rate, double from);

/* Returns the first window after `begin` in which the rate changes, or the
 * number of windows. */
size_t rates_next_change(const struct rates *r, size_t begin);

/* Returns the shortest round-trip time to the depot, in seconds. */
double rates_round_trip(const struct profile_depot *d);

#endif
