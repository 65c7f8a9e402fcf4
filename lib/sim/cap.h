/* SPDX-License-Identifier: MIT */
/*
 * What a depot's cap lets a connection, or a request, send: a token bucket.
 * A depot without a cap never makes anybody wait.
 */
#ifndef XD_SIM_CAP_H
#define XD_SIM_CAP_H

#include "sim/tcp.h"

/* How long until so many bytes may be sent; 0: now.  Fills the bucket. */
xd_nsec xd_cap_wait(struct xd_cap *cap, const struct xd_path *path, xd_nsec now,
                    unsigned bytes);

/* They were sent. */
void xd_cap_pay(struct xd_cap *cap, unsigned bytes);

#endif
