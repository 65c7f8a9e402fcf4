/* SPDX-License-Identifier: MIT */
/*
 * The sender's half of a connection as in Linux: what is sent, and when; tail
 * loss probe and retransmission timeout.
 */
#include "base/alloc.h"
#include "sim/cap.h"
#include "sim/tcp.h"

#define LEAST_RTO (200 * XD_NSEC_MS)
#define FIRST_RTO XD_NSEC_SECOND
#define LONGEST_RTO (120 * XD_NSEC_SECOND)
#define FIRST_RING 64U

void xd_sender_init(struct xd_sender *s, bool has_bbr, unsigned number)
{
    *s = (struct xd_sender){.has_bbr = has_bbr, .cap.is_new = true};
    xd_cubic_init(&s->cubic);
    xd_bbr_init(&s->bbr, number);
}

static bool grow(struct xd_sender *s)
{
    uint32_t capacity = s->capacity > 0 ? 2 * s->capacity : FIRST_RING;
    struct xd_segment *ring = xd_alloc(capacity, sizeof *ring);

    if (!ring)
        return false;
    for (uint32_t i = s->all; i < s->next; i++)
        ring[i & (capacity - 1)] = *xd_sender_segment(s, i);
    xd_free(s->ring);
    s->ring = ring;
    s->capacity = capacity;
    return true;
}

/* ---- timer ---- */

static xd_nsec rto(const struct xd_sender *s)
{
    xd_nsec spread = 4 * s->rttvar > LEAST_RTO ? 4 * s->rttvar : LEAST_RTO;
    xd_nsec at = s->srtt > 0 ? s->srtt + spread : FIRST_RTO;

    for (unsigned i = 0; i < s->n_timeouts && at < LONGEST_RTO; i++)
        at *= 2;
    return at < LONGEST_RTO ? at : LONGEST_RTO;
}

static bool may_probe(const struct xd_sender *s)
{
    return !s->is_recovering && !s->is_after_timeout && !s->has_probed &&
           s->srtt > 0;
}

void xd_sender_arm(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;
    xd_nsec after = rto(s), probe;

    if (s->all == s->next) {
        s->timer_at = 0;
        return;
    }
    probe = 2 * s->srtt + (s->next - s->all == 1 ? LEAST_RTO : 2 * XD_NSEC_MS);
    if (may_probe(s) && probe < after)
        after = probe;
    s->timer_at = t->net->now + after;
    if (s->timer_set == 0 || s->timer_set > s->timer_at) {
        s->timer_set = s->timer_at;
        xd_net_timer(t->net, XD_SIM_DEPOT_TIMER, s->timer_at, c->number, 0);
    }
}

/* ---- sending ---- */

static void transmit(struct xd_tcp *t, struct xd_connection *c, uint32_t number)
{
    struct xd_sender *s = &c->sender;
    struct xd_segment *g = xd_sender_segment(s, number);

    if (s->in_flight == 0)
        s->first_sent_at = s->delivered_at = t->net->now;
    g->first_sent_at = s->first_sent_at;
    g->delivered_at = s->delivered_at;
    g->delivered = s->delivered;
    g->is_app_limited = s->app_limited > 0;
    g->sent_at = s->last_sent = t->net->now;
    g->transmission = ++s->n_sent;
    g->state = XD_SEG_SENT;
    s->in_flight++;
    s->out++;
    xd_net_to_client(t->net, c->depot,
                     (struct xd_packet){.kind = XD_PACKET_DATA,
                                        .connection = c->number,
                                        .bytes = g->bytes,
                                        .first = number,
                                        .stamp = g->transmission});
}

static unsigned next_bytes(const struct xd_stream *s)
{
    return s->to_send < XD_SEGMENT_BYTES ? (unsigned)s->to_send
                                         : XD_SEGMENT_BYTES;
}

static struct xd_cap *cap_of(struct xd_tcp *t, struct xd_connection *c,
                             struct xd_stream *s)
{
    return xd_net_wire(t->net, c->depot)->path.caps_requests ? &s->cap
                                                             : &c->sender.cap;
}

static void wait_for_cap(struct xd_tcp *t, struct xd_connection *c,
                         xd_nsec wait)
{
    if (!c->sender.is_capped)
        xd_net_timer(t->net, XD_SIM_CAP_TIMER, t->net->now + wait, c->number,
                     0);
    c->sender.is_capped = true;
}

/* Returns true if the stream has data, the depot has finished thinking, and its
 * cap allows sending. */
static bool is_sendable(struct xd_tcp *t, struct xd_connection *c,
                        struct xd_stream *s)
{
    const struct xd_path *path = &xd_net_wire(t->net, c->depot)->path;
    xd_nsec wait;

    if (!s->is_known || s->to_send == 0 || s->answers_at > t->net->now)
        return false;
    wait = xd_cap_wait(cap_of(t, c, s),
                       c->sender.drawn > 0 ? c->sender.drawn : path->cap,
                       path->burst, t->net->now, next_bytes(s));
    if (wait > 0)
        wait_for_cap(t, c, wait);
    return wait == 0;
}

