/* SPDX-License-Identifier: MIT */
/*
 * Connections over the wires of net.h: HTTP requests go to a depot, and
 * answers come back through TCP.
 *
 *     client: SYN [TLS] REQUEST ... STOP | RESET          tcp.c
 *     depot:  segments, each sent until it is acked    sender.c, acks.c
 *             what it serves, and refuses               served.c, cap.h
 *
 * A connection carries one stream at a time, or with HTTP/2 several, which then
 * take turns.  It handles what xd_net_next() returns, and reports to its user
 * bytes, in order within a stream.
 */
#ifndef XD_SIM_TCP_H
#define XD_SIM_TCP_H

#include "sim/bbr.h"
#include "sim/cubic.h"
#include "sim/net.h"

/* What an answer has before the bytes of the file. */
#define XD_HEAD_BYTES 300U

/* What a cap allows to be sent now: a token is a byte. */
struct xd_cap {
    double tokens;
    xd_nsec filled_at;
    bool is_new; /* nothing was ever sent: it is full */
};

struct xd_stream {
    unsigned tag;     /* the user's */
    uint64_t to_send; /* by the depot, the head among it */
    uint64_t to_come; /* to the client, likewise */
    uint64_t length;
    bool is_known;   /* to the depot */
    bool is_stopped; /* by the client, which no longer listens */
    struct xd_cap cap;
};

enum xd_segment_state { XD_SEG_SENT, XD_SEG_ACKED, XD_SEG_LOST };

struct xd_segment {
    xd_nsec sent_at;
    uint32_t transmission; /* the last, of all of this connection */

    /* How far the connection was when it was sent: RFC draft
     * cheng-iccrg-delivery-rate-estimation. */
    uint64_t delivered;
    xd_nsec delivered_at, first_sent_at;

    uint32_t stream;
    uint16_t bytes;
    uint8_t state;
    bool is_app_limited;
    bool is_again;    /* it was sent more than once */
    bool has_arrived; /* the client has it */
};

/* The depot's half. */
struct xd_sender {
    bool is_dead;
    bool is_served; /* the depot has accepted its handshake, and */
    bool is_excess; /* is going to hang up */
    struct xd_cap cap;
    bool is_capped; /* a timer for that is set */
    bool has_bbr;   /* in place of cubic */
    struct xd_cubic cubic;
    struct xd_bbr bbr;
    uint64_t delivered, app_limited;
    xd_nsec delivered_at, first_sent_at;
    xd_nsec paced_at;        /* nothing leaves before */
    bool is_paced;           /* a timer for that is set */
    struct xd_segment *ring; /* all from `all` to `next` */
    uint32_t capacity;       /* a power of two */
    uint32_t all, next;      /* all before `all` were acked */
    uint32_t high;           /* one behind the highest that was acked */
    uint32_t in_flight, lost;
    uint32_t n_sent, newest_acked; /* transmissions */
    unsigned turn;                 /* the stream whose turn it is */

    bool is_recovering, is_after_timeout;
    uint32_t recover_to;
    double recover_from; /* the window when it began */
    uint32_t came, out;  /* since it began */

    bool is_full;
    uint32_t most_out, usage_end;

    xd_nsec srtt, rttvar, least_rtt, last_sent, synack_at;
    unsigned n_timeouts;
    uint32_t timed_out_at; /* the last transmission before the first of them, */
    struct xd_cubic before_timeout; /* and the window then */
    bool has_probed;
    xd_nsec timer_at, timer_set; /* 0: none */
};

enum xd_connection_state {
    XD_CONN_CONNECTING,
    XD_CONN_SECURING, /* the handshake of TLS */
    XD_CONN_READY,
    XD_CONN_CLOSED
};

struct xd_connection {
    unsigned number;
    size_t depot;
    enum xd_connection_state state;
    xd_nsec ready_at; /* 0: it is not */
    struct xd_stream *streams;
    unsigned n_streams, first_live;
    struct xd_sender sender;

    /* The client's half. */
    uint32_t received;        /* all before it were delivered */
    unsigned unacked;         /* segments */
    unsigned n_quick;         /* the first are acked at once */
    xd_nsec ack_at, retry_at; /* 0: not */
    xd_nsec retry_pause;
    xd_nsec timer_set;
};

struct xd_tcp_user {
    void *user;
    /* `n` bytes of the file more; 0: the head. */
    void (*bytes)(void *user, unsigned tag, uint64_t n);
    void (*broken)(void *user, unsigned tag); /* the depot closed it */
    /* A connection to it was made; NULL: the user does not care. */
    void (*connected)(void *user, size_t depot);
};

struct xd_tcp {
    struct xd_net *net;
    struct xd_tcp_user user;
    /* Set after init(), if not false. */
    bool has_tls, has_bbr;

    struct xd_connection **connections;
    unsigned n_connections;
    bool failed; /* out of memory */
};

void xd_tcp_init(struct xd_tcp *t, struct xd_net *net,
                 const struct xd_tcp_user *user);
void xd_tcp_fini(struct xd_tcp *t);

/* A connection to `depot`, which begins with its handshake; NULL: no memory. */
struct xd_connection *xd_tcp_connect(struct xd_tcp *t, size_t depot);

/* Ask for `length` bytes.  Returns the number of the stream, which ends when
 * all came, or the connection broke. */
unsigned xd_tcp_request(struct xd_tcp *t, struct xd_connection *c, unsigned tag,
                        uint64_t length);

/* Listen no longer; close() ends all of its streams. */
void xd_tcp_stop(struct xd_tcp *t, struct xd_connection *c, unsigned stream);
void xd_tcp_close(struct xd_tcp *t, struct xd_connection *c);

/* How many streams are under way. */
unsigned xd_tcp_load(const struct xd_connection *c);

void xd_tcp_event(struct xd_tcp *t, const struct xd_sim_event *e);

/* What sender.c, acks.c and tcp.c ask of each other. */
void xd_sender_init(struct xd_sender *s, bool has_bbr, unsigned number);
void xd_sender_packet(struct xd_tcp *t, struct xd_connection *c,
                      const struct xd_packet *p);
void xd_sender_timer(struct xd_tcp *t, struct xd_connection *c);
void xd_sender_paced(struct xd_tcp *t, struct xd_connection *c);
void xd_sender_uncapped(struct xd_tcp *t, struct xd_connection *c);
static inline struct xd_segment *xd_sender_segment(const struct xd_sender *s,
                                                   uint32_t number)
{
    return &s->ring[number & (s->capacity - 1)];
}
void xd_sender_die(struct xd_sender *s);

/* served.c: whether the depot serves a handshake, and a request, that has just
 * come in; if not it has been answered. */
bool xd_serves_connection(struct xd_tcp *t, struct xd_connection *c);
bool xd_serves_request(struct xd_tcp *t, struct xd_connection *c,
                       unsigned stream);
void xd_sender_acked(struct xd_tcp *t, struct xd_connection *c,
                     const struct xd_packet *p);
void xd_sender_measure(struct xd_sender *s, xd_nsec rtt);
void xd_sender_push(struct xd_tcp *t, struct xd_connection *c); /* what may be
                                                                   sent now */
void xd_sender_arm(struct xd_tcp *t, struct xd_connection *c);  /* its timer */

#endif
