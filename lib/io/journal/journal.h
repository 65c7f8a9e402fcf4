/* SPDX-License-Identifier: MIT */
/*
 * A journal beside NAME.part says which of its bytes are there and good, so
 * that a download that was killed, or whose machine was, goes on.
 *
 *     worker:  bytes into NAME.part ----> WRITTEN into the journal
 *     keeper:  mark() --> NAME.part synced --> SYNCED{mark}, journal synced
 *
 * After a kill what was WRITTEN is there, for the system has it; after another
 * start of the machine only what was SYNCED is.
 *
 * Threads: written(), dropped(), validator() and mark() by any; everything else
 * by one.  journal.lock is a leaf, held for one small write; by shrink() for
 * the few that came meanwhile, and a renaming.
 */
#ifndef XD_IO_JOURNAL_H
#define XD_IO_JOURNAL_H

#include "io/journal/journal_text.h"

#include <xdownload/error.h>

struct xd_journal;
struct xd_sink;

/*
 * Open the journal at `path`, in `folder` (os/file.h), or make an empty one,
 * and read what it says into *contents, to be released with
 * xd_journal_contents_fini(); contents->has_header is false when it says
 * nothing.
 * Ownership: *out is the caller's, to release with xd_journal_free(); until then
 *            `folder` is used.
 * Errors: IO, also for a file that is no journal, which stays as it is; NOMEM.
 */
int xd_journal_open(struct xd_journal **out,
                    struct xd_journal_contents *contents, int folder,
                    const char *path, struct xd_error *err);

/* Begin anew, for a file of which nothing is there: on return nothing that the
 * journal said before can come back.  Errors: IO. */
int xd_journal_restart(struct xd_journal *j,
                       const struct xd_journal_identity *identity,
                       const char *boot_id, struct xd_error *err);

/* Go on behind what `contents` has read.  Errors: IO. */
int xd_journal_continue(struct xd_journal *j,
                        const struct xd_journal_contents *contents,
                        const char *boot_id, struct xd_error *err);

/* These bytes are written; or were found wrong.  Errors: IO. */
int xd_journal_written(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err);
int xd_journal_dropped(struct xd_journal *j, struct xd_range range,
                       struct xd_error *err);

/* The depot's copy at `url`, which is fit to be shown, has this validator.
 * One that is too long is left out.  Errors: IO. */
int xd_journal_validator(struct xd_journal *j, const char *url,
                         const char *validator, struct xd_error *err);

/* The file is complete, and does not match these hashes ("sha-256:HEX\n" each).
 * On return that is on the disk.  Errors: IO. */
int xd_journal_failed(struct xd_journal *j, const char *hashes,
                      struct xd_error *err);

/* What was said until now; and that since then all of it was synced to the
 * disk.  synced() returns when that is on the disk too.  Errors: IO. */
uint64_t xd_journal_mark(struct xd_journal *j);
int xd_journal_synced(struct xd_journal *j, uint64_t mark,
                      struct xd_error *err);

/* Sync the file sink that it is of, and say so; or, if that fails, that what was
 * not synced before is lost.  Errors: IO. */
int xd_journal_sync(struct xd_journal *j, struct xd_sink *of,
                    struct xd_error *err);

/*
 * The bytes that were not synced are on no disk, and will not be: none of them
 * is used by another run.  Errors: IO.
 */
int xd_journal_lost(struct xd_journal *j, struct xd_error *err);

/*
 * Once it is longer than 1 MiB, and than eight times what it came to when that
 * was last done: write it anew, without what later records have made void.
 * Whatever happens meanwhile, one of the two is there, whole.
 * Errors: IO, NOMEM; it stays as it was.
 */
int xd_journal_shrink(struct xd_journal *j, struct xd_error *err);

/* The file is complete: take the journal away.  Errors: IO. */
int xd_journal_remove(struct xd_journal *j, struct xd_error *err);
/* That of `path` in `folder`, which is not open, if there is one. */
int xd_journal_remove_at(int folder, const char *path, struct xd_error *err);

void xd_journal_free(struct xd_journal *j); /* NULL does nothing */

#endif
