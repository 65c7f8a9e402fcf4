/* SPDX-License-Identifier: MIT */
/* Which depots' bytes are fetched again, and from which others, when the whole
 * file is wrong. */
#include "session/repair.h"

#include "suite.h"

#define N_DEPOTS 4

static struct xd_ledger ledger;
static struct xd_range wanted;
static struct xd_repair_depot depots[N_DEPOTS];
static struct xd_repair repair;

static struct xd_repair_depot look(const void *world, unsigned depot)
{
    ck_assert_ptr_eq(world, depots);
    ck_assert_uint_lt(depot, N_DEPOTS);
    return depots[depot];
}

static void store(unsigned depot, uint64_t begin, uint64_t end)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, depot), 0);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_VERIFY, r), 0);
}

/* 300 bytes: 100 of depot 0 in two parts, 80 of depot 1, 120 of depot 2, and
 * none of depot 3. */
static void setup(void)
{
    wanted = (struct xd_range){0, 300};
    for (unsigned i = 0; i < N_DEPOTS; i++)
        depots[i] = (struct xd_repair_depot){.has_all = true};
    repair = (struct xd_repair){
        .ledger = &ledger, .wanted = &wanted, .world = depots, .look = look};
    store(0, 0, 60);
    store(1, 60, 140);
    store(0, 140, 180);
    store(2, 180, 300);
}

static void teardown(void)
{
    xd_repair_fini(&repair);
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

static struct xd_repair_action expect(enum xd_repair_action_kind kind)
{
    struct xd_repair_action a = xd_repair_next(&repair, N_DEPOTS);

    ck_assert_int_eq(a.kind, kind);
    return a;
}

static void expect_at(enum xd_repair_action_kind kind, uint64_t begin,
                      uint64_t end)
{
    struct xd_repair_action a = expect(kind);

    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
}

/* The copies of it differ in all of it, and are exchanged. */
static void expect_exchange(uint64_t begin, uint64_t end)
{
    expect_at(XD_REPAIR_EXCHANGE, begin, end);
    ck_assert_int_eq(
        xd_rangeset_add(&repair.exchanged, (struct xd_range){begin, end}), 0);
}

static void expect_blame(unsigned depot, uint64_t begin, uint64_t end)
{
    struct xd_repair_action a = expect(XD_REPAIR_BLAME);

    ck_assert_uint_eq(a.depot, depot);
    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
}

static void expect_missing(uint64_t bytes)
{
    ck_assert_uint_eq(300 - xd_ledger_bytes(&ledger, XD_BYTES_STORED), bytes);
}

/* A round, until no request is left, behind what is the same in both copies. */
static void expect_round(enum xd_repair_action_kind kind, unsigned depot)
{
    struct xd_repair_action a;

    while (a = xd_repair_next(&repair, N_DEPOTS), a.kind == XD_REPAIR_EXCHANGE)
        ;
    ck_assert_int_eq(a.kind, kind);
    ck_assert_uint_eq(a.depot, depot);
    ck_assert(!xd_repair_is_fetching(&repair));
    expect(XD_REPAIR_NOTHING);
    expect_missing(0);
    ck_assert_int_eq(xd_repair_set_aside(&repair), 0);
    ck_assert(xd_repair_is_fetching(&repair));
    expect(XD_REPAIR_NOTHING);
}

static void find_wrong(void)
{
    xd_repair_wrong(&repair, true);
    expect(XD_REPAIR_PREPARE);
}

static void suspect(unsigned depot)
{
    expect_round(XD_REPAIR_SUSPECT, depot);
}

START_TEST(a_right_file_is_finished)
{
    xd_repair_right(&repair);
    expect(XD_REPAIR_FINISH);
    expect(XD_REPAIR_NOTHING);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BAD_FILE], 0);
}
END_TEST

START_TEST(what_an_earlier_run_left_is_fetched_first)
{
    struct xd_range held = {0, 1};

    ck_assert_int_eq(xd_ledger_discard(&ledger, held, XD_DISCARD_BAD_FILE), 0);
    store(XD_HELD, 0, 1);
    xd_repair_wrong(&repair, false);
    expect(XD_REPAIR_FETCH_HELD);
    expect(XD_REPAIR_NOTHING);
}
END_TEST

START_TEST(what_cannot_be_exchanged_stays_wrong)
{
    xd_repair_wrong(&repair, false);
    expect(XD_REPAIR_GIVE_UP);
    expect(XD_REPAIR_NOTHING);
}
END_TEST

