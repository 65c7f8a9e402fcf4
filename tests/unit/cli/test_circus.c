/* SPDX-License-Identifier: MIT */
#include "circus/circus.h"

#include "suite.h"

#define BLOCK ((uint64_t)64 << 10)
#define MIB ((uint64_t)1 << 20)
#define SIZE (512 * MIB)
#define ACTIVE (16 * MIB)
#define SECOND 1000000u

static struct xd_circus *circus;
static uint64_t now;

static void begin_with(uint64_t size, struct xd_circus_rules rules)
{
    ck_assert_int_eq(xd_circus_new(&circus, size, &rules, NULL), 0);
    now = SECOND;
}

static void setup(void)
{
    begin_with(SIZE, (struct xd_circus_rules){0});
}

static void teardown(void)
{
    xd_circus_free(circus);
    circus = NULL;
}

static struct xd_circus_client *enter(uint64_t id)
{
    struct xd_circus_client *c = xd_circus_enter(circus, id, now);

    ck_assert_ptr_nonnull(c);
    return c;
}

/* As a server does, in steps of a block. */
static void send_to(struct xd_circus_client *c, uint64_t begin, uint64_t end)
{
    for (; begin < end; begin += BLOCK)
        xd_circus_send(circus, c, begin,
                       begin + BLOCK < end ? begin + BLOCK : end, now);
}

static struct xd_circus_state state(void)
{
    struct xd_circus_state s;

    xd_circus_get(circus, now, &s);
    return s;
}

/* Where the next bytes of a client begin. */
static uint64_t next_of(struct xd_circus_client *c)
{
    uint64_t begin, end;

    ck_assert(xd_circus_next(circus, c, now, &begin, &end));
    ck_assert_uint_lt(begin, end);
    return begin;
}

/* It has what lies before `begin`, and is to go on there. */
static void go_on_at(struct xd_circus_client *c, uint64_t from, uint64_t begin)
{
    ck_assert(xd_circus_ask(circus, c, from, begin));
    ck_assert_uint_eq(next_of(c), begin);
}

static uint64_t next_length(struct xd_circus_client *c)
{
    uint64_t begin, end;

    ck_assert(xd_circus_next(circus, c, now, &begin, &end));
    return end - begin;
}

START_TEST(what_makes_no_sense_is_refused)
{
    struct xd_circus_rules rules = {0};
    struct xd_circus *c;

    ck_assert_int_eq(xd_circus_new(&c, 0, NULL, NULL), XD_E_INVAL);
    ck_assert_ptr_null(c);
    ck_assert_int_eq(xd_circus_new(&c, (uint64_t)INT64_MAX + 1, NULL, NULL),
                     XD_E_INVAL);
    rules.independent_from = 1.5;
    ck_assert_int_eq(xd_circus_new(&c, 1, &rules, NULL), XD_E_INVAL);
    rules.independent_from = -0.5;
    ck_assert_int_eq(xd_circus_new(&c, 1, &rules, NULL), XD_E_INVAL);
    rules.independent_from = 1;
    ck_assert_int_eq(xd_circus_new(&c, 1, &rules, NULL), 0);
    xd_circus_free(c);
    rules.block_bytes = UINT64_MAX;
    ck_assert_int_eq(xd_circus_new(&c, 1, &rules, NULL), XD_E_INVAL);
    ck_assert_int_eq(xd_circus_new(&c, INT64_MAX, NULL, NULL), 0);
    xd_circus_free(c);
}
END_TEST

START_TEST(the_front_goes_with_the_client_that_is_ahead)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    send_to(fast, 0, 4 * MIB);
    ck_assert_uint_eq(state().end, 4 * MIB);
    send_to(slow, 0, 2 * MIB);
    ck_assert_uint_eq(state().end, 4 * MIB);
    send_to(slow, 2 * MIB, 5 * MIB);
    ck_assert_uint_eq(state().end, 5 * MIB);
    ck_assert_uint_eq(state().begin, 0);
    ck_assert_uint_eq(state().n_following, 2);
}
END_TEST

START_TEST(the_region_is_as_long_as_it_was_crossed)
{
    struct xd_circus_client *fast = enter(1);

    send_to(fast, 0, ACTIVE);
    ck_assert_uint_eq(state().begin, 0);
    send_to(fast, ACTIVE, ACTIVE + BLOCK);
    ck_assert_uint_eq(state().begin, BLOCK);
}
END_TEST

START_TEST(a_follower_in_the_region_goes_on_where_it_is)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    send_to(fast, 0, ACTIVE + MIB);
    send_to(slow, 0, MIB);
    ck_assert_uint_eq(next_of(slow), MIB);
    ck_assert_uint_eq(state().n_following, 2);
}
END_TEST

START_TEST(a_follower_behind_the_region_goes_on_at_the_midpoint)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    send_to(fast, 0, ACTIVE + MIB + BLOCK);
    send_to(slow, 0, MIB);
    ck_assert_uint_eq(next_of(slow), ACTIVE / 2 + MIB + BLOCK);
    ck_assert_uint_eq(state().n_following, 1);
}
END_TEST

