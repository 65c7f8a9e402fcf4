/* SPDX-License-Identifier: MIT */
/*
 * Simulates a download from the depots of a scenario, each with all or part of
 * the file, with the real scheduler and the network of net.h.
 */
#ifndef XD_SIM_RUN_H
#define XD_SIM_RUN_H

#include "sched/sched.h"
#include "sim/rules.h"
#include "sim/scenario.h"

enum xd_sim_end { XD_SIM_DONE, XD_SIM_FAILED, XD_SIM_STOPPED };

/*
 * A simulated player.  It starts after `prebuffer`, shows bytes at its rate,
 * and stalls while the next byte is missing.  It may pause once and seek once.
 */
struct xd_sim_player {
    uint64_t bytes_per_s; /* 0: no player */
    xd_usec prebuffer;
    uint64_t begins_at; /* first byte shown */
    uint64_t pauses_at; /* pause when it shows this byte; 0: never */
    xd_usec pause;
    uint64_t leaves_at; /* seek when it shows this byte; 0: never */
    uint64_t goes_to;
};

/* A client that reads as fast as bytes arrive, and may seek once. */
struct xd_sim_client {
    bool is_there;
    uint64_t leaves_at; /* seek when everything before this is read; 0: never */
    uint64_t goes_to;
};

/*
 * An erasure code.  Each stripe has k objects of the file as data shards, and
 * n - k parity shards.  Depot (s + j) mod n has shard j of stripe s, so the
 * scenario needs n depots.
 */
struct xd_sim_code {
    unsigned k, n; /* k is 0 if there are no stripes */
};

/* A request that has ended. */
struct xd_sim_record {
    unsigned depot, lane;
    struct xd_range range;
    uint64_t received, redundant;
    /* first_byte: XD_NEVER if nothing arrived */
    xd_usec began, first_byte, ended;
    xd_usec connect; /* time spent waiting for a connection */
    enum xd_sim_end how;
    enum xd_fetch_reason reason;
};

struct xd_sim_options {
    struct xd_sched_options sched;
    uint64_t size, seed;
    uint64_t object_bytes; /* size of the objects of the file; 0: one object */
    struct xd_sim_code code;
    bool ignores_late; /* do not replace late shards by parity */
    /* Copies of each object.  The first is on depot (object number) mod (number
     * of depots), the others on the following depots.  0: each depot has all
     * objects. */
    unsigned copies;
    /* size of a piece; bytes count once their piece is complete.  0: no
     * pieces */
    uint64_t piece_bytes;
    /* true: the file is complete only when its hash matches; not allowed
     * together with `code` */
    bool has_whole_hash;
    xd_usec silence;       /* time without data after which a request fails */
    bool is_silence_exact; /* as in session/session.h */
    /* one for each depot; NULL: nothing is known about them */
    struct xd_guess *guesses;
    bool has_tls;
    /* TCP of the depots uses BBR instead of CUBIC */
    bool has_bbr;
    bool has_http2; /* requests to a depot share a connection */
    /* rate of a reader, used with a window; 0: unlimited */
    uint64_t reader_bytes_per_s;
    struct xd_sim_player player; /* replaces the reader, if its rate is set */
    struct xd_sim_player second; /* a second player, if its rate is set */
    struct xd_sim_client client; /* replaces the reader, if is_there */
    /* do not check the rules; allowed only without a player */
    bool is_unchecked;
    void (*record)(void *user, const struct xd_sim_record *r); /* or NULL */
    void *record_user;
    /* Returns the range that a depot suggests in its response.  The pointer may
     * be NULL: depots suggest nothing. */
    struct xd_range (*hint)(void *user, unsigned depot, struct xd_range asked);
    void *hint_user;
};

struct xd_sim_depot {
    uint64_t bytes;     /* bytes delivered for the first time */
    uint64_t redundant; /* duplicate bytes */
    uint64_t parity;    /* how many of `bytes` and `redundant` were parity */
    uint64_t wire;      /* data bytes that crossed the client's link */
    unsigned requests, failures, connections, pings, bans;
    /* the hash of the file matched after its bytes were replaced */
    bool is_blamed;
    struct xd_learned learned; /* facts learned about its connections */
    xd_usec busy;              /* time with at least one request */
    /* shortest time from request to first byte; XD_NEVER: none */
    xd_usec first_byte;
};

struct xd_sim_result {
    bool is_complete;
    bool is_endless;     /* stopped after an hour or too many steps */
    enum xd_rule broken; /* XD_RULE_NONE if no rule was broken */
    unsigned n_repairs;  /* rounds in which bytes were fetched again */
    xd_usec took;
    /* when the first byte of the file was accepted; XD_NEVER: none */
    xd_usec first_byte;
    /* when the first MiB, or a smaller file, was accepted in order */
    xd_usec first_mib;
    /* stalls of all players together, without waits after a seek */
    xd_usec stalled;
    xd_usec longest_stall;
    /* number of stalls; those without playback in between count as one */
    unsigned n_stalls;
    xd_usec jump; /* time from a seek to the first byte there; XD_NEVER: none */
    uint64_t wire; /* sum for all depots */
    struct xd_sim_depot *depots;
    size_t n_depots;
};

/* Runs a simulation.  Errors: NOMEM.  Release *out with fini() in any case. */
int xd_sim_run(const struct xd_scenario *s, const struct xd_sim_options *o,
               struct xd_sim_result *out);

/*
 * Like xd_scenario_limit(), for depots with parts of the file: the earliest
 * time at which the best possible choice of requests, including parity, is
 * complete at the client.  Bytes come from the lowest tier that is available at
 * the start.  Ignores shared lines other than the client's.  With more than 16
 * depots it assumes that each has the whole file.  Returns 0 or NOMEM.
 */
int xd_sim_limit(const struct xd_scenario *s, const struct xd_sim_options *o,
                 double *out);

void xd_sim_result_fini(struct xd_sim_result *r);

#endif
