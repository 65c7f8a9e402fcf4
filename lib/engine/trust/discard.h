/* SPDX-License-Identifier: MIT */
/*
 * Stored bytes that do not count any more: the ledger, the journal and the pieces
 * forget them, and the scheduler has them fetched again.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_DISCARD_H
#define XD_ENGINE_DISCARD_H

#include "base/range.h"
#include "ledger/ledger.h"

struct xd_engine;

/* The stored bytes of `range` are discarded.  What a lane writes now it has
 * claimed until it has written.  Of a piece that the keeper reads now nothing is
 * written anew meanwhile: it is discarded when that is done, which the keeper
 * says by postponed(). */
void xd_discard_locked(struct xd_engine *e, struct xd_range range,
                       enum xd_discard_reason why);
void xd_discard_postponed_locked(struct xd_engine *e);

/* The whole file does not match its hash: the bytes that earlier runs delivered
 * are discarded. */
void xd_discard_held_locked(struct xd_engine *e);

#endif
