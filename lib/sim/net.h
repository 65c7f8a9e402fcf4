/* SPDX-License-Identifier: MIT */
/*
 * The network, packet by packet.
 *
 *     depot --> [loss; its line: rate, queue] --> [a shared line]
 *           --> [delay, jitter] --> [the client's line] --> client
 *     client --> [delay] --> depot
 *
 * Queues are not simulated: lines are first-in first-out, so the time at which
 * a packet leaves is known when it arrives.
 */
#ifndef XD_SIM_NET_H
#define XD_SIM_NET_H

#include "sim/events.h"
#include "sim/scenario.h"

/* A packet of 1500 bytes carries 1448 bytes of data after the IP and TCP
 * headers with timestamps. */
#define XD_PACKET_BYTES 1500.0
#define XD_SEGMENT_BYTES 1448U
#define XD_HEADER_BYTES 52U
#define XD_FIRST_WINDOW 10.0

/* A token bucket, counting bytes or requests. */
struct xd_cap {
    double tokens;
    xd_nsec filled_at;
    bool is_new; /* never used, so full */
};

struct xd_wire {
    struct xd_path path;
    xd_nsec busy_until; /* time at which the queue will be empty */
    /* time at which the last packet leaves; jitter must not reorder packets */
    xd_nsec last_out;
    /* Separate random generators for each line and purpose, so that one line's
     * losses do not depend on other lines or on how often this one is used. */
    uint64_t loss_random, jitter_random, random;
    /* generators for the limits of new connections, and for think times */
    uint64_t draw_random, think_random;
    uint64_t delivered;   /* bytes of data delivered to the client */
    xd_nsec banned_until; /* time until which the depot refuses the client */
    unsigned n_bans;      /* number of bans so far */
    /* token bucket of the requests that it may answer */
    struct xd_cap requests;
};

struct xd_net {
    struct xd_events events;
    xd_nsec now;
    const struct xd_scenario *scenario;
    size_t next_change;
    struct xd_wire *wires; /* lines, as in the scenario */
    size_t *depots;        /* line of each depot */
};

/* Prepares a network.  `s` must outlive it.  Returns 0 or NOMEM. */
int xd_net_init(struct xd_net *n, const struct xd_scenario *s, uint64_t seed);
void xd_net_fini(struct xd_net *n);

/* Returns the depot's own line. */
static inline struct xd_wire *xd_net_wire(const struct xd_net *n, size_t depot)
{
    return &n->wires[n->depots[depot]];
}

/* Send a packet from or to the depot.  It may be lost. */
void xd_net_to_client(struct xd_net *n, size_t depot, struct xd_packet p);
void xd_net_to_depot(struct xd_net *n, size_t depot, struct xd_packet p);

void xd_net_timer(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                  unsigned number, uint64_t life);

/* Advances the time to the next event, at most `until`, and returns it.  Moves
 * packets from line to line on the way.  False if there is none. */
bool xd_net_next(struct xd_net *n, xd_nsec until, struct xd_sim_event *out);

/* Return the next number of a generator (splitmix64), and a number in [0,
 * 1). */
uint64_t xd_sim_random(uint64_t *state);
double xd_sim_uniform(uint64_t *state);

#endif
