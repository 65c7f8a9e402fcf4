/* SPDX-License-Identifier: MIT */
#include "sim/bbr.h"

#include <math.h>

#include "sim/net.h"

#define HIGH_GAIN 2.885
#define PHASES 8
#define LEAST_WINDOW 4
#define RTT_LIFE (10 * XD_NSEC_SECOND)
#define PROBE_RTT_TIME (200 * XD_NSEC_MS)
#define MARGIN 0.99

/* Length of a burst in seconds, and its limit in packets. */
#define BURST_SECONDS (1.0 / 1024)
#define MOST_BURST 44
#define SLOW 100.0 /* packets per second, about 1.2 Mbit/s */

void xd_bbr_init(struct xd_bbr *b, uint64_t seed)
{
    *b = (struct xd_bbr){.window = XD_FIRST_WINDOW, .random = seed};
}

static double best_rate(const struct xd_bbr *b)
{
    double best = 0;

    for (unsigned i = 0; i < XD_BBR_ROUNDS; i++)
        best = fmax(best, b->rates[i]);
    return best;
}

static double pacing_gain(const struct xd_bbr *b)
{
    switch (b->mode) {
    case XD_BBR_STARTUP:
        return HIGH_GAIN;
    case XD_BBR_DRAIN:
        return 1 / HIGH_GAIN;
    case XD_BBR_PROBE_BW:
        return b->phase == 0 ? 1.25 : b->phase == 1 ? 0.75 : 1;
    case XD_BBR_PROBE_RTT:
        break;
    }
    return 1;
}

static double window_gain(const struct xd_bbr *b)
{
    return b->mode == XD_BBR_PROBE_BW    ? 2
           : b->mode == XD_BBR_PROBE_RTT ? 1
                                         : HIGH_GAIN;
}

unsigned xd_bbr_burst(const struct xd_bbr *b)
{
    double n = floor(b->pacing * BURST_SECONDS);

    if (n < 2)
        return b->pacing < SLOW ? 1 : 2;
    return n < MOST_BURST ? (unsigned)n : MOST_BURST;
}

static double product(const struct xd_bbr *b, double gain)
{
    if (b->least_rtt == 0)
        return XD_FIRST_WINDOW;
    return ceil(best_rate(b) * (double)b->least_rtt / 1e9 * gain);
}

/* Returns the target for packets in flight, with allowance for bursts and
 * delayed ACKs. */
static double in_flight_of(const struct xd_bbr *b, double gain)
{
    double n = product(b, gain) + 3 * xd_bbr_burst(b);

    n = 2 * ceil(n / 2);
    return b->mode == XD_BBR_PROBE_BW && b->phase == 0 ? n + 2 : n;
}

void xd_bbr_begin(struct xd_bbr *b, xd_nsec now, xd_nsec rtt)
{
    b->least_rtt = rtt;
    b->least_rtt_at = now;
    b->pacing = HIGH_GAIN * b->window / (double)rtt * 1e9;
}

/* Records a rate.  Old rounds expire only here, so they count as long as there
 * is no new rate. */
static void note_rate(struct xd_bbr *b, double rate)
{
    for (; b->noted < b->round; b->noted++)
        b->rates[(b->noted + 1) % XD_BBR_ROUNDS] = 0;
    if (rate > b->rates[b->round % XD_BBR_ROUNDS])
        b->rates[b->round % XD_BBR_ROUNDS] = rate;
}

static void update_rate(struct xd_bbr *b, const struct xd_rate_sample *s)
{
    b->round_begins = false;
    if (s->rate < 0)
        return;
    b->round_begins = s->prior_delivered >= b->round_end;
    if (b->round_begins) {
        b->round_end = s->delivered;
        b->conserves = false;
        b->round++;
    }
    if (!s->is_app_limited || s->rate >= best_rate(b))
        note_rate(b, s->rate);
}

static bool phase_is_over(const struct xd_bbr *b, xd_nsec now,
                          const struct xd_rate_sample *s)
{
    bool is_long = now - b->phase_at > b->least_rtt;
    double before = s->in_flight + s->n_acked + s->n_lost;

    if (b->phase == 0)
        return is_long && (s->n_lost > 0 || before >= in_flight_of(b, 1.25));
    if (b->phase == 1)
        return is_long || before <= in_flight_of(b, 1);
    return is_long;
}

static void next_phase(struct xd_bbr *b, xd_nsec now)
{
    b->phase = (b->phase + 1) % PHASES;
    b->phase_at = now;
}

static void probe_bandwidth(struct xd_bbr *b, xd_nsec now)
{
    b->mode = XD_BBR_PROBE_BW;
    b->phase = PHASES - 1 - (unsigned)(xd_sim_random(&b->random) % 7);
    next_phase(b, now);
}

/* Finds out whether the pipe is full: three rounds in a row did not increase
 * the rate by 25%. */
