/* SPDX-License-Identifier: MIT */
/*
 * Resuming an earlier download.
 *
 *     keeper:   opens the journal before anything is fetched; bytes listed in
 *               it count as written
 *     workers:  add the ranges that they have written
 *     keeper:   every few seconds syncs the file and the journal
 *
 * The bytes of the earlier run are used if a hash will prove them.  If there
 * is no hash, they are first compared with samples from the depots
 * (trust/sample_check.h).
 *
 * If a complete file did not match its hash, the journal keeps that hash.  A
 * later run without a hash then fails at once with CORRUPT.  But if bytes of
 * the file are missing, it fetches them and compares the file with the kept
 * hash.
 */
#ifndef XD_ENGINE_RESUME_H
#define XD_ENGINE_RESUME_H

#include <stdbool.h>

#include "base/range.h"
#include "base/text.h"
#include "base/time.h"

struct xd_batch;
struct xd_batch_config;
struct xd_engine;
struct xd_error;
struct xd_journal;
struct xd_journal_identity;
struct xd_manifest;
struct xd_lane;

struct xd_resume {
    /* constant after xd_resume_open_locked() */
    struct xd_journal *journal; /* NULL if no journal is kept */
    bool notes_bytes;           /* false: the journal only identifies the .part
                                   file */
    struct xd_text depots;      /* lines of the form "URL validator" from
                                   earlier runs */
    struct xd_manifest *bound;  /* manifest with the hash that an earlier run's
                                   file did not match, or NULL */

    /* guarded by lock */
    struct xd_batch *batch;     /* the running comparison, or NULL */
    struct xd_rangeset dropped; /* discarded, but not yet removed from the
                                   journal */
    uint64_t unsynced;          /* bytes written since the last sync */
    xd_usec sync_at;            /* time of the next sync; XD_NEVER: all is on
                                   the disk */
};

/* Fills in the identity by which a journal recognises file number `file` of
 * `m`, downloaded to `path`.  The caller sets size and range.  `hashes` must be
 * empty; it receives the strings to which *out points, and the caller releases
 * it.  Errors: NOMEM. */
int xd_resume_identify(const struct xd_manifest *m, size_t file,
                       const char *path, struct xd_text *hashes,
                       struct xd_journal_identity *out, struct xd_error *err);

void xd_resume_init(struct xd_resume *r);
void xd_resume_fini(struct xd_resume *r);

/* Called by the keeper only.  open() and work() release the lock. */
void xd_resume_open_locked(struct xd_engine *e);
bool xd_resume_can_work_locked(const struct xd_engine *e);
void xd_resume_work_locked(struct xd_engine *e);

/* Cancels a running comparison, because the download is over. */
void xd_resume_wake_locked(struct xd_engine *e);

/* If the complete file did not match its hash, records that in the journal.
 * Releases the lock. */
void xd_resume_note_failure_locked(struct xd_engine *e);

/* Syncs the received bytes to the disk after the download has failed or was
 * cancelled, however long that takes.  Releases the lock. */
void xd_resume_save_locked(struct xd_engine *e);

/* After a failure, removes the files that this download created without writing
 * anything to them.  Call it without the lock. */
void xd_resume_remove_empty(struct xd_engine *e);

/* Removes the journal after the file was renamed.  Call it without the lock.
 * Errors: IO. */
int xd_resume_finish(struct xd_engine *e, struct xd_error *err);

/* Returns the last validator of `url` in a list of lines of the form "URL
 * validator", and sets *out_len to its length.  NULL if there is none. */
const char *xd_resume_find_validator(const char *list, const char *url,
                                     size_t *out_len);

/* Records in the journal that `range` was written.  Call it without the lock.
 * Errors: IO. */
int xd_resume_written(struct xd_engine *e, struct xd_range range,
                      struct xd_error *err);
/* written_locked() counts bytes that were added to the journal, and schedules a
 * sync.  dropped_locked() makes the keeper remove `range`, which was discarded,
 * from the journal. */
void xd_resume_written_locked(struct xd_engine *e, uint64_t bytes);
void xd_resume_dropped_locked(struct xd_engine *e, struct xd_range range);

/* Open and close e->resume.batch, for requests of the keeper that are cancelled
 * when the download ends.  Call them without the lock.  Errors: those of
 * xd_batch_new(). */
int xd_resume_open_batch(struct xd_engine *e,
                         const struct xd_batch_config *config, unsigned n_slots,
                         struct xd_error *err);
void xd_resume_close_batch(struct xd_engine *e);

/* Records the validator of the source of `lane` (NULL: none) in the journal.
 * Call it without the lock, before the first byte of the response is written.
 * Errors: IO. */
int xd_resume_learned(struct xd_engine *e, const struct xd_lane *lane,
                      const char *validator, struct xd_error *err);

#endif
