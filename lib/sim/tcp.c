/* SPDX-License-Identifier: MIT */
#include "sim/tcp.h"

#include "base/alloc.h"

/* Timers of the kernel: retransmission of the first SYN, minimum retransmission
 * timeout, and delayed ACK. */
#define SYN_PAUSE XD_NSEC_SECOND
#define LEAST_PAUSE (200 * XD_NSEC_MS)
#define DELAYED_ACK (40 * XD_NSEC_MS)
#define QUICK_ACKS 16

/* Limit on the bytes that the client has not yet written when a response
 * ends. */
#define BUFFER_BYTES ((uint64_t)256 * 1024)

void xd_tcp_init(struct xd_tcp *t, struct xd_net *net,
                 const struct xd_tcp_user *user)
{
    *t = (struct xd_tcp){.net = net, .user = *user};
}

void xd_tcp_fini(struct xd_tcp *t)
{
    for (unsigned i = 0; i < t->n_connections; i++) {
        xd_free(t->connections[i]->streams);
        xd_free(t->connections[i]->sender.ring);
        xd_free(t->connections[i]);
    }
    xd_free(t->connections);
}

static void to_depot(struct xd_tcp *t, const struct xd_connection *c,
                     struct xd_packet p)
{
    p.connection = c->number;
    xd_net_to_depot(t->net, c->depot, p);
}

/* Sets the timer of the connection to the earliest of the due times. */
static void arm(struct xd_tcp *t, struct xd_connection *c)
{
    xd_nsec at = c->ack_at;

    if (at == 0 || (c->retry_at > 0 && c->retry_at < at))
        at = c->retry_at;
    if (at == 0 || (c->timer_set > 0 && c->timer_set <= at))
        return;
    c->timer_set = at;
    xd_net_timer(t->net, XD_SIM_CLIENT_TIMER, at, c->number, 0);
}

static void retry_after(struct xd_tcp *t, struct xd_connection *c,
                        xd_nsec pause)
{
    c->retry_pause = pause;
    c->retry_at = t->net->now + pause;
    arm(t, c);
}

struct xd_connection *xd_tcp_connect(struct xd_tcp *t, size_t depot)
{
    struct xd_connection **grown = xd_realloc(
        t->connections, t->n_connections + 1u, sizeof(struct xd_connection *));
    struct xd_connection *c = NULL;

    if (grown) {
        t->connections = grown;
        c = xd_alloc(1, sizeof *c);
    }
    if (!c) {
        t->failed = true;
        return NULL;
    }
    c->number = t->n_connections++;
    grown[c->number] = c;
    c->depot = depot;
    xd_sender_init(
        &c->sender, t->has_bbr,
        (unsigned)xd_sim_random(&xd_net_wire(t->net, depot)->random));
    to_depot(t, c, (struct xd_packet){.kind = XD_PACKET_SYN});
    retry_after(t, c, SYN_PAUSE);
    return c;
}

static void ask(struct xd_tcp *t, struct xd_connection *c, unsigned stream)
{
    uint64_t bytes = c->streams[stream].length;

    to_depot(
        t, c,
        (struct xd_packet){
            .kind = XD_PACKET_REQUEST,
            .bytes = (unsigned)(bytes < BUFFER_BYTES ? bytes : BUFFER_BYTES),
            .first = stream});
}

/* Sends a request again after the time that the kernel derives from the round
 * trip of the handshake. */
static void repeat_request(struct xd_tcp *t, struct xd_connection *c,
                           unsigned stream)
{
    ask(t, c, stream);
    retry_after(t, c,
                LEAST_PAUSE + 2 * xd_net_wire(t->net, c->depot)->path.delay);
}

unsigned xd_tcp_request(struct xd_tcp *t, struct xd_connection *c, unsigned tag,
                        uint64_t length)
{
    struct xd_stream *streams =
        xd_realloc(c->streams, c->n_streams + 1u, sizeof *streams);

    if (!streams) {
        t->failed = true;
        return 0;
    }
    c->streams = streams;
    streams[c->n_streams] =
        (struct xd_stream){.tag = tag,
                           .length = length,
                           .cap.is_new = true,
                           .to_send = length + XD_HEAD_BYTES,
                           .to_come = length + XD_HEAD_BYTES};
    if (c->state == XD_CONN_READY)
        repeat_request(t, c, c->n_streams);
    return c->n_streams++;
}

