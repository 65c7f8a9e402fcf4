/* SPDX-License-Identifier: MIT */
/*
 * Token buckets for the limits of a depot on each connection or request.  A
 * bucket without a limit never waits.
 */
#ifndef XD_SIM_CAP_H
#define XD_SIM_CAP_H

#include "sim/tcp.h"

/* Refills the bucket at `rate` bytes per second up to `burst` bytes; rate 0: no
 * limit.  Returns how long to wait until `bytes` may be sent; 0: send now. */
xd_nsec xd_cap_wait(struct xd_cap *cap, double rate, double burst, xd_nsec now,
                    unsigned bytes);

/* Takes the tokens for bytes that were sent. */
void xd_cap_pay(struct xd_cap *cap, unsigned bytes);

#endif
