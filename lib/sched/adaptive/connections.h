/* SPDX-License-Identifier: MIT */
/*
 * How many connections a depot is worth.
 *
 *     first    the depot is asked over the first few of its lanes
 *     probing  its connections look as if each were capped: one more is opened,
 *              which answers late if they fill a queue
 *     trying   it did not: all that may be used are opened at once
 *     known    an earlier download found how many are of use, and these are opened
 *              at the first answer; if they do not deliver what they did then, the
 *              depot begins with the first few again
 *     bound    connections are what bounds the depot: it keeps as many as were
 *              of use
 *
 * Where objects are so short that a connection waits for them for more than a small part
 * of its time, a depot has as many as make up for it, for as long as they are; and more
 * than it else may have, if its requests share a connection.
 *
 * A depot that is far begins with all that it may have: TCP sends twice as much
 * after each round trip, so twice as many connections are at full speed one round
 * trip sooner.
 *
 * A server, or a TCP window, that caps each connection shows it: all
 * connections of the depot are steady, and equal, or where requests share one
 * they are steady together; or all are silent together after a burst, where the
 * server rations by the second.  So may connections that share a line, so that more
 * of them are only a trial.  When no trial of those that began together was of use, the pause before the next one, of any depot, doubles; where requests
 * share a connection they are equal whatever limits them, so that a trial in vain
 * delays those of its own depot alone.
 *
 * The lanes of a depot are its connections, or the requests that
 * share one, which many servers cap as well; a lane is numbered by its fetch.
 * Where requests share a connection, one more of them is tried first, and then
 * one more connection; each lane is tried only if one of them was of use, for
 * there all requests are equal, whatever limits them.  Time is an argument.
 */
#ifndef XD_SCHED_CONNECTIONS_H
#define XD_SCHED_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "sched/sched.h"

/* What one connection brings, measured in turns of two round trips or more. */
struct xd_connection_watch {
    bool is_flowing;     /* bytes of a request come */
    xd_usec began_at;    /* the first of them came then */
    xd_usec turn_at;     /* the turn began then */
    uint64_t bytes;      /* in this turn */
    double rate, before; /* bytes per second, in the two turns before it; 0:
                            there was none */
    xd_usec measured_at; /* the last turn ended then */
};

enum xd_connections_stage {
    XD_CONNECTIONS_FIRST,
    XD_CONNECTIONS_PROBING,
    XD_CONNECTIONS_TRYING,
    XD_CONNECTIONS_KNOWN,
    XD_CONNECTIONS_BOUND
};

/* After trials that were of no use no other begins; unless a reader waits. */
struct xd_trial_pause {
    xd_usec length, ends_at;
};

struct xd_connections_depot {
    enum xd_connections_stage stage;
    bool can_share;           /* its requests can share one connection, */
    bool spreads;             /* but each has its own */
    unsigned allowed;         /* lanes that may be used, */
    enum xd_lanes_reason why; /* and why */
    bool is_for_short;        /* as many as that since its objects were short */
    struct xd_connection_watch all; /* its requests together, */
    unsigned n_steady;        /* and for how many turns they were steady */
    uint64_t bytes;           /* that it has brought, ever; the last came */
    xd_usec heard_at;         /* then; 0: none did */
    uint64_t burst;           /* of them, since it was last silent: since */
    xd_usec burst_at;         /* then */
    xd_usec least_wait, wait; /* for the first byte over a new connection: the
                                  least, and that of the probe; 0: not known */
    xd_usec connect_wait; /* that of the first request, where it can share its
                             connection with others; 0: not known */

    xd_usec next_at;             /* no trial of it begins before, */
    struct xd_trial_pause pause; /* nor within this one, if it can share */

    struct xd_learned
        learned; /* by this download, or by earlier ones as long as
                                  it does not contradict; without a ceiling */

    /* Of the trial, or of the check of what was known. */
    bool is_gauged;   /* one more was of use, so that all are tried */
    bool is_rationed; /* it began since the depot was silent */
    enum xd_connections_stage stage_before;
    unsigned allowed_before;
    bool spread_before;
    xd_usec tried_at;   /* this stage began */
    xd_usec spread_at;  /* since then each request has its own connection */
    unsigned n_before;  /* connections before it, */
    double each_before; /* and what each of them brought */
    bool is_marked;     /* TCP has found its speed; since then are counted: */
    xd_usec marked_at;
    uint64_t marked;
    uint64_t added; /* by requests that began after spread_at */
};

