/* SPDX-License-Identifier: MIT */
#include "sim/cubic.h"

#include <math.h>

#include "sim/net.h"

#define BETA 0.7
#define C 0.4
#define NO_THRESHOLD 1e9

/* HyStart is active from this window on. */
#define LOW_WINDOW 16
#define SAMPLES 8
#define TRAIN_GAP (2 * XD_NSEC_MS)

void xd_cubic_init(struct xd_cubic *c)
{
    *c =
        (struct xd_cubic){.window = XD_FIRST_WINDOW, .threshold = NO_THRESHOLD};
}

static xd_nsec clamp(xd_nsec n, xd_nsec least, xd_nsec most)
{
    return n < least ? least : n > most ? most : n;
}

static void begin_round(struct xd_cubic *c, xd_nsec now, uint32_t next)
{
    c->round_start = c->last_ack = now;
    c->round_end = next;
    c->round_rtt = INT64_MAX;
    c->n_samples = 0;
}

/* Leaves slow start when the ACKs of a round span half a round trip, or when
 * the round-trip time has grown. */
static void hystart(struct xd_cubic *c, xd_nsec now, xd_nsec rtt)
{
    bool is_over = false;

    if (now - c->last_ack <= TRAIN_GAP) {
        c->last_ack = now;
        is_over = now - c->round_start > c->least_rtt / 2;
    }
    if (rtt < c->round_rtt)
        c->round_rtt = rtt;
    if (c->n_samples < SAMPLES)
        c->n_samples++;
    else if (c->round_rtt >
             c->least_rtt +
                 clamp(c->least_rtt / 8, 4 * XD_NSEC_MS, 16 * XD_NSEC_MS))
        is_over = true;
    if (is_over)
        c->threshold = c->window;
}

static void begin_epoch(struct xd_cubic *c, xd_nsec now)
{
    c->epoch = now;
    c->reno = c->window;
    c->k = 0;
    c->origin = c->window;
    if (c->window < c->last_most) {
        c->k = cbrt((c->last_most - c->window) / C);
        c->origin = c->last_most;
    }
}

/* Returns the number of acknowledged packets after which the window grows by
 * one. */
static double growth(struct xd_cubic *c, xd_nsec now, unsigned n)
{
    double t, target, count;

    if (c->epoch == 0)
        begin_epoch(c, now);
    t = (double)(now - c->epoch + c->least_rtt) / 1e9 - c->k;
    target = c->origin + C * t * t * t;
    count =
        target > c->window ? c->window / (target - c->window) : 100 * c->window;
    if (c->last_most <= 0 && count > 20)
        count = 20;
    c->reno += n * 3 * (1 - BETA) / (1 + BETA) / c->window;
    if (c->reno > c->window && count > c->window / (c->reno - c->window))
        count = c->window / (c->reno - c->window);
    return count < 2 ? 2 : count;
}

void xd_cubic_acked(struct xd_cubic *c, xd_nsec now, unsigned n, xd_nsec rtt,
                    uint32_t all, uint32_t next, bool is_full)
{
    if (rtt >= 0 && (c->least_rtt == 0 || rtt < c->least_rtt))
        c->least_rtt = rtt;
    if (c->window < c->threshold) {
        if (all > c->round_end || c->round_start == 0)
            begin_round(c, now, next);
        if (rtt >= 0 && c->window >= LOW_WINDOW)
            hystart(c, now, rtt);
    }
    if (!is_full)
        return;
    if (c->window < c->threshold)
        c->window += n;
    else
        c->window += n / growth(c, now, n);
}

void xd_cubic_lost(struct xd_cubic *c)
{
    c->epoch = 0;
    c->last_most =
        c->window < c->last_most ? c->window * (1 + BETA) / 2 : c->window;
    c->threshold = c->window * BETA > 2 ? c->window * BETA : 2;
}

void xd_cubic_idle(struct xd_cubic *c, xd_nsec idle, xd_nsec rto)
{
    double least;

    if (c->epoch > 0)
        c->epoch += idle;
    if (idle <= rto)
        return;
    if (c->threshold < NO_THRESHOLD && c->threshold < 0.75 * c->window)
        c->threshold = 0.75 * c->window;
    least = fmin(c->window, XD_FIRST_WINDOW);
    for (idle -= rto; idle > 0 && c->window > least; idle -= rto)
        c->window /= 2;
    c->window = fmax(c->window, least);
}
