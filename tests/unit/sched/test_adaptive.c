/* SPDX-License-Identifier: MIT */
/* The rules of the adaptive policy, not its figures: those are for the
 * simulator to judge. */
#include "play.h"

#define BLOCK (UINT64_C(1) << 20)
#define STEP (10 * XD_MS)
#define LOG 4096

/* What a depot does: so long after it was asked it brings so many bytes per
 * second, one request after the other. */
struct source {
    double rate;
    xd_usec latency;
    uint64_t brought;
};

struct asking {
    bool is_live;
    unsigned depot;
    struct xd_range range;
    double got;
    xd_usec asked_at;
};

/* A download in steps of time. */
struct world {
    struct play p;
    struct source sources[64];
    struct asking fetches[128];
    struct xd_sched_action log[LOG]; /* FETCH and SHORTEN */
    xd_usec at[LOG];
    unsigned n_log, n_open, n_canceled;
    unsigned most_visits; /* of one decision */
    bool is_finished;
};

static struct world w;

static void init(unsigned n_depots, uint64_t size, double rate)
{
    memset(&w, 0, sizeof w);
    play_init(&w.p, &xd_policy_adaptive, n_depots, size);
    w.p.o.block_bytes = BLOCK;
    w.p.now = XD_SECOND;
    for (unsigned i = 0; i < n_depots; i++)
        w.sources[i] = (struct source){.rate = rate, .latency = 40 * XD_MS};
}

static void note(const struct xd_sched_action *a)
{
    ck_assert_uint_lt(w.n_log, LOG);
    w.at[w.n_log] = w.p.now;
    w.log[w.n_log++] = *a;
}

static void act(const struct xd_sched_action *a)
{
    struct asking *f = &w.fetches[a->fetch];

    switch (a->kind) {
    case XD_DO_OPEN:
        w.n_open++;
        break;
    case XD_DO_FETCH:
        note(a);
        *f = (struct asking){.is_live = true,
                             .depot = a->depot,
                             .range = a->range,
                             .got = (double)a->range.begin,
                             .asked_at = w.p.now};
        break;
    case XD_DO_SHORTEN:
        note(a);
        f->range.end = a->range.end;
        break;
    case XD_DO_CANCEL:
        w.n_canceled++;
        f->is_live = false;
        play_canceled(&w.p, a->fetch);
        break;
    case XD_DO_FINISH:
        w.is_finished = true;
        break;
    default:
        ck_assert_int_eq(a->kind, XD_DO_PARK);
    }
}

static void decide(void)
{
    struct xd_sched_action a;

    do {
        a = play_next(&w.p);
        if (xd_sched_visits(w.p.s) > w.most_visits)
            w.most_visits = xd_sched_visits(w.p.s);
        if (a.kind != XD_DO_WAIT)
            act(&a);
    } while (a.kind != XD_DO_WAIT && !w.is_finished);
}

/* Some bytes of a fetch. */
static void bring(unsigned i, double bytes)
{
    struct asking *f = &w.fetches[i];
    uint64_t before = (uint64_t)f->got, now;

    f->got += bytes;
    if (f->got > (double)f->range.end)
        f->got = (double)f->range.end;
    now = (uint64_t)f->got;
    w.sources[f->depot].brought += now - before;
    if (now == before)
        return;
    f->is_live = now < f->range.end;
    if (f->is_live)
        play_bytes(&w.p, i, now);
    else
        play_event(&w.p, (struct xd_sched_event){.kind = XD_EV_DONE,
                                                 .fetch = i,
                                                 .range = {0, now}});
    play_range(&w.p, XD_EV_VERIFIED, before, now);
}

/* The request of the depot that was made first and has bytes to bring. */
static unsigned first_of(unsigned depot)
{
    unsigned first = 128;

    for (unsigned i = 0; i < 128; i++)
        if (w.fetches[i].is_live && w.fetches[i].depot == depot &&
            w.p.now >= w.fetches[i].asked_at + w.sources[depot].latency &&
            (first == 128 || w.fetches[i].asked_at < w.fetches[first].asked_at))
            first = i;
    return first;
}

static void step(void)
{
    decide();
    w.p.now += STEP;
    for (unsigned i = 0; i < w.p.layout.n_depots && !w.is_finished; i++) {
        unsigned fetch = first_of(i);

        if (fetch < 128 && w.sources[i].rate > 0)
            bring(fetch, w.sources[i].rate * (double)STEP / 1e6);
    }
}

static void play_for(xd_usec duration)
{
    for (xd_usec end = w.p.now + duration; w.p.now < end && !w.is_finished;)
        step();
}

/* Returns how long it took, in seconds. */
static double play_to_end(void)
{
    xd_usec began = w.p.now;

    play_for(1000 * XD_SECOND);
    ck_assert(w.is_finished);
    return (double)(w.p.now - began) / 1e6;
}

static uint64_t brought(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 64; i++)
        sum += w.sources[i].brought;
    return sum;
}

static bool was_asked(unsigned depot, unsigned from)
{
    for (unsigned i = from; i < w.n_log; i++)
        if (w.log[i].kind == XD_DO_FETCH && w.log[i].depot == depot)
            return true;
    return false;
}