START_TEST(a_client_that_comes_later_begins_at_the_midpoint)
{
    struct xd_circus_client *fast = enter(1);

    send_to(fast, 0, 100 * MIB);
    ck_assert_uint_eq(next_of(enter(2)), 92 * MIB);
}
END_TEST

START_TEST(where_the_front_has_just_begun_the_midpoint_is_in_memory)
{
    struct xd_circus_client *fast = enter(1);

    send_to(fast, 300 * MIB, 302 * MIB);
    ck_assert_uint_eq(next_of(enter(2)), 301 * MIB);
    send_to(fast, 302 * MIB, 312 * MIB);
    ck_assert_uint_eq(next_of(enter(3)), 306 * MIB);
    send_to(fast, 312 * MIB, 320 * MIB);
    ck_assert_uint_eq(next_of(enter(4)), 312 * MIB);
}
END_TEST

START_TEST(distances_go_over_the_end_of_the_file)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2),
                            *third = enter(3);

    send_to(fast, 0, SIZE);
    send_to(fast, 0, 4 * MIB);
    ck_assert_uint_eq(state().end, 4 * MIB);
    ck_assert_uint_eq(state().begin, SIZE - 12 * MIB);
    ck_assert_uint_eq(next_of(slow), 0); /* 4 MiB behind */
    send_to(slow, SIZE - 12 * MIB, SIZE - 10 * MIB);
    ck_assert_uint_eq(next_of(slow), SIZE - 10 * MIB);
    send_to(third, SIZE - 20 * MIB, SIZE - 13 * MIB);
    ck_assert_uint_eq(next_of(third), SIZE - 4 * MIB);
}
END_TEST

START_TEST(a_file_may_be_of_any_size)
{
    teardown();
    begin_with(SIZE + BLOCK + 1, (struct xd_circus_rules){0});
    struct xd_circus_client *fast = enter(1), *third = enter(2);

    send_to(fast, 0, SIZE + BLOCK + 1);
    send_to(fast, 0, 4 * MIB);
    send_to(third, SIZE - 20 * MIB, SIZE - 13 * MIB);
    ck_assert_uint_eq(state().begin, SIZE + BLOCK + 1 - 12 * MIB);
    ck_assert_uint_eq(next_of(third), SIZE + BLOCK - 4 * MIB);
}
END_TEST

/* 15 MiB ahead is 5 MiB behind. */
START_TEST(in_a_short_file_the_front_does_not_go_back)
{
    teardown();
    begin_with(20 * MIB, (struct xd_circus_rules){.leaps_freely = true});
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    send_to(fast, 0, 8 * MIB);
    send_to(slow, 0, 3 * MIB);
    ck_assert_uint_eq(state().end, 8 * MIB);
    send_to(fast, 8 * MIB, 14 * MIB);
    ck_assert_uint_eq(state().begin, 4 * MIB);
    ck_assert_uint_eq(next_of(slow), 9 * MIB);
}
END_TEST

START_TEST(what_is_empty_moves_nothing)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, MIB);
    xd_circus_send(circus, c, 5 * MIB, 5 * MIB, now);
    xd_circus_send(circus, c, SIZE, SIZE + MIB, now);
    xd_circus_drop(circus, c, 5 * MIB, 5 * MIB);
    xd_circus_drop(circus, c, 5 * MIB, 4 * MIB);
    ck_assert_uint_eq(next_of(c), MIB);
    ck_assert_uint_eq(state().end, MIB);
}
END_TEST

START_TEST(what_a_client_has_is_left_out)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 2 * MIB, 3 * MIB);
    send_to(c, 0, MIB);
    ck_assert_uint_eq(next_of(c), MIB);
    send_to(c, MIB, MIB + BLOCK);
    ck_assert_uint_eq(next_of(c), MIB + BLOCK);
    ck_assert_uint_eq(next_length(c), MIB - BLOCK);
    send_to(c, MIB + BLOCK, 2 * MIB);
    ck_assert_uint_eq(next_of(c), 3 * MIB);
}
END_TEST

START_TEST(what_is_next_begins_with_the_first_byte_that_is_missing)
{
    struct xd_circus_client *c = enter(1);

    xd_circus_send(circus, c, 0, 3000000, now);
    xd_circus_ask(circus, c, 3000001, 4000000);
    ck_assert_uint_eq(next_of(c), 3000000);
    ck_assert_uint_eq(next_length(c), 1);
    xd_circus_send(circus, c, 3000000, 3000001, now);
    ck_assert_uint_eq(next_of(c), 4000000);
    ck_assert_uint_eq((4000000 + next_length(c)) % BLOCK, 0);
}
END_TEST

