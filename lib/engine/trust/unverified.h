/* SPDX-License-Identifier: MIT */
/*
 * Bytes that left, to a reader or through a pipe, before it was known that they
 * are wrong: they cannot be taken back, so the reader or the caller is
 * informed.
 *
 *     reader:   its next read fails as CORRUPT, and all that follow until it
 *               seeks, be it to where it is; from there it gets others' bytes
 *     pipe:     the download fails as CORRUPT
 *
 * What no piece covers is noted when a reader gets it, with its origin.
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_UNVERIFIED_H
#define XD_ENGINE_UNVERIFIED_H

#include <stdbool.h>

#include "base/range.h"

struct xd_engine;
struct xd_error;
struct xd_reader;

/* The reader gets these bytes now.  Errors: NOMEM. */
int xd_unverified_note_locked(struct xd_reader *r, struct xd_range range);

/* Whether it has read all that is wanted, and pieces do not prove all of
 * that. */
bool xd_unverified_is_whole_file(const struct xd_reader *r);

/* What `depot` delivered of `range` (XD_HELD: what an earlier run did) is not
 * trusted, as `why` says: fail each reader that has any of it that no piece
 * covers. */
void xd_unverified_revoke_locked(struct xd_engine *e, unsigned depot,
                                 struct xd_range range,
                                 const struct xd_error *why);

#endif
