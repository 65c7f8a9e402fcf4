/* SPDX-License-Identifier: MIT */
/* One depot with one disk (one_depot.h), and what Circus does for it.  Files are
 * an eighth as long as the paper's, and so is what depends on them. */
#include "one_depot.h"

#include <math.h>

#include "one_depot_memory.h"
#include "suite.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define T1 (1.544e6 / 8)
#define TEN_T (10e6 / 8)
#define T3 (44.736e6 / 8)

static double alone_s(const struct one_depot *o, double rate)
{
    return (double)o->file_bytes / rate;
}

static struct one_depot eighth(double rate, double load)
{
    struct one_depot o = one_depot_paper();

    o.file_bytes /= 8;
    o.memory_bytes /= 8;
    o.client_bytes /= 8;
    o.active_bytes /= 8;
    o.leapfront_bytes /= 8;
    o.links[0] = (struct one_depot_link){rate, 1};
    o.n_links = 1;
    o.load = load;
    o.from_s = alone_s(&o, rate);
    o.until_s = o.from_s + 200;
    return o;
}

/* 10T and T3, or T1 and T3. */
static struct one_depot mixed(double slow, double load)
{
    struct one_depot o = eighth(slow, load);

    o.links[0].share = 0.5;
    o.links[1] = (struct one_depot_link){T3, 0.5};
    o.n_links = 2;
    return o;
}

static struct one_depot_result in_order(struct one_depot o)
{
    o.is_in_order = true;
    return one_depot_run(&o);
}

static void assert_near(double x, double y, double part)
{
    ck_assert_msg(fabs(x - y) <= part * fabs(y), "%g, not %g", x, y);
}

/* ---- memory ---- */

static void read_block(struct one_depot_memory *m, uint32_t block)
{
    one_depot_begin_read(m, block);
    one_depot_end_read(m, block);
}

static void send_block(struct one_depot_memory *m, uint32_t block)
{
    one_depot_pin(m, block);
    one_depot_unpin(m, block);
}

START_TEST(the_least_recently_sent_block_goes_first)
{
    struct one_depot_memory m;

    one_depot_memory_init(&m, 10, 1, 1, 3);
    for (uint32_t i = 0; i < 3; i++)
        read_block(&m, i);
    send_block(&m, 0);
    read_block(&m, 3);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_HELD);
    ck_assert_int_eq(m.blocks[1].state, ONE_DEPOT_ABSENT);
    ck_assert_int_eq(m.blocks[2].state, ONE_DEPOT_HELD);
    ck_assert_int_eq(m.blocks[3].state, ONE_DEPOT_HELD);
    ck_assert_uint_eq(m.held, 3);
    one_depot_memory_fini(&m);
}
END_TEST

START_TEST(a_block_that_is_sent_stays)
{
    struct one_depot_memory m;

    one_depot_memory_init(&m, 10, 1, 1, 2);
    read_block(&m, 0);
    one_depot_pin(&m, 0);
    one_depot_pin(&m, 0);
    read_block(&m, 1);
    read_block(&m, 2);
    read_block(&m, 3);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_HELD);
    ck_assert_int_eq(m.blocks[2].state, ONE_DEPOT_ABSENT);
    one_depot_unpin(&m, 0);
    read_block(&m, 4);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_HELD);
    one_depot_unpin(&m, 0);
    read_block(&m, 5);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_HELD);
    read_block(&m, 6);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_ABSENT);
    one_depot_memory_fini(&m);
}
END_TEST

START_TEST(more_is_held_than_there_is_room_for_while_all_of_it_is_read)
{
    struct one_depot_memory m;

    one_depot_memory_init(&m, 10, 1, 1, 1);
    one_depot_begin_read(&m, 0);
    one_depot_begin_read(&m, 1);
    ck_assert_uint_eq(m.held, 2);
    one_depot_end_read(&m, 0);
    one_depot_begin_read(&m, 2);
    ck_assert_int_eq(m.blocks[0].state, ONE_DEPOT_ABSENT);
    ck_assert_uint_eq(m.held, 2);
    one_depot_memory_fini(&m);
}
END_TEST

START_TEST(blocks_go_when_memory_shrinks)
{
    struct one_depot_memory m;

    one_depot_memory_init(&m, 10, 1, 1, 3);
    for (uint32_t i = 0; i < 3; i++)
        read_block(&m, i);
    one_depot_memory_resize(&m, 1);
    ck_assert_uint_eq(m.held, 1);
    ck_assert_int_eq(m.blocks[2].state, ONE_DEPOT_HELD);
    one_depot_memory_fini(&m);
}
END_TEST

