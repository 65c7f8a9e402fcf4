/* SPDX-License-Identifier: MIT */
/*
 * Journals of the long files of a set, for the next run.  The sink of each file
 * writes its journal; these functions decide when it is synced, and remove
 * bytes that were discarded.
 *
 * Functions whose names end in _locked are called with engine.lock held.
 */
#ifndef XD_ENGINE_SET_KEEP_H
#define XD_ENGINE_SET_KEEP_H

#include <stdbool.h>

#include "base/range.h"
#include "base/time.h"

struct xd_engine;
struct xd_error;

struct xd_set_keep {
    /* guarded by lock */
    struct xd_rangeset dropped; /* discarded, but not yet removed from a
                                   journal */
    xd_usec sync_at;            /* time of the next sync; 0: everything is on
                                   the disk */
};

/* Returns true if the file with this byte of the download has a journal. */
bool xd_set_keeps(const struct xd_engine *e, uint64_t byte);

/* Call written() when bytes were written, and dropped() when they were
 * discarded. */
void xd_set_written_locked(struct xd_engine *e, struct xd_range range);
void xd_set_dropped_locked(struct xd_engine *e, struct xd_range range);

/* Called by the keeper only.  work() and save() release the lock.  save() syncs
 * everything after the download has failed or was cancelled. */
bool xd_set_can_keep_locked(const struct xd_engine *e);
xd_usec xd_set_keep_at_locked(const struct xd_engine *e);
void xd_set_keep_work_locked(struct xd_engine *e);
void xd_set_save_locked(struct xd_engine *e);

#endif
