/* SPDX-License-Identifier: MIT */
/*
 * Every byte is received, and the hash of the whole file is wrong: carries out
 * what session/repair.h decides, which depot's bytes are fetched again, and
 * from which others, into a scratch file.
 *
 *     CHECK --right--> FINISH              (phases of session/session.h)
 *        | wrong
 *        v
 *      STOP --> REFETCH --> COMPARE --differs, exchanged--> CHECK
 *        ^                     | no difference
 *        +---------------------+
 *
 * Only for files: what left through a pipe cannot be taken back.  Every
 * function is called with engine.lock held.
 */
#ifndef XD_ENGINE_REPAIR_H
#define XD_ENGINE_REPAIR_H

#include <stdbool.h>

#include "session/repair.h"

struct xd_engine;

/* Of a new engine: before any byte is wrong.  Without the lock. */
void xd_repair_begin(struct xd_engine *e);

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

/* Samples of most depots differ from those of `depot`. */
void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot);

/* What is for the keeper to do, which releases the lock meanwhile. */
bool xd_repair_can_work_locked(const struct xd_engine *e);
void xd_repair_work_locked(struct xd_engine *e);

#endif
