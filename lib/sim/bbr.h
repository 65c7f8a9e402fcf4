/* SPDX-License-Identifier: MIT */
/*
 * BBR, version 1, as Linux has it (net/ipv4/tcp_bbr.c): the rate that was
 * delivered and the least round trip decide, and losses hardly do.
 */
#ifndef XD_SIM_BBR_H
#define XD_SIM_BBR_H

#include "sim/scenario.h"

#define XD_BBR_ROUNDS 10

enum xd_bbr_mode {
    XD_BBR_STARTUP,
    XD_BBR_DRAIN,
    XD_BBR_PROBE_BW,
    XD_BBR_PROBE_RTT
};

/* What an ack tells; packets, and packets per second. */
struct xd_rate_sample {
    uint64_t delivered, prior_delivered; /* ever; and when what was acked
                                            was sent */
    double rate;                         /* < 0: none */
    bool is_app_limited;
    xd_nsec rtt; /* < 0: none */
    unsigned n_acked, n_lost, in_flight;
    bool is_recovering;
};

struct xd_bbr {
    double window;
    double pacing; /* packets per second */
    enum xd_bbr_mode mode;
    xd_nsec least_rtt, least_rtt_at;
    double rates[XD_BBR_ROUNDS]; /* the best of each of the last rounds */
    uint64_t round, round_end;
    uint64_t noted; /* the last round that has a rate */
    bool round_begins;
    double full_rate;
    unsigned full_rounds;
    bool is_full;
    unsigned phase;
    xd_nsec phase_at;
    bool was_recovering, conserves;
    double prior_window;
    xd_nsec probe_ends; /* 0: not yet */
    bool probe_round_done, is_idle_restart;
    uint64_t random;
};

void xd_bbr_init(struct xd_bbr *b, uint64_t seed);

/* The handshake took so long. */
void xd_bbr_begin(struct xd_bbr *b, xd_nsec now, xd_nsec rtt);
void xd_bbr_acked(struct xd_bbr *b, xd_nsec now,
                  const struct xd_rate_sample *s);
void xd_bbr_timed_out(struct xd_bbr *b);
void xd_bbr_idle(struct xd_bbr *b); /* it sends again, after it had nothing */

/* How many packets leave at a time. */
unsigned xd_bbr_burst(const struct xd_bbr *b);

#endif
