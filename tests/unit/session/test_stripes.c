/* SPDX-License-Identifier: MIT */
/* Which bytes come as parity, and when and how their stripes are decoded. */
#include "session/stripes.h"

#include "base/alloc.h"
#include "ledger/ledger.h"
#include "session/pieces.h"
#include "suite.h"

/* Two stripes of three shards of 100 bytes; the second is short: it has 100, 50 and
 * 0 of them. */
static struct xd_stripes stripes;
static struct xd_ledger ledger;
static struct xd_pieces pieces;

/* Shards that no depot holds, and parity that none has, by their bits; of the first
 * stripe. */
static unsigned lost;

static bool holds(const void *world, struct xd_range range)
{
    ck_assert_ptr_null(world);
    return !(lost >> (range.begin - 1000) / 100 & 1);
}

static unsigned failing = UINT32_MAX; /* the depot that does */

static bool fails(const void *world, unsigned depot)
{
    ck_assert_ptr_null(world);
    return depot == failing;
}

static bool next_holder(const void *world, size_t stripe,
                        struct xd_parity_holder *h)
{
    ck_assert_ptr_null(world);
    ck_assert_uint_eq(stripe, 0);
    for (h->parity = 3 + (unsigned)h->i; h->parity < 5; h->parity++) {
        h->i++;
        h->depot = 20 + h->parity;
        if (!(lost >> h->parity & 1))
            return true;
    }
    return false;
}

static const struct xd_stripe_ops ops = {
    .holds = holds, .fails = fails, .next_holder = next_holder};

static void setup(void)
{
    lost = 0;
    failing = UINT32_MAX;
    stripes.ledger = &ledger;
    stripes.pieces = &pieces;
    stripes.ops = &ops;
    stripes.list = xd_alloc(2, sizeof *stripes.list);
    ck_assert_ptr_nonnull(stripes.list);
    stripes.n = 2;
    stripes.list[0] = (struct xd_stripe_shape){{1000, 1300}, 100, 3, 5};
    stripes.list[1] = (struct xd_stripe_shape){{1300, 1450}, 100, 3, 5};
}

static void teardown(void)
{
    xd_stripes_fini(&stripes);
    xd_pieces_fini(&pieces);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

static void begin(unsigned fetch, unsigned parity, unsigned depot,
                  uint64_t from, uint64_t to)
{
    const struct xd_coded_run run = {{from, to}, parity, depot, fetch};

    ck_assert_int_eq(
        xd_stripes_begin(&stripes, xd_stripes_find(&stripes, from), &run), 0);
}

static void store(unsigned fetch, uint64_t from, uint64_t to)
{
    const struct xd_range r = {from, to};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_stripes_stored(&stripes, fetch, r), 0);
}

/* All of that comes from one request, which ends. */
static void deliver(unsigned parity, unsigned depot, uint64_t from, uint64_t to)
{
    struct xd_coded_run run;
    size_t stripe;

    begin(7, parity, depot, from, to);
    store(7, from, to);
    ck_assert(xd_stripes_end(&stripes, 7, from, &stripe, &run));
}

static void write_data(uint64_t from, uint64_t to)
{
    const struct xd_range r = {from, to};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, 0), 0);
}

static size_t ready(void)
{
    ck_assert_int_eq(xd_stripes_put_ready(&stripes, 0), 0);
    ck_assert_int_eq(xd_stripes_put_ready(&stripes, 1), 0);
    return xd_stripes_take_ready(&stripes);
}

static bool take(size_t stripe, struct xd_coded_run *out)
{
    return xd_stripes_take(&stripes, stripe, XD_STORED,
                           stripes.list[stripe].range, out);
}

static void expect_range(struct xd_range r, uint64_t from, uint64_t to)
{
    ck_assert_uint_eq(r.begin, from);
    ck_assert_uint_eq(r.end, to);
}

START_TEST(a_byte_is_in_one_stripe_or_in_none)
{
    ck_assert_uint_eq(xd_stripes_find(&stripes, 999), XD_NO_STRIPE);
    ck_assert_uint_eq(xd_stripes_find(&stripes, 1000), 0);
    ck_assert_uint_eq(xd_stripes_find(&stripes, 1299), 0);
    ck_assert_uint_eq(xd_stripes_find(&stripes, 1300), 1);
    ck_assert_uint_eq(xd_stripes_find(&stripes, 1449), 1);
    ck_assert_uint_eq(xd_stripes_find(&stripes, 1450), XD_NO_STRIPE);
}
END_TEST