START_TEST(what_the_suspect_delivered_is_fetched_from_all_others)
{
    find_wrong();
    suspect(1);
    expect_missing(80);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        ck_assert(xd_repair_avoids(&repair, i) == (i == 1));
    xd_repair_fetched(&repair);
    ck_assert(!xd_repair_avoids(&repair, 1));
    expect_at(XD_REPAIR_EXCHANGE, 60, 140);
}
END_TEST

START_TEST(the_depot_that_delivered_least_is_suspected_first)
{
    find_wrong();
    suspect(1);
    ck_assert(xd_repair_unavailable(&repair));
    ck_assert(!xd_repair_unavailable(&repair));
    suspect(0);
    expect_missing(100);
    ck_assert(xd_repair_unavailable(&repair));
    suspect(2);
    expect_missing(120);
    ck_assert(xd_repair_unavailable(&repair));
    expect_round(XD_REPAIR_FETCH_ALONE, 0);
}
END_TEST

START_TEST(a_file_that_is_right_without_its_bytes_blames_the_suspect)
{
    find_wrong();
    suspect(1);
    xd_repair_fetched(&repair);
    expect_exchange(60, 140);
    expect(XD_REPAIR_CHECK);
    expect(XD_REPAIR_NOTHING);
    expect_missing(0);
    xd_repair_right(&repair);
    expect_blame(1, 60, 140);
    expect(XD_REPAIR_FINISH);
    expect_missing(0);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BAD_FILE], 80);
}
END_TEST

START_TEST(others_bytes_that_do_not_help_are_given_back)
{
    find_wrong();
    suspect(1);
    xd_repair_fetched(&repair);
    expect_exchange(60, 140);
    expect(XD_REPAIR_CHECK);
    find_wrong();
    expect_exchange(60, 140);
    suspect(0);
    xd_repair_fetched(&repair);
    expect_exchange(0, 60);
    expect_at(XD_REPAIR_EXCHANGE, 140, 180); /* equal */
    expect(XD_REPAIR_CHECK);
    xd_repair_right(&repair);
    expect_blame(0, 0, 60);
    expect(XD_REPAIR_FINISH);
}
END_TEST

/* ---- votes ---- */

START_TEST(an_outvoted_depot_takes_the_suspects_place)
{
    find_wrong();
    suspect(1);
    ck_assert(xd_repair_compares(&repair, 3));
    ck_assert(!xd_repair_compares(&repair, 2));
    xd_repair_disputed(&repair);
    ck_assert(!xd_repair_compares(&repair, 3));
    ck_assert(!xd_repair_outvoted(&repair, 1)); /* it is suspected */
    ck_assert(!xd_repair_outvoted(&repair, 3)); /* and this gave nothing */
    ck_assert(xd_repair_outvoted(&repair, 2));
    suspect(2);
    ck_assert(xd_repair_compares(&repair, 3));
    xd_repair_fetched(&repair);
    suspect(1); /* again */
}
END_TEST

START_TEST(a_suspect_whose_turn_it_is_gives_way_each_time)
{
    find_wrong();
    suspect(1);
    ck_assert(xd_repair_outvoted(&repair, 2));
    suspect(2);
    xd_repair_fetched(&repair);
    suspect(1);
    ck_assert(xd_repair_outvoted(&repair, 0));
    suspect(0);
}
END_TEST

START_TEST(an_outvoted_suspect_keeps_its_place)
{
    find_wrong();
    suspect(1);
    ck_assert(xd_repair_outvoted(&repair, 2));
    suspect(2);
    ck_assert(!xd_repair_outvoted(&repair, 1));
    xd_repair_fetched(&repair);
    suspect(1);
    ck_assert(!xd_repair_outvoted(&repair, 0));
    xd_repair_fetched(&repair);
    suspect(0);
}
END_TEST

START_TEST(a_depot_that_is_outvoted_late_is_suspected_next)
{
    find_wrong();
    suspect(1);
    xd_repair_fetched(&repair);
    ck_assert(!xd_repair_compares(&repair, 3));
    ck_assert(!xd_repair_outvoted(&repair, 2));
    suspect(2);
}
END_TEST

/* ---- one depot alone ---- */

/* Every suspect's bytes are those of the others. */
static void suspect_all(void)
{
    find_wrong();
    suspect(1);
    xd_repair_fetched(&repair);
    suspect(0);
    xd_repair_fetched(&repair);
    suspect(2);
    xd_repair_fetched(&repair);
}

