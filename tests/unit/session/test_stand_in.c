/* SPDX-License-Identifier: MIT */
/* Which depots are asked for parity in the place of data. */
#include "session/stand_in.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "session/pieces.h"
#include "suite.h"

/* Two stripes of three shards of 100 bytes, and two of parity: 3 and 4. */
static struct xd_stripes stripes;
static struct xd_ledger ledger;
static struct xd_pieces pieces;

/* Of each depot the shards of parity that it has, by their bits. */
static unsigned parity[4];
static unsigned lost; /* shards of data that no depot holds, likewise */

/* How often all depots with parity were walked over. */
static unsigned n_walks;

/* What was reported: each a letter, the depot, and the range. */
static struct xd_text reports;

static bool holds(const void *world, struct xd_range range)
{
    ck_assert_ptr_null(world);
    return !(lost >> (range.begin - 1000) / 100 & 1);
}

static bool fails(const void *world, unsigned depot)
{
    ck_assert_ptr_null(world);
    return parity[depot] == 0;
}

static bool next_holder(const void *world, size_t stripe,
                        struct xd_parity_holder *h)
{
    ck_assert_ptr_null(world);
    ck_assert_uint_lt(stripe, 2);
    for (; h->i < 4; h->i++, h->k = 0)
        while (h->k < 2) {
            h->depot = (unsigned)h->i;
            h->parity = 3 + (unsigned)h->k++;
            if (parity[h->depot] >> h->parity & 1)
                return true;
        }
    n_walks++;
    return false;
}

static void note(char what, unsigned depot, struct xd_range r)
{
    xd_text_addf(&reports, "%c%u %u-%u ", what, depot, (unsigned)r.begin,
                 (unsigned)r.end);
}

static void lend(void *world, unsigned depot, struct xd_range range)
{
    ck_assert_ptr_null(world);
    note('-', depot, range);
}

static void give_back(void *world, unsigned depot, struct xd_range range)
{
    ck_assert_ptr_null(world);
    note('+', depot, range);
}

static void join(void *world, unsigned depot, struct xd_range range)
{
    ck_assert_ptr_null(world);
    note('j', depot, range);
}

static void ask_again(void *world)
{
    ck_assert_ptr_null(world);
    xd_text_addf(&reports, "again ");
}

static void discard(void *world, struct xd_range range,
                    enum xd_discard_reason why)
{
    ck_assert_ptr_null(world);
    ck_assert_int_eq(xd_ledger_written(&ledger, range, XD_NO_DEPOT), 0);
    ck_assert_int_eq(xd_ledger_discard(&ledger, range, why), 0);
    note('x', (unsigned)why, range);
}

static void run_out(void *world)
{
    ck_assert_ptr_null(world);
    ck_abort();
}

static const struct xd_stripe_ops ops = {.holds = holds,
                                         .fails = fails,
                                         .next_holder = next_holder,
                                         .lend = lend,
                                         .give_back = give_back,
                                         .join = join,
                                         .ask_again = ask_again,
                                         .discard = discard,
                                         .run_out = run_out};

static void setup(void)
{
    memset(parity, 0, sizeof parity);
    parity[0] = 1 << 3;
    parity[1] = 1 << 4;
    lost = 0;
    stripes.ops = &ops;
    stripes.ledger = &ledger;
    stripes.pieces = &pieces;
    stripes.list = xd_alloc(2, sizeof *stripes.list);
    ck_assert_ptr_nonnull(stripes.list);
    stripes.n = 2;
    stripes.list[0] = (struct xd_stripe_shape){{1000, 1300}, 100, 3, 5};
    stripes.list[1] = (struct xd_stripe_shape){{1300, 1600}, 100, 3, 5};
}

static void teardown(void)
{
    xd_stripes_fini(&stripes);
    xd_pieces_fini(&pieces);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
    xd_text_fini(&reports);
}

/* What was reported since. */
static void expect(const char *what)
{
    if (reports.len > 0)
        reports.s[--reports.len] = '\0';
    ck_assert_str_eq(reports.len > 0 ? reports.s : "", what);
    xd_text_clear(&reports);
}

static bool begin(unsigned fetch, unsigned depot, uint64_t from, uint64_t to)
{
    struct xd_coded_run run = {.depot = depot, .fetch = fetch};

    ck_assert(
        xd_stand_in_choose(&stripes, depot, (struct xd_range){from, to}, &run));
    return xd_stand_in_begin(&stripes, &run, 0);
}