START_TEST(stripes_are_found_from_a_byte_on)
{
    ck_assert_uint_eq(xd_stripes_from(&stripes, 0), 0);
    ck_assert_uint_eq(xd_stripes_from(&stripes, 1299), 0);
    ck_assert_uint_eq(xd_stripes_from(&stripes, 1300), 1);
    ck_assert_uint_eq(xd_stripes_from(&stripes, 1450), 2);
}
END_TEST

START_TEST(a_range_is_taken_apart_at_the_edges_of_stripes)
{
    struct xd_range r = {900, 1500};
    const uint64_t edges[] = {1000, 1300, 1450, 1500};

    for (size_t i = 0; i < 4; i++) {
        const struct xd_range part = xd_stripes_part(&stripes, r);

        ck_assert_uint_eq(part.begin, r.begin);
        ck_assert_uint_eq(part.end, edges[i]);
        r.begin = part.end;
    }
    r = xd_stripes_part(&stripes, (struct xd_range){1010, 1020});
    ck_assert_uint_eq(r.end, 1020);
    r = xd_stripes_part(&stripes, (struct xd_range){10, 20});
    ck_assert_uint_eq(r.end, 20);
}
END_TEST

START_TEST(stripes_are_closed_in_any_order)
{
    struct xd_coded_run run;

    deliver(3, 8, 1000, 1060);
    deliver(4, 9, 1300, 1320);
    ck_assert(take(0, &run));
    ck_assert(!xd_stripes_is_open(&stripes, 0));
    ck_assert(xd_stripes_is_open(&stripes, 1));
    ck_assert(take(1, &run));
    ck_assert(!xd_stripes_is_open(&stripes, 1));
}
END_TEST

START_TEST(the_last_shards_are_short)
{
    unsigned number;

    expect_range(xd_stripes_shard(&stripes.list[0], 1199, &number), 1100, 1200);
    ck_assert_uint_eq(number, 1);
    expect_range(xd_stripes_shard(&stripes.list[1], 1400, &number), 1400, 1450);
    ck_assert_uint_eq(number, 1);
}
END_TEST

START_TEST(beside_bytes_are_those_at_the_same_positions)
{
    const struct xd_range r = {1310, 1370};

    expect_range(
        xd_stripes_beside(&stripes.list[0], 2, (struct xd_range){1020, 1030}),
        1220, 1230);
    expect_range(xd_stripes_beside(&stripes.list[1], 1, r), 1410, 1450);
    ck_assert(xd_range_is_empty(xd_stripes_beside(&stripes.list[1], 2, r)));
}
END_TEST

START_TEST(a_stripe_is_open_while_parity_comes_or_is_there)
{
    struct xd_coded_run run;
    size_t stripe;

    ck_assert(!xd_stripes_is_open(&stripes, 0));
    begin(3, 4, 9, 1000, 1100);
    ck_assert(xd_stripes_is_open(&stripes, 0));
    ck_assert(xd_stripes_is_asked(&stripes, 0));
    ck_assert(!xd_stripes_is_open(&stripes, 1));
    ck_assert(!xd_stripes_end(&stripes, 4, 1000, &stripe, &run));
    ck_assert(!xd_stripes_end(&stripes, 3, 1300, &stripe, &run));
    ck_assert(!xd_stripes_end(&stripes, 3, 999, &stripe, &run));
    ck_assert(xd_stripes_end(&stripes, 3, 1099, &stripe, &run));
    ck_assert_uint_eq(stripe, 0);
    ck_assert_uint_eq(run.parity, 4);
    expect_range(run.range, 1000, 1100);
    ck_assert(!xd_stripes_is_open(&stripes, 0));

    deliver(4, 9, 1000, 1100);
    ck_assert(xd_stripes_is_open(&stripes, 0));
    ck_assert(!xd_stripes_is_asked(&stripes, 0));
    ck_assert(!take(1, &run));
    ck_assert(take(0, &run));
    ck_assert(!xd_stripes_is_open(&stripes, 0));
}
END_TEST

