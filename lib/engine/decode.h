/* SPDX-License-Identifier: MIT */
/*
 * The keeper decodes stripes of which some has come as parity (coded.h).
 *
 *     parity, and data that came, proved  -->  decoded in place  -->  written
 *
 * Only the keeper calls these, with engine.lock held.
 */
#ifndef XD_ENGINE_DECODE_H
#define XD_ENGINE_DECODE_H

#include <stdbool.h>

struct xd_engine;

/* Whether a stripe has come as a whole; and the decoding of one, which releases the
 * lock meanwhile. */
bool xd_decode_can_work_locked(const struct xd_engine *e);
void xd_decode_work_locked(struct xd_engine *e);

#endif
