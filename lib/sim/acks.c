/* SPDX-License-Identifier: MIT */
/*
 * The sender's handling of ACKs as in Linux: SACK, loss detection by the order
 * of transmissions (RACK), proportional rate reduction.
 */
#include <math.h>

#include "sim/tcp.h"

#define DUPLICATES 3

/* The result of applying an ACK to the list of segments. */
struct taken {
    /* newest acknowledged segment; transmission 0: none */
    struct xd_segment newest;
    xd_nsec rtt; /* < 0: not measured */
};

/* Returns how many segments of [from, to) are newly acknowledged. */
static unsigned take_acked(struct xd_sender *s, uint32_t from, uint32_t to,
                           xd_nsec now, struct taken *taken)
{
    unsigned n = 0;

    for (uint32_t i = from > s->all ? from : s->all; i < to; i++) {
        struct xd_segment *g = xd_sender_segment(s, i);

        if (g->state == XD_SEG_ACKED)
            continue;
        if (g->state == XD_SEG_LOST)
            s->lost--;
        else
            s->in_flight--;
        g->state = XD_SEG_ACKED;
        s->delivered++;
        s->delivered_at = now;
        if (g->transmission > s->newest_acked) {
            s->newest_acked = g->transmission;
            taken->newest = *g;
        }
        if (!g->is_again)
            taken->rtt = now - g->sent_at;
        n++;
    }
    if (n > 0 && to > s->high)
        s->high = to;
    return n;
}

/* Marks segments as lost if later transmissions were acknowledged: three of
 * them, or any during recovery. */
static unsigned find_lost(struct xd_sender *s)
{
    unsigned above = 0, n = 0;

    for (uint32_t i = s->high; i-- > s->all;) {
        struct xd_segment *g = xd_sender_segment(s, i);

        above += g->state == XD_SEG_ACKED;
        if (g->state != XD_SEG_SENT || g->transmission > s->newest_acked ||
            (above < DUPLICATES && !s->is_recovering))
            continue;
        g->state = XD_SEG_LOST;
        s->in_flight--;
        s->lost++;
        n++;
    }
    return n;
}

static void begin_recovery(struct xd_sender *s)
{
    s->is_recovering = true;
    s->recover_to = s->next;
    s->recover_from = s->cubic.window;
    s->came = s->out = 0;
    xd_cubic_lost(&s->cubic);
}

/* Reduces the window by proportional rate reduction (RFC 6937). */
static void reduce(struct xd_sender *s, unsigned n_acked, bool lost_more)
{
    double most = s->cubic.threshold, more;

    s->came += n_acked;
    if (s->in_flight > most) {
        more = ceil(s->came * most / s->recover_from) - s->out;
    } else {
        more = (double)s->came - s->out;
        if (!lost_more && more < n_acked)
            more = n_acked;
        more = fmin(most - s->in_flight, more + !lost_more);
    }
    if (more < (s->out == 0))
        more = s->out == 0;
    s->cubic.window = s->in_flight + fmax(more, 0);
}

static void end_recovery(struct xd_sender *s)
{
    if (s->all < s->recover_to)
        return;
    if (s->is_recovering)
        s->cubic.window = s->cubic.threshold;
    s->is_recovering = s->is_after_timeout = false;
}

/* Passes a rate sample to BBR: the number of delivered packets, divided by the
 * time in which they were sent or acknowledged, whichever is longer. */
static void update_bbr(struct xd_sender *s, xd_nsec now,
                       const struct taken *taken, unsigned n, unsigned n_lost)
{
    const struct xd_segment *g = &taken->newest;
    xd_nsec interval = now - g->delivered_at;
    struct xd_rate_sample sample = {.delivered = s->delivered,
                                    .prior_delivered = g->delivered,
                                    .rate = -1,
                                    .is_app_limited = g->is_app_limited,
                                    .rtt = taken->rtt,
                                    .n_acked = n,
                                    .n_lost = n_lost,
                                    .in_flight = s->in_flight,
                                    .is_recovering = s->is_recovering ||
                                                     s->is_after_timeout};

    if (s->app_limited > 0 && s->delivered > s->app_limited)
        s->app_limited = 0;
    if (g->transmission == 0)
        return;
    if (g->sent_at - g->first_sent_at > interval)
        interval = g->sent_at - g->first_sent_at;
    s->first_sent_at = g->sent_at;
    if (interval > 0 && interval >= s->least_rtt)
        sample.rate =
            (double)(s->delivered - g->delivered) / (double)interval * 1e9;
    xd_bbr_acked(&s->bbr, now, &sample);
}

static void update_cubic(struct xd_sender *s, xd_nsec now, xd_nsec rtt,
                         unsigned n, unsigned n_lost)
{
    bool is_full = s->cubic.window < s->cubic.threshold
                       ? s->cubic.window < 2 * s->most_out
                       : s->is_full;

    if (s->is_recovering)
        reduce(s, n, n_lost > 0);
    else
        xd_cubic_acked(&s->cubic, now, n, rtt, s->all, s->next,
                       s->is_after_timeout || is_full);
}

/* Undoes a timeout (RFC 4015).  The ACK is for a segment sent before the
 * timeout, so nothing was lost. */
static void undo_timeout(struct xd_sender *s)
{
    for (uint32_t i = s->all; i < s->next; i++) {
        struct xd_segment *g = xd_sender_segment(s, i);

        if (g->state != XD_SEG_LOST)
            continue;
        g->state = XD_SEG_SENT;
        s->lost--;
        s->in_flight++;
    }
    s->is_after_timeout = false;
    s->cubic = s->before_timeout;
}

void xd_sender_acked(struct xd_tcp *t, struct xd_connection *c,
                     const struct xd_packet *p)
{
    struct xd_sender *s = &c->sender;
    struct taken taken = {.rtt = -1};
    xd_nsec now = t->net->now;
    unsigned n = take_acked(s, p->first, p->first + 1, now, &taken), n_lost = 0;

    n += take_acked(s, s->all, p->all, now, &taken);
    if (p->all > s->all)
        s->all = p->all;
    if (n == 0)
        return;
    if (taken.rtt >= 0)
        xd_sender_measure(s, taken.rtt);
    if (s->is_after_timeout && p->stamp <= s->timed_out_at)
        undo_timeout(s);
    s->n_timeouts = 0;
    s->has_probed = false;
    if (s->all < s->high)
        n_lost = find_lost(s);
    if (n_lost > 0 && !s->is_recovering && !s->is_after_timeout)
        begin_recovery(s);
    end_recovery(s);
    if (s->has_bbr)
        update_bbr(s, now, &taken, n, n_lost);
    else
        update_cubic(s, now, taken.rtt, n, n_lost);
    xd_sender_push(t, c);
    xd_sender_arm(t, c);
}
