/* SPDX-License-Identifier: MIT */
/*
 * Repairs a complete file whose hash is wrong: carries out what
 * session/repair.h decides, namely which depot's bytes are fetched again from
 * other depots, into a scratch file.
 *
 *     CHECK --right--> FINISH              (phases of session/session.h)
 *        | wrong
 *        v
 *      STOP --> REFETCH --> COMPARE --differs, exchanged--> CHECK
 *        ^                     | no difference
 *        +---------------------+
 *
 * Only for files: bytes written to a pipe cannot be replaced.  Every function
 * is called with engine.lock held.
 */
#ifndef XD_ENGINE_REPAIR_H
#define XD_ENGINE_REPAIR_H

#include <stdbool.h>

#include "session/repair.h"

struct xd_engine;

/* Initialises this part of a new engine.  Call it without the lock. */
void xd_repair_begin(struct xd_engine *e);

/* Call it when all bytes were accepted.  The repair then compares the bytes
 * that were fetched again, or checks the file, or does nothing if there is no
 * hash. */
void xd_repair_complete_locked(struct xd_engine *e);

/* Call it when the scheduler has no depot for some byte.  Returns true if the
 * byte was being fetched again because its depot is suspected.  Then the repair
 * suspects another depot instead, or the download has failed. */
bool xd_repair_gives_up_locked(struct xd_engine *e);

/* Call prepare() when no request is running, before the next scheduler is
 * created (which may fail for lack of memory).  Call fetch() after that.  The
 * scheduler then fetches the suspect's bytes from other depots. */
void xd_repair_prepare_locked(struct xd_engine *e);
void xd_repair_fetch_locked(struct xd_engine *e);

/* Call it when a source was added to a depot.  The suspect is not asked for
 * bytes that other depots should deliver. */
void xd_repair_joined_locked(struct xd_engine *e, unsigned depot);

/* Suspects `depot`, because its samples differ from those of most depots. */
void xd_repair_outvoted_locked(struct xd_engine *e, unsigned depot);

/* The work of the keeper.  work() releases the lock meanwhile. */
bool xd_repair_can_work_locked(const struct xd_engine *e);
void xd_repair_work_locked(struct xd_engine *e);

#endif