/* A client that asks for every other byte. */
START_TEST(of_too_many_gaps_the_shortest_count_as_sent)
{
    struct xd_circus_client *c = enter(1);

    xd_circus_send(circus, c, 0, 1, now);
    for (uint64_t i = 1; i < 600; i++)
        xd_circus_send(circus, c, i * 1000 + i, i * 1000 + i + 1, now);
    xd_circus_send(circus, c, SIZE - 1, SIZE, now);
    /* Of gaps of 1000 the first have gone. */
    ck_assert_uint_gt(next_of(c), 1);
    ck_assert_uint_eq(next_length(c), 1000);
    ck_assert_uint_eq(next_of(c) % 1001, 1);
    ck_assert_uint_eq(next_of(c), 90 * 1001 + 1);
}
END_TEST

START_TEST(long_gaps_stay)
{
    struct xd_circus_client *c = enter(1);

    for (uint64_t i = 0; i < 600; i++)
        xd_circus_send(circus, c, i * MIB / 2, i * MIB / 2 + BLOCK + (i % 90),
                       now);
    for (uint64_t i = 0; i < 600; i++) {
        xd_circus_send(circus, c, i * MIB / 2, i * MIB / 2 + 1, now);
        if (i % 90 < 60)
            ck_assert_uint_eq(next_of(c), i * MIB / 2 + BLOCK + (i % 90));
        else if (i % 90 > 80 && i < 500)
            ck_assert_uint_ge(next_of(c), (i + 1) * MIB / 2);
    }
}
END_TEST

START_TEST(what_was_left_out_comes_in_another_round)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, MIB, SIZE);
    ck_assert_uint_eq(next_of(c), 0);
    send_to(c, 0, MIB);
    uint64_t begin, end;
    ck_assert(!xd_circus_next(circus, c, now, &begin, &end));
}
END_TEST

START_TEST(bytes_that_are_asked_for_are_not_given_twice)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, MIB);
    ck_assert(xd_circus_ask(circus, c, MIB, 3 * MIB));
    ck_assert_uint_eq(next_of(c), 3 * MIB);
    xd_circus_drop(circus, c, 2 * MIB, 3 * MIB);
    ck_assert_uint_eq(next_of(c), 2 * MIB);
    ck_assert_uint_eq(next_length(c), 4 * MIB);
}
END_TEST

START_TEST(of_a_long_request_only_what_is_sent_counts)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, MIB);
    ck_assert(!xd_circus_ask(circus, c, MIB, ACTIVE + MIB + 1));
    ck_assert(!xd_circus_ask(circus, c, MIB, MIB));
    ck_assert_uint_eq(next_of(c), MIB);
    ck_assert(xd_circus_ask(circus, c, MIB, ACTIVE + MIB));
    ck_assert_uint_eq(next_of(c), ACTIVE + MIB);
}
END_TEST

START_TEST(one_that_leaps_too_far_goes_alone)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    send_to(fast, 0, 100 * MIB);
    send_to(slow, 95 * MIB, 96 * MIB);
    go_on_at(fast, 100 * MIB, 116 * MIB - BLOCK);
    send_to(fast, 116 * MIB - BLOCK, 116 * MIB);
    ck_assert_uint_eq(state().end, 100 * MIB);
    send_to(fast, 116 * MIB - 3 * BLOCK, 116 * MIB - 2 * BLOCK);
    ck_assert_uint_eq(state().end, 116 * MIB - 2 * BLOCK);
}
END_TEST

START_TEST(one_that_is_alone_takes_the_front_wherever_it_goes)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 300 * MIB, 301 * MIB);
    ck_assert_uint_eq(state().end, 301 * MIB);
    ck_assert_uint_eq(state().begin, 300 * MIB);
    send_to(c, 100 * MIB, 101 * MIB);
    ck_assert_uint_eq(state().end, 101 * MIB);
    send_to(c, 99 * MIB, 100 * MIB); /* a second connection */
    ck_assert_uint_eq(state().end, 101 * MIB);
}
END_TEST

START_TEST(close_to_the_front_one_that_is_alone_does_not_take_it)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, 100 * MIB);
    xd_circus_send(circus, c, 84 * MIB - BLOCK, 84 * MIB, now);
    ck_assert_uint_eq(state().end, 100 * MIB); /* at the edge of the region */
    xd_circus_send(circus, c, 84 * MIB - BLOCK, 84 * MIB - 1, now);
    ck_assert_uint_eq(state().end, 84 * MIB - 1);
    send_to(c, 84 * MIB - 1, 100 * MIB - 1);
    ck_assert_uint_eq(state().begin, 84 * MIB - 1);
    xd_circus_send(circus, c, 116 * MIB - 3, 116 * MIB - 2, now);
    ck_assert_uint_eq(state().begin, 100 * MIB - 2); /* a leap: all is warm */
    xd_circus_send(circus, c, 132 * MIB - 3, 132 * MIB - 2, now);
    ck_assert_uint_eq(state().begin, 132 * MIB - 3); /* too far for one */
}
END_TEST

