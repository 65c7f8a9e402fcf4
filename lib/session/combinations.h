/* SPDX-License-Identifier: MIT */
/*
 * Finds the right combination of copies for a wrong piece whose bytes are on
 * several depots, including copies that can be computed from parity.
 *
 *     column        0        1        1        1
 *     place      | 0      | 1      | 2      | 3 parity |
 *     copies     | A, B   | C      | D      | E        |
 *
 * Bytes with the same parity form a column.  It has n places, any k of which
 * determine the others.  Bytes without parity are a column with one place.  A
 * combination leaves out some copies; each place then uses its first remaining
 * copy, and a place without one is computed from k others.
 *
 * Usually few copies are wrong, so combinations that leave out few copies are
 * tried first.  A bad depot is wrong in many places, so all copies of one
 * depot, or of two depots, are left out before single copies are.
 *
 * Pure.
 * Threads: not thread-safe.
 */
#ifndef XD_SESSION_COMBINATIONS_H
#define XD_SESSION_COMBINATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Limit on the number of combinations tried for one piece. */
#define XD_COMBINATIONS_MOST 1000u

#define XD_NO_COPY ((size_t)-1)

struct xd_combined_place {
    unsigned column;
    /* True if the bytes of this place are part of the piece.  False if they
     * only serve to compute the bytes of other places. */
    bool is_wanted;
};

struct xd_combined_copy {
    unsigned place;
    unsigned depot;
    bool is_proved; /* right for certain, so never left out */
};

struct xd_combinations {
    /* Set by the caller.  Places are sorted by column: the places of a column
     * are adjacent, wanted ones first, parity last.  Copies are sorted by
     * place, and the preferred copy of a place comes first.  Depot numbers run
     * from 0 to n_depots - 1. */
    const unsigned *needed; /* k of each column */
    const struct xd_combined_place *places;
    const struct xd_combined_copy *copies;
    unsigned n_columns, n_places, n_depots;
    /* maximum number of combinations in all searches, at most
     * XD_COMBINATIONS_MOST */
    unsigned most;
    size_t n_copies;
    /* Returns true if the piece is right when each place uses the copy
     * chosen[place], an index of `copies`.  A wanted place with XD_NO_COPY is
     * computed from the places of its column that have a copy, exactly k.
     * Other places with XD_NO_COPY are not needed.  `chosen` has n_places
     * elements and is valid during the call only.  An error cannot be returned:
     * store it, and return true to end the search. */
    bool (*is_right)(void *user, const size_t *chosen);
    void *user;

    /* Private, initially 0: combinations tried in all searches. */
    unsigned n_tried;
};

enum xd_combined {
    XD_COMBINED_RIGHT,
    XD_COMBINED_NONE, /* no combination is right */
    /* the limit was reached: `most`, or about one second of searching */
    XD_COMBINED_BOUND
};

/* Tries combinations until one is right.  The first one leaves out no copy.
 * After XD_COMBINED_RIGHT, the right combination is the one of the last call of
 * is_right(), which must have stored it.  Returns enum xd_combined, or NOMEM
 * before any call.  Blocks: for the search, and like is_right(). */
int xd_combinations_try(struct xd_combinations *c);

#endif
