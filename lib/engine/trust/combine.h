/* SPDX-License-Identifier: MIT */
/*
 * Repairs a wrong piece if no depot has all of it.  Fetches all copies of its
 * parts, and the parity of its stripes, and tries combinations of them
 * (session/combinations.h).  Copies are kept in memory, or in a file without a
 * name if the piece is long.  The right bytes are written to the sink, and the
 * piece is then hashed like any other.
 *
 *     piece       |---------------------------|
 *     copies of   A====|    C=====|   E=======|
 *     depots      B=========|  D======|
 *     parts       |    |    |  |  |   |       |
 *
 * A part ends where the copy of a depot begins or ends, and where the stored
 * bytes come from another depot.
 *
 * Called by the keeper only.
 */
#ifndef XD_ENGINE_COMBINE_H
#define XD_ENGINE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct xd_combine;
struct xd_engine;

/*
 * Lists all copies of the piece, which must be completely stored.
 * Ownership: *out is the caller's; release it with xd_combine_free(), even
 * after an error.
 * Errors: NOMEM.  Called with engine.lock held.
 */
int xd_combine_new_locked(struct xd_combine **out, struct xd_engine *e,
                          size_t piece);

/* Fetches the copies, tries combinations, and writes the right one.  Called
 * without engine.lock.  Blocks: until the depots have answered or the download
 * has ended.  Errors: NOMEM; IO if a sink fails. */
int xd_combine_run(struct xd_combine *c, struct xd_error *err);

/* Returns true if the right bytes were found and written to the sink. */
bool xd_combine_has_found(const struct xd_combine *c);

/* Records in the ledger which depots delivered the bytes that are now in the
 * sink.  Call it only if xd_combine_has_found() returns true.  Errors: NOMEM.
 * Called with engine.lock held. */
int xd_combine_note_locked(const struct xd_combine *c);

/* Returns how many combinations were tried.  *out_is_bound is set to true if
 * there are more, or if the piece has too many parts to try any. */
unsigned xd_combine_n_tried(const struct xd_combine *c, bool *out_is_bound);

void xd_combine_free(struct xd_combine *c); /* accepts NULL */

#endif