START_TEST(with_most_of_the_file_it_goes_on_where_it_is)
{
    struct xd_circus_client *fast = enter(1), *c = enter(2);

    send_to(fast, 0, 500 * MIB);
    send_to(c, 10 * MIB, 394 * MIB - BLOCK);
    ck_assert_uint_eq(next_of(c), 492 * MIB);
    ck_assert_uint_eq(state().n_independent, 1);
    send_to(c, 394 * MIB - BLOCK, 394 * MIB);
    ck_assert_uint_eq(next_of(c), 394 * MIB);
    ck_assert_uint_eq(state().n_independent, 2);
}
END_TEST

START_TEST(a_few_bytes_do_not_move_the_front_far)
{
    struct xd_circus_client *fast = enter(1), *bad = enter(2);

    send_to(fast, 0, 100 * MIB);
    for (uint64_t at = 100 * MIB; at < 200 * MIB; at += 15 * MIB)
        xd_circus_send(circus, bad, at, at + 1, now);
    ck_assert_uint_lt(state().end, 100 * MIB + 4 * 7 + 1);
    go_on_at(bad, 92 * MIB, 101 * MIB);
    xd_circus_send(circus, bad, 101 * MIB, 101 * MIB + 1, now);
    ck_assert_uint_lt(state().end, 100 * MIB + 4 * 7 + 1);
    send_to(bad, 101 * MIB, 102 * MIB);
    ck_assert_uint_eq(state().end, 102 * MIB);
}
END_TEST

START_TEST(so_many_bytes_move_it_four_times_as_far)
{
    struct xd_circus_client *fast = enter(1), *c = enter(2);

    send_to(fast, 0, 100 * MIB);
    go_on_at(c, 92 * MIB, 104 * MIB);
    xd_circus_send(circus, c, 104 * MIB, 105 * MIB, now);
    ck_assert_uint_eq(state().end, 100 * MIB); /* 5 MiB for one */
    go_on_at(c, 105 * MIB, 106 * MIB);
    xd_circus_send(circus, c, 106 * MIB, 107 * MIB, now);
    ck_assert_uint_eq(state().end, 107 * MIB); /* 7 for two */
    go_on_at(c, 107 * MIB, 110 * MIB + 1);
    xd_circus_send(circus, c, 110 * MIB + 1, 111 * MIB + 1, now);
    ck_assert_uint_eq(state().end, 107 * MIB); /* more than 4 for one */
    teardown();
    setup();
    fast = enter(1), c = enter(2);
    send_to(fast, 0, 100 * MIB);
    go_on_at(c, 92 * MIB, 103 * MIB);
    xd_circus_send(circus, c, 103 * MIB, 104 * MIB, now);
    ck_assert_uint_eq(state().end, 104 * MIB); /* 4 for one */
    go_on_at(c, 104 * MIB, 107 * MIB);
    xd_circus_send(circus, c, 107 * MIB, 108 * MIB, now);
    ck_assert_uint_eq(state().end, 108 * MIB); /* and again */
}
END_TEST

START_TEST(one_that_has_just_come_takes_no_front_with_it)
{
    struct xd_circus_client *fast = enter(1), *c = enter(2);

    send_to(fast, 0, 100 * MIB);
    send_to(c, 103 * MIB, 105 * MIB);
    ck_assert_uint_eq(state().end, 100 * MIB);
    ck_assert_uint_eq(next_of(c), 92 * MIB);
    send_to(c, 105 * MIB, 106 * MIB); /* but was to go on elsewhere */
    ck_assert_uint_eq(state().end, 100 * MIB);
    send_to(fast, 100 * MIB, 104 * MIB);
    send_to(c, 106 * MIB, 107 * MIB);
    ck_assert_uint_eq(state().end, 104 * MIB);
    send_to(c, 104 * MIB, 105 * MIB); /* it is where the front is */
    ck_assert_uint_eq(state().end, 105 * MIB);
}
END_TEST

START_TEST(close_to_where_it_was_to_go_on_a_client_takes_the_front_with_it)
{
    for (int side = -1; side <= 1; side += 2)
        for (uint64_t more = 0; more < 2; more++) {
            teardown();
            setup();
            struct xd_circus_client *fast = enter(1), *c = enter(2);
            const uint64_t by = (4 * MIB + more) * (side > 0);
            const uint64_t less = (4 * MIB + more) * (side < 0);
            send_to(fast, 0, 100 * MIB);
            send_to(c, 92 * MIB, 100 * MIB); /* what it may leap by */
            go_on_at(c, 100 * MIB, 107 * MIB);
            xd_circus_send(circus, c, 107 * MIB + by - less,
                           108 * MIB + by - less, now);
            ck_assert_uint_eq(state().end,
                              more ? 100 * MIB : 108 * MIB + by - less);
        }
}
END_TEST

START_TEST(one_that_has_most_of_the_file_takes_no_front_with_it)
{
    struct xd_circus_client *fast = enter(1), *c = enter(2);

    send_to(fast, 0, 384 * MIB - BLOCK);
    send_to(c, 380 * MIB, 384 * MIB - BLOCK);
    go_on_at(fast, 384 * MIB - BLOCK, 385 * MIB);
    send_to(fast, 385 * MIB, 386 * MIB);
    ck_assert_uint_eq(state().end, 384 * MIB - BLOCK);
    send_to(c, 384 * MIB - BLOCK, 384 * MIB);
    go_on_at(c, 384 * MIB, 385 * MIB);
    send_to(c, 385 * MIB, 386 * MIB);
    ck_assert_uint_eq(state().end, 386 * MIB);
}
END_TEST

