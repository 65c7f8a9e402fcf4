/* SPDX-License-Identifier: MIT */
/*
 * Each rule is broken on purpose, once, to see that it would be
 * noticed: by an action that is spoiled on its way, or by a policy that does
 * not know what it does.
 */
#include "sim.h"
#include "suite.h"

static struct sim_scenario sc;

static void plain(const struct xd_policy *policy)
{
    static const uint64_t rates[] = {1000, 2000, 50};

    sim_scenario_plain(&sc, policy, 400, rates, 3);
}

static void expect_broken(enum xd_rule rule)
{
    struct sim_outcome outcome = sim_run(&sc);

    ck_assert_msg(outcome.broken == rule, "broken is: %s",
                  xd_rule_text(outcome.broken));
}

/* What is spoiled, one function each. */

static void fetch_zero(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH)
        a->fetch = 0;
}

static void lane_zero(struct xd_sched_action *a)
{
    a->lane = 0;
}

static void another_depot(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH && a->depot == 1)
        a->depot = 2;
}

static void second_lane_elsewhere(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH && a->depot == 1 && a->lane == 1)
        a->depot = 2;
}

static void one_byte_too_far(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH && a->range.end == sc.wanted.end)
        a->range.end++;
}

static void no_bytes(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH)
        a->range.end = a->range.begin;
}

static void whole_file(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH)
        a->range = (struct xd_range){0, sc.size};
}

static void beyond_what_only_it_holds(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH && a->range.end == 200)
        a->range.end = sc.size;
}

static void next_block(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH && a->range.begin == 40) {
        a->range.begin += sc.o.block_bytes;
        a->range.end += sc.o.block_bytes;
    }
}

static void all_but_the_last_byte(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH)
        a->range.end--;
}

static void open_the_first(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_OPEN)
        a->depot = 0;
}

static void park_at_once(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->kind = XD_DO_PARK;
}

static void cancel_at_once(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->kind = XD_DO_CANCEL;
}

static void finish_at_once(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->kind = XD_DO_FINISH;
}

static void fail_at_once(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->kind = XD_DO_FAIL;
}

static void wait_instead(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_FETCH) {
        a->kind = XD_DO_WAIT;
        a->until = XD_NEVER;
    }
}

static void oversleep(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->until = XD_NEVER;
}

static void wake_always(struct xd_sched_action *a)
{
    if (a->kind == XD_DO_WAIT)
        a->until = 0;
}

struct spoiled {
    enum xd_rule rule;
    void (*spoil)(struct xd_sched_action *a);
};

static const struct spoiled table[] = {
    {XD_RULE_NUMBER, fetch_zero},     {XD_RULE_WANTED, one_byte_too_far},
    {XD_RULE_WANTED, no_bytes},       {XD_RULE_CHOICE, next_block},
    {XD_RULE_OPEN, open_the_first},   {XD_RULE_PARK, park_at_once},
    {XD_RULE_CANCEL, cancel_at_once}, {XD_RULE_FINISH, finish_at_once},
    {XD_RULE_FAIL, fail_at_once},     {XD_RULE_IDLE, wait_instead},
    {XD_RULE_WAKE, wake_always},
};

START_TEST(a_spoiled_action_is_noticed)
{
    plain(&xd_policy_basic);
    sc.o.max_open = 2;
    sc.spoil = table[_i].spoil;
    expect_broken(table[_i].rule);
}
END_TEST

START_TEST(without_spoiling_the_same_scenario_keeps_every_rule)
{
    plain(&xd_policy_basic);
    sc.o.max_open = 2;
    expect_broken(XD_RULE_NONE);
}
END_TEST

START_TEST(two_fetches_on_one_lane_are_noticed)
{
    plain(&xd_policy_basic);
    sc.o.lanes_per_depot = 2;
    sc.spoil = lane_zero;
    expect_broken(XD_RULE_LANE);
}
END_TEST

