/* SPDX-License-Identifier: MIT */
#include "sim/cap.h"

/* Shortest wait; a shorter one is not worth a timer. */
#define LEAST_WAIT (XD_NSEC_MS / 10)

static void fill(struct xd_cap *cap, double rate, double burst, xd_nsec now)
{
    cap->tokens += rate * (double)(now - cap->filled_at) / 1e9;
    if (cap->is_new || cap->tokens > burst)
        cap->tokens = burst;
    cap->is_new = false;
    cap->filled_at = now;
}

xd_nsec xd_cap_wait(struct xd_cap *cap, double rate, double burst, xd_nsec now,
                    unsigned bytes)
{
    xd_nsec wait;

    if (rate <= 0)
        return 0;
    fill(cap, rate, burst, now);
    if (cap->tokens >= bytes)
        return 0;
    wait = (xd_nsec)((bytes - cap->tokens) / rate * 1e9);
    return wait > LEAST_WAIT ? wait : LEAST_WAIT;
}

void xd_cap_pay(struct xd_cap *cap, unsigned bytes)
{
    cap->tokens -= bytes;
}