static bool is_live(const struct xd_stream *s)
{
    return !s->is_stopped && s->to_come > 0;
}

unsigned xd_tcp_load(const struct xd_connection *c)
{
    unsigned n = 0;

    for (unsigned i = c->first_live; i < c->n_streams; i++)
        n += is_live(&c->streams[i]);
    return n;
}

void xd_tcp_stop(struct xd_tcp *t, struct xd_connection *c, unsigned stream)
{
    if (c->state == XD_CONN_CLOSED)
        return;
    c->streams[stream].is_stopped = true;
    if (c->state == XD_CONN_READY)
        to_depot(t, c,
                 (struct xd_packet){.kind = XD_PACKET_STOP, .first = stream});
}

void xd_tcp_close(struct xd_tcp *t, struct xd_connection *c)
{
    if (c->state == XD_CONN_CLOSED)
        return;
    c->state = XD_CONN_CLOSED;
    c->ack_at = c->retry_at = 0;
    to_depot(t, c, (struct xd_packet){.kind = XD_PACKET_RESET});
}

/* ---- received packets ---- */

static void ready(struct xd_tcp *t, struct xd_connection *c)
{
    c->state = XD_CONN_READY;
    c->ready_at = t->net->now;
    c->retry_at = 0;
    for (unsigned i = 0; i < c->n_streams; i++)
        if (is_live(&c->streams[i]))
            repeat_request(t, c, i);
}

static void answered(struct xd_tcp *t, struct xd_connection *c,
                     enum xd_packet_kind kind)
{
    if (kind == XD_PACKET_SYN && c->state == XD_CONN_CONNECTING &&
        t->user.connected)
        t->user.connected(t->user.user, c->depot);
    if (kind == XD_PACKET_SYN && c->state == XD_CONN_CONNECTING && t->has_tls) {
        c->state = XD_CONN_SECURING;
        to_depot(t, c, (struct xd_packet){.kind = XD_PACKET_TLS});
        retry_after(t, c, SYN_PAUSE);
    } else if (c->state == (kind == XD_PACKET_SYN ? XD_CONN_CONNECTING
                                                  : XD_CONN_SECURING)) {
        ready(t, c);
    }
}

static void refused(struct xd_tcp *t, struct xd_connection *c)
{
    c->state = XD_CONN_CLOSED;
    c->ack_at = c->retry_at = 0;
    for (unsigned i = c->first_live; i < c->n_streams; i++)
        if (is_live(&c->streams[i]))
            t->user.broken(t->user.user, c->streams[i].tag, 0);
}

static void request_refused(struct xd_tcp *t, struct xd_connection *c,
                            unsigned stream)
{
    if (!is_live(&c->streams[stream]))
        return;
    c->streams[stream].is_stopped = true;
    t->user.broken(t->user.user, c->streams[stream].tag,
                   xd_net_wire(t->net, c->depot)->path.retry);
}

static void forget_ended(struct xd_connection *c)
{
    while (c->first_live < c->n_streams &&
           c->streams[c->first_live].to_send == 0 &&
           !is_live(&c->streams[c->first_live]))
        c->first_live++;
}

/* Delivers in order: first the header, then bytes of the file. */
static void deliver(struct xd_tcp *t, struct xd_connection *c,
                    const struct xd_segment *g)
{
    struct xd_stream *s = &c->streams[g->stream];
    uint64_t before = s->to_come, n = g->bytes;

    s->to_come -= n;
    if (s->to_come == 0 &&
        ++c->n_answers == xd_net_wire(t->net, c->depot)->path.life)
        xd_tcp_close(t, c);
    if (s->is_stopped)
        return;
    if (before > s->length)
        n = s->to_come < s->length ? s->length - s->to_come : 0;
    t->user.bytes(t->user.user, s->tag, n);
}

static void ack(struct xd_tcp *t, struct xd_connection *c, uint32_t first,
                uint32_t stamp)
{
    c->unacked = 0;
    c->ack_at = 0;
    to_depot(t, c,
             (struct xd_packet){.kind = XD_PACKET_ACK,
                                .all = c->received,
                                .first = first,
                                .stamp = stamp});
}

/* Acknowledges every second segment; at once if it is out of order or ends a
 * stream. */