struct xd_connections {
    unsigned n_depots, n_lanes;
    unsigned lanes_per_depot, first;
    struct xd_connection_watch *lanes; /* one per fetch */
    struct xd_connections_depot *depots;

    unsigned n_trials;           /* under way */
    bool has_helped;             /* one of those that began together */
    struct xd_trial_pause pause; /* of depots that cannot share */
};

/* What is true of a depot when its connections are decided. */
struct xd_connections_facts {
    xd_usec now;
    unsigned first_lane;  /* of its lanes */
    unsigned n_running;   /* connections, or requests that share one, */
    unsigned n_usual;     /* as many as there always are */
    unsigned n_streams;   /* requests for short objects may share one, if more
                             than there may be connections */
    bool can_share;       /* its requests can share one connection */
    xd_usec latency;      /* of the depot; 0: not known */
    double time_left;     /* seconds that the download goes on */
    double bytes_left;    /* the depot's share of what nobody was asked for */
    unsigned ceiling;     /* lanes: it refused more; 0: it did not */
    bool ceiling_spreads; /* each of them with a connection of its own, though
                             they could share one */
    bool is_far;          /* its TCP needs seconds to find its speed */
    unsigned n_short;     /* so many keep it busy although they wait for one
                          object after the other; 0: objects are long */
    bool is_held_back;    /* by a limit of ours: more would be of no use */
    bool is_needed;       /* a reader waits for more than comes: at once */
};

/* `first` of the lanes of each depot are used to begin with; 0: all are, as
 * their user wants it.  0 or NOMEM. */
int xd_connections_init(struct xd_connections *c, unsigned n_depots,
                        unsigned n_lanes, unsigned lanes_per_depot,
                        unsigned first);
/* An earlier download learned this of the depot.  Before anything is heard. */
void xd_connections_remember(struct xd_connections *c, unsigned depot,
                             const struct xd_learned *learned);

/* What this download has learned, or was not able to test; the depot's latency is
 * as given.  Without a ceiling. */
struct xd_learned xd_connections_learned(const struct xd_connections *c,
                                         unsigned depot, xd_usec latency);

/* How many lanes each depot begins with if it is far, or is not. */
unsigned xd_connections_first(const struct xd_connections *c, bool is_far);

void xd_connections_fini(struct xd_connections *c);

/* There are so many depots and lanes, no fewer than before.  0, or NOMEM with
 * all as before. */
int xd_connections_grow(struct xd_connections *c, unsigned n_depots,
                        unsigned n_lanes);

/* Bytes of a request of the depot came over that lane; the request has ended. */
void xd_connections_heard(struct xd_connections *c, unsigned depot,
                          unsigned lane, xd_usec latency, xd_usec now,
                          uint64_t bytes);
void xd_connections_ended(struct xd_connections *c, unsigned lane);

/* The first byte came so long after a request that had to connect. */
void xd_connections_answered(struct xd_connections *c, unsigned depot,
                             xd_usec wait);

/* Likewise, of one that could share its connection, which was made for it. */
void xd_connections_connected(struct xd_connections *c, unsigned depot,
                              xd_usec wait);

/* Begin a trial, or judge it, if it is time to.  Returns when to look again
 * though nothing is heard; or XD_NEVER. */
xd_usec xd_connections_decide(struct xd_connections *c, unsigned depot,
                              const struct xd_connections_facts *facts);

/* Whether each request of the depot that begins now has a connection of its own,
 * though it could share one. */
bool xd_connections_spread(const struct xd_connections *c, unsigned depot);

/* How many lanes of the depot may be used, and why. */
unsigned xd_connections_allowed(const struct xd_connections *c, unsigned depot);
enum xd_lanes_reason xd_connections_why(const struct xd_connections *c,
                                        unsigned depot);

/* Whether one more than these is to be opened, as a probe. */
bool xd_connections_want_probe(const struct xd_connections *c, unsigned depot,
                               unsigned n_running);

/* Whether it is not known yet if more are of use. */
bool xd_connections_are_tried(const struct xd_connections *c, unsigned depot);

/* Whether each connection of the depot brings what it brings, however many
 * there are, as far as is known. */
bool xd_connections_are_bound(const struct xd_connections *c, unsigned depot);

#endif
