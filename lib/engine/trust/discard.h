/* SPDX-License-Identifier: MIT */
/*
 * Discards stored bytes, so that they are fetched again:
 *
 * - removes them from the ledger, the journal, and the records of the file set;
 * - tells the scheduler;
 * - marks their pieces as incomplete;
 * - makes hashes of pieces that are being computed invalid;
 * - restarts the hash of the whole file if it includes any of them.
 *
 * Every function is called with engine.lock held.  If memory runs out, the
 * download fails.
 */
#ifndef XD_ENGINE_DISCARD_H
#define XD_ENGINE_DISCARD_H

#include "base/range.h"
#include "ledger/ledger.h"

struct xd_engine;

/*
 * Discards the stored and received bytes of `range`.  Bytes that a lane is
 * writing now are not affected: they stay claimed until they are written.
 *
 * Bytes that the keeper is reading now (verify.reading) are discarded later, by
 * xd_discard_postponed_locked(), which the keeper calls after it has cleared
 * verify.reading.  Until then they stay stored and readable.  All postponed
 * bytes are discarded for the same reason, the one given last.
 */
void xd_discard_locked(struct xd_engine *e, struct xd_range range,
                       enum xd_discard_reason why);
void xd_discard_postponed_locked(struct xd_engine *e);

/* Discards all bytes of earlier runs, because the whole file does not match its
 * hash.  Must not be called while the keeper is reading (verify.reading):
 * postponed bytes would be found again and again, and the loop would not
 * end. */
void xd_discard_held_locked(struct xd_engine *e);

#endif
