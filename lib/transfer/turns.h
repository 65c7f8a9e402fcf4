/* SPDX-License-Identifier: MIT */
/*
 * Which request of a batch is made next: those that have not been made yet, in
 * their order, and only then those to be made again, the earliest first.  There
 * may be 100 000 of them, so no function walks them all.  Pure.
 */
#ifndef XD_TRANSFER_TURNS_H
#define XD_TRANSFER_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

/* A request that is to be made again. */
struct xd_retry {
    xd_usec at; /* not before */
    size_t request;
};

struct xd_turns {
    size_t n, n_begun;        /* requests; how many of them were made */
    struct xd_retry *retries; /* a heap with the earliest at its root */
    size_t n_retries;
    uint64_t n_moves; /* in the heap so far: what tests count */
};

/* Requests 0 to n - 1 are to be made.
 * Ownership: release with xd_turns_fini().  Errors: NOMEM. */
int xd_turns_init(struct xd_turns *t, size_t n);
void xd_turns_fini(struct xd_turns *t);

/* The first request that was never made, from now on one that was; false: all
 * were. */
bool xd_turns_take_fresh(struct xd_turns *t, size_t *out);

/* The retry whose time comes first, if it comes by `until`. */
bool xd_turns_take_retry(struct xd_turns *t, xd_usec until, size_t *out);

/* Make `request` once more, not before `at`.  It has been taken. */
void xd_turns_again(struct xd_turns *t, size_t request, xd_usec at);

/* When there is something to take: 0 for a request that was never made, and
 * XD_NEVER if there is nothing. */
xd_usec xd_turns_next_at(const struct xd_turns *t);

#endif