START_TEST(it_can_be_decoded_once_all_of_it_is_there)
{
    ck_assert_uint_eq(ready(), XD_NO_STRIPE);
    write_data(1000, 1100);
    write_data(1200, 1299);
    begin(1, 3, 9, 1100, 1200);
    store(1, 1100, 1150);
    store(1, 1150, 1199);
    ck_assert_uint_eq(ready(), XD_NO_STRIPE);
    store(1, 1199, 1200);
    ck_assert_uint_eq(ready(), XD_NO_STRIPE);
    write_data(1299, 1300);
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

START_TEST(without_parity_there_is_nothing_to_decode)
{
    write_data(1000, 1450);
    begin(1, 3, 9, 1000, 1100);
    ck_assert_uint_eq(ready(), XD_NO_STRIPE);
}
END_TEST

/* Pieces of 50 bytes. */
START_TEST(data_is_proved_first_where_that_can_be)
{
    ck_assert_int_eq(
        xd_pieces_cut(&pieces, 50, 2000, (struct xd_range){0, 2000}), 0);
    write_data(1000, 1200);
    deliver(4, 9, 1200, 1300);
    ck_assert_uint_eq(ready(), XD_NO_STRIPE);
    ck_assert_int_eq(
        xd_ledger_change(&ledger, XD_VERIFY, (struct xd_range){1000, 1200}), 0);
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

/* Of 200 bytes: what is not here is to come out of the decoding. */
START_TEST(a_piece_that_parity_is_in_is_proved_afterwards)
{
    ck_assert_int_eq(
        xd_pieces_cut(&pieces, 200, 2000, (struct xd_range){0, 2000}), 0);
    write_data(1000, 1100);
    deliver(4, 9, 1100, 1200);
    write_data(1200, 1300);
    ck_assert_uint_eq(ready(), 0);
}
END_TEST

START_TEST(parity_is_unused_where_no_run_has_it)
{
    const struct xd_range all = {1000, 1100};

    expect_range(xd_stripes_next_unused(&stripes, 0, 3, all), 1000, 1100);
    deliver(3, 9, 1000, 1020);
    begin(1, 3, 9, 1050, 1060);
    deliver(4, 9, 1020, 1030);
    expect_range(xd_stripes_next_unused(&stripes, 0, 3, all), 1020, 1050);
    expect_range(
        xd_stripes_next_unused(&stripes, 0, 3, (struct xd_range){1050, 1100}),
        1060, 1100);
    ck_assert(xd_range_is_empty(
        xd_stripes_next_unused(&stripes, 0, 3, (struct xd_range){1005, 1020})));
    expect_range(xd_stripes_next_unused(&stripes, 0, 4, all), 1000, 1020);
}
END_TEST

static void expect_step(uint64_t at, uint64_t end, unsigned first,
                        unsigned second, unsigned third, unsigned n_lost)
{
    struct xd_stripe_step step;

    ck_assert(xd_stripes_next_step(&stripes, 0, at, &step));
    ck_assert_uint_eq(step.begin, at);
    ck_assert_uint_eq(step.end, end);
    ck_assert_uint_eq(step.present[0], first);
    ck_assert_uint_eq(step.present[1], second);
    ck_assert_uint_eq(step.present[2], third);
    ck_assert_uint_eq(step.n_lost, n_lost);
}

START_TEST(a_step_is_where_the_same_shards_are_there)
{
    struct xd_stripe_step step;

    deliver(3, 8, 1000, 1060);
    deliver(4, 9, 1060, 1100);
    deliver(4, 9, 1220, 1260);
    begin(1, 5, 9, 1100, 1200); /* which is not there */
    expect_step(0, 20, 3, 1, 2, 1);
    expect_step(20, 60, 3, 1, 4, 2);
    expect_step(60, 100, 4, 1, 2, 1);
    ck_assert(!xd_stripes_next_step(&stripes, 0, 100, &step));
    ck_assert(xd_stripes_next_step(&stripes, 0, 20, &step));
    ck_assert_uint_eq(step.lost[0] + step.lost[1], 2);
}
END_TEST

START_TEST(a_shard_is_whole_if_all_of_it_is_of_one_depot)
{
    struct xd_coded_run run;

    deliver(3, 8, 1000, 1060);
    ck_assert(!xd_stripes_is_whole(&stripes, 0, 0, &run));
    deliver(3, 8, 1060, 1100);
    ck_assert(xd_stripes_is_whole(&stripes, 0, 0, &run));
    ck_assert_uint_eq(run.parity, 3);
    ck_assert_uint_eq(run.depot, 8);
    expect_range(run.range, 1000, 1100);

    deliver(3, 8, 1100, 1150);
    deliver(3, 9, 1150, 1200);
    ck_assert(!xd_stripes_is_whole(&stripes, 0, 1, &run));
    deliver(3, 8, 1200, 1250);
    deliver(4, 8, 1250, 1300);
    ck_assert(!xd_stripes_is_whole(&stripes, 0, 2, &run));
}
END_TEST

/* Its hash is of more than is in the place of the data. */
START_TEST(in_the_place_of_a_short_shard_none_is_whole)
{
    struct xd_coded_run run;

    deliver(3, 8, 1400, 1450);
    ck_assert(!xd_stripes_is_whole(&stripes, 1, 1, &run));
    deliver(3, 8, 1300, 1400);
    ck_assert(xd_stripes_is_whole(&stripes, 1, 0, &run));
}
END_TEST

START_TEST(what_a_depot_has_delivered_can_be_taken_out)
{
    const struct xd_range range = stripes.list[0].range;
    struct xd_coded_run run;

    deliver(3, 8, 1000, 1060);
    deliver(4, 9, 1060, 1100);
    begin(1, 4, 9, 1100, 1200);
    ck_assert(
        !xd_stripes_take(&stripes, 0, 9, (struct xd_range){1000, 1060}, &run));
    ck_assert(xd_stripes_take(&stripes, 0, 9, range, &run));
    expect_range(run.range, 1060, 1100);
    ck_assert(!xd_stripes_take(&stripes, 0, 9, range, &run));
    ck_assert(!take(1, &run));
    ck_assert(take(0, &run));
    ck_assert_uint_eq(run.depot, 8);
    ck_assert(!take(0, &run));
    ck_assert(xd_stripes_is_open(&stripes, 0));
}
END_TEST

START_TEST(stripes_are_decoded_once_each_in_the_order_of_time)
{
    struct xd_coded_run run;

    write_data(1000, 1200);
    write_data(1300, 1400);
    deliver(3, 8, 1400, 1450);
    ck_assert_int_eq(xd_stripes_put_ready(&stripes, 1), 0);
    deliver(3, 8, 1200, 1300);
    ck_assert_int_eq(xd_stripes_put_ready(&stripes, 0), 0);
    ck_assert_int_eq(xd_stripes_put_ready(&stripes, 1), 0);
    ck_assert(xd_stripes_has_ready(&stripes));
    ck_assert_uint_eq(xd_stripes_take_ready(&stripes), 1);
    ck_assert(take(0, &run)); /* it cannot be any more */
    ck_assert(xd_stripes_has_ready(&stripes));
    ck_assert_uint_eq(xd_stripes_take_ready(&stripes), XD_NO_STRIPE);
    ck_assert(!xd_stripes_has_ready(&stripes));
}
END_TEST

/* However often one waits again before all have had their turn. */
START_TEST(a_queue_takes_no_more_memory_than_it_has_stripes)
{
    xd_usec at;

    ck_assert_int_eq(xd_stripes_look_again(&stripes, 0, 0), 0);
    ck_assert_int_eq(xd_stripes_look_again(&stripes, 1, 1), 0);
    for (unsigned i = 0; i < 1000; i++) {
        const xd_usec now = i + XD_STRIPES_LATE;

        ck_assert_uint_eq(xd_stripes_next_again(&stripes, now, &at), i % 2);
        ck_assert_int_eq(xd_stripes_look_again(&stripes, i % 2, i + 2), 0);
    }
    ck_assert_uint_lt(stripes.put_off.capacity, 100);
}
END_TEST

/* Of the first stripe shard 0 is there, then also shard 1. */
START_TEST(shards_are_late_a_while_after_all_others_came)
{
    struct xd_range range;
    unsigned number = 0;
    xd_usec at;

    write_data(1000, 1100);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 5), 0);
    ck_assert_uint_eq(
        xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE - 1, &at),
        XD_NO_STRIPE);
    ck_assert_uint_eq(at, 5 + XD_STRIPES_LATE);
    write_data(1100, 1200);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 9), 0);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      0);
    ck_assert(xd_stripes_next_lacking(&stripes, 0, &number, &range));
    ck_assert_uint_eq(number, 2);
    expect_range(range, 1200, 1300);
    number++;
    ck_assert(!xd_stripes_next_lacking(&stripes, 0, &number, &range));
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
    ck_assert_uint_eq(at, XD_NEVER);
}
END_TEST

