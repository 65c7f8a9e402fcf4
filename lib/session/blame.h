/* SPDX-License-Identifier: MIT */
/*
 * Finds the depot that delivered the wrong bytes of a piece.
 *
 * If the whole piece came from one depot, that depot is bad.  Otherwise the
 * piece is fetched again from a single depot, first the one with the most
 * verified bytes, then the next, until it is right.  Comparing it with the
 * first copy shows which depots delivered wrong bytes.
 *
 * A bad depot is banned.  Its bytes that are not verified are fetched again
 * from other depots.  This also settles other pieces that have bytes from it.
 *
 *     wrong, of one depot ---> DISCARD, BAN
 *     wrong, of several -----> COPY, ASK one alone
 *         then wrong again --> BAN that one, ASK the next
 *         then right --------> COMPARE, BAN those that differ, RELEASE
 *         one of them banned > RELEASE
 *         none has all of it > RELEASE if some of it is missing.  Then the user
 *                              tries combinations of copies (combinations.h):
 *                              the right one is written, and counts as right
 *
 * Pure: only decides.  The engine's keeper and the simulator hash and read
 * pieces, report the results, and carry out the actions one after the other
 * until there is NOTHING to do.
 */
#ifndef XD_SESSION_BLAME_H
#define XD_SESSION_BLAME_H

#include "ledger/ledger.h"
#include "session/pieces.h"

enum xd_suspicion_step {
    XD_SUSPICION_ONE,      /* one depot delivered the whole piece */
    XD_SUSPICION_ONE_BAN,  /* like ONE, and the piece was discarded */
    XD_SUSPICION_COPY,     /* several depots delivered the piece */
    XD_SUSPICION_REFUTED,  /* the bytes from `alone` are wrong too */
    XD_SUSPICION_ASK,      /* choose the next depot to ask */
    XD_SUSPICION_ASKED,    /* `alone` has been asked: nothing to do */
    XD_SUSPICION_COMBINE,  /* try combinations of copies */
    XD_SUSPICION_IN_VAIN,  /* no combination is right */
    XD_SUSPICION_RIGHT,    /* the bytes from `alone` are right */
    XD_SUSPICION_COMPARED, /* like RIGHT, and `differs` is set */
};

/* A piece that was wrong. */
struct xd_suspicion {
    struct xd_suspicion *next;
    enum xd_suspicion_step step;
    size_t piece;
    struct xd_range range;
    struct xd_runs origins;   /* depots of the first, wrong copy */
    struct xd_rangeset asked; /* numbers of the depots asked so far */
    unsigned alone;      /* the depot that is asked alone; XD_HELD: every depot
                            is asked */
    uint64_t judged;     /* COMPARED: all bytes before this one are dealt
                            with */
    unsigned n_combined; /* IN_VAIN: number of wrong combinations */
    bool has_more;       /* IN_VAIN: some combinations were not tried */

    /* Owned by the caller, which fills them in for COPY and COMPARE. */
    unsigned char *copy;        /* the first copy, which was wrong, or NULL */
    struct xd_rangeset differs; /* its wrong bytes */
};

/* The current state of a depot. */
struct xd_blame_depot {
    bool is_banned;
    bool has_range; /* has the whole range and may be asked for it */
    bool has_some;  /* has part of the range, or parity for it, or could have it
                       after a pardon */
    uint64_t bytes; /* bytes delivered in total */
};

struct xd_blame {
    /* Set by the caller. */
    const struct xd_ledger *ledger;
    const struct xd_pieces *pieces;
    const struct xd_range *wanted; /* bytes of the file that are wanted */
    const void *world;
    struct xd_blame_depot (*look)(const void *world, unsigned depot,
                                  struct xd_range range);

    struct xd_suspicion *list;
};

enum xd_blame_action_kind {
    XD_BLAME_NOTHING,
    XD_BLAME_COPY,    /* keep the hashed bytes in suspicion->copy */
    XD_BLAME_DISCARD, /* discard `range` */
    XD_BLAME_BAN,     /* ban `depot`, which sent wrong bytes within `range` */
    XD_BLAME_ASK,     /* discard `range` and ask only `depot` for it */
    XD_BLAME_COMPARE, /* compare the bytes that were hashed with the copy */
    XD_BLAME_RELEASE, /* let every depot be asked for `range` again */
    /* no depot is left that might have the right bytes of `range` */
    XD_BLAME_GIVE_UP,
    XD_BLAME_NO_MEMORY
};

struct xd_blame_action {
    enum xd_blame_action_kind kind;
    unsigned depot;
    struct xd_range range;
    struct xd_suspicion *suspicion; /* valid until the next call */
};

void xd_blame_fini(struct xd_blame *b);

/* Reports that a piece that is completely stored does not match its hash.
 * Errors: NOMEM. */
int xd_blame_wrong(struct xd_blame *b, size_t piece);

/* Reports that a piece matches, possibly after it was wrong. */
void xd_blame_right(struct xd_blame *b, size_t piece);

/* Returns whether combinations of copies of a piece must be tried.  All bytes
 * of that piece are stored.  *out is the suspicion, which is valid until
 * right(), in_vain() or refetch() is called for its piece. */
bool xd_blame_to_combine(const struct xd_blame *b,
                         const struct xd_suspicion **out);

/* in_vain() reports that all `n_combined` combinations that were tried are
 * wrong.  `has_more` means that other combinations were not tried.  refetch()
 * reports that part of the piece is missing again, so all depots are asked for
 * it. */
void xd_blame_in_vain(struct xd_blame *b, size_t piece, unsigned n_combined,
                      bool has_more);
void xd_blame_refetch(struct xd_blame *b, size_t piece);

/* Returns true if the depot must not be asked for the range of `s`, because
 * another depot is asked alone. */
bool xd_blame_keeps_out(const struct xd_suspicion *s, unsigned depot);

/* Returns true if a depot with many files may still be asked for other files,
 * after it has completed `n_delivered` requests and `n_wrong` copies were
 * wrong. */
bool xd_blame_spares(unsigned n_wrong, uint64_t n_delivered);

/* Returns what to do next.  Call again when that is done.  Depot numbers run
 * from 0 to n_depots - 1. */
struct xd_blame_action xd_blame_next(struct xd_blame *b, size_t n_depots);

/* Call when no depot can be asked for `byte`.  If the reason is that one depot
 * was asked alone, chooses the next one.  Otherwise returns NOTHING. */
struct xd_blame_action xd_blame_ask_another(struct xd_blame *b, uint64_t byte,
                                            size_t n_depots);

/* Returns true if the action COPY (for a wrong piece) or COMPARE (for a right
 * one) will follow and needs the bytes of `piece`, which is stored. */
bool xd_blame_needs_bytes(const struct xd_blame *b, size_t piece,
                          bool is_right);

/* Returns whether `piece` was wrong and the bad depot is not known yet. */
bool xd_blame_suspects(const struct xd_blame *b, size_t piece);

/* Returns true if bytes of an earlier run may be wrong although all pieces are
 * right, because some bytes are in no piece.  It is unknown which depot sent
 * them. */
bool xd_blame_doubts_held(const struct xd_blame *b);

/* Returns the first bytes within `within` that are not trusted any more once
 * `depot` is banned: no piece verifies them, and it delivered them or may have
 * done so.  Empty at within.end if there are none. */
struct xd_range xd_blame_next_unproved(const struct xd_blame *b, unsigned depot,
                                       struct xd_range within);

#endif
