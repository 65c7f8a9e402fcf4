/* SPDX-License-Identifier: MIT */
/*
 * Crowds for experiments and tests: caches and clients in a star, or spread over
 * a world as PlanetLab was; and what became of them in a few numbers.
 */
#ifndef SIM_CROWDS_H
#define SIM_CROWDS_H

#include "crowd.h"

struct crowd_setup {
    unsigned n_clients, n_nodes;
    double client_mbit, node_mbit, origin_mbit;
    double rtt_ms; /* between any two hosts of a star */
    uint64_t size, chunk, memory;
    unsigned copies, hops;
    enum xd_crowd_kind kind;
    unsigned n_plain; /* of the clients, the last; they ask node 0 */
    bool is_warm, is_checked;
    bool shares_hosts; /* each node and the client of its number share a host;
                           the world of PlanetLab */
    bool has_peers;    /* as CoBlitz routes */
    double unseen;     /* share of its peers that a node does not see */
    bool asks_origin;  /* plain clients ask the origin */
    double spread_s;   /* clients arrive evenly within it, at random */
    double poisson_s;  /* or so long after one another in the mean */
    double dies_s, mutes_s, slows_s; /* node 0 then; 0: not */
    struct xd_crowd_window window;
    uint64_t seed;
    double step_ms, silence_s, poll_s;
    unsigned lanes, first_lanes;
};

struct crowd {
    struct xd_crowd o;
    struct xd_crowd_host *hosts;
    struct xd_crowd_cache *caches;
    struct xd_crowd_client *clients;
    struct xd_crowd_change changes[1];
    unsigned *rank;
    bool **peers;
};

struct crowd_summary {
    unsigned n_done, n_failed, n_broken;
    double origin;        /* files that it sent */
    unsigned least, most; /* times that one chunk was asked of it */
    double hops;          /* files from cache to cache */
    double first, median, p90, last, mean;   /* seconds for a client */
    double mbit_mean, mbit_median, mbit_p90; /* of each client */
    double fairness;                         /* Jain's index of rates */
    double redundant;                        /* files, of each client */
    double requests, retries, failures;      /* of each client */
};

/* The set-up of the issue: 40 clients, 5 nodes. */
struct crowd_setup crowd_live(void);

/* CoBlitz on PlanetLab, as far as it is published. */
struct crowd_setup crowd_planetlab(void);

/* Exits without memory. */
void crowd_make(struct crowd *c, const struct crowd_setup *s);
void crowd_free(struct crowd *c);
struct crowd_summary crowd_run(const struct crowd_setup *s,
                               struct xd_crowd_result *out);

/* Of the clients [from, to). */
struct crowd_summary crowd_sum(const struct crowd_setup *s,
                               const struct xd_crowd_result *r, size_t from,
                               size_t to);

/* The least time for all, by the lines; and if each chunk comes only from the
 * nodes that clients ask for it. */
double crowd_line_limit(const struct crowd_setup *s);
double crowd_layout_limit(const struct crowd_setup *s);

#endif
