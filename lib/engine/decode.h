/* SPDX-License-Identifier: MIT */
/*
 * Decoding of stripes that were partly fetched as parity (coded.h).
 *
 *     parity, and verified data  -->  decoded in place  -->  written
 *
 * Called by the keeper only, with engine.lock held.
 */
#ifndef XD_ENGINE_DECODE_H
#define XD_ENGINE_DECODE_H

#include <stdbool.h>

struct xd_engine;

/* can_work() returns true if a stripe is ready to be decoded.  work() decodes
 * one, and releases the lock meanwhile. */
bool xd_decode_can_work_locked(const struct xd_engine *e);
void xd_decode_work_locked(struct xd_engine *e);

#endif