/* Returns whether the client's window and the depot's buffer have room. */
static bool fits_window(struct xd_tcp *t, const struct xd_connection *c)
{
    double window = xd_net_wire(t->net, c->depot)->path.window;

    return window <= 0 ||
           (c->sender.next - c->sender.all + 1) * (double)XD_SEGMENT_BYTES <=
               window;
}

static bool has_new(struct xd_tcp *t, struct xd_connection *c)
{
    if (!fits_window(t, c))
        return false;
    for (unsigned i = c->first_live; i < c->n_streams; i++)
        if (is_sendable(t, c, &c->streams[i]))
            return true;
    return false;
}

/* Returns the stream whose turn it is; n_streams if none has data. */
static unsigned next_stream(struct xd_tcp *t, struct xd_connection *c)
{
    unsigned n = c->n_streams - c->first_live;

    for (unsigned i = 0; i < n; i++) {
        unsigned stream = c->first_live + (c->sender.turn + i) % n;

        if (is_sendable(t, c, &c->streams[stream])) {
            c->sender.turn = stream + 1 - c->first_live;
            return stream;
        }
    }
    return c->n_streams;
}

static bool send_new(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;
    unsigned stream = c->n_streams;
    struct xd_stream *from;
    uint16_t bytes;

    if (fits_window(t, c))
        stream = next_stream(t, c);
    if (stream == c->n_streams)
        return false;
    if (s->next - s->all == s->capacity && !grow(s)) {
        t->failed = true;
        return false;
    }
    from = &c->streams[stream];
    bytes = (uint16_t)next_bytes(from);
    xd_cap_pay(cap_of(t, c, from), bytes);
    from->to_send -= bytes;
    *xd_sender_segment(s, s->next) =
        (struct xd_segment){.stream = stream, .bytes = bytes};
    transmit(t, c, s->next++);
    return true;
}

static void send_lost(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;
    uint32_t i = s->all;

    while (xd_sender_segment(s, i)->state != XD_SEG_LOST)
        i++;
    xd_sender_segment(s, i)->is_again = true;
    s->lost--;
    transmit(t, c, i);
}

static void note_usage(struct xd_sender *s, bool is_full)
{
    if (s->all < s->usage_end && !is_full &&
        (s->is_full || s->in_flight <= s->most_out))
        return;
    s->is_full = is_full;
    s->most_out = s->next - s->all;
    s->usage_end = s->next;
}

static double window_of(const struct xd_sender *s)
{
    return s->has_bbr ? s->bbr.window : s->cubic.window;
}

/* Returns whether pacing by BBR holds back the next burst.  Then it also sets a
 * timer for the burst. */
static bool is_held_back(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;

    if (!s->has_bbr || s->paced_at <= t->net->now)
        return false;
    if (!s->is_paced)
        xd_net_timer(t->net, XD_SIM_PACE_TIMER, s->paced_at, c->number, 0);
    s->is_paced = true;
    return true;
}

static void pace(struct xd_sender *s, xd_nsec now, unsigned n)
{
    if (s->paced_at < now)
        s->paced_at = now;
    if (s->bbr.pacing > 0)
        s->paced_at += (xd_nsec)(n / s->bbr.pacing * 1e9);
}

static bool send_burst(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;
    unsigned n = 0, most = s->has_bbr ? xd_bbr_burst(&s->bbr) : UINT32_MAX;
    bool has_more = true;

    while (has_more && n < most && s->in_flight + 1 <= window_of(s)) {
        if (s->lost > 0)
            send_lost(t, c);
        else
            has_more = send_new(t, c);
        n += has_more;
    }
    pace(s, t->net->now, n);
    return has_more && n == most;
}

static void wake(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;

    if (s->all != s->next || s->n_sent == 0 || !has_new(t, c))
        return;
    if (!s->has_bbr)
        xd_cubic_idle(&s->cubic, t->net->now - s->last_sent, rto(s));
    /* with pacing, a short pipe can be empty without being idle */
    else if (s->app_limited > 0)
        xd_bbr_idle(&s->bbr);
}

void xd_sender_push(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;
    bool has_more;

    wake(t, c);
    while (!is_held_back(t, c))
        if (!send_burst(t, c))
            break;
    has_more = s->lost > 0 || has_new(t, c);
    note_usage(s, has_more && s->in_flight + 1 > window_of(s));
    if (!has_more && s->in_flight + 1 <= window_of(s))
        s->app_limited = s->delivered + (s->in_flight > 0 ? s->in_flight : 1);
    if (s->all < s->next && s->timer_at == 0)
        xd_sender_arm(t, c);
}

void xd_sender_paced(struct xd_tcp *t, struct xd_connection *c)
{
    c->sender.is_paced = false;
    if (!c->sender.is_dead)
        xd_sender_push(t, c);
}

