/*
 * Every byte is received, and the hash of the whole file is wrong: which depot
 * delivered the wrong bytes?
 *
 *     CHECK --right--> FINISH              (phases of session/session.h)
 *        | wrong
 *        v
 *      STOP --> REFETCH --> COMPARE --differs, exchanged--> CHECK
 *     (the next suspect's bytes, from  |                      | wrong:
 *      all others, to a scratch file)  +--no difference--+    | put back
 *        ^                                               |    |
 *        +-----------------------------------------------+----+
 *
 * The suspects are taken in turn, the one that delivered least first, so that
 * one bad depot costs at most one more file.  But where a copy first differs
 * from what the suspect delivered, others are asked (sampler.h), and the depot
 * in the minority is suspected in its place: mostly that costs the bad depot's
 * bytes and little else.  Where the others' bytes differ from the suspect's,
 * theirs are put into the file and it is hashed again: the hash itself decides,
 * so that two depots suffice, and a vote bans no depot.
 *
 * When no suspect is left the file is taken from one depot alone, for most of
 * them may be bad: those that were outvoted first, and of depots whose bytes
 * agree only one.  Two such rounds and those before them cost three files at
 * most.
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

struct xd_repair {
    struct xd_sink *scratch; /* NULL: none was needed yet */
    unsigned suspect;
    bool is_disputed;  /* a copy of what it delivered differs */
    unsigned outvoted; /* suspected before all others; XD_HELD: none */
    unsigned sole;   /* the depot that all bytes are to come from, or XD_HELD */
    unsigned n_sole; /* so many were */
    struct xd_rangeset theirs;    /* what the suspect delivered */
    struct xd_rangeset exchanged; /* of it, what is the others' now */
    struct xd_rangeset differed;  /* the same of the last sole depot's round */
};

void xd_repair_fini(struct xd_repair *r);

/* Every byte was accepted: what was fetched is to be compared, the file is to
 * be checked, or nothing is to be proved of it. */
void xd_repair_complete_locked(struct xd_engine *e);

/* The scheduler cannot get some byte.  True: it was a suspect's, and another
 * is suspected now, or the download has failed. */
bool xd_repair_gives_up_locked(struct xd_engine *e);

/* No request is left: before the next scheduler is made, which may fail for
 * want of memory, and after that, which fetches the suspect's bytes from
 * others. */
void xd_repair_prepare_locked(struct xd_engine *e);
void xd_repair_fetch_locked(struct xd_engine *e);

/* A depot can be asked for more than was known: not for what is to come from
 * others. */
void xd_repair_joined_locked(struct xd_engine *e, unsigned depot);

/* Whether copies of what the suspect delivered are compared with it. */
bool xd_repair_compares_locked(const struct xd_engine *e);

/* Samples of most depots differ from those of `depot`. */
void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot);

/* What is for the keeper to do, which releases the lock meanwhile. */
bool xd_repair_can_work_locked(const struct xd_engine *e);
void xd_repair_work_locked(struct xd_engine *e);

#endif
