/* SPDX-License-Identifier: MIT */
/*
 * What is kept for the next run of the long files of a set: each has a journal,
 * which its sink writes.  Here is said when that is synced, and what was wrong.
 *
 * Functions whose name ends in _locked are called with engine.lock held.
 */
#ifndef XD_ENGINE_SET_KEEP_H
#define XD_ENGINE_SET_KEEP_H

#include <stdbool.h>

#include "base/range.h"
#include "base/time.h"

struct xd_engine;
struct xd_error;

struct xd_set_keep {
    /* Guarded by lock. */
    struct xd_rangeset dropped; /* not noted yet */
    xd_usec sync_at;            /* 0: all is on the disk */
};

/* Whether this byte of the line is of a file that has a journal. */
bool xd_set_keeps(const struct xd_engine *e, uint64_t byte);

/* These bytes are written; or are not there any more. */
void xd_set_written_locked(struct xd_engine *e, struct xd_range range);
void xd_set_dropped_locked(struct xd_engine *e, struct xd_range range);

/* Only the keeper calls these.  work() and save() release the lock.  save(): the
 * download has failed, or was canceled. */
bool xd_set_can_keep_locked(const struct xd_engine *e);
xd_usec xd_set_keep_at_locked(const struct xd_engine *e);
void xd_set_keep_work_locked(struct xd_engine *e);
void xd_set_save_locked(struct xd_engine *e);

#endif
