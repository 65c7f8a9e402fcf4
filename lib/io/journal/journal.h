/* SPDX-License-Identifier: MIT */
/*
 * A journal records which bytes of NAME.part are present and correct, so that a
 * download can resume after the process or the machine was killed.
 *
 *     worker:  bytes to NAME.part ------> WRITTEN record
 *     keeper:  mark() --> sync NAME.part --> SYNCED{mark} record, sync journal
 *
 * If only the process was killed, WRITTEN bytes are intact, because the kernel
 * has them.  After a reboot only SYNCED bytes are trusted.
 *
 * Threads: written(), dropped(), validator() and mark() may be called by any;
 * all else by one.  journal.lock is a leaf lock, held for one small write;
 * shrink() holds it for the last few records and a rename.
 */
#ifndef XD_IO_JOURNAL_H
#define XD_IO_JOURNAL_H

#include "io/journal/journal_text.h"

#include <xdownload/error.h>

struct xd_journal;
struct xd_sink;

/*
 * Opens or creates the journal at `path` in `folder` (os/file.h), and reads it
 * to *contents; release that with xd_journal_contents_fini().
 * contents->has_header is false for an empty journal.
 * Ownership: release *out with xd_journal_free(); `folder` must stay open until
 * then.
 * Errors: IO, also if the file is not a journal, which is left unchanged;
 * NOMEM.
 */
int xd_journal_open(struct xd_journal **out,
                    struct xd_journal_contents *contents, int folder,
                    const char *path, struct xd_error *err);

/* Starts a new journal for an empty file.  On return the old records are gone
 * for good.  Errors: IO. */
int xd_journal_restart(struct xd_journal *j,
                       const struct xd_journal_identity *identity,
                       const char *boot_id, struct xd_error *err);

/* Continues after the records in `contents`.  Errors: IO. */
int xd_journal_continue(struct xd_journal *j,
                        const struct xd_journal_contents *contents,
                        const char *boot_id, struct xd_error *err);

/* Record that bytes were written, or found to be wrong.  Errors: IO. */
int xd_journal_written(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err);
int xd_journal_dropped(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err);

/* Records the validator of a depot's copy; `url` must be free of secrets.
 * Skipped if it is too long.  Errors: IO. */
int xd_journal_validator(struct xd_journal *j, const char *url,
                         const char *validator, struct xd_error *err);

/* Records that the complete file does not match these hashes ("sha-256:HEX\n"
 * each).  Returns when that is on the disk.  Errors: IO. */
int xd_journal_failed(struct xd_journal *j, const char *hashes,
                      struct xd_error *err);

/* mark() returns the current position.  synced() records that everything up to
 * a mark has been synced.  It returns when that record is on the disk.  Errors:
 * IO. */
uint64_t xd_journal_mark(struct xd_journal *j);
int xd_journal_synced(struct xd_journal *j, uint64_t mark,
                      struct xd_error *err);

/* Syncs the file sink `of` and records that; if it fails, records that unsynced
 * bytes are lost.  Errors: IO. */
int xd_journal_sync(struct xd_journal *j, struct xd_sink *of,
                    struct xd_error *err);

/*
 * Records that unsynced bytes are lost, so that no other run uses them.
 * Errors: IO.
 */
int xd_journal_lost(struct xd_journal *j, struct xd_error *err);

/*
 * Compacts the journal if it is over 1 MiB and over eight times its size after
 * the last compaction: rewrites it without superseded records.  At any time
 * either the old or the new journal is complete.
 * Errors: IO, NOMEM; the journal is unchanged then.
 */
int xd_journal_shrink(struct xd_journal *j, struct xd_error *err);

/* Deletes the journal of a complete file.  Errors: IO. */
int xd_journal_remove(struct xd_journal *j, struct xd_error *err);
/* Deletes the journal of `path` in `folder`, which must not be open, if there
 * is one. */
int xd_journal_remove_at(int folder, const char *path, struct xd_error *err);

void xd_journal_free(struct xd_journal *j); /* NULL: does nothing */

#endif
