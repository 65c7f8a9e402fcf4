/* SPDX-License-Identifier: MIT */
/*
 * Decides when to look again for an object that the store may still be
 * processing, because the upload got no answer, or the answer came before the
 * object was visible.
 *
 *     begin() -> look -> again() -> pause -> look -> again() ... false: give up
 *
 * Pure: times are arguments, in seconds.
 */
#ifndef XD_STORE_LOOKS_H
#define XD_STORE_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* State of the search for one object.  A zeroed struct has not begun. */
struct xd_looks {
    bool has_begun;
    unsigned n; /* how many times the object was not found */
    /* time of the last check; 0 before the first check, which sets it */
    int64_t until;
    int64_t seconds;     /* time between the first and the last check */
    int64_t pause_until; /* 0: the next call of pause() sets it */
    int64_t pause;       /* length of the next pause */
};

/* Returns whether the object may exist, now or soon, although its upload did
 * not succeed: there was no answer, or the server or a gateway failed after it
 * had received all bytes. */
bool xd_looks_may_help(const struct xd_answer *answer);

/* Begins after an answer for which xd_looks_may_help() is true, or after an
 * answer that accepted the object.  The store may take up to `patience` to
 * process it. */
void xd_looks_begin(struct xd_looks *l, const struct xd_answer *answer,
                    xd_usec patience);

/* Returns whether the caller must still wait at the time `now`. */
bool xd_looks_pause(struct xd_looks *l, int64_t now);

/* Reports that the object did not exist at `now`.  Returns true if the caller
 * should look again, after a pause. */
bool xd_looks_again(struct xd_looks *l, int64_t now);

#endif