START_TEST(in_a_simulation_leaps_are_free)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.leaps_freely = true});
    struct xd_circus_client *fast = enter(1), *c = enter(2);

    send_to(fast, 0, 100 * MIB);
    xd_circus_send(circus, c, 115 * MIB, 115 * MIB + 1, now);
    ck_assert_uint_eq(state().end, 115 * MIB + 1);
}
END_TEST

/* So long that it is sent before the front has left it behind. */
START_TEST(a_slow_client_gets_no_more_than_stays_in_memory)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    /* 5 s at 16 MiB/s, and 1 MiB/s. */
    for (uint64_t i = 0; i < 50; i++, now += SECOND / 10) {
        send_to(fast, i * 16 * MIB / 10 / BLOCK * BLOCK,
                (i + 1) * 16 * MIB / 10 / BLOCK * BLOCK);
        xd_circus_send(circus, slow, i * MIB / 10, (i + 1) * MIB / 10, now);
    }
    /* At the midpoint, 8 MiB from the end, of which it loses 15 in a second. */
    ck_assert_uint_ge(next_length(slow), 8 * BLOCK);
    ck_assert_uint_le(next_length(slow), 9 * BLOCK);
    ck_assert_uint_eq(next_length(fast), 4 * MIB);
    send_to(slow, 79 * MIB, 80 * MIB - BLOCK);
    ck_assert_uint_ge(next_length(slow), 16 * BLOCK);
    /* Close to the end it gets four blocks all the same. */
    send_to(slow, 63 * MIB, 64 * MIB + BLOCK);
    ck_assert_uint_eq(next_length(slow), 4 * BLOCK);
}
END_TEST

START_TEST(a_client_that_is_faster_than_the_front_gets_the_most)
{
    struct xd_circus_client *front = enter(1), *fast = enter(2);

    send_to(front, 0, 8 * MIB);
    for (uint64_t i = 0; i < 50; i++, now += SECOND / 10) {
        xd_circus_send(circus, front, 8 * MIB + i, 8 * MIB + i + 1, now);
        xd_circus_send(circus, fast, i * BLOCK, (i + 1) * BLOCK, now);
    }
    ck_assert_uint_eq(next_of(fast), 50 * BLOCK);
    ck_assert_uint_eq(next_length(fast), 4 * MIB);
}
END_TEST

/* What is there is lost with the next byte.  Less at a time would make it slower. */
START_TEST(at_the_edge_of_the_region_a_slow_client_gets_four_blocks)
{
    struct xd_circus_client *fast = enter(1), *slow = enter(2);

    for (uint64_t i = 0; i < 50; i++, now += SECOND / 10) {
        send_to(fast, i * MIB, (i + 1) * MIB);
        xd_circus_send(circus, slow, i * BLOCK, (i + 1) * BLOCK, now);
    }
    xd_circus_send(circus, slow, 34 * MIB - BLOCK, 34 * MIB, now);
    ck_assert_uint_eq(next_of(slow), 34 * MIB);
    ck_assert_uint_eq(next_length(slow), 4 * BLOCK);
}
END_TEST

START_TEST(before_it_is_known_how_fast_it_is_a_client_gets_four_blocks)
{
    struct xd_circus_client *c = enter(1);

    ck_assert_uint_eq(next_of(c), 0);
    ck_assert_uint_eq(next_length(c), 4 * BLOCK);
    send_to(c, 0, MIB);
    ck_assert_uint_eq(next_length(c), 4 * MIB);
}
END_TEST

START_TEST(what_is_next_ends_with_the_file)
{
    teardown();
    begin_with(SIZE + 1, (struct xd_circus_rules){0});
    struct xd_circus_client *c = enter(1);
    uint64_t begin, end;

    send_to(c, 0, SIZE - BLOCK);
    ck_assert(xd_circus_next(circus, c, now, &begin, &end));
    ck_assert_uint_eq(begin, SIZE - BLOCK);
    ck_assert_uint_eq(end, SIZE + 1);
    send_to(c, SIZE - BLOCK, SIZE + 1);
    ck_assert(!xd_circus_next(circus, c, now, &begin, &end));
}
END_TEST

START_TEST(a_client_is_known_for_a_while)
{
    struct xd_circus_client *other = enter(7), *c = enter(1);

    send_to(c, 0, MIB);
    xd_circus_leave(circus, c, now);
    now += 30 * SECOND - 1;
    ck_assert_uint_eq(state().n_clients, 2);
    ck_assert_uint_eq(next_of(enter(1)), MIB);
    xd_circus_leave(circus, c, now);
    now += 30 * SECOND;
    ck_assert_uint_eq(state().n_clients, 1); /* one has a request */
    ck_assert_uint_eq(next_of(enter(1)), 0);
    (void)other;
}
END_TEST

