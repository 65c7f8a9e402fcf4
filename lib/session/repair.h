/* SPDX-License-Identifier: MIT */
/*
 * Every byte is here, and the hash of the whole file is wrong: which depot
 * delivered the wrong bytes?
 *
 *     wrong ---> FETCH_HELD, where an earlier run left bytes: first those
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
 * The suspects are taken in turn, the one that delivered least first, so that
 * one bad depot costs at most one more file: what it delivered is fetched from
 * all others, into a second copy of the file.  But where a copy first differs
 * from what the suspect delivered, others are asked, and the depot in the
 * minority is suspected in its place, and keeps that: mostly this costs the bad
 * depot's bytes and little else.  Where the others' bytes differ from the
 * suspect's, theirs are put into the file and it is hashed again: the hash
 * itself decides, so that two depots suffice, and a vote bans no depot.
 *
 * When no suspect is left the file is taken from one depot alone, for most of
 * them may be bad: those that were outvoted first, and of depots whose bytes
 * agree only one.  Two such rounds and those before them cost three files at
 * most.
 *
 * Pure: decides only, and changes states of bytes.  Its user hashes, fetches
 * and exchanges bytes, and carries out the actions one after the other until
 * there is NOTHING to do.
 */
#ifndef XD_SESSION_REPAIR_H
#define XD_SESSION_REPAIR_H

#include "ledger/ledger.h"

enum xd_repair_step {
    XD_REPAIR_STEP_NONE,
    XD_REPAIR_STEP_WRONG,   /* the hash is */
    XD_REPAIR_STEP_BACK,    /* `differed` is exchanged again, from `at` on */
    XD_REPAIR_STEP_STOP,    /* until no request is left */
    XD_REPAIR_STEP_FETCH,   /* what is set aside, from others */
    XD_REPAIR_STEP_AGAIN,   /* that has failed: another round */
    XD_REPAIR_STEP_COMPARE, /* all of that is here, and exchanged before `at` */
    XD_REPAIR_STEP_RIGHT    /* the hash is; depots before `at` are judged */
};

/* What is true of a depot now. */
struct xd_repair_depot {
    bool is_banned;
    bool has_all; /* of the file */
};

struct xd_repair {
    /* Set by its user, the rest zero. */
    struct xd_ledger *ledger;
    const struct xd_range *wanted; /* of the file */
    const void *world;
    struct xd_repair_depot (*look)(const void *world, unsigned depot);

    /* Its user's, filled for EXCHANGE: where the two copies differed. */
    struct xd_rangeset exchanged;

    enum xd_repair_step step;
    uint64_t at;
    bool can_exchange;
    bool is_alone;    /* all is fetched from `depot`; else it is suspected */
    unsigned depot;   /* of the round */
    bool is_disputed; /* a copy of what the suspect delivered differs */
    unsigned n_alone; /* so many rounds were */
    bool has_outvoted;
    unsigned outvoted;                   /* is suspected before all others */
    struct xd_rangeset suspected, tried; /* depots, by number; tried alone, or
                                            equal to one that was */
    struct xd_rangeset differed;         /* what was exchanged in vain */
};

enum xd_repair_action_kind {
    XD_REPAIR_NOTHING,
    XD_REPAIR_FETCH_HELD,  /* discard what an earlier run left */
    XD_REPAIR_PREPARE,     /* a place for a second copy, unless there is one */
    XD_REPAIR_SUSPECT,     /* stop all requests: a round without `depot`, or */
    XD_REPAIR_FETCH_ALONE, /* of `depot` alone */
    XD_REPAIR_EXCHANGE,    /* the copies of `range`, of one depot's bytes, where
                           they differ */
    XD_REPAIR_CHECK,       /* hash the file again */
    XD_REPAIR_BLAME,       /* `depot`: it sent wrong bytes within `range` */
    XD_REPAIR_FINISH,      /* the file is right */
    XD_REPAIR_GIVE_UP,
    XD_REPAIR_NO_MEMORY
};

struct xd_repair_action {
    enum xd_repair_action_kind kind;
    unsigned depot;
    struct xd_range range;
};

void xd_repair_fini(struct xd_repair *r);

/* All of it is stored, and does not match its hash; `can_exchange`: it stays
 * where that can be replaced. */
void xd_repair_wrong(struct xd_repair *r, bool can_exchange);

/* It matches. */
void xd_repair_right(struct xd_repair *r);

/* What is to be done now; again when that is done.  Depots have numbers below
 * `n_depots`. */
struct xd_repair_action xd_repair_next(struct xd_repair *r, size_t n_depots);

/* ---- a round ---- */

/* No request is left: what the round fetches counts as missing from now on.
 * Errors: NOMEM, with some of it done. */
int xd_repair_set_aside(struct xd_repair *r);

/* Whether that is fetched now. */
bool xd_repair_is_fetching(const struct xd_repair *r);

/* Likewise, and `depot` must not be asked for it. */
bool xd_repair_avoids(const struct xd_repair *r, unsigned depot);

/* Likewise, and where it differs from what the suspect delivered others are
 * asked; until it has. */
bool xd_repair_compares(const struct xd_repair *r, size_t n_depots);
void xd_repair_disputed(struct xd_repair *r);

/* All of it is here. */
void xd_repair_fetched(struct xd_repair *r);

/* Some byte of it cannot be had; most depots differ from `depot`, which is
 * suspected next, or now if the suspect was not itself in the minority.  True:
 * that ends the round. */
bool xd_repair_unavailable(struct xd_repair *r);
bool xd_repair_outvoted(struct xd_repair *r, unsigned depot);

#endif
