/* SPDX-License-Identifier: MIT */
/*
 * What will happen, in order of time; among equals the event that was put in
 * first comes first.
 *
 * The packets of a line come nearly always in the order in which they were put
 * in.  So those of a line are a list, and only its first one is in the heap:
 *
 *     heap (by time)  [a] [d] [f]
 *     lists            |   |   |
 *                      b   e   timer
 *                      c
 *
 * A packet that is to come before the last one of its line is in the heap
 * without a list, as timers are.  The list of the client's line, which every
 * packet crosses, has its first event beside the heap.  Costs: O(1) to put a
 * packet, O(log lines) to take one, and O(1) from the client's line.
 */
#ifndef XD_SIM_EVENTS_H
#define XD_SIM_EVENTS_H

#include <stdbool.h>

#include "sim/scenario.h"

enum xd_sim_kind {
    XD_SIM_AT_SHARED, /* a packet reaches a line that depots share */
    XD_SIM_AT_ACCESS, /* it reaches the client's line */
    XD_SIM_AT_CLIENT, /* it reaches the client */
    XD_SIM_AT_DEPOT,  /* one of the client's reaches the depot */
    XD_SIM_DEPOT_TIMER,
    XD_SIM_PACE_TIMER,
    XD_SIM_CAP_TIMER,
    XD_SIM_CLIENT_TIMER,
    XD_SIM_FLUSH_TIMER,
    XD_SIM_REPORT_TIMER,
    XD_SIM_SILENCE_TIMER,
    XD_SIM_CANCEL_TIMER,
    XD_SIM_PING_TIMER /* of a depot; `life`: when it was pinged */
};

enum xd_packet_kind {
    XD_PACKET_DATA, /* segment `first`, of `bytes` */
    XD_PACKET_SYN,  /* and its answer; so is a handshake of TLS */
    XD_PACKET_TLS,
    XD_PACKET_REQUEST, /* number `first`, see tcp.h; after an answer of which
                          `bytes` are to be written */
    XD_PACKET_STOP,    /* the same; forget it */
    XD_PACKET_REFUSAL, /* the same; the depot does not serve it */
    XD_PACKET_ACK,     /* all before `all`, and segment `first` */
    XD_PACKET_RESET
};

struct xd_packet {
    enum xd_packet_kind kind;
    unsigned connection;
    unsigned bytes; /* of the file, and of heads */
    uint32_t all, first;
    uint32_t stamp; /* of a segment, its transmission; an ack says which
                       transmission made it, as timestamps do */
};

struct xd_sim_event {
    xd_nsec at;
    uint64_t order;
    enum xd_sim_kind kind;
    unsigned number; /* of the connection or fetch whose timer it is */
    union {
        uint64_t life; /* of a timer, which counts only if it is still this */
        struct xd_packet packet;
    };
};

/* Where an event is, and when it comes. */
struct xd_event_key {
    xd_nsec at;
    uint64_t order;
    uint32_t slot;
};

/* Slots are numbered from 1 on; 0 is none. */
struct xd_event_slot {
    struct xd_sim_event event;
    uint32_t next; /* in its list, or of those that are free */
};

/* Four kinds of packets; depots whose numbers are 16 apart share a list. */
#define XD_EVENT_DEPOTS 16U
#define XD_EVENT_LISTS (4 * XD_EVENT_DEPOTS)

struct xd_events {
    struct xd_event_key *heap;
    size_t n, capacity;
    struct xd_event_slot *slots;
    size_t n_slots, slots_capacity;
    uint32_t first_free;
    uint32_t last[XD_EVENT_LISTS]; /* of each list, or 0: it is empty */
    struct xd_event_key client;    /* the first of the client's list */
    uint64_t n_ever;
    bool failed; /* out of memory: something is missing */
};

/* Put in an event, whose `life` or `packet` the caller then sets; it is valid
 * until the next call.  NULL: no memory. */
struct xd_sim_event *xd_events_put(struct xd_events *e, enum xd_sim_kind kind,
                                   unsigned number, xd_nsec at);

/* The next event, unless that is after `until`. */
bool xd_events_take(struct xd_events *e, xd_nsec until,
                    struct xd_sim_event *out);
void xd_events_fini(struct xd_events *e);

#endif