START_TEST(without_a_suspect_left_all_is_fetched_from_one_alone)
{
    depots[0].has_all = false;
    depots[1].is_banned = true;
    suspect_all();
    expect_round(XD_REPAIR_FETCH_ALONE, 2);
    expect_missing(180);
    for (unsigned i = 0; i < N_DEPOTS; i++)
        ck_assert(xd_repair_avoids(&repair, i) == (i != 2));
    ck_assert(!xd_repair_compares(&repair, 3));
    ck_assert(!xd_repair_outvoted(&repair, 0));
    xd_repair_fetched(&repair);
    expect_exchange(0, 60);
    expect_exchange(60, 140);
    expect_at(XD_REPAIR_EXCHANGE, 140, 180);
    expect(XD_REPAIR_CHECK);
    xd_repair_right(&repair);
    expect_blame(0, 0, 60);
    expect_blame(1, 60, 140);
    expect(XD_REPAIR_FINISH);
    ck_assert_uint_eq(ledger.discarded[XD_DISCARD_BAD_FILE], 140);
}
END_TEST

START_TEST(of_those_that_agree_only_one_is_tried)
{
    suspect_all();
    expect_round(XD_REPAIR_FETCH_ALONE, 0);
    xd_repair_fetched(&repair);
    expect_at(XD_REPAIR_EXCHANGE, 60, 140); /* as depot 1 has it */
    expect_exchange(180, 300);
    expect(XD_REPAIR_CHECK);
    find_wrong();
    expect_exchange(180, 300);
    expect_round(XD_REPAIR_FETCH_ALONE, 2);
}
END_TEST

START_TEST(a_depot_that_delivered_nothing_may_have_another_file)
{
    suspect_all();
    expect_round(XD_REPAIR_FETCH_ALONE, 0);
    xd_repair_fetched(&repair);
    expect_round(XD_REPAIR_FETCH_ALONE, 3);
}
END_TEST

START_TEST(an_outvoted_depot_is_tried_alone_first)
{
    find_wrong();
    suspect(1);
    ck_assert(xd_repair_outvoted(&repair, 2));
    suspect(2);
    ck_assert(xd_repair_unavailable(&repair));
    suspect(1);
    ck_assert(xd_repair_unavailable(&repair));
    suspect(0);
    ck_assert(xd_repair_unavailable(&repair));
    expect_round(XD_REPAIR_FETCH_ALONE, 2);
}
END_TEST

START_TEST(two_are_tried_alone_and_no_more)
{
    suspect_all();
    expect_round(XD_REPAIR_FETCH_ALONE, 0);
    ck_assert(xd_repair_unavailable(&repair)); /* nothing was compared */
    expect_round(XD_REPAIR_FETCH_ALONE, 1);
    ck_assert(xd_repair_unavailable(&repair));
    expect(XD_REPAIR_GIVE_UP);
    expect(XD_REPAIR_NOTHING);
    expect_missing(0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("wrong_file");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_right_file_is_finished);
    tcase_add_test(t, what_an_earlier_run_left_is_fetched_first);
    tcase_add_test(t, what_cannot_be_exchanged_stays_wrong);
    tcase_add_test(t, what_the_suspect_delivered_is_fetched_from_all_others);
    tcase_add_test(t, the_depot_that_delivered_least_is_suspected_first);
    tcase_add_test(t,
                   a_file_that_is_right_without_its_bytes_blames_the_suspect);
    tcase_add_test(t, others_bytes_that_do_not_help_are_given_back);
    tcase_add_test(t, an_outvoted_depot_takes_the_suspects_place);
    tcase_add_test(t, a_suspect_whose_turn_it_is_gives_way_each_time);
    tcase_add_test(t, an_outvoted_suspect_keeps_its_place);
    tcase_add_test(t, a_depot_that_is_outvoted_late_is_suspected_next);
    tcase_add_test(t, without_a_suspect_left_all_is_fetched_from_one_alone);
    tcase_add_test(t, of_those_that_agree_only_one_is_tried);
    tcase_add_test(t, a_depot_that_delivered_nothing_may_have_another_file);
    tcase_add_test(t, an_outvoted_depot_is_tried_alone_first);
    tcase_add_test(t, two_are_tried_alone_and_no_more);
    return run_suite("wrong_file", t);
}