static void store(unsigned fetch, uint64_t from, uint64_t to)
{
    const struct xd_range r = {from, to};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    xd_stand_in_stored(&stripes, fetch, r, 0);
}

static void write_data(uint64_t from, uint64_t to)
{
    const struct xd_range r = {from, to};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, 0), 0);
}

START_TEST(parity_is_chosen_by_its_depot_and_within_one_shard)
{
    struct xd_coded_run run;

    ck_assert(
        xd_stand_in_choose(&stripes, 1, (struct xd_range){1050, 1250}, &run));
    ck_assert_uint_eq(run.parity, 4);
    ck_assert_uint_eq(run.range.begin, 1050);
    ck_assert_uint_eq(run.range.end, 1100);
    ck_assert(
        !xd_stand_in_choose(&stripes, 2, (struct xd_range){1050, 1250}, &run));
    ck_assert(
        !xd_stand_in_choose(&stripes, 1, (struct xd_range){900, 950}, &run));
}
END_TEST

START_TEST(a_depot_is_lent_where_its_parity_would_be_in_two_places)
{
    ck_assert(begin(1, 0, 1110, 1130));
    expect("-0 1010-1030 -0 1210-1230");
    store(1, 1110, 1120);
    expect("");
    xd_stand_in_ended(&stripes, 1, 1110, 0);
    expect("+0 1020-1030 +0 1120-1130 +0 1220-1230 again");
}
END_TEST

/* The data may be dropped from memory and be needed once more. */
START_TEST(decoded_stripe_gives_its_parity_back)
{
    const struct xd_range all = {1000, 1300};
    struct xd_coded_run run;

    ck_assert(begin(1, 0, 1100, 1200));
    expect("-0 1000-1100 -0 1200-1300");
    store(1, 1100, 1200);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("again");
    ck_assert(xd_stripes_take(&stripes, 0, XD_STORED, all, &run));
    xd_stand_in_decoded(&stripes, 0, &run);
    expect("+0 1000-1100 +0 1100-1200 +0 1200-1300");
}
END_TEST

START_TEST(the_end_of_a_request_for_data_reports_nothing)
{
    ck_assert(begin(1, 0, 1110, 1130));
    expect("-0 1010-1030 -0 1210-1230");
    xd_stand_in_ended(&stripes, 2, 1110, 0);
    xd_stand_in_ended(&stripes, 1, 1310, 0);
    xd_stand_in_ended(&stripes, 1, 900, 0);
    expect("");
}
END_TEST

/* Shards 1 and 2 are lost: nothing is left for one that is late. */
START_TEST(what_was_refused_is_given_back_at_the_end_of_a_request)
{
    lost = 1 << 1 | 1 << 2;
    ck_assert(begin(1, 0, 1100, 1200));
    expect("-0 1000-1100 -0 1200-1300");
    ck_assert(!begin(2, 1, 1000, 1100));
    expect("-1 1000-1100");
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("+0 1000-1100 +0 1100-1200 +0 1200-1300 "
           "+0 1000-1100 +0 1100-1200 +0 1200-1300 "
           "+1 1000-1100 +1 1100-1200 +1 1200-1300 again");
}
END_TEST

/* The stripe is to be looked at again, as one request has ended. */
START_TEST(where_nothing_was_refused_no_more_than_its_own_is_given_back)
{
    ck_assert(begin(1, 0, 1100, 1200));
    store(1, 1100, 1200);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    ck_assert(begin(2, 1, 1000, 1100));
    expect("-0 1000-1100 -0 1200-1300 again -1 1100-1200 -1 1200-1300");
    xd_stand_in_ended(&stripes, 2, 1000, 0);
    expect("+1 1000-1100 +1 1100-1200 +1 1200-1300 again");
}
END_TEST

/* Likewise. */
START_TEST(looking_again_gives_back_only_what_was_refused)
{
    lost = 1 << 1 | 1 << 2;
    ck_assert(begin(1, 0, 1100, 1200));
    store(1, 1100, 1150);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("-0 1000-1100 -0 1200-1300 +0 1050-1100 +0 1150-1200 +0 1250-1300 "
           "again");
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, XD_STRIPES_LATE - 1),
                      XD_STRIPES_LATE);
    expect("");
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, XD_STRIPES_LATE),
                      2 * XD_STRIPES_LATE);
    expect("again");
    ck_assert(!begin(2, 1, 1000, 1050));
    expect("-1 1000-1050");
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, 2 * XD_STRIPES_LATE),
                      3 * XD_STRIPES_LATE);
    expect("+0 1050-1100 +0 1150-1200 +0 1250-1300 "
           "+1 1000-1100 +1 1100-1200 +1 1200-1300 again");
}
END_TEST

