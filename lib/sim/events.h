/* SPDX-License-Identifier: MIT */
/*
 * The event queue, ordered by time; events at the same time keep their order of
 * insertion.
 *
 * Packets of a line are nearly always inserted in order.  So the events of a
 * line form a list, and only its first is in the heap:
 *
 *     heap (by time)  [a] [d] [f]
 *     lists            |   |   |
 *                      b   e   timer
 *                      c
 *
 * A packet that is earlier than the last one of its line goes to the heap on
 * its own, like timers.  All packets cross the client's line.  The first event
 * of its list is kept beside the heap.  Costs: O(1) to insert a packet, O(log
 * lines) to remove one, O(1) from the client's line.
 */
#ifndef XD_SIM_EVENTS_H
#define XD_SIM_EVENTS_H

#include <stdbool.h>

#include "sim/scenario.h"

enum xd_sim_kind {
    XD_SIM_AT_SHARED, /* a packet reaches a shared line */
    XD_SIM_AT_ACCESS, /* a packet reaches the client's line */
    XD_SIM_AT_CLIENT, /* a packet reaches the client */
    XD_SIM_AT_DEPOT,  /* a packet of the client reaches the depot */
    XD_SIM_DEPOT_TIMER,
    XD_SIM_PACE_TIMER,
    XD_SIM_CAP_TIMER,
    XD_SIM_CLIENT_TIMER,
    XD_SIM_FLUSH_TIMER,
    XD_SIM_REPORT_TIMER,
    XD_SIM_SILENCE_TIMER,
    XD_SIM_CANCEL_TIMER,
    /* a request that waits for its depot's governor asks again */
    XD_SIM_ASK_TIMER,
    /* the ping of a depot ends; `life` is the time at which it began */
    XD_SIM_PING_TIMER
};

enum xd_packet_kind {
    XD_PACKET_DATA, /* data: segment `first` with `bytes` bytes */
    XD_PACKET_SYN,  /* SYN, or the response to it */
    XD_PACKET_TLS,  /* the handshake of TLS, or the response to it */
    /* The client sends request `first` (see tcp.h).  Before that, it spends the
     * time to write `bytes` bytes of the previous response to its disk. */
    XD_PACKET_REQUEST,
    XD_PACKET_STOP,    /* drop request `first` */
    XD_PACKET_REFUSAL, /* the depot refuses request `first` */
    /* acknowledges segment `first` and everything before `all` */
    XD_PACKET_ACK,
    XD_PACKET_RESET
};

struct xd_packet {
    enum xd_packet_kind kind;
    unsigned connection;
    unsigned bytes; /* data bytes, including response headers */
    uint32_t all, first;
    /* transmission number of a segment, echoed by its ACK like a timestamp */
    uint32_t stamp;
};

struct xd_sim_event {
    xd_nsec at;
    uint64_t order;
    enum xd_sim_kind kind;
    unsigned number; /* connection or request of a timer */
    union {
        uint64_t life; /* a timer is valid only while this number is current */
        struct xd_packet packet;
    };
};

/* Position of an event in the heap. */
struct xd_event_key {
    xd_nsec at;
    uint64_t order;
    uint32_t slot;
};

/* Storage for one event.  Slots are numbered from 1; 0 means none. */
struct xd_event_slot {
    struct xd_sim_event event;
    uint32_t next; /* next slot in its list or in the free list */
};

/* Four kinds of packets; depots whose numbers differ by 16 share a list. */
#define XD_EVENT_DEPOTS 16U
#define XD_EVENT_LISTS (4 * XD_EVENT_DEPOTS)

struct xd_events {
    struct xd_event_key *heap;
    size_t n, capacity;
    struct xd_event_slot *slots;
    size_t n_slots, slots_capacity;
    uint32_t first_free;
    uint32_t last[XD_EVENT_LISTS]; /* last event of each list; 0: empty */
    struct xd_event_key client;    /* first event of the client's list */
    uint64_t n_ever;
    bool failed; /* out of memory: events are missing */
};

/* Inserts an event.  The caller then sets its `life` or `packet`; the pointer
 * is valid until the next call.  NULL if out of memory. */
struct xd_sim_event *xd_events_put(struct xd_events *e, enum xd_sim_kind kind,
                                   unsigned number, xd_nsec at);

/* Removes the next event, unless it is after `until`. */
bool xd_events_take(struct xd_events *e, xd_nsec until,
                    struct xd_sim_event *out);
void xd_events_fini(struct xd_events *e);

#endif