START_TEST(a_client_with_two_requests_is_one)
{
    struct xd_circus_client *c = enter(1);

    ck_assert_ptr_eq(enter(1), c);
    xd_circus_leave(circus, c, now);
    now += 1000 * SECOND;
    ck_assert_uint_eq(state().n_clients, 1);
    xd_circus_leave(circus, c, now);
    now += 1000 * SECOND;
    ck_assert_uint_eq(state().n_clients, 0);
    xd_circus_leave(circus, NULL, now);
}
END_TEST

START_TEST(one_that_has_all_is_forgotten)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, SIZE);
    ck_assert_uint_eq(state().n_clients, 1);
    xd_circus_leave(circus, c, now);
    ck_assert_uint_eq(state().n_clients, 0);
}
END_TEST

START_TEST(after_all_have_gone_a_file_begins_at_its_beginning)
{
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, 100 * MIB);
    xd_circus_leave(circus, c, now);
    now += 40 * SECOND;
    c = enter(2);
    ck_assert_uint_eq(next_of(c), 0);
    ck_assert_uint_eq(state().end, 0);
    ck_assert_uint_eq(state().begin, 0);
}
END_TEST

START_TEST(a_thousand_ids_do_not_push_out_one_that_gets_bytes)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.most_clients = 10});
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, 2 * MIB);
    xd_circus_leave(circus, c, now);
    for (uint64_t id = 100; id < 1100; id++) {
        struct xd_circus_client *bad = enter(id);
        xd_circus_send(circus, bad, 0, MIB, now);
        xd_circus_leave(circus, bad, now);
    }
    ck_assert_uint_eq(state().n_clients, 10);
    ck_assert_uint_eq(next_of(enter(1)), 2 * MIB);
}
END_TEST

/* Each is sent 1000 bytes, between which what is left out counts as sent: it seems to
 * have most of the file. */
START_TEST(ids_that_get_a_byte_here_and_there_push_out_none_that_gets_bytes)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.most_clients = 3});
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, 2 * MIB);
    xd_circus_leave(circus, c, now);
    for (uint64_t id = 100; id < 110; id++) {
        struct xd_circus_client *bad = enter(id);
        for (uint64_t at = 0; at < 1000 * BLOCK; at += BLOCK)
            xd_circus_send(circus, bad, at, at + 1, now);
        xd_circus_leave(circus, bad, now);
    }
    ck_assert_uint_eq(next_of(enter(1)), 2 * MIB);
}
END_TEST

START_TEST(ids_that_ask_for_much_push_out_none_that_gets_bytes)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.most_clients = 3});
    struct xd_circus_client *c = enter(1);

    send_to(c, 0, MIB);
    xd_circus_leave(circus, c, now);
    for (uint64_t id = 100; id < 110; id++) {
        struct xd_circus_client *bad = enter(id);
        ck_assert(xd_circus_ask(circus, bad, 0, ACTIVE));
        xd_circus_leave(circus, bad, now);
    }
    ck_assert_uint_eq(next_of(enter(1)), MIB);
}
END_TEST

START_TEST(what_is_sent_once_more_counts_once_more)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.most_clients = 2});
    struct xd_circus_client *twice = enter(1);
    struct xd_circus_client *once = enter(2);

    xd_circus_send(circus, twice, 0, 2 * MIB, now);
    xd_circus_send(circus, twice, 0, 2 * MIB, now);
    xd_circus_send(circus, once, 0, 3 * MIB, now);
    xd_circus_leave(circus, twice, now);
    xd_circus_leave(circus, once, now);
    enter(3);
    ck_assert_uint_eq(next_of(enter(1)), 2 * MIB);
}
END_TEST

/* Two files with ten clients, of which `circus` is one. */
static struct xd_circus_pool *pool;
static struct xd_circus *other;

static void begin_pool(unsigned most)
{
    struct xd_circus_rules rules = {0};

    teardown();
    ck_assert_int_eq(xd_circus_pool_new(&pool, most, NULL), 0);
    rules.pool = pool;
    ck_assert_int_eq(xd_circus_new(&other, SIZE, &rules, NULL), 0);
    begin_with(SIZE, rules);
}

static void end_pool(void)
{
    xd_circus_free(circus);
    circus = NULL;
    xd_circus_free(other);
    xd_circus_pool_free(pool);
    xd_circus_pool_free(NULL);
}

/* It makes a request, and gets so many bytes. */
static void come_and_go(struct xd_circus *c, uint64_t id, uint64_t bytes)
{
    struct xd_circus_client *client = xd_circus_enter(c, id, now);

    ck_assert_ptr_nonnull(client);
    xd_circus_send(c, client, 0, bytes, now);
    xd_circus_leave(c, client, now);
}

static unsigned n_known(struct xd_circus *c)
{
    struct xd_circus_state s;

    xd_circus_get(c, now, &s);
    return s.n_clients;
}

