/* SPDX-License-Identifier: MIT */
/* The rate limit that all runners of a download share: a token bucket
 * (base/bucket.h) with a lock. */
#ifndef XD_TRANSFER_BUDGET_H
#define XD_TRANSFER_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bucket.h"
#include "os/thread.h"

struct xd_budget {
    atomic_ullong rate;      /* bytes per second; 0: no limit */
    struct xd_mutex lock;    /* a leaf lock */
    struct xd_bucket bucket; /* guarded by lock */
};

/* Prepares a budget.  Errors: NOMEM; then do not call fini(). */
int xd_budget_init(struct xd_budget *b, uint64_t bytes_per_s);
void xd_budget_fini(struct xd_budget *b);

/* Changes the rate.  Payments under the old rate no longer count. */
void xd_budget_set_rate(struct xd_budget *b, uint64_t bytes_per_s);

static inline uint64_t xd_budget_rate(const struct xd_budget *b)
{
    return atomic_load(&b->rate);
}

/* Like the functions of struct xd_bucket. */
xd_usec xd_budget_pay(struct xd_budget *b, xd_usec now, uint64_t bytes);
void xd_budget_refund(struct xd_budget *b, uint64_t bytes);

#endif