START_TEST(the_last_block_of_each_file_is_shorter)
{
    struct one_depot_memory m;

    one_depot_memory_init(&m, 25, 2, 10, 100);
    ck_assert_uint_eq(m.n_blocks, 6);
    ck_assert_uint_eq(one_depot_block_bytes(&m, 1), 10);
    ck_assert_uint_eq(one_depot_block_bytes(&m, 2), 5);
    ck_assert_uint_eq(one_depot_block_bytes(&m, 3), 10);
    ck_assert_uint_eq(one_depot_block_bytes(&m, 5), 5);
    one_depot_memory_fini(&m);
}
END_TEST

/* ---- disk and lines ---- */

/* They are so rare that one comes, and no other while it is there. */
START_TEST(a_client_alone_gets_its_file_at_its_rate_and_the_arm_moves_once)
{
    struct one_depot o = eighth(T3, 1e-5);
    struct one_depot_result r;

    o.is_in_order = _i == 0;
    o.from_s = o.until_s = 0;
    do {
        o.until_s += 1000;
        r = one_depot_run(&o);
    } while (r.n_done == 0);
    ck_assert_uint_eq(r.n_arrived, 1);
    ck_assert_uint_eq(r.read_bytes, o.file_bytes);
    ck_assert_uint_eq(r.links[0].n, 1);
    assert_near(r.links[0].mean_s,
                0.005 + 64.0 * 1024 / o.disk_rate + alone_s(&o, T3), 1e-6);
    assert_near(r.positioned, 1.0 / 1024, 1e-6);
    assert_near(r.busy * o.until_s, 0.005 + (double)o.file_bytes / o.disk_rate,
                1e-6);
    assert_near(r.clients * o.until_s, r.links[0].mean_s, 1e-6);
}
END_TEST

START_TEST(a_disk_that_positions_for_each_block_reads_9_mb_per_second)
{
    struct one_depot o = eighth(TEN_T, 0.4);
    struct one_depot_result r;

    o.n_files = 16;
    r = in_order(o);
    ck_assert_double_gt(r.busy, 0.999);
    ck_assert_double_gt(r.positioned, 0.999);
    assert_near(r.read, 65536 / (0.005 + 65536 / o.disk_rate), 0.002);
}
END_TEST

/* The blocks of two files have adjacent numbers, not adjacent places. */
START_TEST(the_arm_moves_from_file_to_file)
{
    struct one_depot o = eighth(T3, 0.1);
    struct one_depot_result r;

    o.file_bytes = o.block_bytes;
    o.n_files = 2;
    o.memory_bytes = 1;
    o.from_s = 1;
    o.until_s = 5;
    r = in_order(o);
    ck_assert_double_gt(r.read, 0);
    assert_near(r.positioned, 1, 1e-9);
}
END_TEST

START_TEST(clients_have_the_links_of_their_shares)
{
    struct one_depot o = mixed(TEN_T, 0.4);
    struct one_depot_result r;

    o.links[0].share = 0.9;
    o.links[1].share = 0.1;
    o.until_s += 400;
    r = one_depot_run(&o);
    assert_near(r.links[1].n, 0.1 * (r.links[0].n + r.links[1].n), 0.3);
}
END_TEST

START_TEST(what_happens_after_the_end_is_not_measured)
{
    struct one_depot o = eighth(TEN_T, 0.4);
    struct one_depot_result r;

    o.from_s = 0;
    o.until_s = 60;
    o.is_drained = true;
    r = one_depot_run(&o);
    ck_assert_uint_eq(r.n_done, r.n_arrived);
    ck_assert_double_lt(r.sent * 60, 0.8 * (double)r.sent_bytes);
    ck_assert_uint_lt(r.links[0].n, r.n_done);
}
END_TEST

START_TEST(the_line_is_never_fuller_than_full)
{
    struct one_depot o = eighth(T3, 1.5);
    struct one_depot_result r;

    o.memory_bytes = o.file_bytes;
    o.client_bytes = 0;
    r = in_order(o);
    assert_near(r.sent, o.line_rate, 0.001);
    ck_assert_double_gt(r.links[0].mean_s, 1.2 * alone_s(&o, T3));
    o.load = 0.5;
    r = in_order(o);
    assert_near(r.sent, r.offered, 0.1);
    assert_near(r.links[0].mean_s, alone_s(&o, T3), 0.001);
}
END_TEST

