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

START_TEST(next_to_nothing_comes_twice_while_all_is_well)
{
    init(4, 50 * BLOCK, 2e6);
    w.p.o.lanes_per_depot = 2;
    play_start(&w.p);
    play_to_end();
    ck_assert_uint_ge(brought(), 50 * BLOCK);
    ck_assert_uint_le(brought(), 50 * BLOCK + BLOCK / 2);
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

    fall_silent();
    from = w.sources[0].brought;
    play_to_end();
    ck_assert_uint_eq(w.sources[1].brought, 8 * BLOCK - from);
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
    ck_assert_uint_ge(brought(), 8 * BLOCK);
    ck_assert_uint_le(brought(), 8 * BLOCK + BLOCK / 4);
    play_reader(&w.p, 30 * BLOCK);
    for (unsigned i = w.n_log; play_for(2 * XD_SECOND), i < w.n_log; i++) {
        ck_assert_uint_ge(w.log[i].range.begin, 30 * BLOCK);
        ck_assert_uint_le(w.log[i].range.end, 38 * BLOCK);
    }
    ck_assert_uint_ge(brought(), 16 * BLOCK);
    ck_assert_uint_le(brought(), 16 * BLOCK + BLOCK / 4);
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
    /* The second jump skips bytes of the window that have not arrived. */
    const struct {
        xd_usec after;
        uint64_t to;
    } cases[] = {{5 * XD_SECOND, 100 * BLOCK}, {XD_SECOND / 2, 32 * BLOCK}};
    uint64_t to = cases[_i].to, length;

    init(3, 200 * BLOCK, 4e6);
    w.p.o.window_bytes = 32 * BLOCK;
    play_start(&w.p);
    wish.due = w.p.now;
    play_event(&w.p, wish);
    play_for(cases[_i].after);
    wish.range = (struct xd_range){to, to + 32 * BLOCK};
    wish.due = w.p.now;
    play_event(&w.p, wish);
    play_for(STEP);
    length = length_of_request(wish.range.begin);
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_le(length, BLOCK / 4);
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

/* Two requests at a time, on one connection for each depot. */
static void init_shared(unsigned n_depots, uint64_t size, double rate)
{
    init(n_depots, size, rate);
    w.p.o.lanes_per_depot = w.p.o.first_lanes = 2;
    play_start(&w.p);
    for (unsigned i = 0; i < n_depots; i++)
        play_depot(&w.p, XD_EV_SHARES, i);
}

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

int main(void)
{
    TCase *t = tcase_create("adaptive");

    tcase_add_test(t, a_small_file_is_shared_from_the_start);
    tcase_add_test(t, next_to_nothing_comes_twice_while_all_is_well);
    tcase_add_test(t, unequal_depots_end_together_and_little_comes_twice);
    tcase_add_test(t, the_next_request_is_made_before_the_last_is_done);
    tcase_add_loop_test(
        t, who_has_refused_is_asked_for_all_that_is_left_in_few_requests, 2, 6);
    tcase_add_test(t, who_is_still_finding_its_speed_is_not_cut);
    tcase_add_test(t, a_connection_that_fell_silent_says_nothing_of_the_other);
    tcase_add_test(t, overdue_bytes_go_elsewhere);
    tcase_add_test(t, who_is_overdue_is_asked_for_nothing_until_it_speaks);
    tcase_add_test(t,
                   a_request_that_says_nothing_does_not_idle_a_depot_that_does);
    tcase_add_test(t, who_is_much_faster_at_once_begins_nothing_anew);
    tcase_add_test(t, more_depots_are_opened_while_the_sum_rises);
    tcase_add_test(t, no_request_crosses_a_cut);
    tcase_add_test(t, each_depot_is_asked_only_for_what_it_holds);
    tcase_add_test(t, objects_of_unknown_size_are_like_those_that_have_come);
    tcase_add_test(t, nothing_is_asked_for_outside_of_the_window);
    tcase_add_loop_test(
        t, what_a_reader_jumps_to_is_asked_for_in_a_short_request, 0, 2);
    tcase_add_test(t,
                   the_first_block_is_shared_out_however_slowly_it_is_played);
    tcase_add_test(t, what_was_rejected_is_asked_for_again);
    tcase_add_test(
        t, silence_is_looked_at_more_often_when_nothing_is_left_to_ask_for);
    tcase_add_test(
        t, the_last_bytes_are_asked_for_elsewhere_before_they_are_overdue);
    tcase_add_test(t, no_more_depots_are_opened_when_the_line_is_full);
    tcase_add_test(t, who_is_silent_on_all_of_its_connection_is_overdue);
    return run_suite("sched.adaptive", t);
}
