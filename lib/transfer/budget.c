/* SPDX-License-Identifier: MIT */
#include "transfer/budget.h"

#include "os/clock.h"

int xd_budget_init(struct xd_budget *b, uint64_t bytes_per_s)
{
    int rc = xd_mutex_init(&b->lock);

    if (rc < 0)
        return rc;
    atomic_init(&b->rate, bytes_per_s);
    b->bucket = (struct xd_bucket){.rate = bytes_per_s};
    return 0;
}

void xd_budget_fini(struct xd_budget *b)
{
    xd_mutex_fini(&b->lock);
}

void xd_budget_set_rate(struct xd_budget *b, uint64_t bytes_per_s)
{
    xd_mutex_lock(&b->lock);
    atomic_store(&b->rate, bytes_per_s);
    b->bucket = (struct xd_bucket){.rate = bytes_per_s, .paid = xd_now()};
    xd_mutex_unlock(&b->lock);
}

xd_usec xd_budget_pay(struct xd_budget *b, xd_usec now, uint64_t bytes)
{
    xd_usec wait;

    xd_mutex_lock(&b->lock);
    wait = xd_bucket_pay(&b->bucket, now, bytes);
    xd_mutex_unlock(&b->lock);
    return wait;
}

void xd_budget_refund(struct xd_budget *b, uint64_t bytes)
{
    xd_mutex_lock(&b->lock);
    xd_bucket_refund(&b->bucket, bytes);
    xd_mutex_unlock(&b->lock);
}