START_TEST(clients_arrive_as_often_as_the_load_says)
{
    struct one_depot o = eighth(T3, 0.3);

    o.until_s = o.from_s + 4000;
    assert_near(one_depot_run(&o).offered, 0.3 * o.line_rate, 0.05);
}
END_TEST

/* ---- nothing is lost, and all can be done again ---- */

static struct one_depot any(int i)
{
    struct one_depot o = mixed(TEN_T, 0.3);

    o.is_in_order = i == 0;
    o.takes_ranges = o.leaps_bounded = i == 2;
    o.file_bytes = 8 * MIB + 12345;
    o.memory_bytes = 4 * MIB;
    o.client_bytes = 64 * KIB;
    o.active_bytes = o.leapfront_bytes = MIB;
    o.n_files = 3;
    o.until_s = 60;
    o.from_s = 10;
    o.is_drained = true;
    if (i == 3) { /* more gaps than the library keeps */
        o.links[0].rate = T1;
        o.positioning_s = 0;
        o.file_bytes = 2 * MIB + 100;
        o.block_bytes = 128;
        o.active_bytes = o.leapfront_bytes = 512;
        o.until_s = 2;
        o.from_s = 1;
    }
    return o;
}

START_TEST(each_client_gets_each_byte_once)
{
    struct one_depot o = any(_i);
    struct one_depot_result r = one_depot_run(&o);

    ck_assert_uint_gt(r.n_arrived, 30);
    ck_assert_uint_eq(r.n_done, r.n_arrived);
    ck_assert_uint_eq(r.sent_bytes, r.asked_bytes);
    ck_assert_uint_eq(r.asked_bytes, r.n_arrived * o.file_bytes);
    ck_assert_uint_eq(r.distinct_bytes, 3 * o.file_bytes);
    ck_assert_uint_ge(r.read_bytes, r.distinct_bytes);
    if (_i < 3)
        ck_assert_uint_gt(r.read_bytes, r.distinct_bytes);
    o.memory_bytes = 3 * (o.file_bytes + o.block_bytes);
    o.client_bytes = 0;
    r = one_depot_run(&o);
    ck_assert_uint_eq(r.sent_bytes, r.asked_bytes);
    ck_assert_uint_eq(r.read_bytes, r.distinct_bytes);
}
END_TEST

START_TEST(the_same_seed_does_the_same)
{
    struct one_depot o = any(_i);
    const struct one_depot_result a = one_depot_run(&o), b = one_depot_run(&o);

    ck_assert(a.sent == b.sent && a.read == b.read && a.busy == b.busy);
    ck_assert(a.clients == b.clients && a.positioned == b.positioned);
    ck_assert_uint_eq(a.read_bytes, b.read_bytes);
    o.seed++;
    ck_assert(one_depot_run(&o).clients != a.clients);
}
END_TEST

/* ---- what the paper says ---- */

static const double rates[] = {T1, TEN_T, T3};

/* Figure 9: "the disk throughput drops to the transfer rate of a single
 * client"; Figure 10: "latencies remain roughly constant". */
START_TEST(by_circus_the_disk_reads_at_one_clients_rate_and_times_are_flat)
{
    const double rate = rates[_i];

    for (unsigned load = 1; load <= 5; load++) {
        struct one_depot o = eighth(rate, 0.1 * load);

        o.client_bytes = 0;
        const struct one_depot_result r = one_depot_run(&o);

        assert_near(r.read, rate, 0.12);
        assert_near(r.links[0].mean_s, alone_s(&o, rate), 0.01);
    }
}
END_TEST

/* What processes take is missing for blocks, up to fifteen sixteenths. */
START_TEST(clients_take_memory_of_blocks)
{
    struct one_depot o = eighth(T1, 0.4);
    double reads[4];

    o.is_in_order = true;
    for (unsigned i = 0; i < 4; i++) {
        o.memory_bytes = i == 3 ? 2 * MIB : 32 * MIB;
        o.client_bytes = i == 0 || i == 3 ? 0 : i * 16 * KIB * 1000;
        reads[i] = one_depot_run(&o).sent;
    }
    ck_assert_double_gt(reads[0], 1.5 * reads[1]);
    assert_near(reads[2], reads[3], 0.02);
}
END_TEST