START_TEST(ids_of_one_file_do_not_push_out_the_clients_of_another)
{
    begin_pool(10);
    come_and_go(circus, 1, 2 * MIB);
    for (uint64_t id = 100; id < 1100; id++)
        come_and_go(other, id, MIB);
    ck_assert_uint_eq(n_known(circus), 1);
    ck_assert_uint_eq(n_known(other), 9);
    ck_assert_uint_eq(next_of(enter(1)), 2 * MIB);
    end_pool();
}
END_TEST

START_TEST(a_client_with_more_takes_the_place_of_an_id_of_another_file)
{
    begin_pool(10);
    for (uint64_t id = 100; id < 110; id++)
        come_and_go(other, id, MIB);
    ck_assert_uint_eq(n_known(other), 10);
    come_and_go(circus, 1, 2 * MIB);
    ck_assert_uint_eq(n_known(other), 9);
    ck_assert_uint_eq(next_of(enter(1)), 2 * MIB);
    ck_assert_uint_eq(n_known(circus), 1);
    end_pool();
}
END_TEST

START_TEST(of_several_the_one_that_is_longest_without_a_request_gives_way)
{
    begin_pool(3);
    for (uint64_t id = 1; id <= 3; id++, now++)
        come_and_go(id == 2 ? other : circus, id, MIB);
    now++;
    come_and_go(circus, 1, MIB);
    come_and_go(other, 4, MIB); /* in the place of 2 */
    ck_assert_uint_eq(n_known(other), 1);
    ck_assert_uint_eq(n_known(circus), 2);
    come_and_go(other, 5, MIB); /* in that of 3 */
    ck_assert_uint_eq(n_known(circus), 1);
    ck_assert_uint_eq(next_of(enter(1)), MIB);
    end_pool();
}
END_TEST

START_TEST(a_known_client_stays_known_where_all_places_have_requests)
{
    begin_pool(2);
    struct xd_circus_client *c = enter(1);

    ck_assert_ptr_nonnull(xd_circus_enter(other, 1, now));
    ck_assert_ptr_null(xd_circus_enter(other, 2, now));
    ck_assert_ptr_null(xd_circus_enter(circus, 3, now));
    ck_assert_ptr_eq(enter(1), c);
    end_pool();
}
END_TEST

START_TEST(a_file_that_is_gone_leaves_its_places)
{
    begin_pool(2);
    enter(1);
    enter(2);
    ck_assert_ptr_null(xd_circus_enter(other, 3, now));
    xd_circus_free(circus);
    circus = NULL;
    ck_assert_ptr_nonnull(xd_circus_enter(other, 3, now));
    ck_assert_ptr_nonnull(xd_circus_enter(other, 4, now));
    ck_assert_ptr_null(xd_circus_enter(other, 5, now));
    end_pool();
}
END_TEST

START_TEST(in_a_pool_those_that_have_gone_leave_their_places)
{
    begin_pool(2);
    come_and_go(other, 1, 100 * MIB);
    come_and_go(other, 2, 100 * MIB);
    now += 30 * SECOND;
    enter(3);
    enter(4);
    ck_assert_uint_eq(n_known(circus), 2);
    ck_assert_uint_eq(n_known(other), 0);
    end_pool();
}
END_TEST

START_TEST(a_pool_has_4096_places)
{
    begin_pool(0);
    for (uint64_t id = 0; id < 2050; id++)
        xd_circus_enter(id % 2 == 0 ? circus : other, id, now);
    for (uint64_t id = 2050; id < 4096; id++)
        ck_assert_ptr_nonnull(
            xd_circus_enter(id % 2 == 0 ? circus : other, id, now));
    ck_assert_ptr_null(xd_circus_enter(circus, 4096, now));
    end_pool();
}
END_TEST

START_TEST(where_all_have_requests_another_is_not_known)
{
    teardown();
    begin_with(SIZE, (struct xd_circus_rules){.most_clients = 2});
    struct xd_circus_client *c = enter(1);

    enter(2);
    ck_assert_ptr_null(xd_circus_enter(circus, 3, now));
    ck_assert_ptr_eq(enter(1), c);
    xd_circus_leave(circus, c, now);
    xd_circus_leave(circus, c, now);
    ck_assert_ptr_nonnull(xd_circus_enter(circus, 3, now));
    ck_assert_uint_eq(state().n_clients, 2);
}
END_TEST

/* Whatever is sent in whatever order, each client gets each block once by what it is
 * given, from files of all lengths. */
