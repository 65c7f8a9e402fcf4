/* SPDX-License-Identifier: MIT */
/*
 * What has changed in an inventory since its private manifest was written, in lines
 * that are added to a file: it grows by what is new, where the manifest would be
 * written as a whole.
 *
 *     of SHA256     the text that the lines go on from
 *     ...
 *
 * A journal of another text is none, and what stands behind its last newline was cut off.
 */
#ifndef XD_PUBLISH_INVENTORY_JOURNAL_H
#define XD_PUBLISH_INVENTORY_JOURNAL_H

#include <xdownload/error.h>

#include "base/span.h"
#include "base/text.h"
#include "io/hash.h"

/* Add the lines of the journal at `path` to `out`, if it is one of that text.
 * Errors: IO (also: it may be another user's), NOMEM. */
int xd_inventory_journal_read(struct xd_text *out, const char *path,
                              const char of[XD_SHA256_HEX + 1],
                              struct xd_error *err);

/* They are on the disk when it returns.  With `of` the journal begins: none is there.
 * Errors: IO, NOMEM. */
int xd_inventory_journal_append(const char *path, const char *of,
                                const char *lines, struct xd_error *err);

/* One that is not there is none.  Errors: IO. */
int xd_inventory_journal_remove(const char *path, struct xd_error *err);

#endif
