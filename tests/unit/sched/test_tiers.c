/* SPDX-License-Identifier: MIT */
/*
 * Depots that hold bytes in tiers.  The nodes of a mesh own two in five chunks
 * each, in tier 0, and have the others in tier 1; the origin has all in tier 2.
 */
#include "play.h"

#define NODES 5
#define ORIGIN NODES
#define CHUNK 20
#define CHUNKS 20
#define SIZE ((uint64_t)CHUNK * CHUNKS)

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive, &xd_policy_basic, &xd_policy_aggressive,
    &xd_policy_progress};

enum fault { WELL, REFUSES, SILENT };

struct mesh {
    struct play p;
    struct xd_range held[NODES][CHUNKS];
    uint8_t tiers[NODES][CHUNKS];
    uint8_t origins_tier;
    uint64_t cuts[CHUNKS];
    enum fault faults[NODES + 2];
    bool was_asked[NODES + 2][CHUNKS]; /* what each was asked for */
    bool was_opened[NODES + 2];
    struct xd_range silent[4096]; /* fetches that say nothing, */
    xd_usec silent_since[4096];
    unsigned depot_of[4096];
};

static bool owns(unsigned node, unsigned chunk)
{
    return node == chunk % NODES || node == (chunk + 1 + chunk / NODES) % NODES;
}

static void mesh_init(struct mesh *m, const struct xd_policy *policy)
{
    memset(m, 0, sizeof *m);
    play_init(&m->p, policy, NODES + 1, SIZE);
    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned c = 0; c < CHUNKS; c++) {
            m->held[i][c] = (struct xd_range){CHUNK * c, CHUNK * (c + 1)};
            m->tiers[i][c] = !owns(i, c);
            m->cuts[c] = CHUNK * (c + 1);
        }
        m->p.holdings[i] = (struct xd_holding){
            .held = m->held[i], .n_held = CHUNKS, .tiers = m->tiers[i]};
    }
    m->origins_tier = 2;
    m->p.holdings[ORIGIN].tiers = &m->origins_tier;
    m->p.layout.cuts = m->cuts;
    m->p.layout.n_cuts = CHUNKS - 1;
    m->p.o.patience = 60 * XD_SECOND;
    m->p.o.max_failures = 5;
}

static void note(struct mesh *m, const struct xd_sched_action *a)
{
    m->was_asked[a->depot][a->range.begin / CHUNK] = true;
    ck_assert_uint_eq(a->range.begin / CHUNK, (a->range.end - 1) / CHUNK);
}

/* Silent fetches fail after 5 s; returns when the next does. */
static xd_usec fail_silent(struct mesh *m)
{
    xd_usec next = XD_NEVER;

    for (unsigned i = 0; i < 4096; i++) {
        xd_usec at = m->silent_since[i] + 5 * XD_SECOND;

        if (m->silent_since[i] == 0)
            continue;
        if (at <= m->p.now) {
            m->silent_since[i] = 0;
            play_failed(&m->p, i);
        } else if (at < next) {
            next = at;
        }
    }
    return next;
}

static void answer(struct mesh *m, const struct xd_sched_action *a)
{
    note(m, a);
    if (m->faults[a->depot] == REFUSES) {
        play_failed(&m->p, a->fetch);
    } else if (m->faults[a->depot] == SILENT) {
        m->silent_since[a->fetch] = m->p.now;
    } else {
        m->p.now += XD_MS;
        play_done(&m->p, a->fetch);
    }
}