/* All parity is in the place of shards that a depot holds; then shard 2 is lost. */
START_TEST(what_a_depot_holds_gives_way_to_what_none_does)
{
    ck_assert(begin(1, 0, 1000, 1100));
    store(1, 1000, 1100);
    xd_stand_in_ended(&stripes, 1, 1000, 0);
    ck_assert(!xd_stand_in_spares(&stripes, 900, 0));
    lost = 1 << 0;
    ck_assert(!xd_stand_in_spares(&stripes, 1200, 0));
    lost = 1 << 2;
    expect("-0 1100-1200 -0 1200-1300 again");
    ck_assert(xd_stand_in_spares(&stripes, 1200, 0));
    expect("x5 1000-1100 +0 1000-1100 +0 1100-1200 +0 1200-1300");
    ck_assert(!xd_stand_in_spares(&stripes, 1200, 0));
}
END_TEST

/* Only if all parity takes the place of others. */
START_TEST(it_does_so_a_while_later_only_where_the_stripe_is_short)
{
    ck_assert(begin(1, 0, 1000, 1100));
    store(1, 1000, 1100);
    xd_stand_in_ended(&stripes, 1, 1000, 0);
    lost = 1 << 2;
    expect("-0 1100-1200 -0 1200-1300 again");
    (void)xd_stand_in_watch(&stripes, XD_STRIPES_LATE);
    expect("again");
    parity[1] = 0;
    (void)xd_stand_in_watch(&stripes, 2 * XD_STRIPES_LATE);
    expect("again x5 1000-1100 +0 1000-1100 +0 1100-1200 +0 1200-1300");
}
END_TEST

/* First what was refused is given back, and nothing is discarded. */
START_TEST(what_was_refused_is_spared_before_what_is_there)
{
    lost = 1 << 1 | 1 << 2;
    ck_assert(begin(1, 0, 1100, 1200));
    store(1, 1100, 1200);
    ck_assert(!begin(2, 1, 1000, 1100));
    lost = 0;
    expect("-0 1000-1100 -0 1200-1300 -1 1000-1100");
    ck_assert(xd_stand_in_spares(&stripes, 1000, 0));
    expect("+1 1000-1100 +1 1100-1200 +1 1200-1300 again");
    ck_assert(xd_stand_in_spares(&stripes, 1000, 0));
    expect("x5 1100-1200");
}
END_TEST

static void expect_coming(uint64_t from, uint64_t to, uint64_t end)
{
    const struct xd_range coming =
        xd_stand_in_coming(&stripes, (struct xd_range){from, to});

    ck_assert_uint_eq(coming.begin, from);
    ck_assert_uint_eq(coming.end, end);
}

START_TEST(as_long_as_parity_is_asked_for_some_may_come_for_its_stripe)
{
    expect_coming(1000, 1600, 1000);
    ck_assert(begin(1, 0, 1100, 1200));
    store(1, 1100, 1150);
    expect_coming(1000, 1600, 1300);
    expect_coming(1250, 1260, 1260);
    expect_coming(1300, 1600, 1300);
    expect_coming(900, 1600, 900);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect_coming(1000, 1600, 1000);
}
END_TEST

START_TEST(depots_with_parity_join_those_of_late_shards)
{
    write_data(1000, 1100);
    ck_assert(begin(1, 0, 1100, 1150));
    expect("-0 1000-1050 -0 1200-1250");
    xd_stand_in_written(&stripes, (struct xd_range){1000, 1100}, 5);
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, 5), XD_NEVER);
    write_data(1150, 1200);
    write_data(1200, 1250);
    store(1, 1100, 1150);
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, XD_STRIPES_LATE - 1),
                      XD_STRIPES_LATE);
    expect("");
    (void)xd_stand_in_watch(&stripes, XD_STRIPES_LATE);
    expect("j0 1250-1300 j1 1200-1300");
}
END_TEST