static void look_for_full(struct xd_bbr *b, const struct xd_rate_sample *s)
{
    double rate = best_rate(b);

    if (b->is_full || !b->round_begins || s->is_app_limited)
        return;
    if (rate >= b->full_rate * 1.25) {
        b->full_rate = rate;
        b->full_rounds = 0;
    } else {
        b->is_full = ++b->full_rounds >= 3;
    }
}

static void leave_startup(struct xd_bbr *b, xd_nsec now,
                          const struct xd_rate_sample *s)
{
    if (b->mode == XD_BBR_STARTUP && b->is_full)
        b->mode = XD_BBR_DRAIN;
    if (b->mode == XD_BBR_DRAIN && s->in_flight <= in_flight_of(b, 1))
        probe_bandwidth(b, now);
}

static void save_window(struct xd_bbr *b)
{
    b->prior_window = !b->was_recovering && b->mode != XD_BBR_PROBE_RTT
                          ? b->window
                          : fmax(b->prior_window, b->window);
}

static void probe_rtt(struct xd_bbr *b, xd_nsec now,
                      const struct xd_rate_sample *s)
{
    if (b->probe_ends == 0 && s->in_flight <= LEAST_WINDOW) {
        b->probe_ends = now + PROBE_RTT_TIME;
        b->probe_round_done = false;
        b->round_end = s->delivered;
    } else if (b->probe_ends > 0) {
        b->probe_round_done |= b->round_begins;
        if (!b->probe_round_done || now <= b->probe_ends)
            return;
        b->least_rtt_at = now;
        b->window = fmax(b->window, b->prior_window);
        if (b->is_full)
            probe_bandwidth(b, now);
        else
            b->mode = XD_BBR_STARTUP;
    }
}

static void update_least_rtt(struct xd_bbr *b, xd_nsec now,
                             const struct xd_rate_sample *s)
{
    bool is_old = now > b->least_rtt_at + RTT_LIFE;

    if (s->rtt >= 0 && (s->rtt < b->least_rtt || is_old)) {
        b->least_rtt = s->rtt;
        b->least_rtt_at = now;
    }
    if (is_old && !b->is_idle_restart && b->mode != XD_BBR_PROBE_RTT) {
        save_window(b);
        b->mode = XD_BBR_PROBE_RTT;
        b->probe_ends = 0;
    }
    if (b->mode == XD_BBR_PROBE_RTT)
        probe_rtt(b, now, s);
    b->is_idle_restart = false;
}

static void set_pacing(struct xd_bbr *b)
{
    double rate = best_rate(b) * pacing_gain(b) * MARGIN;

    if (b->is_full || rate > b->pacing)
        b->pacing = fmax(rate, 1);
}

/* Sets the window in and after a recovery.  In its first round, BBR sends only
 * as much as was delivered (packet conservation). */
static bool recover(struct xd_bbr *b, const struct xd_rate_sample *s)
{
    b->window = fmax(b->window - s->n_lost, 1);
    if (s->is_recovering && !b->was_recovering) {
        save_window(b);
        b->conserves = true;
        b->round_end = s->delivered;
        b->window = s->in_flight + s->n_acked;
    } else if (!s->is_recovering && b->was_recovering) {
        b->window = fmax(b->window, b->prior_window);
        b->conserves = false;
    }
    b->was_recovering = s->is_recovering;
    if (b->conserves)
        b->window = fmax(b->window, s->in_flight + s->n_acked);
    return b->conserves;
}

static void set_window(struct xd_bbr *b, const struct xd_rate_sample *s)
{
    double target = in_flight_of(b, window_gain(b));

    if (!recover(b, s)) {
        if (b->is_full)
            b->window = fmin(b->window + s->n_acked, target);
        else if (b->window < target || (double)s->delivered < XD_FIRST_WINDOW)
            b->window += s->n_acked;
        b->window = fmax(b->window, LEAST_WINDOW);
    }
    if (b->mode == XD_BBR_PROBE_RTT)
        b->window = fmin(b->window, LEAST_WINDOW);
}

void xd_bbr_acked(struct xd_bbr *b, xd_nsec now, const struct xd_rate_sample *s)
{
    update_rate(b, s);
    if (b->mode == XD_BBR_PROBE_BW && phase_is_over(b, now, s))
        next_phase(b, now);
    look_for_full(b, s);
    leave_startup(b, now, s);
    update_least_rtt(b, now, s);
    set_pacing(b);
    set_window(b, s);
}

void xd_bbr_timed_out(struct xd_bbr *b)
{
    save_window(b);
    b->was_recovering = true;
    b->full_rate = 0;
    b->window = 1;
}

void xd_bbr_idle(struct xd_bbr *b)
{
    b->is_idle_restart = true;
    if (b->mode == XD_BBR_PROBE_BW)
        b->pacing = fmax(best_rate(b) * MARGIN, 1);
}
