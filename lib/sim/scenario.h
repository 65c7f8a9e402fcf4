/* SPDX-License-Identifier: MIT */
/*
 * Describes a network in text: depots, the paths to them, and changes over
 * time.
 *
 *     client rate=100mbit queue=512k
 *     link NAME rate=30mbit queue=256k
 *     depot NAME ADDRESS rate=20mbit rtt=70ms queue=256k loss=0.1% via=LINK
 *     at 5s NAME|client rate=1mbit
 *     at 6s NAME down
 *
 * '#' starts a comment.  Lines that start with any other word are ignored.
 *
 * - Packets of a depot cross its own line, then the link that `via` names,
 *   which several depots share, and then the client's line.
 * - Rates count whole IP packets; 0 is unlimited.  Sizes may have k and m.
 * - `down` and `up` interrupt and restore a path.
 * - A depot with `refuses` answers every connection with a reset.
 * - A depot with `lies` sends wrong bytes.
 *
 *     depot NAME ADDRESS joins=2s
 *
 * Such a depot is added while the download runs.  Depots must be listed in the
 * order in which they join.
 *
 *     depot NAME ADDRESS tier=2
 *     depot NAME ADDRESS owners=2
 *
 * A depot has the file in a tier (sched/sched.h), 0 by default.  `owners` is
 * for files of several objects.  A hash chooses that many owners for each
 * object from the depots with `owners`.  The owners have the object in their
 * tier, and the other depots with `owners` have it in the next tier.
 *
 *     depot NAME ADDRESS cap=1m burst=64k per=connection|request window=64k
 *     depot NAME ADDRESS most=2 answer=503|429|reset|close ban=10s
 *
 * - `cap` is a token bucket for each connection or request.  It holds `burst`
 *   bytes, and is filled at that many bytes per second.  cap=0 removes it.
 * - `window` limits the bytes in flight on a connection.
 * - `most` is the number of connections that a depot serves at a time.
 * - `answer` says what happens to a further connection: its requests are
 *   answered with 503 or 429, it is reset right after its handshake, or it is
 *   closed at its first request.
 * - With `ban`, a further connection also closes all connections of the client,
 *   and new ones are reset for that time.
 *
 *     depot NAME ADDRESS draws=512k:4,1m:3,8m:3 life=2 hangs=20%
 *     depot NAME ADDRESS think=200ms-800ms asks=4 spare=2 retry=1s
 *
 * - With `draws` each new connection gets one of these caps at random.  The
 *   numbers after the colons are the weights.
 * - `life` is the number of responses after which a connection is closed.
 * - `hangs` is the share of connections that never get a response.
 * - `think` is the minimum and maximum time before each response.
 * - `asks` is the number of requests that a depot answers per second, and
 *   `spare` is how many more it answers after a pause.  It answers all others
 *   with 429.
 * - `retry` is the Retry-After of a 429 or 503.
 */
#ifndef XD_SIM_SCENARIO_H
#define XD_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#define XD_NAME_BYTES 32

typedef int64_t xd_nsec; /* nanoseconds since the start of the simulation */

#define XD_NSEC_MS ((xd_nsec)1000000)
#define XD_NSEC_SECOND ((xd_nsec)1000000000)

/* What happens to a connection beyond the limit. */
enum xd_refusal {
    XD_REFUSAL_STATUS, /* requests on the connection are answered with 429 or
                          503 */
    XD_REFUSAL_RESET,  /* the connection is reset right after its handshake */
    XD_REFUSAL_CLOSE   /* the connection is closed at the first request */
};

#define XD_DRAWS 4

/* A cap that a new connection may get. */
struct xd_draw {
    double cap;     /* bytes per second */
    double chances; /* weight of this cap when one is drawn */
};

struct xd_path {
    double rate;    /* bytes per second; 0: unlimited */
    xd_nsec delay;  /* delay in one direction */
    xd_nsec jitter; /* maximum extra delay of packets from the depot */
    double loss;    /* probability that a packet from the depot is lost */
    int64_t queue;  /* bytes that may wait for the link */
    bool is_down;   /* loses everything in both directions */
    bool refuses, lies;

    /* Limits on connections. */
    double cap;         /* bytes of responses per second; 0: unlimited */
    double burst;       /* bytes that may be sent at once after a pause */
    bool caps_requests; /* the cap is for each request of a connection */
    double window;      /* bytes in flight; 0: unlimited */
    unsigned most;      /* connections at a time; 0: unlimited */
    enum xd_refusal refusal;
    xd_nsec ban;
    struct xd_draw draws[XD_DRAWS]; /* random caps, which replace `cap` */
    unsigned n_draws;               /* 0: not used */
    unsigned life;                  /* responses per connection; 0: unlimited */
    /* probability that a connection gets no response */
    double hangs;

    /* Limits on requests. */
    /* shortest and longest time before each response */
    xd_nsec think_least, think_most;
    double asks;   /* requests answered per second; 0: unlimited */
    double spare;  /* extra requests after a pause */
    xd_nsec retry; /* Retry-After of a 429 or 503; 0: none */
};

#define XD_NO_LINE SIZE_MAX

/* A line: first the client's, then links and depots. */
struct xd_scenario_line {
    char name[XD_NAME_BYTES];
    struct xd_path path;
    size_t depot;          /* number of the depot, or XD_NO_LINE */
    size_t via;            /* shared line of a depot, or XD_NO_LINE */
    xd_nsec joins_at;      /* when a depot joins; 0: at the start */
    unsigned tier, owners; /* tier and number of owners of a depot */
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
    struct xd_change *changes; /* sorted by time */
    size_t n_changes;
};

/* Parses the text of a scenario.  Errors: INVAL with the line number, NOMEM;
 * `s` is empty then. */
int xd_scenario_parse(struct xd_scenario *s, const char *text,
                      struct xd_error *err);
void xd_scenario_fini(struct xd_scenario *s);

/* Returns the line of a depot. */
const struct xd_scenario_line *xd_scenario_depot(const struct xd_scenario *s,
                                                 size_t depot);

/* Applies a change to a path.  Returns false if a word is not understood. */
bool xd_path_apply(struct xd_path *p, const char *key, const char *value);

/* Returns the highest cap that a connection of the depot can get; 0 if there is
 * none. */
double xd_path_best_cap(const struct xd_path *p);

/* Returns how many of `connections` the depot serves, if each of them is
 * limited.  Otherwise 1, because one is as fast as several. */
unsigned xd_path_connections(const struct xd_path *p, unsigned connections);

/*
 * Computes the shortest possible time, in seconds, for `size` bytes to reach
 * the client; infinity if it is above an hour.
 *
 * The window of each depot doubles from ten packets until it reaches its rate.
 * All depots share the lines.  A depot that limits each connection gets
 * `connections` of them, or as many as it serves.  Losses are ignored.
 *
 * Returns 0 or NOMEM.
 */
int xd_scenario_limit(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, double *out);

/* Computes the shortest possible stall of a player that starts after
 * `prebuffer_s` seconds and shows only complete pieces.  piece_bytes 0: no
 * pieces.  Returns 0 or NOMEM. */
int xd_scenario_stall(const struct xd_scenario *s, unsigned connections,
                      uint64_t size, uint64_t piece_bytes, uint64_t bytes_per_s,
                      double prebuffer_s, double *out);

#endif
