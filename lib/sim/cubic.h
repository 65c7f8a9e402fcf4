/* SPDX-License-Identifier: MIT */
/*
 * CUBIC with HyStart as in Linux (RFC 9438; net/ipv4/tcp_cubic.c).  Windows are
 * in packets.
 */
#ifndef XD_SIM_CUBIC_H
#define XD_SIM_CUBIC_H

#include "sim/scenario.h"

struct xd_cubic {
    double window, threshold;
    double last_most, origin;
    double reno; /* window that Reno would have */
    double k;    /* seconds from the epoch to the origin */
    /* start of the growth period; 0: it starts with the next growth */
    xd_nsec epoch;
    xd_nsec least_rtt;

    /* State of HyStart in the current round. */
    uint32_t round_end;
    xd_nsec round_start, last_ack, round_rtt;
    unsigned n_samples;
};

void xd_cubic_init(struct xd_cubic *c);

/* Call when `n` packets were newly acknowledged.  All packets before `all` are
 * acknowledged, and `next` is the next one to send.  `rtt` < 0: not measured.
 * `is_full`: the window was used up. */
void xd_cubic_acked(struct xd_cubic *c, xd_nsec now, unsigned n, xd_nsec rtt,
                    uint32_t all, uint32_t next, bool is_full);

/* Reduces the threshold after a loss, but not the window. */
void xd_cubic_lost(struct xd_cubic *c);

/* Call after an idle time, whether longer or shorter than `rto`. */
void xd_cubic_idle(struct xd_cubic *c, xd_nsec idle, xd_nsec rto);

#endif
