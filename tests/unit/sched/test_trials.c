/* SPDX-License-Identifier: MIT */
#include "play.h"

#include "sched/plank/trials.h"

START_TEST(what_was_added_is_there_until_its_block_is_forgotten)
{
    struct xd_trials t = {.n = 0};

    for (uint64_t block = 40; block-- > 0;)
        for (unsigned depot = 0; depot < 3; depot++)
            ck_assert_int_eq(xd_trials_add(&t, block * 2, depot), 0);
    ck_assert_uint_eq(t.n, 120);
    ck_assert(xd_trials_has(&t, 20, 2));
    ck_assert(!xd_trials_has(&t, 20, 3));
    ck_assert(!xd_trials_has(&t, 21, 2));
    ck_assert(xd_trials_any(&t, 20));
    ck_assert(!xd_trials_any(&t, 21));
    xd_trials_forget(&t, 20);
    ck_assert(!xd_trials_any(&t, 20));
    ck_assert(xd_trials_any(&t, 18));
    ck_assert(xd_trials_any(&t, 22));
    ck_assert_uint_eq(t.n, 117);
    for (size_t i = 1; i < t.n; i++)
        ck_assert_uint_le(t.list[i - 1].block, t.list[i].block);
    xd_trials_fini(&t);
}
END_TEST

START_TEST(the_same_trial_counts_once)
{
    struct xd_trials t = {.n = 0};

    ck_assert_int_eq(xd_trials_add(&t, 5, 1), 0);
    ck_assert_int_eq(xd_trials_add(&t, 5, 1), 0);
    ck_assert_uint_eq(t.n, 1);
    xd_trials_fini(&t);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("trials");

    tcase_add_test(t, what_was_added_is_there_until_its_block_is_forgotten);
    tcase_add_test(t, the_same_trial_counts_once);
    return run_suite("sched.trials", t);
}