START_TEST(the_first_requests_ask_for_a_block_each)
{
    init(3, 64 * BLOCK, 1e6);
    play_start(&w.p);
    expect_opened(&w.p, 3);
    for (unsigned i = 0; i < 3; i++)
        expect_block(&w.p, i, i);
    expect_kind(&w.p, XD_DO_WAIT);
    play_fini(&w.p);
}
END_TEST

START_TEST(a_small_file_is_shared_from_the_start)
{
    init(4, BLOCK, 1e6);
    play_start(&w.p);
    decide();
    ck_assert_uint_eq(w.n_log, 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_le(xd_range_length(w.log[i].range), BLOCK / 4);
        ck_assert_uint_ge(xd_range_length(w.log[i].range), BLOCK / 16);
    }
    play_fini(&w.p);
}
END_TEST

START_TEST(requests_of_a_fast_depot_grow_and_become_small_at_the_end)
{
    uint64_t longest = 0, last;

    init(1, 64 * BLOCK, 4e6);
    play_start(&w.p);
    play_to_end();
    for (unsigned i = 0; i < w.n_log; i++)
        if (xd_range_length(w.log[i].range) > longest)
            longest = xd_range_length(w.log[i].range);
    last = xd_range_length(w.log[w.n_log - 1].range);
    ck_assert_uint_gt(longest, 3 * BLOCK); /* about a second's worth */
    ck_assert_uint_le(longest, 5 * BLOCK);
    ck_assert_uint_lt(last, BLOCK / 2);
    ck_assert_uint_ge(last, BLOCK / 64);
    play_fini(&w.p);
}
END_TEST