/* Figure 8. */
START_TEST(by_circus_more_than_1_5_times_as_much_is_sent_at_load_0_4)
{
    struct one_depot o = eighth(rates[_i], 0.4);
    struct one_depot_result s, c;

    o.until_s += 400; /* clients in order become more and more */
    s = in_order(o);
    c = one_depot_run(&o);
    assert_near(c.sent, c.offered, 0.1);
    ck_assert_double_gt(c.sent, 1.5 * s.sent);
    ck_assert_double_gt(s.read, 1.5 * c.read);
    ck_assert(!(s.links[0].mean_s <= 1.3 * c.links[0].mean_s)); /* or none */
}
END_TEST

/* With half of the file in memory, clients in order catch up with those before
 * them, and the disk is busy but sends enough. */
START_TEST(in_order_half_the_file_in_memory_is_enough_for_one_rate)
{
    struct one_depot o = eighth(TEN_T, 0.4);
    struct one_depot_result s, c;

    o.memory_bytes = o.file_bytes / 2;
    o.client_bytes = 0;
    s = in_order(o);
    c = one_depot_run(&o);
    assert_near(s.sent, c.sent, 0.1);
    ck_assert_double_gt(s.read, 5 * c.read);
    ck_assert_double_gt(s.links[0].mean_s, 1.05 * c.links[0].mean_s);
}
END_TEST

/* Figure 12. */
START_TEST(the_disk_reads_for_each_file_once)
{
    struct one_depot o = eighth(TEN_T, 0.4);

    for (o.n_files = 1; o.n_files <= 4; o.n_files *= 2)
        assert_near(one_depot_run(&o).read, o.n_files * TEN_T, 0.15);
    ck_assert_double_gt(one_depot_run(&o).sent, 2.5 * in_order(o).sent);
}
END_TEST

/* Figures 14 to 17. */
START_TEST(small_blocks_long_queues_low_thresholds_and_long_leaps_cost_reads)
{
    const struct one_depot o = mixed(TEN_T, 0.4), slow = mixed(T1, 0.2);
    const struct one_depot_result usual = one_depot_run(&o);
    struct one_depot x = o;

    x.block_bytes = 4096;
    x.until_s = x.from_s + 60;
    ck_assert_double_gt(one_depot_run(&x).links[1].mean_s,
                        1.2 * usual.links[1].mean_s);
    x = o;
    x.queue = 100;
    ck_assert_double_gt(one_depot_run(&x).read, 1.2 * usual.read);
    x = o;
    x.leapfront_bytes = 28 * o.active_bytes;
    ck_assert_double_gt(one_depot_run(&x).read, 1.2 * usual.read);
    x = slow;
    x.threshold = 0.25;
    ck_assert_double_gt(one_depot_run(&x).links[1].mean_s,
                        1.5 * one_depot_run(&slow).links[1].mean_s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("one_depot");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, the_least_recently_sent_block_goes_first);
    tcase_add_test(t, a_block_that_is_sent_stays);
    tcase_add_test(t,
                   more_is_held_than_there_is_room_for_while_all_of_it_is_read);
    tcase_add_test(t, blocks_go_when_memory_shrinks);
    tcase_add_test(t, the_last_block_of_each_file_is_shorter);
    tcase_add_loop_test(
        t, a_client_alone_gets_its_file_at_its_rate_and_the_arm_moves_once, 0,
        2);
    tcase_add_test(t,
                   a_disk_that_positions_for_each_block_reads_9_mb_per_second);
    tcase_add_test(t, the_arm_moves_from_file_to_file);
    tcase_add_test(t, clients_have_the_links_of_their_shares);
    tcase_add_test(t, what_happens_after_the_end_is_not_measured);
    tcase_add_test(t, the_line_is_never_fuller_than_full);
    tcase_add_test(t, clients_arrive_as_often_as_the_load_says);
    tcase_add_loop_test(t, each_client_gets_each_byte_once, 0, 4);
    tcase_add_loop_test(t, the_same_seed_does_the_same, 0, 4);
    tcase_add_test(t, clients_take_memory_of_blocks);
    tcase_add_loop_test(
        t, by_circus_the_disk_reads_at_one_clients_rate_and_times_are_flat, 0,
        3);
    tcase_add_loop_test(
        t, by_circus_more_than_1_5_times_as_much_is_sent_at_load_0_4, 0, 3);
    tcase_add_test(t, in_order_half_the_file_in_memory_is_enough_for_one_rate);
    tcase_add_test(t, the_disk_reads_for_each_file_once);
    tcase_add_test(
        t, small_blocks_long_queues_low_thresholds_and_long_leaps_cost_reads);
    return run_suite("sim.one_depot", t);
}
