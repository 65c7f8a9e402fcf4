/*
 * Every byte is received, and the hash of the whole file is wrong: which depot
 * lied?
 *
 *     JUDGING --right--> done
 *        | wrong
 *        v
 *     STOPPING -> FETCHING -> COMPARING --differs, exchanged--> JUDGING
 *     (the next suspect's bytes, from     |                        | wrong:
 *      all others, to a scratch file)     +--no difference--+      | put back
 *        ^                                                  |      |
 *        +--------------------------------------------------+------+
 *
 * The suspects are taken in turn, the one that delivered least first, so that
 * one liar costs at most one more file.  But where a copy first differs from what
 * the suspect delivered, others are asked (sampler.h), and the depot in the
 * minority is suspected in its place: mostly that costs the liar's bytes and
 * little else.  Where the others'
 * bytes differ from the suspect's, theirs are put into the file and it is hashed
 * again: the hash itself decides, so that two depots suffice, and a vote
 * bans no depot.
 *
 * When no suspect is left the file is taken from one depot alone, for most of
 * them may lie: those that were outvoted first, and of depots whose bytes agree
 * only one.  Two such rounds and those before them cost three files at most.
 *
 * Only for files: what left through a pipe cannot be taken back.  Every
 * function is called with engine.lock held.
 */
#ifndef XD_ENGINE_REPAIR_H
#define XD_ENGINE_REPAIR_H

#include <stdbool.h>

#include "base/range.h"

struct xd_engine;
struct xd_sink;

enum xd_repair_phase {
    XD_REPAIR_NONE,      /* the file is being fetched */
    XD_REPAIR_JUDGING,   /* the keeper hashes what is left of it, or all */
    XD_REPAIR_STOPPING,  /* until no lane carries anything */
    XD_REPAIR_FETCHING,  /* the suspect's bytes come from others */
    XD_REPAIR_COMPARING, /* the keeper holds them against the suspect's */
};

struct xd_repair {
    enum xd_repair_phase phase;
    struct xd_sink *scratch; /* NULL: none was needed yet */
    unsigned suspect;
    bool is_disputed;  /* a copy of what it brought differs */
    unsigned outvoted; /* suspected before all others; XD_HELD: nobody */
    unsigned sole;   /* the depot that all bytes are to come from, or XD_HELD */
    unsigned n_sole; /* so many were */
    struct xd_rangeset theirs;    /* what the suspect brought */
    struct xd_rangeset exchanged; /* of it, what is the others' now */
    struct xd_rangeset differed;  /* the same of the last sole depot's round */
};

void xd_repair_fini(struct xd_repair *r);

/* The scheduler has every byte.  True: the file must be judged first. */
bool xd_repair_begins_locked(struct xd_engine *e);

/* The scheduler cannot get some byte.  True: it was a suspect's, and another
 * is suspected now, or the download has failed. */
bool xd_repair_gives_up_locked(struct xd_engine *e);

/* Whether decisions wait: for the keeper, or for lanes to end. */
bool xd_repair_is_paused_locked(const struct xd_engine *e);

/* No lane carries anything: before the next scheduler is made, and after that,
 * which fetches the suspect's bytes from others.  Errors: NOMEM. */
int xd_repair_prepare_locked(struct xd_engine *e);
void xd_repair_fetch_locked(struct xd_engine *e);

/* A depot can be asked for more than was known: not for what is to come from
 * others. */
void xd_repair_joined_locked(struct xd_engine *e, unsigned depot);

/* Whether copies of what the suspect brought are held against it. */
bool xd_repair_listens_locked(const struct xd_engine *e);

/* Most say of a few bytes that those of `depot` are wrong. */
void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot);

/* What is for the keeper to do, which releases the lock meanwhile. */
bool xd_repair_can_work_locked(const struct xd_engine *e);
void xd_repair_work_locked(struct xd_engine *e);

#endif
