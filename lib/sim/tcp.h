/* SPDX-License-Identifier: MIT */
/*
 * TCP connections over the network of net.h, with HTTP requests to a depot and
 * its responses.
 *
 *     client: SYN [TLS] REQUEST ... STOP | RESET          tcp.c
 *     depot:  segments, each sent until acknowledged   sender.c, acks.c
 *             what it serves and refuses                served.c, cap.h
 *
 * A connection carries one stream at a time; with HTTP/2 several, which take
 * turns.  Pass it the events of xd_net_next(); it reports received bytes to its
 * user, in order for each stream.
 */
#ifndef XD_SIM_TCP_H
#define XD_SIM_TCP_H

#include "sim/bbr.h"
#include "sim/cubic.h"
#include "sim/net.h"

/* Size of a response header. */
#define XD_HEAD_BYTES 300U

struct xd_stream {
    unsigned tag; /* chosen by the user */
    /* bytes left for the depot to send, including the header */
    uint64_t to_send;
    /* bytes left for the client to receive, including the header */
    uint64_t to_come;
    uint64_t length;
    bool is_known;      /* the depot has received the request */
    bool is_stopped;    /* the client has stopped the stream */
    xd_nsec answers_at; /* time before which the depot sends nothing */
    struct xd_cap cap;
};

enum xd_segment_state { XD_SEG_SENT, XD_SEG_ACKED, XD_SEG_LOST };

struct xd_segment {
    xd_nsec sent_at;
    /* number of the last transmission, counted over the connection */
    uint32_t transmission;

    /* State of the connection when the segment was sent
     * (draft-cheng-iccrg-delivery-rate-estimation). */
    uint64_t delivered;
    xd_nsec delivered_at, first_sent_at;

    uint32_t stream;
    uint16_t bytes;
    uint8_t state;
    bool is_app_limited;
    bool is_again;    /* the segment was retransmitted */
    bool has_arrived; /* the client has received the segment */
};

/* The depot's half. */
struct xd_sender {
    bool is_dead;
    bool is_served; /* the depot has accepted the connection */
    bool is_excess; /* the depot will close the connection */
    bool hangs;     /* the depot answers no request on the connection */
    double drawn;   /* randomly drawn cap; 0: none */
    struct xd_cap cap;
    bool is_capped; /* a timer for the cap is set */
    bool has_bbr;   /* use `bbr` instead of `cubic` */
    struct xd_cubic cubic;
    struct xd_bbr bbr;
    uint64_t delivered, app_limited;
    xd_nsec delivered_at, first_sent_at;
    xd_nsec paced_at;        /* time before which nothing is sent */
    bool is_paced;           /* a timer for pacing is set */
    struct xd_segment *ring; /* segments from `all` to `next` */
    uint32_t capacity;       /* size of the ring, a power of two */
    uint32_t all, next;      /* everything before `all` was acknowledged */
    uint32_t high;           /* highest acknowledged segment + 1 */
    uint32_t in_flight, lost;
    /* number of transmissions, and the newest one that was acknowledged */
    uint32_t n_sent, newest_acked;
    unsigned turn; /* stream whose turn it is */

    bool is_recovering, is_after_timeout;
    uint32_t recover_to;
    double recover_from; /* window at the start of recovery */
    /* segments acknowledged, and sent, since recovery started */
    uint32_t came, out;

    bool is_full;
    uint32_t most_out, usage_end;

    xd_nsec srtt, rttvar, least_rtt, last_sent, synack_at;
    unsigned n_timeouts;
    uint32_t timed_out_at; /* last transmission before the first timeout */
    struct xd_cubic before_timeout; /* window before the timeout */
    bool has_probed;
    /* when the timer should fire, and when it is set to fire; 0: never */
    xd_nsec timer_at, timer_set;
};

enum xd_connection_state {
    XD_CONN_CONNECTING,
    XD_CONN_SECURING, /* TLS handshake */
    XD_CONN_READY,
    XD_CONN_CLOSED
};

struct xd_connection {
    unsigned number;
    size_t depot;
    enum xd_connection_state state;
    /* time at which the connection became ready; 0: not ready */
    xd_nsec ready_at;
    struct xd_stream *streams;
    unsigned n_streams, first_live;
    unsigned n_answers; /* number of complete responses */
    struct xd_sender sender;

    /* The client's half. */
    uint32_t received; /* first segment that was not delivered in order */
    unsigned unacked;  /* segments received but not acknowledged */
    unsigned n_quick;  /* segments acknowledged at once so far */
    xd_nsec ack_at, retry_at; /* 0: not set */
    xd_nsec retry_pause;
    xd_nsec timer_set;
    bool
        is_disordered; /* a segment arrived out of order; cleared by the user */
};

struct xd_tcp_user {
    void *user;
    /* Called when `n` more bytes of the file have arrived; 0: the header. */
    void (*bytes)(void *user, unsigned tag, uint64_t n);
    /* Called when the depot has closed the connection or refused the request.
     * `retry` is its Retry-After; 0: none. */
    void (*broken)(void *user, unsigned tag, xd_nsec retry);
    /* Called when a connection to the depot was made.  May be NULL. */
    void (*connected)(void *user, size_t depot);
};

struct xd_tcp {
    struct xd_net *net;
    struct xd_tcp_user user;
    /* Options, which are false after init(). */
    bool has_tls, has_bbr;

    struct xd_connection **connections;
    unsigned n_connections;
    bool failed; /* out of memory */
};

void xd_tcp_init(struct xd_tcp *t, struct xd_net *net,
                 const struct xd_tcp_user *user);
void xd_tcp_fini(struct xd_tcp *t);

/* Starts a connection to `depot` with its handshake.  NULL if out of memory. */
struct xd_connection *xd_tcp_connect(struct xd_tcp *t, size_t depot);

/* Requests `length` bytes.  Returns the number of the stream, which ends when
 * they have all arrived or the connection breaks. */
unsigned xd_tcp_request(struct xd_tcp *t, struct xd_connection *c, unsigned tag,
                        uint64_t length);

/* stop() ends one stream, and close() ends all of them. */
void xd_tcp_stop(struct xd_tcp *t, struct xd_connection *c, unsigned stream);
void xd_tcp_close(struct xd_tcp *t, struct xd_connection *c);

/* Returns the number of active streams. */
unsigned xd_tcp_load(const struct xd_connection *c);

void xd_tcp_event(struct xd_tcp *t, const struct xd_sim_event *e);

/* Shared by sender.c, acks.c and tcp.c. */
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

/* Return whether the depot accepts a new connection, and a new request
 * (served.c).  If not, the depot has already answered. */
bool xd_serves_connection(struct xd_tcp *t, struct xd_connection *c);
bool xd_serves_request(struct xd_tcp *t, struct xd_connection *c,
                       unsigned stream);
void xd_sender_acked(struct xd_tcp *t, struct xd_connection *c,
                     const struct xd_packet *p);
void xd_sender_measure(struct xd_sender *s, xd_nsec rtt);
/* Sends the data that may be sent now. */
void xd_sender_push(struct xd_tcp *t, struct xd_connection *c);
/* Sets the timer of the sender. */
void xd_sender_arm(struct xd_tcp *t, struct xd_connection *c);

#endif