START_TEST(a_stripe_that_has_come_meanwhile_has_no_late_shards)
{
    xd_usec at;

    write_data(1000, 1200);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 5), 0);
    write_data(1200, 1300);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
}
END_TEST

/* There are two of parity: one is in the place of shard 0. */
START_TEST(no_more_shards_are_late_than_there_is_parity_for)
{
    xd_usec at;

    deliver(3, 9, 1000, 1100);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 5), 0);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
    write_data(1100, 1200);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 5), 0);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      0);
}
END_TEST

START_TEST(where_parity_is_used_meanwhile_it_waits_again)
{
    xd_usec at;

    write_data(1000, 1100);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 5), 0);
    begin(1, 3, 9, 1100, 1150);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 5 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
    write_data(1100, 1200);
    ck_assert_int_eq(xd_stripes_look(&stripes, 0, 7), 0);
    ck_assert_uint_eq(xd_stripes_next_late(&stripes, 7 + XD_STRIPES_LATE, &at),
                      0);
}
END_TEST

/* Parity that takes the place of a byte of one shard is used at that position. */
START_TEST(parity_is_used_at_a_position_whatever_it_takes_the_place_of)
{
    deliver(3, 9, 1000, 1020);
    expect_range(
        xd_stripes_next_unused(&stripes, 0, 3, (struct xd_range){1200, 1300}),
        1220, 1300);
    expect_range(
        xd_stripes_next_unused(&stripes, 0, 3, (struct xd_range){1210, 1300}),
        1220, 1300);
}
END_TEST

