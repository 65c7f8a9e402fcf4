/* SPDX-License-Identifier: MIT */
/*
 * Handles bytes that turn out to be wrong after a reader or a pipe got them.
 * They cannot be taken back, so the reader or the caller is informed.
 *
 *     reader:   its next read fails as CORRUPT, and so do all further ones
 *               until it calls seek, even to its own position; from there it
 *               gets bytes of other depots
 *     pipe:     the download fails as CORRUPT
 *
 * When a reader gets bytes that no piece covers, they are recorded with their
 * depot.  Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_UNVERIFIED_H
#define XD_ENGINE_UNVERIFIED_H

#include <stdbool.h>

#include "base/range.h"

struct xd_engine;
struct xd_error;
struct xd_reader;

/* Records that the reader gets these bytes.  Errors: NOMEM. */
int xd_unverified_note_locked(struct xd_reader *r, struct xd_range range);

/* Returns true if the reader has read the whole file, and pieces do not prove
 * all of it. */
bool xd_unverified_is_whole_file(const struct xd_reader *r);

/* Call it when bytes of `range` from `depot` (XD_HELD: from an earlier run) are
 * no longer trusted, because of `why`.  Fails each reader that got any of these
 * bytes, unless pieces cover them. */
void xd_unverified_revoke_locked(struct xd_engine *e, unsigned depot,
                                 struct xd_range range,
                                 const struct xd_error *why);

#endif