START_TEST(a_request_is_at_most_eight_blocks)
{
    init(1, 256 * BLOCK, 18e6);
    play_start(&w.p);
    play_to_end();
    for (unsigned i = 0; i < w.n_log; i++)
        ck_assert_uint_le(xd_range_length(w.log[i].range), 8 * BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_brings_each_request_at_one_moment_is_asked_for_more)
{
    init(1, 32 * BLOCK, 1e12);
    play_start(&w.p);
    play_to_end();
    ck_assert_uint_lt(w.n_log, 16);
    for (unsigned i = 0; i < w.n_log; i++)
        ck_assert_uint_le(xd_range_length(w.log[i].range), 8 * BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(next_to_nothing_comes_twice_while_all_is_well)
{
    init(4, 50 * BLOCK, 2e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    play_to_end();
    ck_assert_uint_ge(brought(), 50 * BLOCK);
    ck_assert_uint_le(brought(), 50 * BLOCK + BLOCK / 64);
    ck_assert_uint_le(w.n_canceled, 1);
    play_fini(&w.p);
}
END_TEST

START_TEST(unequal_depots_end_together_and_little_comes_twice)
{
    double took;

    init(4, 50 * BLOCK, 4e6);
    w.p.o.lanes_per_depot = 2;
    w.sources[0].rate = 0.1e6;
    w.sources[1].rate = 1e6;
    w.sources[2].latency = 200 * XD_MS;
    play_start(&w.p);
    took = play_to_end();
    ck_assert_double_le(took, 1.08 * 50 * (double)BLOCK / 9.1e6);
    ck_assert_uint_le(brought(), 50 * BLOCK + BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(the_next_request_is_made_before_the_last_is_done)
{
    init(1, 20 * BLOCK, 2e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    /* With a gap of 40 ms between requests it took half a second more. */
    ck_assert_double_le(play_to_end(), 20 * (double)BLOCK / 2e6 + 0.3);
    play_fini(&w.p);
}
END_TEST

/* The server may refuse each request.  It may also take more requests at a time than
 * the scheduler makes. */
START_TEST(who_has_refused_is_asked_for_all_that_is_left_in_few_requests)
{
    unsigned n_before;

    init(1, 64 * BLOCK, 4e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    play_for(2 * XD_SECOND);
    n_before = w.n_log;
    play_event(&w.p, (struct xd_sched_event){.kind = XD_EV_GOVERNED,
                                             .max_lanes = (unsigned)_i,
                                             .is_sparing = true});
    play_to_end();
    ck_assert_uint_le(w.n_log - n_before, 3);
    ck_assert_uint_ge(brought(), 64 * BLOCK);
    ck_assert_uint_le(brought(), 64 * BLOCK + BLOCK / 64);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_collapses_gives_its_tail_and_is_cut_there)
{
    unsigned cut = LOG;
    bool is_given = false;

    init(2, 32 * BLOCK, 4e6);
    play_start(&w.p);
    play_for(3 * XD_SECOND);
    w.sources[0].rate = 0.2e6;
    play_to_end();
    for (unsigned i = 0; i < w.n_log; i++)
        if (w.log[i].kind == XD_DO_SHORTEN && w.log[i].depot == 0)
            cut = i;
    ck_assert_uint_lt(cut, LOG);
    for (unsigned i = cut; i < w.n_log; i++)
        is_given |= w.log[i].kind == XD_DO_FETCH && w.log[i].depot == 1 &&
                    w.log[i].range.begin == w.log[cut].range.end;
    ck_assert(is_given);
    ck_assert_uint_eq(w.n_canceled, 0);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_is_still_finding_its_speed_is_not_cut)
{
    init(2, 8 * BLOCK, 8e6);
    w.sources[1].latency = 150 * XD_MS;
    w.sources[1].rate = 0.1e6;
    play_start(&w.p);
    while (w.sources[1].brought < 10000)
        step();
    w.sources[1].rate = 8e6;
    play_for(100 * XD_MS);
    for (unsigned i = 0; i < w.n_log; i++)
        ck_assert(w.log[i].kind != XD_DO_SHORTEN || w.log[i].depot == 0);
    play_to_end();
    ck_assert_uint_gt(w.sources[1].brought, BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_brings_ever_more_is_not_cut_however_long_that_takes)
{
    init(2, 8 * BLOCK, 4e6);
    w.sources[1].latency = 50 * XD_MS;
    w.sources[1].rate = 0.05e6;
    play_start(&w.p);
    play_for(XD_SECOND);
    while (w.sources[1].brought < BLOCK * 3 / 4) {
        w.sources[1].rate *= 1.4;
        play_for(50 * XD_MS);
    }
    for (unsigned i = 0; i < w.n_log; i++)
        ck_assert(w.log[i].kind != XD_DO_SHORTEN || w.log[i].depot == 0);
    play_to_end();
    play_fini(&w.p);
}
END_TEST

/* A fetch brings so many bytes, 40 kB each 10 ms. */
static void bring_evenly(unsigned fetch, double bytes)
{
    for (double b = 0; b < bytes; b += 4e4) {
        bring(fetch, 4e4);
        w.p.now += STEP;
    }
    decide();
}

START_TEST(a_connection_that_fell_silent_says_nothing_of_the_other)
{
    init(1, 64 * BLOCK, 0);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    decide();
    w.p.now += 40 * XD_MS;
    decide();
    bring_evenly(0, BLOCK / 2);
    ck_assert_uint_eq(w.n_log, 2);
    bring_evenly(1, BLOCK / 2);
    play_canceled(&w.p, 1);
    play_canceled(&w.p, 0);
    decide();
    ck_assert_uint_eq(w.n_log, 4);
    ck_assert_uint_gt(xd_range_length(w.log[3].range), BLOCK);
    play_fini(&w.p);
}
END_TEST

/* Depot 0 brings half of the first block, and then no more. */
static unsigned fall_silent(void)
{
    init(2, 8 * BLOCK, 2e6);
    play_start(&w.p);
    while (w.sources[0].brought < BLOCK / 2)
        step();
    w.sources[0].rate = 0;
    return w.n_log;
}

START_TEST(overdue_bytes_go_elsewhere)
{
    uint64_t from;
    xd_usec at;
    unsigned n;

    n = fall_silent();
    from = w.sources[0].brought;
    at = w.p.now;
    play_to_end();
    ck_assert_uint_eq(w.sources[1].brought, 8 * BLOCK - from);
    for (unsigned i = n; i < w.n_log; i++)
        if (w.log[i].range.begin == from) {
            ck_assert_uint_eq(w.log[i].depot, 1);
            ck_assert_uint_ge(w.at[i], at);
        } else
            ck_assert_uint_eq(w.log[i].depot, 1);
    play_fini(&w.p);
}
END_TEST

START_TEST(it_wakes_when_a_request_becomes_overdue)
{
    struct xd_sched_action a;

    init(2, 8 * BLOCK, 2e6);
    play_start(&w.p);
    decide();
    a = play_next(&w.p);
    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    ck_assert_uint_eq(a.until, w.p.now + 400 * XD_MS);
    w.p.now += 100 * XD_MS;
    play_bytes(&w.p, 0, 1000);
    play_bytes(&w.p, 1, BLOCK + 1000);
    while ((a = play_next(&w.p)).kind == XD_DO_FETCH)
        ;
    ck_assert_uint_eq(a.until, w.p.now + 400 * XD_MS);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_is_overdue_is_asked_for_nothing_until_it_speaks)
{
    unsigned n;

    fall_silent();
    w.p.o.lanes_per_depot = 2;
    w.sources[1].rate = 0.4e6;
    play_for(500 * XD_MS);
    n = w.n_log;
    play_for(2 * XD_SECOND);
    ck_assert(!was_asked(0, n));
    w.sources[0].rate = 2e6;
    play_to_end();
    ck_assert(was_asked(0, n));
    play_fini(&w.p);
}
END_TEST

START_TEST(a_request_that_says_nothing_does_not_idle_a_depot_that_does)
{
    struct xd_sched_action a;
    uint64_t end;

    init(1, 64 * BLOCK, 0);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    decide();
    w.p.now += 100 * XD_MS;
    decide();
    ck_assert_uint_eq(w.n_log, 2);
    end = w.fetches[0].range.end;
    for (uint64_t got = end / 2; got < end; got += end / 16) {
        w.p.now += 100 * XD_MS;
        play_bytes(&w.p, 0, got);
        a = play_next(&w.p);
        ck_assert_int_eq(a.kind, XD_DO_WAIT);
    }
    play_done(&w.p, 0);
    a = play_next(&w.p);
    ck_assert_int_eq(a.kind, XD_DO_FETCH);
    ck_assert_uint_eq(a.lane, 0);
    play_fini(&w.p);
}
END_TEST

START_TEST(what_an_overdue_one_still_brings_counts)
{
    uint64_t before;

    fall_silent();
    w.sources[1].rate = 0.5e6;
    while (w.p.now < w.fetches[0].asked_at + 2 * XD_SECOND)
        step();
    ck_assert(w.fetches[0].is_live); /* neither cut nor stopped */
    ck_assert_uint_eq(w.fetches[0].range.end, BLOCK);
    before = w.sources[0].brought;
    w.sources[0].rate = 4e6;
    play_to_end();
    ck_assert_uint_gt(w.sources[0].brought, before + BLOCK);
    ck_assert_uint_le(brought(), 8 * BLOCK + BLOCK / 2);
    play_fini(&w.p);
}
END_TEST

START_TEST(more_depots_are_opened_while_the_sum_rises)
{
    unsigned first;

    init(60, 400 * BLOCK, 1e6);
    play_start(&w.p);
    decide();
    first = w.n_open;
    ck_assert_uint_ge(first, 8);
    ck_assert_uint_lt(first, 40);
    play_for(4 * XD_SECOND);
    ck_assert_uint_eq(w.n_open, 60);
    play_fini(&w.p);
}
END_TEST

START_TEST(a_short_download_opens_fewer_depots)
{
    unsigned of_short;

    init(60, 8 * BLOCK, 1e6);
    play_start(&w.p);
    decide();
    of_short = w.n_open;
    play_fini(&w.p);
    init(60, 400 * BLOCK, 1e6);
    play_start(&w.p);
    decide();
    ck_assert_uint_lt(of_short, w.n_open);
    play_fini(&w.p);
}
END_TEST

/* How many are open after so long, of more than are opened at first, when the
 * first of them is as fast as that. */
static unsigned open_beside(double rate, xd_usec time)
{
    unsigned n;

    init(20, 8 * BLOCK, 0.25e6);
    w.sources[0].rate = rate;
    play_start(&w.p);
    play_for(time);
    n = w.n_open;
    play_fini(&w.p);
    return n;
}

START_TEST(who_brings_next_to_nothing_takes_nobodys_place)
{
    unsigned first = open_beside(0.25e6, 300 * XD_MS);

    ck_assert_uint_lt(first, 20);
    ck_assert_uint_eq(open_beside(5e3, 300 * XD_MS), first + 1);
}
END_TEST

START_TEST(who_does_not_answer_takes_nobodys_place)
{
    ck_assert_uint_eq(open_beside(0, 60 * XD_MS),
                      open_beside(0.25e6, 60 * XD_MS));
    ck_assert_uint_eq(open_beside(0, 300 * XD_MS),
                      open_beside(0.25e6, 300 * XD_MS) + 1);
}
END_TEST

START_TEST(no_request_crosses_a_cut)
{
    uint64_t cuts[] = {BLOCK / 3, BLOCK, 5 * BLOCK + 7, 20 * BLOCK};

    init(2, 24 * BLOCK, 4e6);
    w.p.layout.cuts = cuts;
    w.p.layout.n_cuts = 4;
    play_start(&w.p);
    play_to_end();
    for (unsigned i = 0; i < w.n_log; i++)
        for (unsigned c = 0; c < 4; c++)
            ck_assert(w.log[i].range.end <= cuts[c] ||
                      w.log[i].range.begin >= cuts[c]);
    play_fini(&w.p);
}
END_TEST

/* Requests at a time for objects of unknown size, each with a place of so many blocks,
 * after some of them were so long. */
static unsigned asked_at_once(uint64_t length, double rate, uint64_t blocks)
{
    uint64_t cuts[200];
    unsigned n = 0;

    for (unsigned i = 0; i < 200; i++)
        cuts[i] = (i + 1) * blocks * BLOCK;
    init(1, 201 * blocks * BLOCK, rate);
    w.p.o.lanes_per_depot = 6;
    w.p.o.first_lanes = 2;
    w.p.layout.cuts = cuts;
    w.p.layout.n_cuts = 200;
    play_start(&w.p);
    play_for(XD_SECOND / 2);
    for (unsigned i = 0; i < 4; i++)
        play_range(&w.p, XD_EV_SIZED, 0, length);
    play_for(XD_SECOND / 4);
    for (unsigned i = 0; i < 128; i++)
        n += w.fetches[i].is_live;
    play_fini(&w.p);
    return n;
}

START_TEST(objects_of_unknown_size_are_like_those_that_have_come)
{
    ck_assert_uint_eq(asked_at_once(2000, 4e6, 1), 6);
    ck_assert_uint_eq(asked_at_once(2000, 4e5, 1), 6); /* of which it is long */
    ck_assert_uint_lt(asked_at_once(BLOCK, 4e6, 1), 6);
    /* A longer object is of known size, and a request is for a part of it. */
    ck_assert_uint_eq(asked_at_once(2000, 4e5, 8), 2);
}
END_TEST

START_TEST(each_depot_is_asked_only_for_what_it_holds)
{
    struct xd_range holds[] = {{0, 10 * BLOCK}, {6 * BLOCK, 24 * BLOCK}};

    init(2, 24 * BLOCK, 2e6);
    w.sources[1].rate = 8e6;
    w.p.holdings[0].held = &holds[0];
    w.p.holdings[1].held = &holds[1];
    play_start(&w.p);
    play_to_end();
    for (unsigned i = 0; i < w.n_log; i++) {
        const struct xd_sched_action *a = &w.log[i];

        ck_assert_uint_ge(a->range.begin, holds[a->depot].begin);
        ck_assert_uint_le(a->range.end, holds[a->depot].end);
    }
    play_fini(&w.p);
}
END_TEST

START_TEST(nothing_is_asked_for_outside_of_the_window)
{
    init(2, 64 * BLOCK, 4e6);
    w.p.o.window_bytes = 8 * BLOCK;
    play_start(&w.p);
    play_for(10 * XD_SECOND);
    ck_assert_uint_eq(brought(), 8 * BLOCK);
    play_reader(&w.p, 30 * BLOCK);
    for (unsigned i = w.n_log; play_for(2 * XD_SECOND), i < w.n_log; i++) {
        ck_assert_uint_ge(w.log[i].range.begin, 30 * BLOCK);
        ck_assert_uint_le(w.log[i].range.end, 38 * BLOCK);
    }
    ck_assert_uint_eq(brought(), 16 * BLOCK);
    play_fini(&w.p);
}
END_TEST

/* How long the request is that was made for these bytes. */
static uint64_t length_of_request(uint64_t begin)
{
    for (unsigned i = w.n_log; i-- > 0;)
        if (w.log[i].kind == XD_DO_FETCH && w.log[i].range.begin == begin)
            return xd_range_length(w.log[i].range);
    return 0;
}

START_TEST(what_a_reader_jumps_to_is_asked_for_in_a_short_request)
{
    struct xd_sched_event wish = {
        .kind = XD_EV_DEMAND, .range = {0, 32 * BLOCK}, .bytes_per_s = BLOCK};
    uint64_t length;

    init(3, 200 * BLOCK, 4e6);
    w.p.o.window_bytes = 32 * BLOCK;
    play_start(&w.p);
    wish.due = w.p.now;
    play_event(&w.p, wish);
    play_for(5 * XD_SECOND);
    wish.range = (struct xd_range){100 * BLOCK, 132 * BLOCK};
    wish.due = w.p.now;
    play_event(&w.p, wish);
    play_for(STEP);
    length = length_of_request(wish.range.begin);
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_le(length, BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(the_first_block_is_shared_out_however_slowly_it_is_played)
{
    struct xd_sched_event wish = {.kind = XD_EV_DEMAND,
                                  .range = {0, 32 * BLOCK},
                                  .bytes_per_s = BLOCK / 2};

    init(4, 64 * BLOCK, 3e6);
    w.p.o.window_bytes = 32 * BLOCK;
    play_start(&w.p);
    wish.due = w.p.now;
    play_event(&w.p, wish);
    play_for(XD_SECOND);
    for (unsigned i = 0; i < w.n_log; i++)
        if (w.log[i].kind == XD_DO_FETCH && w.log[i].range.begin < BLOCK)
            ck_assert_uint_le(xd_range_length(w.log[i].range), BLOCK / 2);
    ck_assert_uint_gt(brought(), BLOCK);
    play_fini(&w.p);
}
END_TEST

START_TEST(what_was_rejected_is_asked_for_again)
{
    init(2, 8 * BLOCK, 4e6);
    play_start(&w.p);
    while (!w.is_finished && w.sources[0].brought < 2 * BLOCK)
        step();
    play_range(&w.p, XD_EV_REJECTED, 1000, 5000);
    play_to_end();
    ck_assert_uint_ge(brought(), 8 * BLOCK + 4000);
    ck_assert_uint_lt(brought(), 8 * BLOCK + BLOCK / 4);
    play_fini(&w.p);
}
END_TEST

START_TEST(silence_is_looked_at_more_often_when_nothing_is_left_to_ask_for)
{
    struct xd_sched_action a;

    init(1, BLOCK, 2e6);
    play_start(&w.p);
    decide();
    w.p.now += 100 * XD_MS;
    play_bytes(&w.p, 0, 1000);
    play_range(&w.p, XD_EV_VERIFIED, w.log[0].range.end, BLOCK);
    a = play_next(&w.p);
    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    ck_assert_uint_le(a.until, w.p.now + 50 * XD_MS);
    play_fini(&w.p);
}
END_TEST

/* A second connection that begins later than the first finds its queue full. */
START_TEST(where_each_has_much_to_bring_who_is_far_begins_with_both_lanes)
{
    struct xd_sched_action a;

    init(2, 64 * BLOCK, 1e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    decide();
    ck_assert_uint_eq(w.n_log, 2);
    a = play_next(&w.p);
    ck_assert_int_eq(a.kind, XD_DO_WAIT);
    ck_assert_uint_le(a.until, w.p.now + 40 * XD_MS);
    w.p.now = a.until;
    decide();
    ck_assert_uint_eq(w.n_log, 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_gt(xd_range_length(w.log[i].range), BLOCK);
    play_fini(&w.p);
}
END_TEST

/* Of two depots, none of which has a connection a quarter of a second after the
 * first request, each is asked over more lanes; and if one has, over those that it
 * begins with. */
START_TEST(depots_without_a_connection_are_far)
{
    init(2, 64 * BLOCK, 1e6);
    w.p.o.lanes_per_depot = 6;
    w.p.o.first_lanes = 2;
    play_start(&w.p);
    decide();
    w.p.now += 100 * XD_MS;
    decide();
    ck_assert_uint_eq(w.n_log, 4);
    w.p.now += 149 * XD_MS;
    if (_i == 1)
        play_depot(&w.p, XD_EV_CONNECTED, 1);
    decide();
    ck_assert_uint_eq(w.n_log, 4);
    w.p.now += 1 * XD_MS;
    decide();
    if (_i == 1)
        ck_assert_uint_eq(w.n_log, 4);
    else
        ck_assert_uint_gt(w.n_log, 4);
    play_fini(&w.p);
}
END_TEST

/* All are opened before anything is known of a depot, as connections of their
 * own; but of a depot's share of the file no more than have 1 MiB each. */
START_TEST(who_wants_many_lanes_gets_them_at_once)
{
    init(2, (_i == 0 ? 64 : 10) * BLOCK, 1e6);
    w.p.o.lanes_per_depot = 8;
    play_start(&w.p);
    decide();
    ck_assert_uint_eq(w.n_log, 2 * (_i == 0 ? 8 : 5));
    for (unsigned i = 0; i < w.n_log; i++)
        ck_assert(w.log[i].owns_connection);
    play_fini(&w.p);
}
END_TEST

/* Of 2 MiB and more both are opened, when the first is late. */
START_TEST(of_a_short_file_the_second_lane_waits_for_the_first)
{
    init(8, (2 << 20) - (_i == 0), 1e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    decide();
    ck_assert_uint_eq(w.n_log, 8);
    w.p.now += 100 * XD_MS;
    decide();
    ck_assert_uint_eq(w.n_log, _i == 0 ? 8 : 16);
    play_fini(&w.p);
}
END_TEST

/* The second of two depots brings so many bytes per second, half of them on each
 * lane. */
static void play_both_lanes(double rate, xd_usec duration)
{
    for (xd_usec end = w.p.now + duration; w.p.now < end;) {
        step();
        for (unsigned i = 2; i < 4; i++)
            if (w.fetches[i].is_live)
                bring(i, rate / 2 * (double)STEP / 1e6);
    }
}

/* It was slow for three seconds. */
static void play_a_slow_one(void)
{
    init(2, 64 * BLOCK, 4e6);
    w.p.o.lanes_per_depot = 2;
    w.sources[1].rate = 0;
    play_start(&w.p);
    play_for(100 * XD_MS);
    play_both_lanes(2e5, 3 * XD_SECOND);
}

/* Of the second depot; LOG: it was not. */
static unsigned find_cut(void)
{
    for (unsigned i = 0; i < w.n_log; i++)
        if (w.log[i].kind == XD_DO_SHORTEN && w.log[i].depot == 1)
            return i;
    return LOG;
}

START_TEST(whose_line_has_become_faster_begins_anew_on_one_lane)
{
    double rate = 2e5;
    unsigned cut, next;

    play_a_slow_one();
    ck_assert_uint_eq(find_cut(), LOG);
    for (unsigned i = 0; i < 8; i++)
        play_both_lanes(rate *= 1.3, 100 * XD_MS);
    cut = find_cut();
    ck_assert_uint_lt(cut, LOG);
    for (next = cut + 1; next < w.n_log; next++)
        if (w.log[next].kind == XD_DO_FETCH && w.log[next].depot == 1)
            break;
    ck_assert_uint_lt(next, w.n_log);
    ck_assert_uint_eq(w.log[next].lane, w.log[cut].lane);
    ck_assert_uint_le(w.at[next], w.at[cut] + 2 * STEP);
    play_fini(&w.p);
}
END_TEST

/* What stood in a queue comes at once, and would be lost. */
START_TEST(who_is_much_faster_at_once_begins_nothing_anew)
{
    play_a_slow_one();
    play_both_lanes(4e6, XD_SECOND);
    ck_assert_uint_eq(find_cut(), LOG);
    play_fini(&w.p);
}
END_TEST

/* Depot 0 says nothing more, a little before its end; everybody else is done. */
START_TEST(the_last_bytes_are_asked_for_elsewhere_before_they_are_overdue)
{
    xd_usec at;

    init(2, 16 * BLOCK, 4e6);
    w.sources[0].rate = 16e6;
    play_start(&w.p);
    while (w.sources[0].brought + w.sources[1].brought < 16 * BLOCK - BLOCK / 4)
        step();
    w.sources[0].rate = 0;
    at = w.p.now;
    play_to_end();
    ck_assert_uint_lt(w.p.now - at, 400 * XD_MS);
    play_fini(&w.p);
}
END_TEST

/* Depots 1 and 2 pause together, a little before their end; depot 0 is done, and
 * would bring the rest of either sooner than it, but not that of both. */
START_TEST(who_is_done_takes_over_from_one_before_the_next)
{
    struct xd_range second;
    unsigned n_log;

    init(3, 16 * BLOCK, 4e6);
    w.sources[0].rate = 16e6;
    play_start(&w.p);
    while (brought() < 16 * BLOCK - BLOCK * 7 / 8)
        step();
    w.sources[1].rate = w.sources[2].rate = 0;
    n_log = w.n_log;
    while (!was_asked(0, n_log) && !w.is_finished)
        step();
    w.sources[1].rate = w.sources[2].rate = 4e6;
    play_to_end();
    second = w.fetches[2].range;
    ck_assert_uint_eq(w.fetches[2].depot, 2);
    for (unsigned i = n_log; i < w.n_log; i++)
        ck_assert(w.log[i].kind != XD_DO_FETCH || w.log[i].depot != 0 ||
                  w.log[i].range.end <= second.begin ||
                  w.log[i].range.begin >= second.end);
    play_fini(&w.p);
}
END_TEST

START_TEST(no_more_depots_are_opened_when_the_line_is_full)
{
    unsigned first;

    init(60, 400 * BLOCK, 1e6);
    play_start(&w.p);
    decide();
    first = w.n_open;
    for (int i = 0; i < 400; i++) {
        for (unsigned d = 0; d < 60; d++)
            w.sources[d].rate = 16e6 / w.n_open;
        step();
    }
    ck_assert_uint_le(w.n_open, 2 * first);
    play_fini(&w.p);
}
END_TEST

/* What 64 depots may do at once is looked at once for each decision, and a few
 * times more where lanes have nothing to do; not once for each lane. */
START_TEST(a_decision_takes_no_more_at_the_end_than_at_the_start)
{
    static uint64_t cuts[100000];
    uint64_t size = UINT64_C(1) << 40;
    const unsigned n_fetches = 128;

    for (uint64_t i = 0; i < 100000; i++)
        cuts[i] = (i + 1) * (size / 100001);
    init(64, size, 2e6);
    w.p.o.lanes_per_depot = 2;
    w.p.layout.cuts = cuts;
    w.p.layout.n_cuts = 100000;
    play_start(&w.p);
    play_for(4 * XD_SECOND);
    ck_assert_uint_eq(w.n_open, 64);
    ck_assert_uint_ge(w.most_visits, n_fetches); /* the count is alive */
    ck_assert_uint_le(w.most_visits, 16 * n_fetches);
    play_range(&w.p, XD_EV_VERIFIED, BLOCK * 1024, size - 128 * BLOCK);
    w.most_visits = 0;
    play_to_end();
    ck_assert_uint_le(w.most_visits, 16 * n_fetches);
    play_fini(&w.p);
}
END_TEST

/* Two requests at a time, on one connection for each depot. */
static void init_shared(unsigned n_depots, uint64_t size, double rate)
{
    init(n_depots, size, rate);
    w.p.o.lanes_per_depot = w.p.o.first_lanes = 2;
    play_start(&w.p);
    for (unsigned i = 0; i < n_depots; i++)
        play_depot(&w.p, XD_EV_SHARES, i);
}

/* Bytes that the depot was asked for and has not brought. */
static double owed_by(unsigned depot)
{
    double owed = 0;

    for (unsigned i = 0; i < 128; i++)
        if (w.fetches[i].is_live && w.fetches[i].depot == depot)
            owed += (double)w.fetches[i].range.end - w.fetches[i].got;
    return owed;
}

START_TEST(
    a_shared_connection_has_its_next_request_when_the_last_is_nearly_done)
{
    unsigned n_asked = 0;

    init_shared(1, 40 * BLOCK, 4e6);
    w.sources[0].latency = 100 * XD_MS;
    play_for(2 * XD_SECOND);
    for (unsigned n = w.n_log; !w.is_finished; n = w.n_log) {
        double owed = owed_by(0);

        step();
        if (w.n_log == n)
            continue;
        n_asked++;
        ck_assert_double_le(owed, 0.6 * 4e6);
        ck_assert_double_gt(owed, 0);
    }
    ck_assert_uint_gt(n_asked, 4);
    play_fini(&w.p);
}
END_TEST

START_TEST(who_waits_behind_others_on_a_connection_is_not_overdue)
{
    init_shared(1, 8 * BLOCK, 0);
    decide();
    for (uint64_t i = 1; i < 20; i++) {
        w.p.now += 100 * XD_MS;
        play_bytes(&w.p, 0, 100000 * i);
        decide();
        ck_assert_uint_eq(play_next(&w.p).until, w.p.now + 400 * XD_MS);
    }
    ck_assert(was_asked(0, 1)); /* for something that did not come */
    play_fini(&w.p);
}
END_TEST

START_TEST(who_is_silent_on_all_of_its_connection_is_overdue)
{
    init_shared(2, 16 * BLOCK, 2e6);
    play_for(XD_SECOND);
    w.sources[0].rate = 0;
    play_to_end();
    ck_assert_uint_lt(w.sources[0].brought, 2 * BLOCK);
    play_fini(&w.p);
}
END_TEST

/* Depot 0 collapses then; returns how often it is cut. */
static unsigned cut_the_last(xd_usec collapse)
{
    unsigned n_cut = 0;

    init_shared(2, 32 * BLOCK, 4e6);
    play_for(collapse);
    w.sources[0].rate = 0.4e6;
    for (unsigned n = w.n_log; !w.is_finished; n = w.n_log) {
        step();
        for (; n < w.n_log; n++) {
            const struct asking *cut = &w.fetches[w.log[n].fetch];

            if (w.log[n].kind != XD_DO_SHORTEN || w.log[n].depot != 0)
                continue;
            n_cut++;
            for (unsigned i = 0; i < 128; i++)
                if (w.fetches[i].is_live && w.fetches[i].depot == 0)
                    ck_assert_uint_le(w.fetches[i].asked_at, cut->asked_at);
        }
    }
    play_fini(&w.p);
    return n_cut;
}

START_TEST(of_those_that_share_a_connection_the_last_is_cut)
{
    unsigned n_cut = 0;

    for (unsigned i = 20; i < 40; i++)
        n_cut += cut_the_last(i * 100 * XD_MS);
    ck_assert_uint_gt(n_cut, 10);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("adaptive");

    tcase_add_test(t, the_first_requests_ask_for_a_block_each);
    tcase_add_test(t, a_small_file_is_shared_from_the_start);
    tcase_add_test(t,
                   requests_of_a_fast_depot_grow_and_become_small_at_the_end);
    tcase_add_test(t, a_request_is_at_most_eight_blocks);
    tcase_add_test(t, who_brings_each_request_at_one_moment_is_asked_for_more);
    tcase_add_test(t, next_to_nothing_comes_twice_while_all_is_well);
    tcase_add_test(t, unequal_depots_end_together_and_little_comes_twice);
    tcase_add_test(t, the_next_request_is_made_before_the_last_is_done);
    tcase_add_loop_test(
        t, who_has_refused_is_asked_for_all_that_is_left_in_few_requests, 2, 6);
    tcase_add_test(t, who_collapses_gives_its_tail_and_is_cut_there);
    tcase_add_test(t, who_is_still_finding_its_speed_is_not_cut);
    tcase_add_test(t, who_brings_ever_more_is_not_cut_however_long_that_takes);
    tcase_add_test(t, a_connection_that_fell_silent_says_nothing_of_the_other);
    tcase_add_test(t, overdue_bytes_go_elsewhere);
    tcase_add_test(t, it_wakes_when_a_request_becomes_overdue);
    tcase_add_test(t, who_is_overdue_is_asked_for_nothing_until_it_speaks);
    tcase_add_test(t,
                   a_request_that_says_nothing_does_not_idle_a_depot_that_does);
    tcase_add_test(
        t, where_each_has_much_to_bring_who_is_far_begins_with_both_lanes);
    tcase_add_loop_test(t, depots_without_a_connection_are_far, 0, 2);
    tcase_add_loop_test(t, of_a_short_file_the_second_lane_waits_for_the_first,
                        0, 2);
    tcase_add_test(t, whose_line_has_become_faster_begins_anew_on_one_lane);
    tcase_add_test(t, who_is_much_faster_at_once_begins_nothing_anew);
    tcase_add_test(t, what_an_overdue_one_still_brings_counts);
    tcase_add_test(t, more_depots_are_opened_while_the_sum_rises);
    tcase_add_test(t, who_brings_next_to_nothing_takes_nobodys_place);
    tcase_add_test(t, who_does_not_answer_takes_nobodys_place);
    tcase_add_test(t, a_short_download_opens_fewer_depots);
    tcase_add_test(t, no_request_crosses_a_cut);
    tcase_add_test(t, each_depot_is_asked_only_for_what_it_holds);
    tcase_add_test(t, objects_of_unknown_size_are_like_those_that_have_come);
    tcase_add_test(t, nothing_is_asked_for_outside_of_the_window);
    tcase_add_loop_test(t, who_wants_many_lanes_gets_them_at_once, 0, 2);
    tcase_add_test(t, what_a_reader_jumps_to_is_asked_for_in_a_short_request);
    tcase_add_test(t,
                   the_first_block_is_shared_out_however_slowly_it_is_played);
    tcase_add_test(t, what_was_rejected_is_asked_for_again);
    tcase_add_test(
        t, silence_is_looked_at_more_often_when_nothing_is_left_to_ask_for);
    tcase_add_test(
        t, the_last_bytes_are_asked_for_elsewhere_before_they_are_overdue);
    tcase_add_test(t, who_is_done_takes_over_from_one_before_the_next);
    tcase_add_test(t, no_more_depots_are_opened_when_the_line_is_full);
    tcase_add_test(t, a_decision_takes_no_more_at_the_end_than_at_the_start);
    tcase_add_test(
        t,
        a_shared_connection_has_its_next_request_when_the_last_is_nearly_done);
    tcase_add_test(t, who_waits_behind_others_on_a_connection_is_not_overdue);
    tcase_add_test(t, who_is_silent_on_all_of_its_connection_is_overdue);
    tcase_add_test(t, of_those_that_share_a_connection_the_last_is_cut);
    return run_suite("sched.adaptive", t);
}
