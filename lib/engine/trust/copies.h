/* SPDX-License-Identifier: MIT */
/*
 * Bytes that are received a second time, from another depot, are compared with
 * those in the file (session/second_copy.h); where they differ they become a
 * sample (sampler.h).
 *
 *     begin --> take --> read --> give --> end
 *                 ^                |
 *                 +----------------+
 *
 * Every function but read() is called with engine.lock held.
 */
#ifndef XD_ENGINE_COPIES_H
#define XD_ENGINE_COPIES_H

#include "session/second_copy.h"

struct xd_engine;

struct xd_copies {
    struct xd_second_copy copy;
    unsigned char *stored; /* what was read of copy.run, or NULL */
    bool failed;           /* it could not be read */
};

/* `depot` has `data` for `range`, of which nothing is claimed for it yet; both
 * stay until the end.  False: it is not compared, and there is no end. */
bool xd_copies_begin_locked(struct xd_engine *e, struct xd_copies *c,
                            unsigned depot, struct xd_range range,
                            const unsigned char *data);

/* Whether something is to be read; the reading, without the lock; and what it
 * shows. */
bool xd_copies_take_locked(struct xd_engine *e, struct xd_copies *c);
void xd_copies_read(struct xd_engine *e, struct xd_copies *c);
void xd_copies_give_locked(struct xd_engine *e, const struct xd_copies *c);

/* Samples that are complete now are judged. */
void xd_copies_end_locked(struct xd_engine *e, struct xd_copies *c);

#endif