START_TEST(a_shard_is_coded_if_parity_is_in_its_place)
{
    deliver(3, 8, 1199, 1200);
    ck_assert(xd_stripes_is_coded(&stripes, 0, 1));
    ck_assert(!xd_stripes_is_coded(&stripes, 0, 0));
    ck_assert(!xd_stripes_is_coded(&stripes, 0, 2));
    ck_assert(!xd_stripes_is_coded(&stripes, 1, 2));
}
END_TEST

static bool may_begin(unsigned parity, uint64_t from, uint64_t to)
{
    const struct xd_coded_run run = {{from, to}, parity, 9, 7};

    return xd_stripes_may_begin(&stripes, 0, &run);
}

START_TEST(parity_may_take_the_place_of_what_is_late)
{
    ck_assert(may_begin(3, 1000, 1100));
    lost = 1 << 1; /* there are two of parity */
    ck_assert(may_begin(3, 1000, 1100));
    lost = 1 << 1 | 1 << 2;
    ck_assert(!may_begin(3, 1000, 1100));
}
END_TEST

START_TEST(parity_that_is_needed_for_what_is_lost_is_kept_for_that)
{
    lost = 1 << 1 | 1 << 4; /* and one of parity */
    ck_assert(!may_begin(3, 1000, 1100));
    ck_assert(may_begin(3, 1100, 1200));
    write_data(1100, 1200);
    ck_assert(may_begin(3, 1000, 1100));
}
END_TEST

START_TEST(what_parity_comes_for_needs_no_more)
{
    lost = 1 << 1;
    begin(1, 4, 9, 1100, 1200);
    ck_assert(may_begin(3, 1000, 1100));
    lost |= 1 << 2;
    ck_assert(!may_begin(3, 1000, 1100));
}
END_TEST

/* All is lost but shard 0. */
START_TEST(no_second_request_takes_what_another_shard_needs)
{
    lost = 1 << 1 | 1 << 2;
    ck_assert(may_begin(3, 1100, 1200));
    begin(1, 3, 9, 1100, 1200);
    ck_assert(!may_begin(4, 1150, 1200));
    ck_assert(may_begin(4, 1200, 1300));
    begin(2, 4, 9, 1200, 1300);
    ck_assert(may_begin(4, 1150, 1200)); /* whoever asks has seen to that */
}
END_TEST

/* That is asked for at other positions. */
START_TEST(parity_is_needed_at_positions)
{
    lost = 1 << 1 | 1 << 2;
    begin(1, 3, 9, 1100, 1150);
    ck_assert(may_begin(3, 1150, 1200));
    ck_assert(may_begin(3, 1250, 1300));
    ck_assert(!may_begin(4, 1140, 1150));
}
END_TEST