/* Until it is over, or a moment; what it ended with. */
static enum xd_sched_action_kind run_until(struct mesh *m, xd_usec until)
{
    while (m->p.now < until) {
        struct xd_sched_action a = play_next(&m->p);
        xd_usec next;

        if (a.kind == XD_DO_FINISH || a.kind == XD_DO_FAIL)
            return a.kind;
        if (a.kind == XD_DO_OPEN)
            m->was_opened[a.depot] = true;
        if (a.kind == XD_DO_CANCEL) {
            m->silent_since[a.fetch] = 0;
            play_canceled(&m->p, a.fetch);
        }
        if (a.kind == XD_DO_FETCH)
            answer(m, &a);
        if (a.kind != XD_DO_WAIT)
            continue;
        next = fail_silent(m);
        if (a.until < next)
            next = a.until;
        ck_assert_uint_gt(next, m->p.now);
        m->p.now = next < until ? next : until;
        play_depot(&m->p, XD_EV_TICK, 0);
        fail_silent(m);
    }
    return XD_DO_WAIT;
}

static enum xd_sched_action_kind run(struct mesh *m)
{
    return run_until(m, XD_NEVER);
}

static void mesh_start(struct mesh *m)
{
    m->p.now = XD_SECOND;
    play_start(&m->p);
}

static unsigned n_asked(const struct mesh *m, unsigned depot)
{
    unsigned n = 0;

    for (unsigned c = 0; c < CHUNKS; c++)
        n += m->was_asked[depot][c];
    return n;
}

/* How many chunks others than their owners were asked for, which are those that
 * both of these own. */
static unsigned n_foreign(const struct mesh *m, unsigned a, unsigned b)
{
    unsigned n = 0;

    for (unsigned i = 0; i < NODES; i++)
        for (unsigned c = 0; c < CHUNKS; c++)
            if (m->was_asked[i][c] && !owns(i, c)) {
                n++;
                ck_assert(owns(a, c) && owns(b, c));
            }
    return n;
}

START_TEST(each_chunk_is_asked_of_its_owners)
{
    static struct mesh m;

    mesh_init(&m, policies[_i]);
    mesh_start(&m);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert_uint_eq(n_foreign(&m, NODES, NODES), 0);
    ck_assert_uint_eq(n_asked(&m, ORIGIN), 0);
    ck_assert(!m.was_opened[ORIGIN]);
    play_fini(&m.p);
}
END_TEST

START_TEST(the_other_owner_does_it_for_one_that_is_dead)
{
    static struct mesh m;

    mesh_init(&m, policies[_i % 4]);
    m.faults[2] = _i < 4 ? REFUSES : SILENT;
    mesh_start(&m);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert_uint_eq(n_foreign(&m, NODES, NODES), 0);
    ck_assert(!m.was_opened[ORIGIN]);
    play_fini(&m.p);
}
END_TEST

/* Chunk 0 is owned by the nodes 0 and 1: refused twice, or silent for 2 s, and
 * not before, they let the others be asked. */
START_TEST(other_nodes_are_asked_for_what_dead_ones_own)
{
    static struct mesh m;
    bool is_silent = _i >= 4;

    mesh_init(&m, policies[_i % 4]);
    m.faults[0] = m.faults[1] = is_silent ? SILENT : REFUSES;
    mesh_start(&m);
    run_until(&m, XD_SECOND + (is_silent ? 2000 : 250) * XD_MS - 1);
    ck_assert_uint_eq(n_foreign(&m, 0, 1), 0);
    /* basic asks one depot at a time, each until its request fails. */
    run_until(&m, XD_SECOND + (is_silent ? 11 * XD_SECOND : 600 * XD_MS));
    ck_assert_uint_gt(n_foreign(&m, 0, 1), 0);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert(!m.was_opened[ORIGIN]);
    play_fini(&m.p);
}
END_TEST

START_TEST(the_origin_is_asked_when_no_node_answers)
{
    static struct mesh m;

    mesh_init(&m, policies[_i % 4]);
    for (unsigned i = 0; i < NODES; i++)
        m.faults[i] = _i < 4 ? REFUSES : SILENT;
    mesh_start(&m);
    run_until(&m, XD_SECOND + 200 * XD_MS);
    ck_assert(!m.was_opened[ORIGIN]);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert_uint_eq(n_asked(&m, ORIGIN), CHUNKS);
    play_fini(&m.p);
}
END_TEST