static void all_get_all(uint64_t size, uint64_t random)
{
    struct xd_circus_client *c[5];
    uint64_t got[5] = {0};
    unsigned left = 0x1f;

    teardown();
    begin_with(
        size, (struct xd_circus_rules){.block_bytes = 10, .active_bytes = 200});
    for (uint64_t i = 0; i < 5; i++)
        c[i] = enter(i);
    while (left != 0) {
        uint64_t begin, end;

        random = random * 6364136223846793005u + 1442695040888963407u;
        const unsigned i = random >> 33 & 0xff;
        const unsigned k = i < 120 ? 0 : i % 5;
        now += 1000;
        if (!xd_circus_next(circus, c[k], now, &begin, &end)) {
            ck_assert_uint_eq(got[k], size);
            left &= ~(1u << k);
            continue;
        }
        ck_assert_uint_lt(begin, end);
        ck_assert_uint_le(end, size);
        if (end > begin / 10 * 10 + 10)
            end = begin / 10 * 10 + 10;
        xd_circus_send(circus, c[k], begin, end, now);
        got[k] += end - begin;
        ck_assert_uint_lt(state().end, size);
    }
}

START_TEST(all_clients_get_all_of_a_file_once)
{
    for (uint64_t size = 1; size < 1500; size += 13)
        all_get_all(size, size);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("circus");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_makes_no_sense_is_refused);
    tcase_add_test(t, the_front_goes_with_the_client_that_is_ahead);
    tcase_add_test(t, the_region_is_as_long_as_it_was_crossed);
    tcase_add_test(t, a_follower_in_the_region_goes_on_where_it_is);
    tcase_add_test(t, a_follower_behind_the_region_goes_on_at_the_midpoint);
    tcase_add_test(t, a_client_that_comes_later_begins_at_the_midpoint);
    tcase_add_test(t, where_the_front_has_just_begun_the_midpoint_is_in_memory);
    tcase_add_test(t, distances_go_over_the_end_of_the_file);
    tcase_add_test(t, what_a_client_has_is_left_out);
    tcase_add_test(t, what_is_next_begins_with_the_first_byte_that_is_missing);
    tcase_add_test(t, of_too_many_gaps_the_shortest_count_as_sent);
    tcase_add_test(t, a_file_may_be_of_any_size);
    tcase_add_test(t, in_a_short_file_the_front_does_not_go_back);
    tcase_add_test(t, what_is_empty_moves_nothing);
    tcase_add_test(t, close_to_the_front_one_that_is_alone_does_not_take_it);
    tcase_add_test(t, a_client_that_is_faster_than_the_front_gets_the_most);
    tcase_add_test(t, at_the_edge_of_the_region_a_slow_client_gets_four_blocks);
    tcase_add_test(t, long_gaps_stay);
    tcase_add_test(t, what_was_left_out_comes_in_another_round);
    tcase_add_test(t, bytes_that_are_asked_for_are_not_given_twice);
    tcase_add_test(t, of_a_long_request_only_what_is_sent_counts);
    tcase_add_test(t, one_that_leaps_too_far_goes_alone);
    tcase_add_test(t, one_that_is_alone_takes_the_front_wherever_it_goes);
    tcase_add_test(t, with_most_of_the_file_it_goes_on_where_it_is);
    tcase_add_test(t, a_few_bytes_do_not_move_the_front_far);
    tcase_add_test(t, so_many_bytes_move_it_four_times_as_far);
    tcase_add_test(t, one_that_has_just_come_takes_no_front_with_it);
    tcase_add_test(
        t, close_to_where_it_was_to_go_on_a_client_takes_the_front_with_it);
    tcase_add_test(t, one_that_has_most_of_the_file_takes_no_front_with_it);
    tcase_add_test(t, in_a_simulation_leaps_are_free);
    tcase_add_test(t, a_slow_client_gets_no_more_than_stays_in_memory);
    tcase_add_test(t,
                   before_it_is_known_how_fast_it_is_a_client_gets_four_blocks);
    tcase_add_test(t, what_is_next_ends_with_the_file);
    tcase_add_test(t, a_client_is_known_for_a_while);
    tcase_add_test(t, a_client_with_two_requests_is_one);
    tcase_add_test(t, one_that_has_all_is_forgotten);
    tcase_add_test(t, after_all_have_gone_a_file_begins_at_its_beginning);
    tcase_add_test(t, a_thousand_ids_do_not_push_out_one_that_gets_bytes);
    tcase_add_test(
        t, ids_that_get_a_byte_here_and_there_push_out_none_that_gets_bytes);
    tcase_add_test(t, ids_that_ask_for_much_push_out_none_that_gets_bytes);
    tcase_add_test(t, what_is_sent_once_more_counts_once_more);
    tcase_add_test(t, ids_of_one_file_do_not_push_out_the_clients_of_another);
    tcase_add_test(t,
                   a_client_with_more_takes_the_place_of_an_id_of_another_file);
    tcase_add_test(
        t, of_several_the_one_that_is_longest_without_a_request_gives_way);
    tcase_add_test(t,
                   a_known_client_stays_known_where_all_places_have_requests);
    tcase_add_test(t, a_file_that_is_gone_leaves_its_places);
    tcase_add_test(t, in_a_pool_those_that_have_gone_leave_their_places);
    tcase_add_test(t, a_pool_has_4096_places);
    tcase_add_test(t, where_all_have_requests_another_is_not_known);
    tcase_add_test(t, all_clients_get_all_of_a_file_once);
    return run_suite("circus", t);
}
