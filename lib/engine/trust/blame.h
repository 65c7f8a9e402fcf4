/* SPDX-License-Identifier: MIT */
/*
 * Handles wrong pieces.  It carries out the decisions of session/blame.h: which
 * depot is asked alone for the piece, and which one is banned.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_BLAME_H
#define XD_ENGINE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

struct xd_depot;
struct xd_depot_source;
struct xd_engine;
struct xd_error;

/* Initialises this part of a new engine.  Call it without the lock. */
void xd_blame_begin(struct xd_engine *e);

/* Bans `depot` because of `why`, and fetches again all its bytes that no piece
 * hash has verified.  Bytes that a reader or a pipe already got are kept,
 * because they may be right. */
void xd_blame_ban_locked(struct xd_engine *e, unsigned depot,
                         const struct xd_error *why);

/* Bans a depot that delivered wrong bytes, and informs readers that got bytes
 * from it. */
void xd_blame_confirm_bad_locked(struct xd_engine *e, unsigned depot,
                                 const struct xd_error *why);

/* Call it when the depot delivered wrong bytes from the object of `source`.  If
 * pieces prove all other bytes, gives up only this source and returns true.
 * Returns false if most objects of the depot were wrong. */
bool xd_blame_spare_locked(struct xd_engine *e, unsigned depot,
                           struct xd_depot_source *source,
                           const struct xd_error *why);

/* Discards what the depot delivered or is delivering, so that it is fetched
 * again.  Verified bytes, and bytes that a reader or a pipe already got, are
 * kept. */
void xd_blame_discard_locked(struct xd_engine *e, unsigned depot);

/* Call it when piece `i`, which was completely written, has been hashed.
 * *bytes is its content, or NULL.  If this function keeps the content, it sets
 * *bytes to NULL.  Called by the keeper only. */
void xd_blame_hashed_locked(struct xd_engine *e, size_t i, bool is_right,
                            unsigned char **bytes);

/* Call it when `n_combined` combinations of the copies of piece `i` were tried
 * and none was right.  `has_more` means that there are others.  Called by the
 * keeper only. */
void xd_blame_combined_in_vain_locked(struct xd_engine *e, size_t i,
                                      unsigned n_combined, bool has_more);

/* Call it when no depot is left for `byte`.  If the reason is that one depot
 * was asked alone, asks the next one and returns true, unless there is none. */
bool xd_blame_ask_another_locked(struct xd_engine *e, uint64_t byte);

/* Call it when no depot is left for `byte`.  Uses banned depots again whose
 * wrong bytes were in other pieces, because each piece is verified
 * independently.  Returns true if there is such a depot. */
bool xd_blame_pardon_locked(struct xd_engine *e, uint64_t byte);

/* Returns true if the depot has a copy of `range` that was not requested
 * because other bytes of the object, or of the depot, were wrong.  Only a hash
 * of the range can show whether this copy is right. */
bool xd_blame_may_pardon_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                const struct xd_depot_source *source,
                                struct xd_range range);

/* Call it when a source was added to a depot.  The depot is not used for pieces
 * that another depot is asked for alone. */
void xd_blame_joined_locked(struct xd_engine *e, unsigned depot);

#endif
