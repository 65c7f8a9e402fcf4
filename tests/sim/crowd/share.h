/* SPDX-License-Identifier: MIT */
/*
 * Max-min fair rates: no flow can have more but at the cost of one that has no
 * more than it.
 *
 * In rounds: a flow that its own cap bounds below the share that each of its
 * lines offers gets its cap; all flows of a line whose share is the least on the
 * way of each of them get that share.  Shares only grow from round to round.
 * Costs: O(flows) for each round, of which there are as many as lines that bound
 * one another in a chain.
 */
#ifndef XD_SIM_CROWD_SHARE_H
#define XD_SIM_CROWD_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#define XD_SHARE_LINES 2

struct xd_share_line {
    double rate; /* 0: unbounded */
    /* Of a computation. */
    double left, share;
    unsigned n;
    bool is_blocked;
};

struct xd_share_flow {
    double cap; /* may be infinite */
    double rate;
    unsigned lines[XD_SHARE_LINES];
    unsigned n_lines;
    double level; /* of a computation */
};

/* Sets the rate of each of `flows`; `order` has room for `n`. */
void xd_share(struct xd_share_line *lines, unsigned n_lines,
              struct xd_share_flow *flows, unsigned *order, unsigned n);

#endif
