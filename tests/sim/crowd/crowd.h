/* SPDX-License-Identifier: MIT */
/*
 * Many downloads of one file at once in virtual time: clients, caches between
 * them and an origin, and the lines that all of these share.
 *
 *     origin ---up--->  |         |  ---down---> cache (memory, LRU, lock)
 *                       | the net |  <----up---- cache
 *     client <--down--- |         |
 *
 * Each host has one line in each direction, behind which the net has room for
 * everything.  What is under way is a flow: the flows of a line share its rate
 * max-min fairly, each bounded by its TCP window, which doubles from ten packets
 * in every round trip until the line bounds it.  There are no packets, losses or
 * queues: net.h has those, for one client.  Time goes on in steps.
 *
 * Clients are of three kinds: the downloader itself, with its scheduler and
 * session; the agent of CoBlitz (crowd_window.c); and one TCP connection that
 * asks for the whole file.
 *
 * Caches hold chunks.  Of the requests for a chunk that a cache lacks, the
 * first gets its bytes as they come from above; the others wait until all of it
 * is there, and look again every `lock_poll`, as nginx does.
 */
#ifndef XD_SIM_CROWD_H
#define XD_SIM_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "sched/sched.h"
#include "sim/rules.h"

struct xd_crowd_host {
    double up, down;  /* bytes of packets per second; 0: unbounded */
    double x, y;      /* where it is: milliseconds of a round trip apart, */
    double access_ms; /* and its own part of each round trip */
};

/* How a request for a chunk that a cache lacks goes on. */
enum xd_crowd_routing {
    XD_CROWD_MESH, /* one hop: to the origin; two: to the owner that the client
                      names, and to the origin from there */
    XD_CROWD_PEERS /* CoBlitz: to the first by rank of the cache's own peers and
                      itself, and to the origin from there */
};

/* The caches that a client, or a cache, knows. */
struct xd_crowd_peers {
    const bool *has; /* each of all */
    unsigned n;
};

struct xd_crowd_cache {
    size_t host;
    uint64_t memory;             /* bytes of chunks; 0: room for all */
    bool is_warm;                /* it has what ranks it among the `copies` */
    struct xd_crowd_peers peers; /* PEERS */
};

enum xd_crowd_kind {
    XD_CROWD_SESSION, /* ours */
    XD_CROWD_WINDOW,  /* chunks in a window, as in section 5.5 of CoBlitz */
    XD_CROWD_PLAIN    /* one connection */
};

struct xd_crowd_client {
    enum xd_crowd_kind kind;
    size_t host;
    xd_usec arrives;
    unsigned server;             /* PLAIN: a cache, or n_caches: the origin */
    struct xd_crowd_peers peers; /* WINDOW, where caches have peers */
};

enum xd_crowd_change_kind {
    XD_CROWD_RATE,   /* of host `number`, in both directions */
    XD_CROWD_DIES,   /* cache `number`: it resets and refuses connections */
    XD_CROWD_IS_MUTE /* it accepts them, and says nothing any more */
};

struct xd_crowd_change {
    xd_usec at;
    enum xd_crowd_change_kind kind;
    size_t number;
    double rate;
};

/* The agent of CoBlitz. */
struct xd_crowd_window {
    double most;       /* chunks at a time; 0: 60 */
    bool is_fixed;     /* always so many */
    bool is_in_order;  /* no chunk further than `most` before the first that
                             is missing */
    unsigned replicas; /* asked at random for a chunk; 0: as many as `copies` */
    double deadline_devs; /* a chunk is late so many standard deviations after
                             the mean time of one, */
    xd_usec latest;       /* and not later than that; 0: 10 s */
};

struct xd_crowd {
    uint64_t size, chunk;
    const struct xd_crowd_host *hosts;
    size_t n_hosts, origin; /* the host of the origin */
    const struct xd_crowd_cache *caches;
    size_t n_caches;
    const struct xd_crowd_client *clients;
    size_t n_clients;
    const struct xd_crowd_change *changes; /* in order of time */
    size_t n_changes;

    /* For each chunk all caches, the first by rank first: the layout. */
    const unsigned *rank;
    enum xd_crowd_routing routing;
    unsigned copies; /* so many caches hold a chunk, for clients */
    unsigned hops;   /* MESH: 1 or 2 */
    xd_usec lock_poll;
    xd_usec upstream_silence; /* after which a cache asks the origin instead */

    struct xd_sched_options sched;
    xd_usec silence;
    bool is_checked; /* by the rules */
    struct xd_crowd_window window;

    uint64_t seed;
    xd_usec step;
    xd_usec most_time; /* given up then */
};

struct xd_crowd_client_result {
    bool is_complete;
    enum xd_rule broken;
    xd_usec arrived, took; /* took: XD_NEVER if it is not complete */
    uint64_t received;     /* bytes of all answers */
    uint64_t redundant;    /* of them, not needed */
    unsigned requests, failures, retries;
};

struct xd_crowd_cache_result {
    uint64_t in, out; /* bytes from above; to clients and other caches */
    unsigned hits, misses, waits, evictions;
};

struct xd_crowd_result {
    struct xd_crowd_client_result *clients;
    struct xd_crowd_cache_result *caches;
    size_t n_clients, n_caches;
    uint64_t origin_bytes;
    unsigned origin_requests, origin_most; /* most: at a time */
    unsigned
        *origin_chunks; /* how often each chunk was asked of it by caches */
    size_t n_chunks;
    uint64_t hop_bytes; /* from cache to cache */
    uint64_t n_steps, n_flows, n_decisions;
    xd_usec took; /* until the last client had ended */
};

/* Errors: NOMEM.  *out is released with fini() in any case. */
int xd_crowd_run(const struct xd_crowd *o, struct xd_crowd_result *out);
void xd_crowd_result_fini(struct xd_crowd_result *r);

#endif