START_TEST(that_can_be_left_out)
{
    stripes.ignores_late = true;
    write_data(1000, 1200);
    xd_stand_in_written(&stripes, (struct xd_range){1000, 1200}, 5);
    ck_assert_uint_eq(xd_stand_in_watch(&stripes, 5), XD_NEVER);
}
END_TEST

START_TEST(what_is_written_can_be_decoded_in_each_of_its_stripes)
{
    ck_assert(begin(1, 0, 1000, 1100));
    store(1, 1000, 1100);
    ck_assert(begin(2, 0, 1500, 1600));
    store(2, 1500, 1600);
    write_data(1100, 1500);
    ck_assert(!xd_stripes_has_ready(&stripes));
    xd_stand_in_written(&stripes, (struct xd_range){1200, 1301}, 5);
    ck_assert_uint_eq(xd_stripes_take_ready(&stripes), 0);
    ck_assert_uint_eq(xd_stripes_take_ready(&stripes), 1);
    ck_assert_uint_eq(xd_stripes_take_ready(&stripes), XD_NO_STRIPE);
}
END_TEST

START_TEST(what_one_depot_delivered_is_dropped_in_all_stripes)
{
    ck_assert(begin(1, 0, 1000, 1100));
    store(1, 1000, 1100);
    xd_stand_in_ended(&stripes, 1, 1000, 0);
    ck_assert(begin(1, 0, 1300, 1400));
    store(1, 1300, 1400);
    ck_assert(begin(2, 1, 1400, 1410));
    store(2, 1400, 1410);
    xd_text_clear(&reports);
    xd_stand_in_drop(&stripes, 0, (struct xd_range){1299, 1300},
                     XD_DISCARD_BANNED);
    expect("x2 1300-1400"); /* a request for it runs */
    xd_stand_in_drop(&stripes, 0, (struct xd_range){1300, 1301},
                     XD_DISCARD_BANNED);
    expect("x2 1000-1100 +0 1000-1100 +0 1100-1200 +0 1200-1300");
    ck_assert(xd_stand_in_drop_stripe(&stripes, 1, XD_DISCARD_BAD_PIECE));
    expect("x0 1400-1410");
    ck_assert(!xd_stand_in_drop_stripe(&stripes, 1, XD_DISCARD_BAD_PIECE));
}
END_TEST

/* Where shards are to be proved one by one. */
START_TEST(apart_other_depots_are_lent_for_the_same_shard)
{
    ck_assert(begin(1, 0, 1100, 1110));
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("-0 1000-1010 -0 1200-1210 +0 1000-1010 +0 1100-1110 +0 1200-1210 "
           "again");
    stripes.states[0].is_apart = true;
    ck_assert(begin(1, 0, 1100, 1110));
    expect("-0 1000-1010 -0 1200-1210 -1 1100-1200");
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("+0 1100-1200 +0 1000-1010 +0 1100-1110 +0 1200-1210 "
           "+1 1100-1200 again");
}
END_TEST

/* From now on shards of the first stripe are to be proved one by one. */
static void keep_apart(void)
{
    ck_assert(begin(9, 0, 1200, 1210));
    xd_stand_in_ended(&stripes, 9, 1200, 0);
    stripes.states[0].is_apart = true;
    xd_text_clear(&reports);
}

START_TEST(apart_a_depot_goes_on_with_the_same_parity)
{
    struct xd_coded_run run = {.depot = 0, .fetch = 4};

    parity[0] = 1 << 3 | 1 << 4;
    parity[1] = 0;
    keep_apart();
    ck_assert(begin(1, 0, 1000, 1050)); /* 3 */
    ck_assert(begin(2, 0, 1100, 1150)); /* 4 */
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1150, 1200}, &run));
    ck_assert_uint_eq(run.parity, 4);
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1050, 1100}, &run));
    ck_assert_uint_eq(run.parity, 3);
    /* Where it is in another place, no other takes its place. */
    ck_assert(begin(3, 0, 1250, 1300)); /* 3 */
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1050, 1100}, &run));
    ck_assert_uint_eq(run.parity, 3);
    ck_assert(!xd_stand_in_begin(&stripes, &run, 0));
}
END_TEST

