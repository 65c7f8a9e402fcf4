/* SPDX-License-Identifier: MIT */
/*
 * A file of lines with the changes of an inventory since its private manifest
 * was written.  Appending to it costs less than writing the manifest again.
 *
 *     of SHA256     hash of the text that the lines continue
 *     ...
 *
 * A journal for another text is ignored, and so is an incomplete last line.
 */
#ifndef XD_PUBLISH_INVENTORY_JOURNAL_H
#define XD_PUBLISH_INVENTORY_JOURNAL_H

#include <xdownload/error.h>

#include "base/span.h"
#include "base/text.h"
#include "io/hash.h"

/* Appends the lines of the journal at `path` to `out`, if the journal continues
 * the text with the hash `of`.  Errors: IO (also if another user could have
 * written it), NOMEM. */
int xd_inventory_journal_read(struct xd_text *out, const char *path,
                              const char of[XD_SHA256_HEX + 1],
                              struct xd_error *err);

/* Appends lines and syncs them to the disk.  If `of` is not NULL, this starts a
 * new journal for the text with that hash.  No journal may exist then.  Errors:
 * IO, NOMEM. */
int xd_inventory_journal_append(const char *path, const char *of,
                                const char *lines, struct xd_error *err);

/* Removes the journal.  Succeeds if there is no journal.  Errors: IO. */
int xd_inventory_journal_remove(const char *path, struct xd_error *err);

#endif
