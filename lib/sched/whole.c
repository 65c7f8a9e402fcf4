/* SPDX-License-Identifier: MIT */
/*
 * The policy for a file of unknown size: one fetch from start to end.
 *
 * Only the end of the stream shows the size, so the file cannot be divided.
 * Two depots that state no size may have different files, so sched.c discards
 * what one delivered before another one begins.
 */
#include "sched/policy.h"

#include "base/alloc.h"

struct whole {
    const struct xd_book *book;
    bool is_running;
};

static void whole_settle(struct xd_sched_options *o)
{
    o->redundancy = 1;
    o->progress = 0;
    o->lanes_per_depot = 1;
    o->max_open = 1;
}

static void *whole_new(const struct xd_book *book)
{
    struct whole *w = xd_alloc(1, sizeof *w);

    if (w != NULL)
        w->book = book;
    return w;
}

static void whole_free(void *policy)
{
    xd_free(policy);
}

static bool whole_choose(void *policy, unsigned fetch, unsigned depot,
                         xd_usec now, struct xd_range *out, unsigned *visits)
{
    struct whole *w = policy;

    (void)fetch;
    (void)depot;
    (void)now;
    *visits = 1;
    if (w->is_running ||
        xd_ledger_bytes(w->book->ledger, XD_BYTES_RECEIVED) > 0)
        return false;
    *out = w->book->wanted;
    w->is_running = true;
    return true;
}

static int whole_ended(void *policy, unsigned fetch, bool failed)
{
    struct whole *w = policy;

    (void)fetch;
    (void)failed;
    w->is_running = false;
    return 0;
}

const struct xd_policy xd_policy_whole = {
    .name = "whole",
    .settle = whole_settle,
    .new = whole_new,
    .free = whole_free,
    .choose = whole_choose,
    .ended = whole_ended,
};
