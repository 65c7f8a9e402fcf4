/* SPDX-License-Identifier: MIT */
/*
 * The packets on their way, in the time that the caller tells.
 *
 *   depot --> [its line: loss, rate, queue] --> [the shared line: rate, queue]
 *         --> [delay, jitter] --> [the client's line: rate, queue] --> client
 *   client --> [delay] --> depot
 *
 * Queues are real: a line that becomes faster empties its queue faster; only
 * the packet that is leaving leaves at the old rate.  Nothing is random but
 * loss and jitter, each depot's from a generator of its own.
 *
 * No clock and no I/O: time is an argument, packets that are due go through a
 * function.
 */
#ifndef WIRE_NETWORK_H
#define WIRE_NETWORK_H

#include "scenario.h"

enum { MTU = 1500 };

struct counts {
    uint64_t sent_packets, sent_bytes;  /* IP, by the depot */
    uint64_t lost_packets, queue_drops; /* on its line and the shared one */
    uint64_t client_drops;              /* on the client's line */
    uint64_t delivered_packets, delivered_bytes; /* IP, to the client */
    uint64_t payload_bytes;                      /* TCP, of the delivered */
    uint64_t connections;                        /* begun by the client */
};

struct network;

/* Gives out an IPv4 packet whose time has come.  when: it was due. */
typedef void network_deliver_fn(void *user, bool to_client,
                                const unsigned char *data, size_t len,
                                int64_t when);

/* Ends the program when memory does. */
struct network *network_new(const struct scenario *s, uint64_t seed,
                            network_deliver_fn *deliver, void *user);
void network_free(struct network *n);

/* Packets to or from addresses that are no depot's are dropped. */
void network_from_depot(struct network *n, const unsigned char *data,
                        size_t len, int64_t now);
void network_from_client(struct network *n, const unsigned char *data,
                         size_t len, int64_t now);

/* Do what is due; returns when the next is, or INT64_MAX. */
int64_t network_run(struct network *n, int64_t now);

/* When the client's first packet came; 0: none has. */
int64_t network_began(const struct network *n);

/* Of the line of this number. */
const struct counts *network_counts(const struct network *n, unsigned line);

#endif