START_TEST(a_stripe_is_looked_at_again_once_a_while_later)
{
    xd_usec at;

    ck_assert_int_eq(xd_stripes_look_again(&stripes, 1, 5), 0);
    ck_assert_int_eq(xd_stripes_look_again(&stripes, 1, 6), 0);
    ck_assert_int_eq(xd_stripes_look_again(&stripes, 0, 7), 0);
    ck_assert_uint_eq(xd_stripes_next_again(&stripes, 5 + XD_STRIPES_LATE, &at),
                      1);
    ck_assert_uint_eq(xd_stripes_next_again(&stripes, 6 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
    ck_assert_uint_eq(at, 7 + XD_STRIPES_LATE);
    ck_assert_uint_eq(xd_stripes_next_again(&stripes, 7 + XD_STRIPES_LATE, &at),
                      0);
    ck_assert_uint_eq(xd_stripes_next_again(&stripes, 7 + XD_STRIPES_LATE, &at),
                      XD_NO_STRIPE);
    ck_assert_uint_eq(at, XD_NEVER);
}
END_TEST

START_TEST(a_stripe_is_short_where_all_parity_takes_the_place_of_others)
{
    lost = 1 << 1 | 1 << 4; /* and one of parity */
    ck_assert(!xd_stripes_is_short(&stripes, 0));
    deliver(3, 9, 1000, 1100);
    ck_assert(xd_stripes_is_short(&stripes, 0));
    lost = 1 << 1;
    ck_assert(!xd_stripes_is_short(&stripes, 0));
    begin(1, 4, 9, 1100, 1200);
    lost = 1 << 1 | 1 << 4;
    ck_assert(!xd_stripes_is_short(&stripes, 0));
    failing = 9; /* which that was asked of */
    ck_assert(xd_stripes_is_short(&stripes, 0));
}
END_TEST

/* All parity is used at some positions of the lost shard, but not at others. */
START_TEST(stripe_is_short_where_no_parity_is_left_at_one_position)
{
    lost = 1 << 1 | 1 << 4; /* and one of parity */
    deliver(3, 9, 1000, 1050);
    ck_assert(xd_stripes_is_short(&stripes, 0));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("stripes");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_byte_is_in_one_stripe_or_in_none);
    tcase_add_test(t, the_last_shards_are_short);
    tcase_add_test(t, beside_bytes_are_those_at_the_same_positions);
    tcase_add_test(t, a_stripe_is_open_while_parity_comes_or_is_there);
    tcase_add_test(t, it_can_be_decoded_once_all_of_it_is_there);
    tcase_add_test(t, without_parity_there_is_nothing_to_decode);
    tcase_add_test(t, data_is_proved_first_where_that_can_be);
    tcase_add_test(t, a_piece_that_parity_is_in_is_proved_afterwards);
    tcase_add_test(t, parity_is_unused_where_no_run_has_it);
    tcase_add_test(t, a_step_is_where_the_same_shards_are_there);
    tcase_add_test(t, a_shard_is_whole_if_all_of_it_is_of_one_depot);
    tcase_add_test(t, in_the_place_of_a_short_shard_none_is_whole);
    tcase_add_test(t, what_a_depot_has_delivered_can_be_taken_out);
    tcase_add_test(t, shards_are_late_a_while_after_all_others_came);
    tcase_add_test(t, a_stripe_that_has_come_meanwhile_has_no_late_shards);
    tcase_add_test(t, no_more_shards_are_late_than_there_is_parity_for);
    tcase_add_test(t, where_parity_is_used_meanwhile_it_waits_again);
    tcase_add_test(t,
                   parity_is_used_at_a_position_whatever_it_takes_the_place_of);
    tcase_add_test(t, a_shard_is_coded_if_parity_is_in_its_place);
    tcase_add_test(t, parity_may_take_the_place_of_what_is_late);
    tcase_add_test(t, parity_that_is_needed_for_what_is_lost_is_kept_for_that);
    tcase_add_test(t, what_parity_comes_for_needs_no_more);
    tcase_add_test(t, no_second_request_takes_what_another_shard_needs);
    tcase_add_test(t, parity_is_needed_at_positions);
    tcase_add_test(t, a_stripe_is_looked_at_again_once_a_while_later);
    tcase_add_test(
        t, a_stripe_is_short_where_all_parity_takes_the_place_of_others);
    tcase_add_test(t, stripe_is_short_where_no_parity_is_left_at_one_position);
    tcase_add_test(t, stripes_are_found_from_a_byte_on);
    tcase_add_test(t, a_range_is_taken_apart_at_the_edges_of_stripes);
    tcase_add_test(t, stripes_are_closed_in_any_order);
    tcase_add_test(t, stripes_are_decoded_once_each_in_the_order_of_time);
    tcase_add_test(t, a_queue_takes_no_more_memory_than_it_has_stripes);
    return run_suite("stripes", t);
}
