/* SPDX-License-Identifier: MIT */
/* Whether one depot is as good as all on a slow line. */
#include "sched/adaptive/surplus.h"
#include "suite.h"

static struct xd_surplus s;
static struct xd_surplus_facts facts;

static void set_up(void)
{
    s = (struct xd_surplus){.depot = 0};
    facts = (struct xd_surplus_facts){.now = XD_SECOND,
                                      .is_slow = true,
                                      .best = 1,
                                      .is_well = true,
                                      .n_others = 2,
                                      .rate = 16000};
}

/* The depot brings bytes at that rate. */
static void pass(double bytes_per_s, xd_usec time)
{
    for (xd_usec end = facts.now + time; facts.now < end;
         facts.now += 20 * XD_MS) {
        xd_surplus_heard(&s, (uint64_t)(bytes_per_s / 50));
        xd_surplus_decide(&s, &facts);
    }
}

/* As far as the others having ended. */
static void begin(void)
{
    pass(16000, 5 * XD_SECOND);
    ck_assert_int_eq(s.stage, XD_SURPLUS_TRYING);
    ck_assert(xd_surplus_is_one(&s));
    ck_assert_uint_eq(s.depot, 1);
    facts.n_others = 0;
}

START_TEST(all_are_asked_where_the_line_is_not_slow)
{
    facts.is_slow = false;
    pass(16000, XD_SECOND);
    ck_assert(!xd_surplus_is_one(&s));
}
END_TEST

START_TEST(all_are_asked_where_no_depot_has_everything)
{
    facts.is_well = false;
    pass(16000, XD_SECOND);
    ck_assert(!xd_surplus_is_one(&s));
}
END_TEST

START_TEST(one_that_brings_as_much_as_all_is_asked_alone)
{
    begin();
    pass(13000, 24 * XD_SECOND);
    ck_assert_int_eq(s.stage, XD_SURPLUS_ONE);
    ck_assert(xd_surplus_is_one(&s));
}
END_TEST

START_TEST(one_that_brings_less_is_not_tried_again)
{
    begin();
    pass(_i ? 10000 : 100, 24 * XD_SECOND);
    ck_assert_int_eq(s.stage, XD_SURPLUS_NEEDED);
    pass(16000, 60 * XD_SECOND);
    ck_assert(!xd_surplus_is_one(&s));
}
END_TEST

START_TEST(all_are_asked_when_it_brings_less_later)
{
    begin();
    pass(16000, 20 * XD_SECOND);
    ck_assert_int_eq(s.stage, XD_SURPLUS_ONE);
    pass(8000, 40 * XD_SECOND);
    ck_assert_int_eq(s.stage, XD_SURPLUS_NEEDED);
}
END_TEST

START_TEST(all_are_asked_when_it_fails_or_the_line_gets_faster)
{
    begin();
    pass(16000, 20 * XD_SECOND);
    facts.is_slow = _i;
    facts.is_well = !_i;
    pass(16000, 20 * XD_MS);
    ck_assert(!xd_surplus_is_one(&s));
    facts.is_slow = facts.is_well = true;
    pass(16000, 20 * XD_MS);
    ck_assert_int_eq(s.stage, XD_SURPLUS_TRYING);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("surplus");

    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, all_are_asked_where_the_line_is_not_slow);
    tcase_add_test(t, all_are_asked_where_no_depot_has_everything);
    tcase_add_test(t, one_that_brings_as_much_as_all_is_asked_alone);
    tcase_add_loop_test(t, one_that_brings_less_is_not_tried_again, 0, 2);
    tcase_add_loop_test(t, all_are_asked_when_it_fails_or_the_line_gets_faster,
                        0, 2);
    tcase_add_test(t, all_are_asked_when_it_brings_less_later);
    return run_suite("sched.surplus", t);
}
