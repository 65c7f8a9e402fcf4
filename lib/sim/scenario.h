/* SPDX-License-Identifier: MIT */
/*
 * A network in words: depots, the paths to them, and what changes when.
 *
 *     client rate=100mbit queue=512k
 *     link NAME rate=30mbit queue=256k
 *     depot NAME ADDRESS rate=20mbit rtt=70ms queue=256k loss=0.1% via=LINK
 *     at 5s NAME|client rate=1mbit
 *     at 6s NAME down
 *
 * '#' begins a comment; lines that begin with any other word are left alone.
 * A link is a line that the depots with `via` it share, behind their own.  A
 * rate is that of whole IP packets, 0 is no bound; a size takes k and m.  The
 * words `down` and `up` cut a path and mend it; `refuses` is a depot that
 * answers every connection with a reset, `lies` one whose bytes are wrong.
 *
 *     depot NAME ADDRESS joins=2s
 *
 * Such a depot is added to the download while it runs; it stands behind those
 * that join before it.
 *
 *     depot NAME ADDRESS tier=2
 *     depot NAME ADDRESS owners=2
 *
 * A depot has the file in a tier (sched/sched.h), 0 if nothing is said of it.
 * Of those with `owners` each object of the file, of which there have to be
 * several, is in that tier only on so many, which a hash tells, and in the next
 * one on the others.
 *
 *     depot NAME ADDRESS cap=1m burst=64k per=connection|request window=64k
 *     depot NAME ADDRESS most=2 answer=503|429|reset|close ban=10s
 *
 * `cap` is a token bucket of `burst` bytes for each connection, or for each
 * request, that fills at so many bytes a second; cap=0 ends it.  `window` is
 * the most that one connection has in flight.  With `most` a depot serves so
 * many connections at a time: 503 and 429 answer the requests of a further one,
 * `reset` refuses its handshake, `close` accepts it and hangs up when it asks.
 * With `ban` such a connection ends all that the client has there, and so long
 * every further one is reset.
 */
#ifndef XD_SIM_SCENARIO_H
#define XD_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#define XD_NAME_BYTES 32

typedef int64_t xd_nsec; /* since the simulation began */

#define XD_NSEC_MS ((xd_nsec)1000000)
#define XD_NSEC_SECOND ((xd_nsec)1000000000)

/* What a connection beyond the most that a depot serves meets. */
enum xd_refusal {
    XD_REFUSAL_STATUS, /* an answer of 429 or 503 */
    XD_REFUSAL_RESET,  /* instead of the handshake */
    XD_REFUSAL_CLOSE   /* when it asks for something */
};

struct xd_path {
    double rate;    /* bytes per second; 0: unbounded */
    xd_nsec delay;  /* one way */
    xd_nsec jitter; /* added to what comes from the depot, at most */
    double loss;    /* probability that such a packet is lost */
    int64_t queue;  /* bytes that may wait for the link */
    bool is_down;   /* loses everything, both ways */
    bool refuses, lies;

    /* What the depot allows one connection, and how many it allows. */
    double cap;         /* bytes of answers per second; 0: unbounded */
    double burst;       /* bytes that may be sent at once after a pause */
    bool caps_requests; /* each request of a connection has a cap */
    double window;      /* bytes in flight; 0: unbounded */
    unsigned most;      /* connections at a time; 0: unbounded */
    enum xd_refusal refusal;
    xd_nsec ban;
};

#define XD_NO_LINE SIZE_MAX

/* The client's, which is the first; links, and depots. */
struct xd_scenario_line {
    char name[XD_NAME_BYTES];
    struct xd_path path;
    size_t depot;          /* its number, or XD_NO_LINE */
    size_t via;            /* of a depot: another line, or XD_NO_LINE */
    xd_nsec joins_at;      /* of a depot; 0: it is there from the beginning */
    unsigned tier, owners; /* of a depot */
};

struct xd_change {
    xd_nsec at;
    size_t line;
    char key[XD_NAME_BYTES], value[XD_NAME_BYTES];
};

struct xd_scenario {
    struct xd_scenario_line *lines;
    size_t n_lines;
    size_t n_depots;
    struct xd_change *changes; /* in order of time */
    size_t n_changes;
};

/* Errors: INVAL, with the line's number; NOMEM.  `s` is empty then. */
int xd_scenario_parse(struct xd_scenario *s, const char *text,
                      struct xd_error *err);
void xd_scenario_fini(struct xd_scenario *s);

/* The line of a depot. */
const struct xd_scenario_line *xd_scenario_depot(const struct xd_scenario *s,
                                                 size_t depot);

/* What a change does to a path; false where a word is not understood. */
bool xd_path_apply(struct xd_path *p, const char *key, const char *value);

/* How many of `connections` a depot serves, if its connections are what bounds
 * it; else 1, for then one of them is as good as all. */
unsigned xd_path_connections(const struct xd_path *p, unsigned connections);

/*
 * The earliest moment, in seconds, at which `size` bytes can be at the client:
 * every depot's window doubles from ten packets until its rate is reached, and
 * all share the lines on their way.  A depot that bounds its connections is
 * asked over so many.  Loss is not counted.  Infinity: not within an hour.
 * 0 or NOMEM.
 */
int xd_scenario_limit(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, double *out);

/* Likewise the least time for which a player has to stand still that begins
 * after prebuffer_s, and shows a piece only when all of it is there; 0: there
 * are none. */
int xd_scenario_stall(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, uint64_t piece_bytes, uint64_t bytes_per_s,
                      double prebuffer_s, double *out);

#endif
