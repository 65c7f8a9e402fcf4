/* SPDX-License-Identifier: MIT */
/* The order of a batch's requests: first each request once, in the given order,
 * then the repetitions, earliest first.  There may be 100,000 requests, so no
 * function visits them all.  Pure. */
#ifndef XD_TRANSFER_TURNS_H
#define XD_TRANSFER_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

/* A request to be repeated. */
struct xd_retry {
    xd_usec at; /* earliest time */
    size_t request;
};

struct xd_turns {
    /* number of requests, and how many have been started */
    size_t n, n_begun;
    struct xd_retry *retries; /* heap with the earliest at its root */
    size_t n_retries;
    uint64_t n_moves; /* number of moves in the heap so far, for tests */
};

/*
 * Starts with the requests 0 to n - 1.
 * Ownership: release it with xd_turns_fini().  Errors: NOMEM.
 */
int xd_turns_init(struct xd_turns *t, size_t n);
void xd_turns_fini(struct xd_turns *t);

/* Takes the next request that was never started, and counts it as started.
 * Returns false if all of them were started. */
bool xd_turns_take_fresh(struct xd_turns *t, size_t *out);

/* Takes the earliest retry if its time is `until` or before. */
bool xd_turns_take_retry(struct xd_turns *t, xd_usec until, size_t *out);

/* Schedules a repetition of `request`, which was taken before, at `at` or
 * later. */
void xd_turns_again(struct xd_turns *t, size_t request, xd_usec at);

/* Returns the earliest time at which a request can be taken: 0 if one was never
 * started, XD_NEVER if none is left. */
xd_usec xd_turns_next_at(const struct xd_turns *t);

#endif