START_TEST(apart_others_wait_while_a_part_is_there)
{
    parity[2] = 1 << 3; /* the same as that of depot 0 */
    keep_apart();
    ck_assert(begin(1, 0, 1100, 1150));
    expect("-0 1000-1050 -0 1200-1250 -1 1100-1200 -2 1150-1200 "
           "-2 1000-1050 -2 1200-1250");
    store(1, 1100, 1120);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("+0 1120-1200 +0 1020-1050 +0 1120-1150 +0 1220-1250 +2 1020-1050 "
           "+2 1220-1250 again");
    ck_assert(!begin(2, 1, 1150, 1200));
    ck_assert(!begin(2, 2, 1150, 1200));
    expect("-1 1150-1200 -2 1150-1200");
    ck_assert(begin(3, 0, 1120, 1200));
}
END_TEST

START_TEST(apart_what_was_refused_is_given_back_but_for_anothers_shard)
{
    keep_apart();
    ck_assert(begin(1, 0, 1100, 1150));
    store(1, 1100, 1150);
    ck_assert(!begin(2, 1, 1150, 1200));
    xd_text_clear(&reports);
    ck_assert(xd_stand_in_spares(&stripes, 1150, 0));
    expect("+0 1050-1100 +0 1150-1200 +0 1250-1300 "
           "+1 1000-1100 +1 1200-1300 again");
}
END_TEST

START_TEST(apart_a_part_gives_way_when_its_depot_cannot_go_on)
{
    lost = 1 << 1;
    keep_apart();
    ck_assert(begin(1, 0, 1100, 1150));
    store(1, 1100, 1150);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    xd_text_clear(&reports);
    ck_assert(!xd_stand_in_spares(&stripes, 1150, 0));
    parity[0] = 0;
    ck_assert(xd_stand_in_spares(&stripes, 1150, 0));
    expect("x5 1100-1150 +1 1100-1200");
    ck_assert(begin(2, 1, 1100, 1200));
    store(2, 1100, 1200);
    xd_stand_in_ended(&stripes, 2, 1100, 0);
    parity[1] = 0;
    ck_assert(!xd_stand_in_spares(&stripes, 1000, 0)); /* it is whole */
}
END_TEST

/* Its parity is in another place at those positions, where none other may be. */
START_TEST(apart_a_part_gives_way_that_would_be_in_two_places)
{
    parity[0] = 1 << 3 | 1 << 4;
    parity[1] = 0;
    keep_apart();
    lost = 1 << 0 | 1 << 1;
    ck_assert(begin(1, 0, 1000, 1050)); /* 3 */
    store(1, 1000, 1050);
    xd_stand_in_ended(&stripes, 1, 1000, 0);
    ck_assert(begin(1, 0, 1150, 1200)); /* 3 */
    store(1, 1150, 1200);
    xd_stand_in_ended(&stripes, 1, 1150, 0);
    ck_assert(!begin(1, 0, 1050, 1100));
    xd_text_clear(&reports);
    ck_assert(xd_stand_in_spares(&stripes, 1050, 0));
    expect("+0 1200-1300 again");
    ck_assert(xd_stand_in_spares(&stripes, 1050, 0));
    expect("x5 1000-1050 +0 1000-1050 +0 1000-1050 +0 1100-1150 +0 1200-1250 "
           "+0 1000-1100");
}
END_TEST

/* As the same might come again for ever. */
START_TEST(apart_parts_give_way_once_for_each_shard_of_the_stripe)
{
    unsigned n = 0;

    lost = 1 << 1;
    keep_apart();
    for (bool is_spared = true; is_spared; n += is_spared) {
        parity[0] = 1 << 3;
        ck_assert(begin(1, 0, 1100, 1150));
        store(1, 1100, 1150);
        xd_stand_in_ended(&stripes, 1, 1100, 0);
        parity[0] = 0;
        is_spared = xd_stand_in_spares(&stripes, 1150, 0);
    }
    ck_assert_uint_eq(n, 5);
}
END_TEST

START_TEST(apart_no_part_gives_way_to_a_request_that_runs)
{
    lost = 1 << 1;
    keep_apart();
    ck_assert(begin(1, 0, 1100, 1150));
    store(1, 1100, 1150);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    ck_assert(begin(2, 0, 1150, 1200));
    ck_assert(!xd_stand_in_spares(&stripes, 1150, 0));
    store(2, 1150, 1160);
    xd_stand_in_ended(&stripes, 2, 1150, 0);
    ck_assert(!xd_stand_in_spares(&stripes, 1150, 0)); /* it can go on */
}
END_TEST