START_TEST(what_a_banned_node_owned_is_asked_of_others_at_once)
{
    static struct mesh m;

    mesh_init(&m, policies[_i]);
    mesh_start(&m);
    play_depot(&m.p, XD_EV_BANNED, 0);
    play_depot(&m.p, XD_EV_BANNED, 1);
    run_until(&m, XD_SECOND + 100 * XD_MS);
    ck_assert_uint_gt(n_foreign(&m, 0, 1), 0);
    for (unsigned i = 2; i < NODES; i++)
        play_depot(&m.p, XD_EV_BANNED, i);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    play_fini(&m.p);
}
END_TEST

/* Tiers hold for what is known of depots, not for who they are. */
START_TEST(bytes_that_owners_lost_are_asked_of_others_until_they_have_them)
{
    static struct mesh m;

    mesh_init(&m, policies[_i]);
    m.faults[2] = m.faults[3] = m.faults[4] = SILENT;
    m.faults[0] = m.faults[1] = SILENT;
    m.p.o.lanes_per_depot = 2;
    mesh_start(&m);
    play_lost(&m.p, 0, 0, CHUNK);
    play_lost(&m.p, 1, 0, CHUNK);
    run_until(&m, XD_SECOND + XD_MS);
    ck_assert(m.was_asked[2][0] || m.was_asked[3][0] || m.was_asked[4][0]);
    ck_assert(!m.was_asked[0][0] && !m.was_asked[1][0]);
    play_fini(&m.p);

    mesh_init(&m, policies[_i]);
    mesh_start(&m);
    play_lost(&m.p, 0, 0, CHUNK);
    play_lost(&m.p, 1, 0, CHUNK);
    play_event(&m.p, (struct xd_sched_event){
                         .kind = XD_EV_HOLDS, .depot = 1, .range = {0, CHUNK}});
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert(m.was_asked[1][0] && !m.was_asked[0][0]);
    ck_assert_uint_eq(n_foreign(&m, NODES, NODES), 0);
    play_fini(&m.p);
}
END_TEST

static void join(struct play *p, unsigned depot, uint64_t begin, uint64_t end,
                 uint8_t tier)
{
    play_event(p, (struct xd_sched_event){.kind = XD_EV_JOINED,
                                          .depot = depot,
                                          .range = {begin, end},
                                          .tier = tier});
}

START_TEST(one_that_is_used_again_sends_the_others_away)
{
    static struct mesh m;

    mesh_init(&m, policies[_i]);
    mesh_start(&m);
    play_depot(&m.p, XD_EV_BANNED, 0);
    play_depot(&m.p, XD_EV_BANNED, 1);
    join(&m.p, 0, 0, CHUNK, 0);
    ck_assert_int_eq(run(&m), XD_DO_FINISH);
    ck_assert_uint_eq(n_foreign(&m, NODES, NODES), 0);
    play_fini(&m.p);
}
END_TEST

/* One depot with all in tier 1 is in use, and one joins: when its request is
 * over it has nothing more to do, and goes. */