START_TEST(a_fetch_more_than_its_depot_allows_is_noticed)
{
    plain(&xd_policy_basic);
    sc.o.lanes_per_depot = 2;
    sc.depots[2].max_lanes = 1;
    sc.spoil = second_lane_elsewhere;
    expect_broken(XD_RULE_LIMIT);
}
END_TEST

START_TEST(a_fetch_at_a_depot_that_is_not_open_is_noticed)
{
    plain(&xd_policy_basic);
    sc.o.max_open = 2;
    sc.spoil = another_depot;
    expect_broken(XD_RULE_USABLE);
}
END_TEST

START_TEST(a_fetch_of_what_the_depot_does_not_hold_is_noticed)
{
    plain(&xd_policy_basic);
    sc.depots[2].n_held = 0;
    sc.depots[1].held[0].begin = 20;
    sc.spoil = whole_file;
    sc.o.max_open = 1;
    sc.depots[0].held[0].end = 200;
    expect_broken(XD_RULE_HELD);
}
END_TEST

START_TEST(a_fetch_across_a_cut_is_noticed)
{
    plain(&xd_policy_basic);
    sc.cuts[sc.n_cuts++] = 100;
    sc.spoil = whole_file;
    expect_broken(XD_RULE_CUT);
}
END_TEST

START_TEST(a_fetch_beyond_the_window_is_noticed)
{
    plain(&xd_policy_basic);
    sc.o.window_bytes = 100;
    sc.reader_bytes_per_s = 1000;
    sc.spoil = whole_file;
    expect_broken(XD_RULE_WINDOW);
}
END_TEST

START_TEST(a_part_of_a_copy_is_noticed)
{
    plain(&xd_policy_aggressive);
    sc.o.run_losers = sc.o.whole_blocks = true;
    expect_broken(XD_RULE_NONE);
    sc.spoil = all_but_the_last_byte;
    expect_broken(XD_RULE_COPY);
}
END_TEST

START_TEST(a_rest_that_is_overslept_is_noticed)
{
    plain(&xd_policy_basic);
    sc.depots[0].is_dead = true;
    sc.spoil = oversleep;
    expect_broken(XD_RULE_WAKE);
}
END_TEST

START_TEST(a_depot_without_ranges_used_beside_others_is_noticed)
{
    plain(&xd_policy_basic);
    sc.depots[0].no_ranges = true;
    sc.depots[0].latency = XD_SECOND; /* the next one delivers before */
    sc.depots[1].held[0].begin = 200;
    sc.depots[1].bytes_per_s = 20;
    sc.depots[2].n_held = 0;
    sc.spoil = beyond_what_only_it_holds;
    expect_broken(XD_RULE_RANGES);
}
END_TEST

