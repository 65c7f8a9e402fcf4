/* SPDX-License-Identifier: MIT */
/*
 * The wires, packet by packet.
 *
 *     depot --> [loss; its line: rate, queue] --> [a shared line]
 *           --> [delay, jitter] --> [the client's line] --> client
 *     client --> [delay] --> depot
 *
 * A queue is not kept: each packet's time of leaving is known when it comes,
 * for a line serves them in order.
 */
#ifndef XD_SIM_NET_H
#define XD_SIM_NET_H

#include "sim/events.h"
#include "sim/scenario.h"

/* A packet of 1500 bytes carries 1448 of the file, behind the headers of IP and
 * TCP with timestamps. */
#define XD_PACKET_BYTES 1500.0
#define XD_SEGMENT_BYTES 1448U
#define XD_HEADER_BYTES 52U
#define XD_FIRST_WINDOW 10.0

struct xd_wire {
    struct xd_path path;
    xd_nsec busy_until; /* when the last byte that waits will have left */
    xd_nsec last_out;   /* jitter does not change the order */
    /* Each has its own luck, and one for each thing: what others do, or how
     * often this one is asked, changes nothing of which packets are lost. */
    uint64_t loss_random, jitter_random, random;
    uint64_t delivered; /* bytes of the file that reached the client this way */
    xd_nsec banned_until; /* the depot refuses the client until then */
    unsigned n_bans;      /* that it has begun */
};

struct xd_net {
    struct xd_events events;
    xd_nsec now;
    const struct xd_scenario *scenario;
    size_t next_change;
    struct xd_wire *wires; /* one for each line */
    size_t *depots;        /* their lines */
};

/* `s` must outlive it.  0 or NOMEM. */
int xd_net_init(struct xd_net *n, const struct xd_scenario *s, uint64_t seed);
void xd_net_fini(struct xd_net *n);

/* The depot's own line. */
static inline struct xd_wire *xd_net_wire(const struct xd_net *n, size_t depot)
{
    return &n->wires[n->depots[depot]];
}

/* Onto the wire, from the depot or to it; it may be lost. */
void xd_net_to_client(struct xd_net *n, size_t depot, struct xd_packet p);
void xd_net_to_depot(struct xd_net *n, size_t depot, struct xd_packet p);

void xd_net_timer(struct xd_net *n, enum xd_sim_kind kind, xd_nsec at,
                  unsigned number, uint64_t life);

/* The next event, not after `until`, with time gone on to it; the packets'
 * way from line to line is seen to here.  False: there is none. */
bool xd_net_next(struct xd_net *n, xd_nsec until, struct xd_sim_event *out);

/* The next number of a generator (splitmix64); and one in [0, 1). */
uint64_t xd_sim_random(uint64_t *state);
double xd_sim_uniform(uint64_t *state);

#endif