/* The other parity of the depot may not be mixed with that which is there. */
START_TEST(apart_what_a_depot_has_left_is_chosen_and_refused)
{
    struct xd_coded_run run;

    parity[0] = 1 << 3 | 1 << 4;
    parity[1] = 0;
    keep_apart();
    ck_assert(begin(1, 0, 1100, 1150)); /* 3 */
    store(1, 1100, 1150);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    parity[0] = 1 << 4;
    xd_text_clear(&reports);
    xd_stand_in_hold(&stripes, 0, 0);
    expect("+0 1000-1100 +0 1200-1300");
    run = (struct xd_coded_run){.depot = 0, .fetch = 2};
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1150, 1200}, &run));
    ck_assert(!xd_stand_in_begin(&stripes, &run, 0));
}
END_TEST

/* Depot 0 has both, and had nothing left for one place of them. */
START_TEST(what_was_lent_in_the_place_of_a_request_is_given_back)
{
    parity[0] = 1 << 3 | 1 << 4;
    parity[2] = 1 << 3;
    ck_assert(begin(1, 2, 1220, 1290));
    xd_text_clear(&reports);
    ck_assert(begin(2, 1, 1160, 1180));
    expect("-0 1060-1080 -0 1260-1280 -1 1060-1080 -1 1260-1280");
    xd_stand_in_ended(&stripes, 1, 1220, 0);
    expect("+0 1020-1090 +0 1120-1190 +0 1220-1290 "
           "+2 1020-1090 +2 1120-1190 +2 1220-1290 again");
}
END_TEST

START_TEST(two_shards_of_one_depot_take_the_places_of_two)
{
    struct xd_coded_run run;

    parity[0] = 1 << 3 | 1 << 4;
    parity[1] = 0;
    ck_assert(begin(1, 0, 1100, 1200));
    expect(""); /* the other shard may take those places */
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1000, 1050}, &run));
    ck_assert_uint_eq(run.parity, 4);
    ck_assert(begin(2, 0, 1000, 1050));
    expect("-0 1200-1250"); /* and not 1100-1150, which it is asked for */
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1250, 1300}, &run));
    ck_assert_uint_eq(run.parity, 4);
    xd_stand_in_ended(&stripes, 1, 1100, 0);
    expect("+0 1000-1100 +0 1100-1200 +0 1200-1300 again");
}
END_TEST

/* One of them is where the request begins, and the other further on. */
START_TEST(a_request_is_for_one_of_the_shards_of_a_depot)
{
    struct xd_coded_run run;

    parity[0] = 1 << 3 | 1 << 4;
    ck_assert(begin(1, 0, 1140, 1200)); /* 3 */
    ck_assert(begin(2, 1, 1200, 1240)); /* 4 */
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1000, 1100}, &run));
    ck_assert_uint_eq(run.parity, 3);
    ck_assert_uint_eq(run.range.begin, 1000);
    ck_assert_uint_eq(run.range.end, 1040);
    ck_assert(
        xd_stand_in_choose(&stripes, 0, (struct xd_range){1040, 1100}, &run));
    ck_assert_uint_eq(run.parity, 4);
    ck_assert_uint_eq(run.range.end, 1100);
}
END_TEST

/* Else it would be in two places. */
START_TEST(what_is_asked_for_again_is_the_same_parity)
{
    struct xd_coded_run run;

    parity[0] = parity[2] = 1 << 3 | 1 << 4;
    parity[1] = 0;
    ck_assert(begin(1, 0, 1100, 1200)); /* 3 */
    ck_assert(begin(2, 0, 1000, 1050)); /* 4 */
    store(2, 1000, 1020);
    for (unsigned depot = 0; depot <= 2; depot += 2) {
        ck_assert(xd_stand_in_choose(&stripes, depot,
                                     (struct xd_range){1010, 1040}, &run));
        ck_assert_uint_eq(run.parity, 4);
        ck_assert(xd_stand_in_choose(&stripes, depot,
                                     (struct xd_range){1040, 1100}, &run));
        ck_assert_uint_eq(run.parity, 4);
        ck_assert_uint_eq(run.range.end, 1050);
        ck_assert(xd_stand_in_choose(&stripes, depot,
                                     (struct xd_range){1110, 1200}, &run));
        ck_assert_uint_eq(run.parity, 3);
        ck_assert_uint_eq(run.range.end, 1150); /* 4 is unused from there on */
    }
    ck_assert(begin(3, 2, 1040, 1050));
}
END_TEST

