/* SPDX-License-Identifier: MIT */
/*
 * A bound on bytes per second for all runners of a download together: a bucket
 * (base/bucket.h) that any thread pays into.
 */
#ifndef XD_TRANSFER_BUDGET_H
#define XD_TRANSFER_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bucket.h"
#include "os/thread.h"

struct xd_budget {
    atomic_ullong rate;      /* bytes per second; 0: no bound */
    struct xd_mutex lock;    /* a leaf */
    struct xd_bucket bucket; /* guarded by lock */
};

/* Errors: NOMEM, and then there is nothing to fini(). */
int xd_budget_init(struct xd_budget *b, uint64_t bytes_per_s);
void xd_budget_fini(struct xd_budget *b);

/* What was paid for under the old rate is forgotten. */
void xd_budget_set_rate(struct xd_budget *b, uint64_t bytes_per_s);

static inline uint64_t xd_budget_rate(const struct xd_budget *b)
{
    return atomic_load(&b->rate);
}

/* As with a bucket. */
xd_usec xd_budget_pay(struct xd_budget *b, xd_usec now, uint64_t bytes);
void xd_budget_refund(struct xd_budget *b, uint64_t bytes);

#endif
