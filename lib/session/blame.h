/* SPDX-License-Identifier: MIT */
/*
 * A piece is wrong: which depot delivered the wrong bytes?
 *
 * When all of it came from one depot, that one did.  Else the piece is fetched
 * again from one depot alone, the one with the most verified bytes first, then
 * from the next, until it is right; what differs in the first copy names the
 * depot that delivered it.  A bad depot is not used again in this run, and what
 * else it delivered and nothing has proved is fetched again, from any other: it
 * explains other pieces that it had a part in.
 *
 *     wrong, of one depot ---> DISCARD, BAN
 *     wrong, of several -----> COPY, ASK one alone
 *         then wrong again --> BAN that one, ASK the next
 *         then right --------> COMPARE, BAN those that differ, RELEASE
 *         one of them banned > RELEASE
 *
 * Pure: decides only.  The keeper of the engine and the simulator hash and read
 * pieces, report what they find, and carry out the actions one after the other
 * until there is NOTHING to do.
 */
#ifndef XD_SESSION_BLAME_H
#define XD_SESSION_BLAME_H

#include "ledger/ledger.h"
#include "session/pieces.h"

enum xd_suspicion_step {
    XD_SUSPICION_ONE,      /* one depot delivered all of the piece */
    XD_SUSPICION_ONE_BAN,  /* likewise; it was discarded */
    XD_SUSPICION_COPY,     /* several did */
    XD_SUSPICION_REFUTED,  /* what `alone` delivered is wrong as well */
    XD_SUSPICION_ASK,      /* the next depot is to be asked */
    XD_SUSPICION_ASKED,    /* `alone` is: nothing is to be done */
    XD_SUSPICION_RIGHT,    /* what `alone` delivered is right */
    XD_SUSPICION_COMPARED, /* likewise, and `differs` is known */
};

/* A piece that was wrong. */
struct xd_suspicion {
    struct xd_suspicion *next;
    enum xd_suspicion_step step;
    size_t piece;
    struct xd_range range;
    struct xd_runs origins;   /* of the first, wrong copy */
    struct xd_rangeset asked; /* the depots that were, by number */
    unsigned alone;           /* the one that is asked now */
    uint64_t judged;          /* COMPARED: all before it */

    /* Its user's, filled for COPY and COMPARE. */
    unsigned char *copy;        /* the first, wrong one, or NULL */
    struct xd_rangeset differs; /* its bytes that were wrong */
};

/* What is true of a depot now. */
struct xd_blame_depot {
    bool is_banned;
    bool has_range; /* and may be asked for it */
    uint64_t bytes; /* that it has delivered in all */
};

struct xd_blame {
    /* Set by its user. */
    const struct xd_ledger *ledger;
    const struct xd_pieces *pieces;
    const struct xd_range *wanted; /* of the file */
    const void *world;
    struct xd_blame_depot (*look)(const void *world, unsigned depot,
                                  struct xd_range range);

    struct xd_suspicion *list;
};

enum xd_blame_action_kind {
    XD_BLAME_NOTHING,
    XD_BLAME_COPY,    /* keep the bytes of `suspicion` that were hashed */
    XD_BLAME_DISCARD, /* `range` */
    XD_BLAME_BAN,     /* `depot`: it sent wrong bytes within `range` */
    XD_BLAME_ASK,     /* discard `range`; only `depot` may be asked for it */
    XD_BLAME_COMPARE, /* those that were hashed with the copy of them */
    XD_BLAME_RELEASE, /* every depot may be asked for `range` again */
    XD_BLAME_GIVE_UP, /* no depot is left that might have `range` as it is */
    XD_BLAME_NO_MEMORY
};

struct xd_blame_action {
    enum xd_blame_action_kind kind;
    unsigned depot;
    struct xd_range range;
    struct xd_suspicion *suspicion; /* until the next call */
};

void xd_blame_fini(struct xd_blame *b);

/* All of a piece is stored, and does not match its hash.  Errors: NOMEM. */
int xd_blame_wrong(struct xd_blame *b, size_t piece);

/* It matches, perhaps after it did not. */
void xd_blame_right(struct xd_blame *b, size_t piece);

/* Whether a depot of many files is asked for others still, once so many of its
 * copies were wrong, and so many requests were right. */
bool xd_blame_spares(unsigned n_wrong, uint64_t n_delivered);

/* What is to be done now; again when that is done.  Depots have numbers below
 * `n_depots`. */
struct xd_blame_action xd_blame_next(struct xd_blame *b, size_t n_depots);

/* No depot can be asked for `byte`: if that is because one alone was asked, the
 * next is.  Else NOTHING. */
struct xd_blame_action xd_blame_ask_another(struct xd_blame *b, uint64_t byte,
                                            size_t n_depots);

/* Whether COPY or COMPARE follows if `piece`, all of which is stored, is right,
 * or is not. */
bool xd_blame_needs_bytes(const struct xd_blame *b, size_t piece,
                          bool is_right);

/* Whether `piece` was wrong, and the bad depot is not known yet. */
bool xd_blame_suspects(const struct xd_blame *b, size_t piece);

/* Whether bytes of an earlier run may be wrong though no piece is: no piece
 * covers some, and any depot may have delivered them. */
bool xd_blame_doubts_held(const struct xd_blame *b);

/* The first bytes inside `within` that count no longer once `depot` is banned:
 * it delivered them, or may have, and no piece has proved them.  Empty at
 * within.end: none. */
struct xd_range xd_blame_next_unproved(const struct xd_blame *b, unsigned depot,
                                       struct xd_range within);

#endif