START_TEST(what_is_in_another_place_does_not_begin)
{
    parity[0] = 1 << 3 | 1 << 4;
    parity[1] = 1 << 4;
    parity[2] = 1 << 3;
    ck_assert(begin(1, 0, 1100, 1200)); /* 3 */
    ck_assert(begin(2, 1, 1000, 1100)); /* 4 */
    ck_assert(!begin(3, 2, 1000, 1100));
    ck_assert(!begin(4, 1, 1100, 1200));
    ck_assert(begin(5, 2, 1100, 1200));
}
END_TEST

START_TEST(what_is_left_of_a_depot_that_lost_one_shard_can_be_asked_for)
{
    parity[0] = 1 << 3 | 1 << 4;
    ck_assert(begin(1, 0, 1140, 1200));
    expect("");
    parity[0] = 1 << 3;
    xd_stand_in_hold(&stripes, 0, 0);
    expect("+0 1000-1040 +0 1100-1140 +0 1200-1240");
    xd_stand_in_hold(&stripes, 0, 2);
    expect("");
}
END_TEST

START_TEST(a_wide_stripe_has_its_depots_walked_over_no_more_often)
{
    ck_assert(begin(0, 0, 1000, 1010));
    n_walks = 0;
    ck_assert(begin(1, 1, 1010, 1020));
    const unsigned n = n_walks;

    stripes.list[1] = (struct xd_stripe_shape){{1300, 1600}, 10, 30, 32};
    ck_assert(begin(2, 0, 1300, 1310));
    n_walks = 0;
    ck_assert(begin(3, 1, 1310, 1320));
    ck_assert_uint_eq(n_walks, n);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("stand_in");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, parity_is_chosen_by_its_depot_and_within_one_shard);
    tcase_add_test(t, a_depot_is_lent_where_its_parity_would_be_in_two_places);
    tcase_add_test(t, decoded_stripe_gives_its_parity_back);
    tcase_add_test(t, the_end_of_a_request_for_data_reports_nothing);
    tcase_add_test(t, what_was_refused_is_given_back_at_the_end_of_a_request);
    tcase_add_test(
        t, where_nothing_was_refused_no_more_than_its_own_is_given_back);
    tcase_add_test(t, looking_again_gives_back_only_what_was_refused);
    tcase_add_test(t, what_a_depot_holds_gives_way_to_what_none_does);
    tcase_add_test(t, it_does_so_a_while_later_only_where_the_stripe_is_short);
    tcase_add_test(t, what_was_refused_is_spared_before_what_is_there);
    tcase_add_test(t,
                   as_long_as_parity_is_asked_for_some_may_come_for_its_stripe);
    tcase_add_test(t, depots_with_parity_join_those_of_late_shards);
    tcase_add_test(t, that_can_be_left_out);
    tcase_add_test(t, what_is_written_can_be_decoded_in_each_of_its_stripes);
    tcase_add_test(t, what_one_depot_delivered_is_dropped_in_all_stripes);
    tcase_add_test(t, apart_other_depots_are_lent_for_the_same_shard);
    tcase_add_test(t, apart_a_depot_goes_on_with_the_same_parity);
    tcase_add_test(t, apart_others_wait_while_a_part_is_there);
    tcase_add_test(t,
                   apart_what_was_refused_is_given_back_but_for_anothers_shard);
    tcase_add_test(t, apart_a_part_gives_way_when_its_depot_cannot_go_on);
    tcase_add_test(t, apart_a_part_gives_way_that_would_be_in_two_places);
    tcase_add_test(t, apart_parts_give_way_once_for_each_shard_of_the_stripe);
    tcase_add_test(t, apart_no_part_gives_way_to_a_request_that_runs);
    tcase_add_test(t, apart_what_a_depot_has_left_is_chosen_and_refused);
    tcase_add_test(t, what_was_lent_in_the_place_of_a_request_is_given_back);
    tcase_add_test(t, two_shards_of_one_depot_take_the_places_of_two);
    tcase_add_test(t, a_request_is_for_one_of_the_shards_of_a_depot);
    tcase_add_test(t, what_is_asked_for_again_is_the_same_parity);
    tcase_add_test(t, what_is_in_another_place_does_not_begin);
    tcase_add_test(
        t, what_is_left_of_a_depot_that_lost_one_shard_can_be_asked_for);
    tcase_add_test(t, a_wide_stripe_has_its_depots_walked_over_no_more_often);
    return run_suite("stand_in", t);
}
