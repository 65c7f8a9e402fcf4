/* SPDX-License-Identifier: MIT */
/*
 * BBR version 1 as in Linux (net/ipv4/tcp_bbr.c): based on delivery rate and
 * minimum round-trip time rather than on losses.
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

/* A rate sample that an ACK gives, in packets and packets per second. */
struct xd_rate_sample {
    /* packets delivered so far, and until the acknowledged packet was sent */
    uint64_t delivered, prior_delivered;
    double rate; /* delivery rate; < 0: none */
    bool is_app_limited;
    xd_nsec rtt; /* measured round-trip time; < 0: none */
    unsigned n_acked, n_lost, in_flight;
    bool is_recovering;
};

struct xd_bbr {
    double window;
    double pacing; /* packets per second */
    enum xd_bbr_mode mode;
    xd_nsec least_rtt, least_rtt_at;
    double rates[XD_BBR_ROUNDS]; /* best rate of each recent round */
    uint64_t round, round_end;
    uint64_t noted; /* last round in which a rate was recorded */
    bool round_begins;
    double full_rate;
    unsigned full_rounds;
    bool is_full;
    unsigned phase;
    xd_nsec phase_at;
    bool was_recovering, conserves;
    double prior_window;
    /* end of the current PROBE_RTT phase; 0: not known yet */
    xd_nsec probe_ends;
    bool probe_round_done, is_idle_restart;
    uint64_t random;
};

void xd_bbr_init(struct xd_bbr *b, uint64_t seed);

/* Call after the handshake, which took `rtt`. */
void xd_bbr_begin(struct xd_bbr *b, xd_nsec now, xd_nsec rtt);
void xd_bbr_acked(struct xd_bbr *b, xd_nsec now,
                  const struct xd_rate_sample *s);
void xd_bbr_timed_out(struct xd_bbr *b);
/* call when sending resumes after an idle time */
void xd_bbr_idle(struct xd_bbr *b);

/* Returns how many packets are sent in one burst. */
unsigned xd_bbr_burst(const struct xd_bbr *b);

#endif
