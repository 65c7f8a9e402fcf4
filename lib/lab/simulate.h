/* SPDX-License-Identifier: MIT */
/*
 * Simulate a download: run the real scheduler on a simulated network, in
 * virtual time.  Nothing is sent, and a simulated minute takes milliseconds.
 *
 *     #include <stdio.h>
 *     #include "lab/simulate.h"
 *
 *     int simulate(struct xd_error *err)
 *     {
 *         const struct xd_simulate_what what = {
 *             .scenario = "client rate=100mbit\n"
 *                         "depot near 10.0.0.1 rate=20mbit rtt=10ms\n"
 *                         "depot far 10.0.0.2 rate=50mbit rtt=150ms\n",
 *             .size = 100 << 20};
 *         struct xd_simulated r;
 *         struct xd_simulation *s;
 *         int rc = xd_simulate(&s, &what, NULL, err);
 *
 *         if (rc < 0)
 *             return rc;
 *         xd_simulation_get(s, &r);
 *         printf("%.1f s, at least %.1f s\n", r.seconds, r.limit_s);
 *         xd_simulation_free(s);
 *         return 0;
 *     }
 *
 * A scenario has one statement per line; '#' begins a comment:
 *
 *     client rate=100mbit queue=512k
 *     link LINK rate=30mbit queue=256k
 *     depot NAME ADDRESS rate=20mbit rtt=70ms queue=256k loss=0.1% jitter=2ms
 *     depot NAME ADDRESS rate=50mbit rtt=10ms via=LINK
 *     at 5s NAME rate=2mbit
 *     at 6s NAME down
 *
 * - Rates count all bytes of IP packets, including headers; 0 means no limit.
 * - Depots with the same `via` share that link.  Each of them also has its own
 *   line.
 * - After `down`, all packets of a depot are lost until `up`.
 * - `refuses` makes a depot refuse connections.
 * - `lies` makes a depot send wrong bytes.
 *
 * Every depot holds the whole file.
 *
 * Functions that can fail return 0 or a negative error code (error.h).
 */
#ifndef XD_LAB_SIMULATE_H
#define XD_LAB_SIMULATE_H

#include <stdbool.h>
#include <xdownload/download.h>

struct xd_fetch_record;
struct xd_simulation;

/* Input of a simulation. */
struct xd_simulate_what {
    const char *scenario;
    uint64_t size; /* bytes of the file, up to 64 GiB */
    uint64_t seed; /* seed of the random loss and jitter */
    /* length in bytes of the pieces with a hash; 0: no hashes */
    uint64_t piece_bytes;
    bool https; /* TLS and HTTP/2: requests to a depot share a connection */
    /* congestion control of the depots: BBR if true, otherwise CUBIC */
    bool bbr;
    /* true: the output is a pipe whose reader reads without delay */
    bool in_order;
    /* Bytes per second that a player consumes, 1 to 1e12.  0: there is no
     * player. */
    double play_bytes_per_s;
    double prebuffer_s; /* seconds until the player starts; at most a day */
    /* True: do not check whether the scheduler obeys its rules.  This saves a
     * tenth of the computing time.  It has no effect with a player. */
    bool unchecked;
};

/* Result of a simulation.  Times are in seconds. */
struct xd_simulated {
    bool is_complete;
    double seconds; /* seconds until the download was complete or had failed */
    /* Shortest possible time for the file to reach the client on this network,
     * if no packet is lost */
    double limit_s;
    uint64_t bytes_received; /* bytes of the file that reached the client */
    unsigned requests;
    size_t n_depots;
    /* the rule that the scheduler has broken, or NULL */
    const char *broken_rule;
    /* seconds until the first byte of the file was verified; negative if that
     * never happened */
    double first_byte_s;
    /* The fields below apply only to a player.  A stall is a period after
     * prebuffer_s in which the next byte was due but had not arrived. */
    /* number of stalls; a stall ends when playback has run for 10 ms */
    unsigned n_stalls;
    double stall_s; /* total duration of all stalls */
    double stall_longest_s;
    /* Shortest possible total duration of the stalls on this network, if no
     * packet is lost */
    double stall_least_s;
};

/* What one depot has delivered. */
struct xd_simulated_depot {
    const char *name; /* lives as long as the simulation */
    /* bytes from the depot that were kept, and duplicate bytes, which are not
     * included in `bytes` */
    uint64_t bytes, bytes_redundant;
    /* bytes received, including the bytes of requests that were stopped */
    uint64_t bytes_received;
    unsigned requests, failures, connections;
};

/*
 * Runs one simulation.  `o` may be NULL for the defaults.  The simulation uses
 * the options that control the choice of depots and bytes, and the options
 * silence, retry, patience and lookahead.
 *
 * The call succeeds even if the simulated download fails.
 *
 * Ownership: the caller releases *out with xd_simulation_free().  The
 *            simulation keeps no pointers to the arguments.
 * Threads:   any.
 * Blocks:    only while it computes; it uses neither the disk nor the network.
 * Errors:    INVAL (the scenario, an option, the size, or a setting of the
 *            player is not valid; for a scenario the message names the line),
 *            NOMEM.
 */
XD_MUST_CHECK int xd_simulate(struct xd_simulation **out,
                              const struct xd_simulate_what *what,
                              const struct xd_options *o, struct xd_error *err);

/* Reports the result. */
void xd_simulation_get(const struct xd_simulation *s, struct xd_simulated *out);

/* Reports what depot number `i` of the scenario has delivered.  Returns 0, or
 * INVAL if `i` is out of range. */
int xd_simulation_depot(const struct xd_simulation *s, size_t i,
                        struct xd_simulated_depot *out);

/* Reports request number `i`.  Requests are numbered in the order in which they
 * ended.  Returns 0, or INVAL if `i` is out of range. */
int xd_simulation_record(const struct xd_simulation *s, size_t i,
                         struct xd_fetch_record *out);

/* Releases a simulation; NULL does nothing. */
void xd_simulation_free(struct xd_simulation *s);

#endif
