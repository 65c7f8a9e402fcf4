/* SPDX-License-Identifier: MIT */
/*
 * What a depot is going to do, by what it did: its rate, and how long it takes
 * to answer.
 *
 *     asked ......... first byte ======= bytes ======= bytes ======
 *       |<- latency ->|          |<-     rate, smoothed     ->|
 *
 * The rate is that of all its requests together while any of them brings bytes;
 * the time in which it owes us only first bytes is latency.  A zeroed struct
 * knows nothing; time is an argument.
 *
 * A rate that was calm, within a factor of 1.5 for a while, and then more than
 * doubles has risen, unless it jumped: then TCP is as fast as its line, or what
 * stood in a queue comes at once.
 *
 * A guess, by what was seen another day, holds until there is a sample, and
 * again while samples grow as if TCP were finding its speed.
 */
#ifndef XD_SCHED_FORECAST_H
#define XD_SCHED_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct xd_forecast {
    double rate;     /* bytes per second; 0: not known */
    double guess;    /* likewise */
    double seen;     /* likewise, by the samples alone */
    xd_usec latency; /* from a request to its first byte; 0: not known */
    bool is_flowing; /* bytes came since the last pause */
    xd_usec since;   /* while flowing: `fresh` bytes came after this */
    uint64_t fresh;  /* not yet in `rate` */
    xd_usec carried; /* while not: `fresh` bytes took so long */
    xd_usec watched; /* for how long the rate has been watched */
    double quick;    /* bytes per second, smoothed over a shorter time */
    double calm;     /* likewise, over a longer time: */
    xd_usec calm_at; /* since it had been watched for so long */
    bool is_rising;  /* the last sample was twice as much */
    bool has_risen;  /* what was heard last says so */
};

/* What is known before it is asked; 0: nothing. */
void xd_forecast_guess(struct xd_forecast *f, double rate, xd_usec latency);

/* The first byte of a request came so long after it was asked for, of which a
 * new connection takes all but one of so many parts. */
void xd_forecast_answered(struct xd_forecast *f, xd_usec wait, unsigned parts);

/* Likewise, but behind bytes of other requests, for which it had to wait. */
void xd_forecast_queued(struct xd_forecast *f, xd_usec wait);

/* So many more bytes came. */
void xd_forecast_heard(struct xd_forecast *f, xd_usec now, uint64_t bytes);

/* None of its requests is bringing bytes any more; the last came then. */
void xd_forecast_paused(struct xd_forecast *f, xd_usec heard_at);

/* All of a request is here, so long after it was asked for: its depot is at
 * least as fast as that. */
void xd_forecast_gulped(struct xd_forecast *f, xd_usec wait, uint64_t bytes);

/* What was known holds no longer: it failed. */
void xd_forecast_forget(struct xd_forecast *f);

/* For how long a depot that is well may say nothing. */
xd_usec xd_forecast_patience(const struct xd_forecast *f);

#endif
