/* SPDX-License-Identifier: MIT */
/*
 * Finds the bad depot when the file is complete but its hash is wrong.
 *
 *     wrong ---> FETCH_HELD: first replace bytes of an earlier run
 *       |  ^
 *       |  +-----wrong---- CHECK <--they differ--+
 *       v                                        |
 *     PREPARE --> EXCHANGE back             EXCHANGE what was set aside
 *                   |                            |      ^
 *                   v                            |      | fetched
 *       SUSPECT or FETCH_ALONE <--no difference--+      |
 *                   |       ^                           |
 *                   |       +--outvoted, unavailable----+
 *                   v                                   |
 *              no request is left: set aside -----------+
 *
 * Depots are suspected in turn, beginning with the one that delivered the
 * fewest bytes.  In a round, the bytes of the suspect are fetched from all
 * other depots, into a second copy of the file.  Where these differ from the
 * suspect's bytes, they replace them, and the file is hashed again.  The hash
 * decides, so two depots suffice, and no depot is banned by a vote.
 *
 * As soon as a byte differs, more depots are asked for it.  If another depot is
 * then in the minority, it becomes the suspect, and the former suspect may be
 * suspected again later.  So one bad depot usually costs little more traffic
 * than the bytes that it delivered, and never more than the size of the file.
 *
 * If no suspect is left, most depots may be bad, so the whole file is fetched
 * from a single depot.  Depots that were outvoted come first, and of depots
 * with equal bytes only one is tried.  Two such rounds and the rounds before
 * them together fetch at most three times the size of the file.
 *
 * Pure: only decides, and changes the states of bytes.  The caller hashes,
 * fetches and exchanges bytes, and carries out the actions one after the other
 * until there is NOTHING to do.
 */
#ifndef XD_SESSION_REPAIR_H
#define XD_SESSION_REPAIR_H

#include "ledger/ledger.h"

enum xd_repair_step {
    XD_REPAIR_STEP_NONE,
    XD_REPAIR_STEP_WRONG, /* the hash is wrong */
    /* the exchange of `differed` is being undone, from index `at` on */
    XD_REPAIR_STEP_BACK,
    XD_REPAIR_STEP_STOP,  /* waiting until no request is left */
    XD_REPAIR_STEP_FETCH, /* fetching set-aside bytes from other depots */
    XD_REPAIR_STEP_AGAIN, /* the fetch has failed: start another round */
    /* all bytes have arrived; bytes before `at` were exchanged */
    XD_REPAIR_STEP_COMPARE,
    /* the hash is right; depots before `at` were dealt with */
    XD_REPAIR_STEP_RIGHT
};

/* The current state of a depot. */
struct xd_repair_depot {
    bool is_banned;
    bool has_all; /* has the whole file */
};

struct xd_repair {
    /* Set by the caller; other fields are initially zero. */
    struct xd_ledger *ledger;
    const struct xd_range *wanted; /* wanted bytes of the file */
    const void *world;
    struct xd_repair_depot (*look)(const void *world, unsigned depot);

    /* Owned by the caller, which adds the ranges where the two copies differed
     * during EXCHANGE. */
    struct xd_rangeset exchanged;

    enum xd_repair_step step;
    uint64_t at;
    bool can_exchange;
    /* true: the whole file is fetched from `depot`; false: `depot` is
     * suspected */
    bool is_alone;
    unsigned depot;   /* depot of this round */
    bool is_disputed; /* another copy differs from the suspect's bytes */
    unsigned n_alone; /* number of rounds with a single depot */
    bool has_outvoted;
    unsigned outvoted; /* the depot to suspect next */
    /* suspected: depots that were suspected.  tried: depots that were tried
     * alone, and depots known to have the same bytes as one of them. */
    struct xd_rangeset suspected, tried;
    struct xd_rangeset differed; /* ranges exchanged without success */
};

enum xd_repair_action_kind {
    XD_REPAIR_NOTHING,
    XD_REPAIR_FETCH_HELD, /* discard the bytes of an earlier run */
    XD_REPAIR_PREPARE,    /* make room for a second copy, if there is none */
    /* stop all requests, then begin a round without `depot` */
    XD_REPAIR_SUSPECT,
    /* stop all requests, then begin a round with `depot` alone */
    XD_REPAIR_FETCH_ALONE,
    /* exchange the copies of `range`, from one depot, where they differ */
    XD_REPAIR_EXCHANGE,
    XD_REPAIR_CHECK,  /* hash the file again */
    XD_REPAIR_BLAME,  /* `depot` sent wrong bytes within `range` */
    XD_REPAIR_FINISH, /* the file is right */
    XD_REPAIR_GIVE_UP,
    XD_REPAIR_NO_MEMORY
};

struct xd_repair_action {
    enum xd_repair_action_kind kind;
    unsigned depot;
    struct xd_range range;
};

void xd_repair_fini(struct xd_repair *r);

/* Reports that the complete file does not match its hash.  `can_exchange` is
 * true if it is stored where bytes can be replaced. */
void xd_repair_wrong(struct xd_repair *r, bool can_exchange);

/* Reports that the file matches its hash. */
void xd_repair_right(struct xd_repair *r);

/* Returns what to do next.  Call again when that is done.  Depot numbers run
 * from 0 to n_depots - 1. */
struct xd_repair_action xd_repair_next(struct xd_repair *r, size_t n_depots);

/* ---- a round ---- */

/* Call when no request is left: marks the bytes to fetch in this round as
 * missing.  Errors: NOMEM, after changing only some of them. */
int xd_repair_set_aside(struct xd_repair *r);

/* Returns whether a round is fetching bytes. */
bool xd_repair_is_fetching(const struct xd_repair *r);

/* Returns whether `depot` must not be asked in this round. */
bool xd_repair_avoids(const struct xd_repair *r, unsigned depot);

/* compares() returns whether to ask more depots where the fetched bytes differ
 * from the suspect's.  disputed() reports that they have been asked. */
bool xd_repair_compares(const struct xd_repair *r, size_t n_depots);
void xd_repair_disputed(struct xd_repair *r);

/* Reports that all bytes of the round have been fetched. */
void xd_repair_fetched(struct xd_repair *r);

/* unavailable() reports that no depot can deliver a byte.  outvoted() reports
 * that most depots differ from `depot`, which becomes the next suspect.  It
 * replaces the current suspect at once, unless that one was itself outvoted.
 * Both return whether the round has ended. */
bool xd_repair_unavailable(struct xd_repair *r);
bool xd_repair_outvoted(struct xd_repair *r, unsigned depot);

#endif