void xd_sender_uncapped(struct xd_tcp *t, struct xd_connection *c)
{
    c->sender.is_capped = false;
    if (!c->sender.is_dead)
        xd_sender_push(t, c);
}

void xd_sender_measure(struct xd_sender *s, xd_nsec rtt)
{
    xd_nsec off = rtt > s->srtt ? rtt - s->srtt : s->srtt - rtt;

    if (s->least_rtt == 0 || rtt < s->least_rtt)
        s->least_rtt = rtt;
    if (s->srtt == 0) {
        s->srtt = rtt;
        s->rttvar = rtt / 2;
        return;
    }
    s->srtt += (rtt - s->srtt) / 8;
    s->rttvar += (off - s->rttvar) / 4;
}

static void time_out(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;

    for (uint32_t i = s->all; i < s->next; i++) {
        struct xd_segment *g = xd_sender_segment(s, i);

        if (g->state != XD_SEG_SENT)
            continue;
        g->state = XD_SEG_LOST;
        s->lost++;
    }
    s->in_flight = 0;
    if (s->n_timeouts++ == 0) {
        s->timed_out_at = s->n_sent;
        s->before_timeout = s->cubic;
        xd_cubic_lost(&s->cubic);
    }
    xd_bbr_timed_out(&s->bbr);
    s->cubic.window = 1;
    s->is_recovering = false;
    s->is_after_timeout = true;
    s->recover_to = s->next;
    xd_sender_push(t, c);
    xd_sender_arm(t, c);
}

/* Sends the last segment again as a tail loss probe, so that its ACK reveals
 * losses. */
static void probe(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;

    s->has_probed = true;
    if (!send_new(t, c)) {
        struct xd_segment *g = xd_sender_segment(s, s->next - 1);

        if (g->state == XD_SEG_SENT) {
            s->in_flight--;
            g->is_again = true;
            transmit(t, c, s->next - 1);
        }
    }
    xd_sender_arm(t, c);
}

void xd_sender_timer(struct xd_tcp *t, struct xd_connection *c)
{
    struct xd_sender *s = &c->sender;

    /* the timer was moved to an earlier time */
    if (s->timer_set != t->net->now)
        return;
    s->timer_set = 0;
    if (s->timer_at == 0 || s->is_dead)
        return;
    if (s->timer_at > t->net->now) {
        s->timer_set = s->timer_at;
        xd_net_timer(t->net, XD_SIM_DEPOT_TIMER, s->timer_at, c->number, 0);
    } else if (may_probe(s)) {
        probe(t, c);
    } else {
        time_out(t, c);
    }
}

void xd_sender_die(struct xd_sender *s)
{
    s->is_dead = true;
    xd_free(s->ring);
    s->ring = NULL;
    s->capacity = 0;
    s->all = s->next = 0;
}

/* Returns how long the depot thinks before a response. */
static xd_nsec think(struct xd_wire *w)
{
    const struct xd_path *p = &w->path;

    return p->think_most == 0
               ? 0
               : p->think_least +
                     (xd_nsec)(xd_sim_uniform(&w->think_random) *
                               (double)(p->think_most - p->think_least));
}

static void asked(struct xd_tcp *t, struct xd_connection *c, unsigned stream)
{
    struct xd_sender *s = &c->sender;
    xd_nsec wait;

    if (s->srtt == 0) {
        xd_sender_measure(s, t->net->now - s->synack_at);
        xd_bbr_begin(&s->bbr, t->net->now, s->srtt);
    }
    if (s->hangs || c->streams[stream].is_known ||
        !xd_serves_request(t, c, stream))
        return;
    c->streams[stream].is_known = true;
    wait = think(xd_net_wire(t->net, c->depot));
    c->streams[stream].answers_at = t->net->now + wait;
    if (wait > 0)
        xd_net_timer(t->net, XD_SIM_CAP_TIMER, t->net->now + wait, c->number,
                     0);
    xd_sender_push(t, c);
}

void xd_sender_packet(struct xd_tcp *t, struct xd_connection *c,
                      const struct xd_packet *p)
{
    struct xd_sender *s = &c->sender;
    struct xd_packet answer = {.kind = p->kind, .connection = c->number};

    if (s->is_dead)
        return;
    switch (p->kind) {
    case XD_PACKET_SYN:
    case XD_PACKET_TLS:
        if (!xd_serves_connection(t, c))
            return;
        s->synack_at = t->net->now;
        xd_net_to_client(t->net, c->depot, answer);
        break;
    case XD_PACKET_REQUEST:
        asked(t, c, p->first);
        break;
    case XD_PACKET_STOP:
        c->streams[p->first].to_send = 0;
        break;
    case XD_PACKET_ACK:
        xd_sender_acked(t, c, p);
        break;
    case XD_PACKET_RESET:
        xd_sender_die(s);
        break;
    case XD_PACKET_REFUSAL:
    case XD_PACKET_DATA:
        break;
    }
}