static void arrived(struct xd_tcp *t, struct xd_connection *c,
                    const struct xd_packet *p)
{
    struct xd_sender *s = &c->sender;
    bool is_in_order = p->first == c->received, is_last = false;
    struct xd_segment *g;

    if (s->is_dead || p->first < s->all)
        return;
    c->is_disordered |= !is_in_order;
    g = xd_sender_segment(s, p->first);
    g->has_arrived = true;
    if (g->stream + 1 == c->n_streams) /* not a retransmission */
        c->retry_at = 0;
    while (c->received < s->next && c->state == XD_CONN_READY) {
        g = xd_sender_segment(s, c->received);
        if (!g->has_arrived)
            break;
        c->received++;
        is_last |= c->streams[g->stream].to_come == g->bytes;
        deliver(t, c, g);
    }
    if (c->state != XD_CONN_READY)
        return;
    forget_ended(c);
    c->unacked++;
    if (!is_in_order || c->received != p->first + 1 || is_last ||
        c->unacked >= 2 || c->n_quick < QUICK_ACKS) {
        c->n_quick++;
        ack(t, c, p->first, p->stamp);
    } else if (c->ack_at == 0) {
        c->ack_at = t->net->now + DELAYED_ACK;
        arm(t, c);
    }
}

static void at_client(struct xd_tcp *t, const struct xd_packet *p)
{
    struct xd_connection *c = t->connections[p->connection];

    if (c->state == XD_CONN_CLOSED) {
        if (p->kind == XD_PACKET_DATA && !c->sender.is_dead)
            to_depot(t, c, (struct xd_packet){.kind = XD_PACKET_RESET});
        return;
    }
    if (p->kind == XD_PACKET_DATA)
        arrived(t, c, p);
    else if (p->kind == XD_PACKET_RESET)
        refused(t, c);
    else if (p->kind == XD_PACKET_REFUSAL)
        request_refused(t, c, p->first);
    else
        answered(t, c, p->kind);
}

/* Retransmits segments that may have been lost. */
static void retry(struct xd_tcp *t, struct xd_connection *c)
{
    enum xd_packet_kind kind =
        c->state == XD_CONN_CONNECTING ? XD_PACKET_SYN : XD_PACKET_TLS;

    retry_after(t, c, 2 * c->retry_pause);
    if (c->state != XD_CONN_READY) {
        to_depot(t, c, (struct xd_packet){.kind = kind});
        return;
    }
    for (unsigned i = c->first_live; i < c->n_streams; i++)
        if (is_live(&c->streams[i]))
            ask(t, c, i);
}

static void client_timer(struct xd_tcp *t, struct xd_connection *c)
{
    c->timer_set = 0;
    if (c->state == XD_CONN_CLOSED)
        return;
    if (c->ack_at > 0 && c->ack_at <= t->net->now)
        ack(t, c, c->received - 1, c->sender.n_sent);
    if (c->retry_at > 0 && c->retry_at <= t->net->now)
        retry(t, c);
    arm(t, c);
}

void xd_tcp_event(struct xd_tcp *t, const struct xd_sim_event *e)
{
    switch (e->kind) {
    case XD_SIM_AT_CLIENT:
        at_client(t, &e->packet);
        break;
    case XD_SIM_AT_DEPOT:
        xd_sender_packet(t, t->connections[e->packet.connection], &e->packet);
        break;
    case XD_SIM_DEPOT_TIMER:
        xd_sender_timer(t, t->connections[e->number]);
        break;
    case XD_SIM_PACE_TIMER:
        xd_sender_paced(t, t->connections[e->number]);
        break;
    case XD_SIM_CAP_TIMER:
        xd_sender_uncapped(t, t->connections[e->number]);
        break;
    case XD_SIM_CLIENT_TIMER:
        client_timer(t, t->connections[e->number]);
        break;
    case XD_SIM_AT_SHARED:
    case XD_SIM_AT_ACCESS:
    case XD_SIM_FLUSH_TIMER:
    case XD_SIM_REPORT_TIMER:
    case XD_SIM_SILENCE_TIMER:
    case XD_SIM_CANCEL_TIMER:
    case XD_SIM_ASK_TIMER:
    case XD_SIM_PING_TIMER:
        break;
    }
}
