/* SPDX-License-Identifier: MIT */
/*
 * Going on where an earlier run stopped.
 *
 *     keeper:   opens the journal, before anything is fetched; what it says is there counts as written
 *     workers:  note in it what they have written
 *     keeper:   every few seconds syncs both to the disk
 *
 * What is there is used if a hash will prove it.  Without one it is compared
 * with samples of what the depots have (trust/sample_check.h), before anything
 * is fetched.
 *
 * Of a complete file that did not match its hash, the journal keeps that hash:
 * it must hold in later runs too, unless they have a hash of their own.
 */
#ifndef XD_ENGINE_RESUME_H
#define XD_ENGINE_RESUME_H

#include <stdbool.h>

#include "base/range.h"
#include "base/text.h"
#include "base/time.h"

struct xd_batch;
struct xd_engine;
struct xd_error;
struct xd_journal;
struct xd_journal_identity;
struct xd_manifest;
struct xd_lane;

struct xd_resume {
    /* Constant once it is open. */
    struct xd_journal *journal; /* NULL: none is kept */
    bool notes_bytes;           /* false: it only says whose the .part is */
    struct xd_text depots;      /* "URL validator\n", of the earlier runs */
    struct xd_manifest *bound;  /* the manifest with the hash that an earlier
                                   run failed by; NULL: none did */

    /* Guarded by lock. */
    struct xd_batch *batch;     /* of a comparison that is going on, or NULL */
    struct xd_rangeset dropped; /* not noted yet */
    uint64_t unsynced;          /* bytes */
    xd_usec sync_at;            /* XD_NEVER: all are on the disk */
};

/* How the journal of file number `file` of `m` calls it when it goes to `path`;
 * size and range are left to the caller.  `hashes` is empty, holds what *out
 * points to, and is the caller's to release.  Errors: NOMEM. */
int xd_resume_identify(const struct xd_manifest *m, size_t file,
                       const char *path, struct xd_text *hashes,
                       struct xd_journal_identity *out, struct xd_error *err);

void xd_resume_init(struct xd_resume *r);
void xd_resume_fini(struct xd_resume *r);

/* Only the keeper calls these.  open() and work() release the lock. */
void xd_resume_open_locked(struct xd_engine *e);
bool xd_resume_can_work_locked(const struct xd_engine *e);
void xd_resume_work_locked(struct xd_engine *e);

/* The download is over: end a comparison that is going on. */
void xd_resume_wake_locked(struct xd_engine *e);

/* If the download has failed because the complete file did not match its hash,
 * the journal says so.  Releases the lock. */
void xd_resume_note_failure_locked(struct xd_engine *e);

/* The download has failed, or was canceled: what was received is synced to the
 * disk for the next run, as long as that takes.  Releases the lock. */
void xd_resume_save_locked(struct xd_engine *e);

/* The download has failed: what it made and wrote nothing to is removed. 
 * Without the lock. */
void xd_resume_remove_empty(struct xd_engine *e);

/* Once the file has its name: without the lock.  Errors: IO. */
int xd_resume_finish(struct xd_engine *e, struct xd_error *err);

/* The last validator of `url` in a list of "URL validator\n", and its length;
 * NULL if there is none. */
const char *xd_resume_find_validator(const char *list, const char *url,
                                     size_t *out_len);

/* `range` is written: without the lock.  Errors: IO. */
int xd_resume_written(struct xd_engine *e, struct xd_range range,
                      struct xd_error *err);
/* So many bytes more are noted; these are not there any more. */
void xd_resume_written_locked(struct xd_engine *e, uint64_t bytes);
void xd_resume_dropped_locked(struct xd_engine *e, struct xd_range range);

/* What the depot of `lane` says of its copy (NULL: nothing): without the lock,
 * before the first byte of it is written.  Errors: IO. */
int xd_resume_learned(struct xd_engine *e, const struct xd_lane *lane,
                      const char *validator, struct xd_error *err);

#endif
