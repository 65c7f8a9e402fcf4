/* SPDX-License-Identifier: MIT */
/*
 * One download of a file that the depots of a scenario hold, each of them all of
 * it or a part, through the real scheduler, over the wires of net.h.
 */
#ifndef XD_SIM_RUN_H
#define XD_SIM_RUN_H

#include "sched/sched.h"
#include "sim/rules.h"
#include "sim/scenario.h"

enum xd_sim_end { XD_SIM_DONE, XD_SIM_FAILED, XD_SIM_STOPPED };

/*
 * It shows nothing for `prebuffer`, then one byte after the other at its rate,
 * and stands still while the next one is not here.
 */
struct xd_sim_player {
    uint64_t bytes_per_s; /* 0: there is no player */
    xd_usec prebuffer;
};

/* It reads what is there as fast as it comes, and may go elsewhere once. */
struct xd_sim_client {
    bool is_there;
    uint64_t leaves_at; /* once all before that is read; 0: it stays */
    uint64_t goes_to;
};

/*
 * Each k objects of the file are the shards of data of a stripe, to which n - k of
 * parity belong: any k of them restore it.  Of stripe s depot (s + j) mod n has
 * shard j, so a file in stripes takes n depots.
 */
struct xd_sim_code {
    unsigned k, n; /* k = 0: there are no stripes */
};

/* A fetch that has ended. */
struct xd_sim_record {
    unsigned depot, lane;
    struct xd_range range;
    uint64_t received, redundant;
    xd_usec began, first_byte, ended; /* first_byte: XD_NEVER if nothing came */
    xd_usec connect; /* for which it waited for its connection to be made */
    enum xd_sim_end how;
    enum xd_fetch_reason reason;
};

struct xd_sim_options {
    struct xd_sched_options sched;
    uint64_t size, seed;
    uint64_t object_bytes; /* it lies in objects of so many bytes; 0: in one */
    struct xd_sim_code code;
    bool ignores_late;    /* no parity takes the place of what is only late */
    unsigned copies;      /* of each object, on the depots from (its number) mod
                              (theirs) on; 0: every depot has all */
    uint64_t piece_bytes; /* a piece counts when all of it is there; 0: each
                             byte does */
    bool has_whole_hash;  /* and the file counts when that is right; not with
                              a code */
    xd_usec silence;      /* a fetch that receives nothing for so long fails */
    bool is_silence_exact;    /* session/session.h */
    struct xd_guess *guesses; /* one for each depot; NULL: nothing is
                                       known of them */
    bool has_tls;
    bool has_bbr;                /* the depots' TCP, in place of CUBIC */
    bool has_http2;              /* the fetches of a depot share a connection */
    uint64_t reader_bytes_per_s; /* with a window; 0: no bound */
    struct xd_sim_player player; /* in the reader's place, if it has a rate */
    struct xd_sim_client client; /* likewise, if it is there */
    bool is_unchecked;           /* of the rules; only without a player */
    void (*record)(void *user, const struct xd_sim_record *r); /* or NULL */
    void *record_user;
    /* In the answer to a request: what the depot would be asked for next; or
     * NULL. */
    struct xd_range (*hint)(void *user, unsigned depot, struct xd_range asked);
    void *hint_user;
};

struct xd_sim_depot {
    uint64_t bytes;     /* that were not delivered before */
    uint64_t redundant; /* the others that were handed on */
    uint64_t parity;    /* of both, what came as parity */
    uint64_t wire;      /* bytes of the file that crossed the client's link */
    unsigned requests, failures, connections, pings, bans;
    bool is_blamed; /* without its bytes the hash of the whole was right */
    struct xd_learned learned; /* of its connections */
    xd_usec busy;              /* the time that it was asked for something */
    xd_usec first_byte; /* the least time from a request to that; XD_NEVER:
                           none came */
};

struct xd_sim_result {
    bool is_complete;
    bool is_endless;     /* given up after an hour, or too many steps */
    enum xd_rule broken; /* XD_RULE_NONE if all were kept */
    unsigned n_repairs;  /* rounds in which bytes were fetched again */
    xd_usec took;
    xd_usec first_byte; /* of the file, accepted; XD_NEVER: none */
    xd_usec first_mib;  /* or all of a smaller file, in order */
    xd_usec stalled;    /* the player, all in all, */
    xd_usec longest_stall;
    unsigned n_stalls; /* between which its picture moved */
    xd_usec jump;  /* from when the client left until it had a byte there; or
                          XD_NEVER */
    uint64_t wire; /* of all depots */
    struct xd_sim_depot *depots;
    size_t n_depots;
};

/* Errors: NOMEM.  *out is released with fini() in any case. */
int xd_sim_run(const struct xd_scenario *s, const struct xd_sim_options *o,
               struct xd_sim_result *out);

/*
 * As xd_scenario_limit(), for a file of which each depot has a part: the earliest
 * moment at which some choice of what each is asked for, parity among it, can be at
 * the client.  Shared lines but the client's are not counted.  0 or NOMEM.
 */
int xd_sim_limit(const struct xd_scenario *s, const struct xd_sim_options *o,
                 double *out);

void xd_sim_result_fini(struct xd_sim_result *r);

#endif
