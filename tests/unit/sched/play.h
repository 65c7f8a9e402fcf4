/* SPDX-License-Identifier: MIT */
/*
 * A scheduler in the hands of a test: events in one line, actions as
 * expectations.  Blocks are ten bytes long unless a test says otherwise.
 */
#ifndef PLAY_H
#define PLAY_H

#include <check.h>
#include <string.h>

#include "sched/policy.h"
#include "suite.h"

#define MAX_DEPOTS 256

struct play {
    struct xd_ledger ledger;
    struct xd_sched *s;
    struct xd_holding holdings[MAX_DEPOTS];
    struct xd_range whole; /* what each depot holds unless a test changes it */
    struct xd_layout layout;
    struct xd_sched_options o;
    struct xd_range wanted;
    struct xd_range asked[4096]; /* by fetch */
    xd_usec pause; /* of a failed depot, as its governor says; 0: it does not */
    xd_usec now;
};

/* `n_depots` that hold all of `size` bytes. */
static inline void play_init(struct play *p, const struct xd_policy *policy,
                             unsigned n_depots, uint64_t size)
{
    memset(p, 0, sizeof *p);
    p->whole = p->wanted = (struct xd_range){0, size};
    for (unsigned i = 0; i < n_depots; i++)
        p->holdings[i] = (struct xd_holding){.held = &p->whole, .n_held = 1};
    p->layout = (struct xd_layout){
        .size = size, .depots = p->holdings, .n_depots = n_depots};
    p->o = (struct xd_sched_options){.policy = policy,
                                     .redundancy = 2,
                                     .progress = 3,
                                     .lanes_per_depot = 1,
                                     .max_open = MAX_DEPOTS,
                                     .block_bytes = 10,
                                     .max_failures = 3};
}

static inline void play_event(struct play *p, struct xd_sched_event ev)
{
    ev.now = p->now;
    ck_assert_int_eq(xd_sched_event(p->s, &ev), 0);
}

static inline void play_range(struct play *p, enum xd_sched_event_kind kind,
                              uint64_t begin, uint64_t end)
{
    if (kind == XD_EV_REJECTED)
        ck_assert_int_eq(xd_ledger_discard(&p->ledger,
                                           (struct xd_range){begin, end},
                                           XD_DISCARD_BAD_PIECE),
                         0);
    play_event(p, (struct xd_sched_event){.kind = kind, .range = {begin, end}});
}

/* Reader `reader` wants these bytes, the first at `due`. */
static inline void play_demand(struct play *p, unsigned reader, uint64_t begin,
                               uint64_t end, xd_usec due)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                          .reader = reader,
                                          .range = {begin, end},
                                          .due = due});
}

/* The only reader, 0, wants what a window holds. */
static inline void play_reader(struct play *p, uint64_t at)
{
    play_demand(p, 0, at, at + p->o.window_bytes, 0);
}

static inline void play_start(struct play *p)
{
    p->s = xd_sched_new(&p->layout, &p->o, p->wanted, &p->ledger);
    ck_assert_ptr_nonnull(p->s);
}

static inline void play_fini(struct play *p)
{
    xd_sched_free(p->s);
    xd_ledger_fini(&p->ledger);
}

static inline void play_bytes(struct play *p, unsigned fetch, uint64_t end)
{
    play_event(p, (struct xd_sched_event){
                      .kind = XD_EV_BYTES, .fetch = fetch, .range = {0, end}});
}

/* The fetch brings the rest, and it is accepted. */
static inline void play_done(struct play *p, unsigned fetch)
{
    struct xd_range r = p->asked[fetch];

    play_event(p, (struct xd_sched_event){
                      .kind = XD_EV_DONE, .fetch = fetch, .range = r});
    play_range(p, XD_EV_VERIFIED, r.begin, r.end);
}

static inline void play_failed_at(struct play *p, unsigned fetch, uint64_t end)
{
    play_event(p, (struct xd_sched_event){
                      .kind = XD_EV_FAILED,
                      .fetch = fetch,
                      .range = {0, end},
                      .retry_at = p->pause > 0 ? p->now + p->pause : 0});
}

static inline void play_failed(struct play *p, unsigned fetch)
{
    play_failed_at(p, fetch, p->asked[fetch].begin);
}

static inline void play_canceled(struct play *p, unsigned fetch)
{
    play_event(p,
               (struct xd_sched_event){.kind = XD_EV_CANCELED, .fetch = fetch});
}

static inline void play_depot(struct play *p, enum xd_sched_event_kind kind,
                              unsigned depot)
{
    play_event(p, (struct xd_sched_event){.kind = kind, .depot = depot});
}

static inline void play_lost(struct play *p, unsigned depot, uint64_t begin,
                             uint64_t end)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_LOST,
                                          .depot = depot,
                                          .range = {begin, end}});
}

static inline struct xd_sched_action play_next(struct play *p)
{
    struct xd_sched_action a = xd_sched_next(p->s, p->now);

    if (a.kind == XD_DO_FETCH)
        p->asked[a.fetch] = a.range;
    return a;
}

static inline void expect_depot(struct play *p, enum xd_sched_action_kind kind,
                                unsigned depot)
{
    struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, kind);
    ck_assert_uint_eq(a.depot, depot);
}

static inline void expect_opened(struct play *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        expect_depot(p, XD_DO_OPEN, i);
}

/* The next action fetches just these bytes from that depot. */
static inline unsigned expect_fetch(struct play *p, unsigned depot,
                                    uint64_t begin, uint64_t end)
{
    struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.depot, depot);
    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
    return a.fetch;
}

static inline unsigned expect_block(struct play *p, unsigned depot,
                                    uint64_t block)
{
    return expect_fetch(p, depot, block * p->o.block_bytes,
                        (block + 1) * p->o.block_bytes);
}

static inline void expect_cancel(struct play *p, unsigned fetch)
{
    struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, XD_DO_CANCEL);
    ck_assert_uint_eq(a.fetch, fetch);
}

static inline void expect_kind(struct play *p, enum xd_sched_action_kind kind)
{
    ck_assert_int_eq(play_next(p).kind, kind);
}

static inline void expect_wait_until(struct play *p, xd_usec until)
{
    struct xd_sched_action a = play_next(p);

    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.until, until);
}

static inline void expect_wait(struct play *p)
{
    expect_wait_until(p, XD_NEVER);
}

#endif
