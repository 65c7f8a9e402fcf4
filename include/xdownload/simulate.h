/* SPDX-License-Identifier: MIT */
/*
 * A download in virtual time: the scheduler that downloads use, over a network
 * that a scenario describes.  Nothing is sent, and seconds take milliseconds.
 *
 * A scenario is text, a statement a line; '#' begins a comment:
 *
 *     client rate=100mbit queue=512k
 *     link LINK rate=30mbit queue=256k
 *     depot NAME ADDRESS rate=20mbit rtt=70ms queue=256k loss=0.1% jitter=2ms
 *     depot NAME ADDRESS rate=50mbit rtt=10ms via=LINK
 *     at 5s NAME rate=2mbit
 *     at 6s NAME down
 *
 * A rate is that of IP packets, 0 is no limit.  Depots with `via` share a link
 * behind their own lines.  `down` loses everything without a word until `up`;
 * `refuses` is a depot that refuses connections, `lies` one whose bytes are
 * wrong.  Every depot holds the whole file.
 */
#ifndef XDOWNLOAD_SIMULATE_H
#define XDOWNLOAD_SIMULATE_H

#include <stdbool.h>
#include <xdownload/download.h>

struct xd_simulation;

struct xd_simulate_what {
    size_t struct_size; /* set by the caller, as is the rest */
    const char *scenario;
    uint64_t size;        /* of the file */
    uint64_t seed;        /* of loss and jitter */
    uint64_t piece_bytes; /* of the pieces that have a hash; 0: none have */
    bool https;           /* TLS, and HTTP/2: the requests to a depot share one
                     connection */
    bool bbr;             /* the depots send with BBR, else with CUBIC */
    bool in_order;        /* to a pipe, whose reader takes all at once */
    double play_bytes_per_s; /* to a player that consumes so much, in place of
                                that; 0: there is none */
    double prebuffer_s;      /* when its picture is to begin */
    bool unchecked; /* whether the scheduler keeps its rules is not checked,
                       which saves a tenth of the time; a player's run is
                       checked nevertheless */
};

/* The structs below are filled in by the library and may grow: the caller
 * sets struct_size first, and gets that many bytes. */

struct xd_simulated {
    size_t struct_size;
    bool is_complete;
    double seconds; /* until it was complete, or had failed */
    double limit_s; /* the earliest moment at which so many bytes can be there:
                       a fluid without loss */
    uint64_t bytes_received; /* of the file, as the client's line counts it */
    unsigned requests;
    size_t n_depots;
    const char *broken_rule; /* that the scheduler has broken, or NULL */
    double first_byte_s;     /* when the file's first byte was good; < 0: it
                                never was */
    /* Of a player; a stall is all time after prebuffer_s in which the next byte
     * was not here, though it was due. */
    unsigned n_stalls; /* one ends when the picture moves for 10 ms */
    double stall_s;    /* all together */
    double stall_longest_s;
    double stall_least_s; /* that was possible: of the same fluid, in order */
};

struct xd_simulated_depot {
    size_t struct_size;
    const char *name;
    uint64_t bytes, bytes_redundant; /* redundant ones are not in `bytes` */
    uint64_t bytes_received;         /* also of requests that were broken off */
    unsigned requests, failures, connections;
};

XD_BEGIN_DECLS

/*
 * Of the options, those count that decide which depot delivers which bytes, and
 * `silence`, `retry`, `patience` and `lookahead`.
 * Ownership: *out is the caller's, to release with xd_simulation_free();
 *            nothing else is kept.
 * Threads:   any.  Blocks: no longer than it computes.
 * Errors:    INVAL (the scenario, with the line; the options; no size; a player
 *            that no player is), NOMEM.
 *            A download that fails is no error of the simulation.
 */
XD_API XD_MUST_CHECK int xd_simulate(struct xd_simulation **out,
                                     const struct xd_simulate_what *what,
                                     const struct xd_options *o,
                                     struct xd_error *err);

XD_API void xd_simulation_get(const struct xd_simulation *s,
                              struct xd_simulated *out);

/* The i-th depot of the scenario; 0, or INVAL past the last.  Its name lives
 * as long as the simulation. */
XD_API int xd_simulation_depot(const struct xd_simulation *s, size_t i,
                               struct xd_simulated_depot *out);

/* The i-th request, in order of their ends; 0, or INVAL past the last. */
XD_API int xd_simulation_record(const struct xd_simulation *s, size_t i,
                                struct xd_fetch_record *out);

XD_API void xd_simulation_free(struct xd_simulation *s); /* NULL: nothing */

XD_END_DECLS

#endif
