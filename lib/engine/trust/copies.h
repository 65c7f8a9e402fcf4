/* SPDX-License-Identifier: MIT */
/*
 * Compares duplicate bytes from another depot with those in the file
 * (session/second_copy.h).  If they differ, the range becomes a sample
 * (sampler.h).
 *
 *     begin --> take --> read --> give --> end
 *                 ^                |
 *                 +----------------+
 *
 * Every function except read() is called with engine.lock held.
 */
#ifndef XD_ENGINE_COPIES_H
#define XD_ENGINE_COPIES_H

#include "session/second_copy.h"

struct xd_engine;

struct xd_copies {
    struct xd_second_copy copy;
    unsigned char *stored; /* bytes of the file at copy.run, or NULL */
    bool failed;           /* reading failed */
};

/* Begins a comparison: `depot` delivered `data` for `range`.  Call it before
 * any of these bytes are claimed.  `data` must stay valid until the end.
 * Returns false if nothing is compared; then do not call end(). */
bool xd_copies_begin_locked(struct xd_engine *e, struct xd_copies *c,
                            unsigned depot, struct xd_range range,
                            const unsigned char *data);

/* take() returns true if there is something to read, read() reads it without
 * the lock, and give() compares it. */
bool xd_copies_take_locked(struct xd_engine *e, struct xd_copies *c);
void xd_copies_read(struct xd_engine *e, struct xd_copies *c);
void xd_copies_give_locked(struct xd_engine *e, const struct xd_copies *c);

/* Ends the comparison and judges samples that are complete now. */
void xd_copies_end_locked(struct xd_engine *e, struct xd_copies *c);

#endif
