/* SPDX-License-Identifier: MIT */
/*
 * The bytes that have arrived from a depot over time, in a fixed amount of
 * memory: as the time grows, its steps become longer.
 */
#ifndef XD_LAB_ARRIVALS_H
#define XD_LAB_ARRIVALS_H

#include "base/time.h"

#define XD_ARRIVAL_STEPS 1024

struct xd_arrivals {
    xd_usec step; /* 0: nothing has arrived */
    unsigned n;   /* steps so far */
    /* bytes that had arrived at the end of each step */
    uint64_t bytes[XD_ARRIVAL_STEPS];
};

/* Adds bytes that arrive `at` this time since the start.  Times never run
 * back. */
void xd_arrivals_add(struct xd_arrivals *a, uint64_t bytes, xd_usec at);

/* Returns the bytes that had arrived after `s` seconds.  Within a step, bytes
 * are assumed to arrive evenly. */
double xd_arrivals_by(const struct xd_arrivals *a, double s);

#endif