START_TEST(a_request_runs_on_when_its_depot_must_give_way)
{
    struct play p;
    uint8_t tier = 1;
    struct xd_sched_action a;
    unsigned fetch;

    play_init(&p, policies[_i], 1, 64 << 20);
    p.o.block_bytes = 1 << 20;
    p.holdings[0].tiers = &tier;
    play_start(&p);
    expect_opened(&p, 1);
    fetch = play_next(&p).fetch;
    join(&p, 1, 0, 64 << 20, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    while (a = play_next(&p), a.kind != XD_DO_WAIT) {
        ck_assert(a.kind != XD_DO_CANCEL);
        ck_assert(a.kind != XD_DO_FETCH || a.depot == 1);
        if (a.kind == XD_DO_SHORTEN)
            p.asked[a.fetch].end = a.range.end;
    }
    play_done(&p, fetch);
    while (a = play_next(&p), a.kind != XD_DO_PARK)
        ck_assert(a.kind != XD_DO_WAIT && a.depot == 1);
    ck_assert_uint_eq(a.depot, 0);
    play_fini(&p);
}
END_TEST

/* The layout knew of no tiers. */
START_TEST(one_that_joins_in_a_higher_tier_is_asked_when_no_other_is_left)
{
    struct play p;
    unsigned fetch;

    play_init(&p, policies[_i], 2, 1000);
    play_start(&p);
    play_depot(&p, XD_EV_BANNED, 1);
    join(&p, 2, 0, 1000, 3);
    expect_opened(&p, 1);
    fetch = play_next(&p).fetch;
    ck_assert_int_ne(play_next(&p).kind, XD_DO_OPEN);
    play_failed(&p, fetch);
    ck_assert_int_ne(play_next(&p).kind, XD_DO_OPEN);
    play_depot(&p, XD_EV_BANNED, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 2);
    ck_assert_uint_eq(play_next(&p).depot, 2);
    /* It says that it belongs with the others, of which one is back. */
    join(&p, 0, 0, 500, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    ck_assert_uint_eq(play_next(&p).depot, 0);
    play_fini(&p);
}
END_TEST

START_TEST(a_tier_that_is_said_later_counts)
{
    struct play p;

    play_init(&p, policies[_i], 2, 1000);
    play_start(&p);
    join(&p, 0, 0, 1000, 2);
    expect_depot(&p, XD_DO_OPEN, 1);
    ck_assert_uint_eq(play_next(&p).depot, 1);
    ck_assert_int_ne(play_next(&p).kind, XD_DO_OPEN);
    join(&p, 1, 0, 1000, 3);
    expect_depot(&p, XD_DO_OPEN, 0);
    ck_assert_uint_eq(play_next(&p).depot, 0);
    play_fini(&p);
}
END_TEST

START_TEST(what_is_wanted_later_has_tiers_too)
{
    struct play p;
    uint8_t tier = 1;

    play_init(&p, &xd_policy_adaptive, 1, 100);
    p.holdings[0].tiers = &tier;
    play_start(&p);
    play_range(&p, XD_EV_EXTENDED, 100, 200);
    join(&p, 0, 100, 200, 1);
    join(&p, 1, 100, 200, 0);
    for (uint64_t at[2] = {0, 100}; at[0] < 100 || at[1] < 200;) {
        struct xd_sched_action a = play_next(&p);

        if (a.kind == XD_DO_WAIT)
            p.now += XD_SECOND;
        if (a.kind != XD_DO_FETCH)
            continue;
        ck_assert_uint_eq(a.range.begin, at[a.depot]);
        at[a.depot] = a.range.end;
        play_done(&p, a.fetch);
    }
    expect_kind(&p, XD_DO_FINISH);
    play_fini(&p);
}
END_TEST

/* The only depot of its tier fails: it is given up at its last failure, for
 * another has the bytes, in whatever tier; and that one has patience. */
START_TEST(a_depot_is_the_only_holder_if_none_has_the_bytes_in_any_tier)
{
    struct play p;
    uint8_t tier = 2;
    struct xd_sched_action a;
    unsigned n[2] = {0, 0};

    play_init(&p, policies[_i % 4], 2, 10);
    p.holdings[1].tiers = &tier;
    p.o.patience = 60 * XD_SECOND;
    p.o.max_failures = _i < 4 ? 1 : 3;
    p.now = XD_SECOND;
    play_start(&p);
    while (a = play_next(&p), a.kind != XD_DO_FAIL) {
        if (a.kind == XD_DO_WAIT) {
            ck_assert_uint_ne(a.until, XD_NEVER);
            p.now = a.until;
        }
        if (a.kind != XD_DO_FETCH)
            continue;
        n[a.depot]++;
        play_failed(&p, a.fetch);
    }
    ck_assert_uint_eq(n[0], p.o.max_failures);
    ck_assert_uint_gt(n[1], 3);
    ck_assert_uint_ge(p.now, 60 * XD_SECOND);
    play_fini(&p);
}
END_TEST

/* A film: what the player waits for is at owners that are dead. */
START_TEST(a_reader_gets_what_dead_nodes_own_from_others)
{
    static struct mesh m;

    mesh_init(&m, policies[_i]);
    m.faults[0] = m.faults[1] = REFUSES;
    m.p.o.window_bytes = 4 * CHUNK;
    mesh_start(&m);
    for (uint64_t at = 0; at < SIZE; at += 2 * CHUNK) {
        play_event(&m.p, (struct xd_sched_event){.kind = XD_EV_DEMAND,
                                                 .range = {at, at + 4 * CHUNK},
                                                 .due = m.p.now + XD_SECOND,
                                                 .bytes_per_s = 2 * CHUNK});
        run_until(&m, m.p.now + XD_SECOND);
        ck_assert(xd_ledger_has(&m.p.ledger, XD_BYTES_RECEIVED,
                                (struct xd_range){0, at + 2 * CHUNK}));
    }
    ck_assert_uint_gt(n_foreign(&m, 0, 1), 0);
    ck_assert(!m.was_opened[ORIGIN]);
    play_fini(&m.p);
}
END_TEST

/* It is asked after the others from then on, and its first byte makes it one of
 * them again. */
START_TEST(one_that_was_silent_and_answers_sends_the_others_away)
{
    struct play p;
    uint8_t tier = 1;
    struct xd_sched_action a;

    play_init(&p, policies[_i], 2, 1000);
    p.holdings[1].tiers = &tier;
    p.o.lanes_per_depot = 2;
    p.now = XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    a = play_next(&p);
    ck_assert_uint_eq(a.depot, 0);
    while (a.kind != XD_DO_WAIT)
        a = play_next(&p);
    ck_assert_uint_le(a.until, 3 * XD_SECOND);
    p.now = 3 * XD_SECOND - 1;
    play_depot(&p, XD_EV_TICK, 0);
    ck_assert_int_ne(play_next(&p).kind, XD_DO_OPEN);
    p.now++;
    play_depot(&p, XD_EV_TICK, 0);
    while (a = play_next(&p), a.kind != XD_DO_OPEN)
        ck_assert_int_ne(a.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.depot, 1);
    play_bytes(&p, 0, p.asked[0].begin + 1);
    while (a = play_next(&p), a.kind != XD_DO_PARK)
        ck_assert_uint_ne(a.depot, 1);
    ck_assert_uint_eq(a.depot, 1);
    play_fini(&p);
}
END_TEST

/* To a status page, say, while it fills its cache. */
START_TEST(one_that_answers_a_ping_is_not_silent)
{
    struct play p;
    uint8_t tier = 1;
    struct xd_sched_action a;

    play_init(&p, policies[_i], 2, 1000);
    p.holdings[1].tiers = &tier;
    p.now = XD_SECOND;
    play_start(&p);
    expect_opened(&p, 1);
    do
        a = play_next(&p);
    while (a.kind != XD_DO_WAIT);
    p.now = 2 * XD_SECOND;
    play_event(&p, (struct xd_sched_event){.kind = XD_EV_PINGED,
                                           .depot = 0,
                                           .ping = XD_PING_ANSWERED});
    p.now = 4 * XD_SECOND - 1;
    play_depot(&p, XD_EV_TICK, 0);
    while (a = play_next(&p), a.kind != XD_DO_WAIT)
        ck_assert_int_ne(a.kind, XD_DO_OPEN);
    p.now++;
    play_depot(&p, XD_EV_TICK, 0);
    while (a = play_next(&p), a.kind != XD_DO_OPEN)
        ck_assert_int_ne(a.kind, XD_DO_WAIT);
    play_fini(&p);
}
END_TEST

START_TEST(one_that_failed_twice_is_asked_after_those_of_the_next_tier)
{
    struct play p;
    uint8_t tier = 1;
    struct xd_sched_action a;
    unsigned n_failed = 0;

    play_init(&p, policies[_i], 2, 1000);
    p.holdings[1].tiers = &tier;
    p.o.max_failures = 9;
    p.now = XD_SECOND;
    play_start(&p);
    while (a = play_next(&p), a.kind != XD_DO_OPEN || a.depot == 0) {
        ck_assert_uint_eq(a.depot, 0);
        if (a.kind == XD_DO_WAIT) {
            p.now = a.until;
        } else if (a.kind == XD_DO_FETCH) {
            play_failed(&p, a.fetch);
            n_failed++;
        }
    }
    ck_assert_uint_eq(n_failed, 2);
    p.now += 10 * XD_SECOND; /* its rest is over */
    play_depot(&p, XD_EV_TICK, 0);
    a = play_next(&p);
    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.depot, 1);
    play_failed(&p, a.fetch); /* once, which does not matter */
    while (a = play_next(&p), a.kind != XD_DO_FETCH)
        ck_assert_int_ne(a.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.depot, 0);
    play_fini(&p);
}
END_TEST

/* Where many mirrors are pinged, an origin is not. */
START_TEST(what_holds_nothing_is_not_pinged)
{
    struct play p;
    uint8_t tier = 1;
    struct xd_sched_action a;
    unsigned n = 0;

    play_init(&p, &xd_policy_adaptive, 61, 64 << 20);
    p.holdings[0].tiers = &tier;
    p.o.block_bytes = 1 << 20;
    p.o.max_pings = 64;
    p.o.max_open = 64;
    p.now = XD_SECOND;
    play_start(&p);
    ck_assert(xd_sched_has_pings(p.s));
    while (a = play_next(&p), a.kind != XD_DO_WAIT) {
        n += a.kind == XD_DO_PING;
        ck_assert_uint_ne(a.depot, 0);
    }
    ck_assert_uint_gt(n, 10);
    play_fini(&p);

    /* One that has nothing in any tier is no mirror. */
    play_init(&p, &xd_policy_adaptive, 61, 64 << 20);
    p.holdings[0].n_held = 0;
    p.o.max_pings = 64;
    play_start(&p);
    ck_assert(!xd_sched_has_pings(p.s));
    play_fini(&p);
}
END_TEST

/* A depot of the origin's tier that knows no ranges is not asked either. */
START_TEST(one_without_ranges_waits_for_its_tier)
{
    struct play p;
    uint8_t tier = 1;
    unsigned fetch;

    play_init(&p, policies[_i], 2, 1000);
    p.holdings[1].tiers = &tier;
    play_start(&p);
    play_depot(&p, XD_EV_NORANGES, 1);
    expect_opened(&p, 1);
    fetch = play_next(&p).fetch;
    ck_assert_int_ne(play_next(&p).kind, XD_DO_OPEN);
    play_failed(&p, fetch);
    play_depot(&p, XD_EV_BANNED, 0);
    expect_depot(&p, XD_DO_PARK, 0);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_fetch(&p, 1, 0, 1000);
    play_fini(&p);
}
END_TEST

START_TEST(a_stream_of_unknown_size_has_tiers)
{
    struct play p;
    uint8_t tier = 1;

    play_init(&p, &xd_policy_adaptive, 2, UINT64_MAX);
    p.holdings[0].tiers = &tier;
    play_start(&p);
    expect_depot(&p, XD_DO_OPEN, 1);
    expect_fetch(&p, 1, 0, UINT64_MAX);
    play_failed(&p, 0);
    play_depot(&p, XD_EV_BANNED, 1);
    expect_depot(&p, XD_DO_PARK, 1);
    expect_depot(&p, XD_DO_OPEN, 0);
    expect_fetch(&p, 0, 0, UINT64_MAX);
    play_fini(&p);
}
END_TEST

/* As many chunks as nodes times 50, of which each node owns 100. */
START_TEST(a_node_that_is_lost_costs_what_it_owned)
{
    static struct play p;
    static struct xd_range held[20][1000];
    static uint8_t tiers[20][1000], origins = 2;
    static uint64_t cuts[1000];
    uint64_t before;

    play_init(&p, policies[_i], 21, 1000000);
    p.o.block_bytes = 1000;
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned c = 0; c < 1000; c++) {
            cuts[c] = 1000 * (c + 1);
            held[i][c] = (struct xd_range){cuts[c] - 1000, cuts[c]};
            tiers[i][c] = i != c % 20 && i != (c + 1 + c / 20 % 19) % 20;
        }
        p.holdings[i] = (struct xd_holding){
            .held = held[i], .n_held = 1000, .tiers = tiers[i]};
    }
    p.holdings[20].tiers = &origins;
    p.layout.cuts = cuts;
    p.layout.n_cuts = 999;
    play_start(&p);
    while (play_next(&p).kind != XD_DO_WAIT) {
    }
    before = xd_sched_steps(p.s);
    play_depot(&p, XD_EV_BANNED, 7);
    /* For each of its chunks the other owner is found among 20. */
    ck_assert_uint_gt(xd_sched_steps(p.s) - before, 100);
    ck_assert_uint_lt(xd_sched_steps(p.s) - before, 100 * 42);
    before = xd_sched_steps(p.s);
    while (play_next(&p).kind != XD_DO_WAIT) {
    }
    ck_assert_uint_lt(xd_sched_steps(p.s) - before, 5000);
    play_fini(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("tiers");

    tcase_add_loop_test(t, each_chunk_is_asked_of_its_owners, 0, 4);
    tcase_add_loop_test(t, the_other_owner_does_it_for_one_that_is_dead, 0, 8);
    tcase_add_loop_test(t, other_nodes_are_asked_for_what_dead_ones_own, 0, 8);
    tcase_add_loop_test(t, the_origin_is_asked_when_no_node_answers, 0, 8);
    tcase_add_loop_test(t, what_a_banned_node_owned_is_asked_of_others_at_once,
                        0, 4);
    tcase_add_loop_test(
        t, bytes_that_owners_lost_are_asked_of_others_until_they_have_them, 0,
        4);
    tcase_add_loop_test(t, one_that_is_used_again_sends_the_others_away, 0, 4);
    tcase_add_loop_test(t, a_request_runs_on_when_its_depot_must_give_way, 0,
                        4);
    tcase_add_loop_test(
        t, one_that_joins_in_a_higher_tier_is_asked_when_no_other_is_left, 0,
        4);
    tcase_add_loop_test(t, a_tier_that_is_said_later_counts, 0, 4);
    tcase_add_test(t, what_is_wanted_later_has_tiers_too);
    tcase_add_loop_test(
        t, a_depot_is_the_only_holder_if_none_has_the_bytes_in_any_tier, 0, 8);
    tcase_add_loop_test(t, a_reader_gets_what_dead_nodes_own_from_others, 0, 4);
    tcase_add_loop_test(
        t, one_that_was_silent_and_answers_sends_the_others_away, 0, 4);
    tcase_add_loop_test(t, one_that_answers_a_ping_is_not_silent, 0, 4);
    tcase_add_loop_test(
        t, one_that_failed_twice_is_asked_after_those_of_the_next_tier, 0, 4);
    tcase_add_test(t, what_holds_nothing_is_not_pinged);
    tcase_add_loop_test(t, one_without_ranges_waits_for_its_tier, 0, 4);
    tcase_add_test(t, a_stream_of_unknown_size_has_tiers);
    tcase_add_loop_test(t, a_node_that_is_lost_costs_what_it_owned, 0, 4);
    return run_suite("sched.tiers", t);
}
