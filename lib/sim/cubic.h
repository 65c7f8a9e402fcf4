/* SPDX-License-Identifier: MIT */
/*
 * CUBIC with HyStart, as Linux has them (RFC 9438; net/ipv4/tcp_cubic.c): how
 * many packets may be on their way.  Windows are in packets.
 */
#ifndef XD_SIM_CUBIC_H
#define XD_SIM_CUBIC_H

#include "sim/scenario.h"

struct xd_cubic {
    double window, threshold;
    double last_most, origin;
    double reno;   /* what Reno's window would be by now */
    double k;      /* seconds from the epoch to the origin */
    xd_nsec epoch; /* 0: the next growth begins one */
    xd_nsec least_rtt;

    /* HyStart, a round at a time. */
    uint32_t round_end;
    xd_nsec round_start, last_ack, round_rtt;
    unsigned n_samples;
};

void xd_cubic_init(struct xd_cubic *c);

/* `n` packets more have come in; `next` is the number of the next to be sent,
 * `all` is that before which all have come in.  `rtt` < 0: not measured.
 * `is_full`: all that the window allowed was on its way. */
void xd_cubic_acked(struct xd_cubic *c, xd_nsec now, unsigned n, xd_nsec rtt,
                    uint32_t all, uint32_t next, bool is_full);

/* Packets were lost: sets the threshold, not the window. */
void xd_cubic_lost(struct xd_cubic *c);

/* Nothing was sent for so long, which is more than `rto`, or less. */
void xd_cubic_idle(struct xd_cubic *c, xd_nsec idle, xd_nsec rto);

#endif