START_TEST(an_end_that_comes_twice_is_noticed)
{
    struct xd_rules *r;
    struct xd_sched_options o = {.policy = &xd_policy_basic,
                                 .redundancy = 1,
                                 .lanes_per_depot = 1,
                                 .max_open = 1,
                                 .block_bytes = 10,
                                 .max_failures = 1};
    struct xd_range whole = {0, 10};
    struct xd_holding holding = {.held = &whole, .n_held = 1};
    struct xd_layout layout = {.size = 10, .depots = &holding, .n_depots = 1};
    struct xd_sched_action open = {.kind = XD_DO_OPEN};
    struct xd_sched_action fetch = {.kind = XD_DO_FETCH, .range = whole};
    struct xd_sched_event done = {.kind = XD_EV_DONE, .range = whole};

    r = xd_rules_new(&layout, &o, whole);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(xd_rules_action(r, &open, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_action(r, &fetch, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_event(r, &done), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_event(r, &done), XD_RULE_ENDS);
    xd_rules_free(r);
}
END_TEST

START_TEST(bytes_that_are_assigned_to_no_request_are_noticed)
{
    struct xd_sched_options o = {.policy = &xd_policy_basic,
                                 .redundancy = 1,
                                 .lanes_per_depot = 1,
                                 .max_open = 1,
                                 .block_bytes = 10,
                                 .max_failures = 1};
    struct xd_range whole = {0, 20}, first = {0, 10}, more = {5, 11};
    struct xd_holding holding = {.held = &whole, .n_held = 1};
    struct xd_layout layout = {.size = 20, .depots = &holding, .n_depots = 1};
    struct xd_sched_action open = {.kind = XD_DO_OPEN};
    struct xd_sched_action fetch = {.kind = XD_DO_FETCH, .range = first};
    struct xd_rules *r = xd_rules_new(&layout, &o, whole);
    struct xd_ledger ledger = {0};

    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(xd_rules_action(r, &open, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_action(r, &fetch, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_ASSIGN, first), 0);
    ck_assert_int_eq(xd_rules_assigned(r, &ledger), XD_RULE_NONE);
    ck_assert_int_eq(xd_ledger_change(&ledger, XD_ASSIGN, more), 0);
    ck_assert_int_eq(xd_rules_assigned(r, &ledger), XD_RULE_ASSIGNED);
    xd_ledger_fini(&ledger);
    xd_rules_free(r);
}
END_TEST

/* To no less than it has brought, and to less than it was asked for. */
START_TEST(a_fetch_that_is_shortened_to_more_or_to_nothing_is_noticed)
{
    struct xd_sched_options o = {.policy = &xd_policy_adaptive,
                                 .lanes_per_depot = 1,
                                 .max_open = 1,
                                 .block_bytes = 10,
                                 .max_failures = 1};
    static const uint64_t ends[] = {2, 4, 10, 11};
    struct xd_range whole = {0, 10};
    struct xd_holding holding = {.held = &whole, .n_held = 1};
    struct xd_layout layout = {.size = 10, .depots = &holding, .n_depots = 1};
    struct xd_sched_action open = {.kind = XD_DO_OPEN};
    struct xd_sched_action fetch = {.kind = XD_DO_FETCH, .range = whole};
    struct xd_sched_action shorter = {.kind = XD_DO_SHORTEN};
    struct xd_sched_event bytes = {.kind = XD_EV_BYTES, .range = {0, 4}};
    struct xd_rules *r = xd_rules_new(&layout, &o, whole);

    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(xd_rules_action(r, &open, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_action(r, &fetch, 0), XD_RULE_NONE);
    ck_assert_int_eq(xd_rules_event(r, &bytes), XD_RULE_NONE);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        shorter.range.end = ends[i];
        ck_assert_int_eq(xd_rules_action(r, &shorter, 0), XD_RULE_SHORTEN);
    }
    shorter.range.end = 7;
    ck_assert_int_eq(xd_rules_action(r, &shorter, 0), XD_RULE_NONE);
    xd_rules_free(r);
}
END_TEST

START_TEST(an_eleventh_request_in_vain_is_noticed)
{
    struct xd_rules *r;
    struct xd_sched_options o = {.policy = &xd_policy_aggressive,
                                 .redundancy = 2,
                                 .lanes_per_depot = 1,
                                 .max_open = 1,
                                 .block_bytes = 10,
                                 .max_failures = 10};
    struct xd_range whole = {0, 10};
    struct xd_holding holdings[] = {{.held = &whole, .n_held = 1},
                                    {.held = &whole, .n_held = 1}};
    struct xd_layout layout = {.size = 10, .depots = holdings, .n_depots = 2};
    struct xd_sched_action open = {.kind = XD_DO_OPEN};
    struct xd_sched_action fetch = {.kind = XD_DO_FETCH, .range = whole};
    struct xd_sched_event failed = {.kind = XD_EV_FAILED};

    r = xd_rules_new(&layout, &o, whole);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(xd_rules_action(r, &open, 0), XD_RULE_NONE);
    for (unsigned i = 0; i < 10; i++) {
        failed.now += 3600 * XD_SECOND;
        ck_assert_int_eq(xd_rules_action(r, &fetch, failed.now), XD_RULE_NONE);
        ck_assert_int_eq(xd_rules_event(r, &failed), XD_RULE_NONE);
    }
    ck_assert_int_eq(xd_rules_action(r, &fetch, failed.now + 3600 * XD_SECOND),
                     XD_RULE_VAIN);
    xd_rules_free(r);
}
END_TEST

/* Policies that do not know what they do. */

static const struct xd_book *book;

static void *new_broken(const struct xd_book *b)
{
    book = b;
    return &sc; /* anything but NULL */
}

static void settle_broken(struct xd_sched_options *o)
{
    o->progress = 3;
}

static bool choose_the_first_block(void *p, unsigned fetch, unsigned depot,
                                   xd_usec now, struct xd_range *out,
                                   unsigned *visits)
{
    (void)p;
    (void)fetch;
    (void)depot;
    (void)now;
    *visits = 1;
    *out = (struct xd_range){0, book->o.block_bytes};
    return true;
}

static bool choose_nothing(void *p, unsigned fetch, unsigned depot, xd_usec now,
                           struct xd_range *out, unsigned *visits)
{
    (void)p;
    (void)fetch;
    (void)depot;
    (void)now;
    (void)out;
    *visits = 1;
    return false;
}

static void hear_free(void *p)
{
    (void)p;
}

static int hear_end(void *p, unsigned fetch, bool failed)
{
    (void)p;
    (void)fetch;
    (void)failed;
    return 0;
}

#define BROKEN(chooser)                                               \
    {                                                                 \
        .name = "broken", .settle = settle_broken, .new = new_broken, \
        .free = hear_free, .choose = (chooser), .ended = hear_end     \
    }

static const struct xd_policy obsessed = BROKEN(choose_the_first_block);
static const struct xd_policy lazy = BROKEN(choose_nothing);

START_TEST(a_policy_that_copies_more_than_r_times_is_noticed)
{
    plain(&obsessed);
    sc.o.redundancy = 1;
    expect_broken(XD_RULE_COPIES);
}
END_TEST

START_TEST(a_policy_that_asks_one_depot_twice_is_noticed)
{
    plain(&obsessed);
    sc.o.lanes_per_depot = 2;
    sc.o.max_open = 1;
    expect_broken(XD_RULE_TWICE);
}
END_TEST

START_TEST(a_policy_that_fetches_what_is_there_is_noticed)
{
    plain(&obsessed);
    sc.o.max_open = 1;
    expect_broken(XD_RULE_NEEDED);
}
END_TEST

START_TEST(a_policy_that_never_chooses_is_noticed)
{
    plain(&lazy);
    expect_broken(XD_RULE_IDLE);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("broken");

    tcase_add_loop_test(t, a_spoiled_action_is_noticed, 0,
                        sizeof table / sizeof *table);
    tcase_add_test(t, without_spoiling_the_same_scenario_keeps_every_rule);
    tcase_add_test(t, two_fetches_on_one_lane_are_noticed);
    tcase_add_test(t, a_fetch_more_than_its_depot_allows_is_noticed);
    tcase_add_test(t, a_fetch_at_a_depot_that_is_not_open_is_noticed);
    tcase_add_test(t, a_fetch_of_what_the_depot_does_not_hold_is_noticed);
    tcase_add_test(t, a_fetch_across_a_cut_is_noticed);
    tcase_add_test(t, a_fetch_beyond_the_window_is_noticed);
    tcase_add_test(t, a_part_of_a_copy_is_noticed);
    tcase_add_test(t, a_rest_that_is_overslept_is_noticed);
    tcase_add_test(t, a_depot_without_ranges_used_beside_others_is_noticed);
    tcase_add_test(t, an_end_that_comes_twice_is_noticed);
    tcase_add_test(t, bytes_that_are_assigned_to_no_request_are_noticed);
    tcase_add_test(t,
                   a_fetch_that_is_shortened_to_more_or_to_nothing_is_noticed);
    tcase_add_test(t, an_eleventh_request_in_vain_is_noticed);
    tcase_add_test(t, a_policy_that_copies_more_than_r_times_is_noticed);
    tcase_add_test(t, a_policy_that_asks_one_depot_twice_is_noticed);
    tcase_add_test(t, a_policy_that_fetches_what_is_there_is_noticed);
    tcase_add_test(t, a_policy_that_never_chooses_is_noticed);
    return run_suite("sim.broken", t);
}
