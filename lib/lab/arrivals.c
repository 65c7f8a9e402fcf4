/* SPDX-License-Identifier: MIT */
#include "lab/arrivals.h"

/* Length of a step at first.  It is doubled when all steps are used. */
#define FIRST_STEP XD_MS

/* Merges each two steps into one. */
static void merge(struct xd_arrivals *a)
{
    a->step *= 2;
    a->n /= 2;
    for (unsigned i = 0; i < a->n; i++)
        a->bytes[i] = a->bytes[2 * i + 1];
}

/* Returns the bytes that had arrived at the end of step number `i` - 1. */
static uint64_t before(const struct xd_arrivals *a, unsigned i)
{
    if (i > a->n)
        i = a->n;
    return i > 0 ? a->bytes[i - 1] : 0;
}

void xd_arrivals_add(struct xd_arrivals *a, uint64_t bytes, xd_usec at)
{
    if (a->step == 0)
        a->step = FIRST_STEP;
    for (;;) {
        while (a->n < XD_ARRIVAL_STEPS && a->n <= at / a->step) {
            a->bytes[a->n] = before(a, a->n);
            a->n++;
        }
        if (at / a->step < XD_ARRIVAL_STEPS)
            break;
        merge(a);
    }
    a->bytes[a->n - 1] += bytes;
}

double xd_arrivals_by(const struct xd_arrivals *a, double s)
{
    const double steps = a->step > 0 ? s / xd_seconds(a->step) : 0;
    const unsigned i = steps < a->n ? (unsigned)steps : a->n;
    const double from = (double)before(a, i), to = (double)before(a, i + 1);

    return steps > 0 ? from + (to - from) * (steps - i < 1 ? steps - i : 1) : 0;
}
