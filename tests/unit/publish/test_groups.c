/* SPDX-License-Identifier: MIT */
/* Which hosts have some of a shard of a group. */
#include "publish/groups.h"

#include "suite.h"

static struct xd_groups groups;
static struct xd_error err;

static void setup(void)
{
    groups = (struct xd_groups){.n_hosts = 3};
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(xd_groups_add(&groups, &err), 0);
}

static void teardown(void)
{
    xd_groups_fini(&groups);
}

START_TEST(a_host_has_what_is_there_until_all_of_it_is_gone)
{
    ck_assert(xd_groups_is_free(&groups, 2, 1));
    ck_assert(!xd_groups_has(&groups, 2, 1, 0));
    xd_groups_use(&groups, 2, 1, 5);
    xd_groups_use(&groups, 2, 1, 5);
    ck_assert(!xd_groups_is_free(&groups, 2, 1));
    ck_assert(xd_groups_has(&groups, 2, 1, 5));
    ck_assert(!xd_groups_has(&groups, 2, 1, 4));
    xd_groups_unuse(&groups, 2, 1);
    ck_assert(xd_groups_has(&groups, 2, 1, 5));
    xd_groups_unuse(&groups, 2, 1);
    ck_assert(xd_groups_is_free(&groups, 2, 1));
    ck_assert(!xd_groups_has(&groups, 2, 1, 5));
    xd_groups_use(&groups, 2, 1, 4);
    ck_assert(xd_groups_has(&groups, 2, 1, 4));
}
END_TEST

START_TEST(what_a_host_has_of_one_group_is_nothing_to_others)
{
    xd_groups_use(&groups, 2, 1, 5);
    ck_assert(xd_groups_is_free(&groups, 1, 1));
    ck_assert(xd_groups_is_free(&groups, 3, 1));
    ck_assert(xd_groups_is_free(&groups, 2, 0));
    ck_assert(xd_groups_is_free(&groups, 2, 2));
}
END_TEST

START_TEST(a_host_with_two_shards_has_neither_alone)
{
    xd_groups_use(&groups, 0, 0, 1);
    xd_groups_use(&groups, 0, 0, 2);
    ck_assert(!xd_groups_is_free(&groups, 0, 0));
    ck_assert(!xd_groups_has(&groups, 0, 0, 1));
    ck_assert(!xd_groups_has(&groups, 0, 0, 2));
    ck_assert(!xd_groups_has(&groups, 0, 0, XD_SHARD_NONE));
}
END_TEST

START_TEST(copies_more_lie_beside_data_alone)
{
    ck_assert(xd_groups_takes_more(&groups, 0, 0, 4));
    xd_groups_use(&groups, 0, 0, 3);
    ck_assert(xd_groups_takes_more(&groups, 0, 0, 4));
    xd_groups_use(&groups, 0, 0, 1);
    ck_assert(xd_groups_takes_more(&groups, 0, 0, 4));
    xd_groups_use(&groups, 0, 1, 4);
    ck_assert(!xd_groups_takes_more(&groups, 0, 1, 4));
    xd_groups_use(&groups, 0, 2, 2);
    xd_groups_use(&groups, 0, 2, XD_SHARD_NONE);
    xd_groups_use(&groups, 0, 2, 2);
    ck_assert(!xd_groups_takes_more(&groups, 0, 2, 4));
}
END_TEST

START_TEST(what_has_several_shards_has_none_of_them_alone)
{
    xd_groups_use(&groups, 0, 0, XD_SHARD_SEVERAL);
    ck_assert(!xd_groups_has(&groups, 0, 0, XD_SHARD_SEVERAL));
    ck_assert(!xd_groups_is_free(&groups, 0, 0));
    ck_assert(xd_groups_takes_more(&groups, 0, 0, 1));
    xd_groups_use(&groups, 0, 0, 0);
    ck_assert(!xd_groups_has(&groups, 0, 0, 0));
    ck_assert(xd_groups_takes_more(&groups, 0, 0, 1));
}
END_TEST

START_TEST(a_host_with_a_copy_more_is_not_free_and_has_its_shard_still)
{
    xd_groups_use(&groups, 1, 0, 3);
    xd_groups_use_more(&groups, 1, 0);
    xd_groups_use_more(&groups, 1, 1);
    ck_assert(xd_groups_has(&groups, 1, 0, 3));
    ck_assert(!xd_groups_is_free(&groups, 1, 1));
    ck_assert(xd_groups_takes_more(&groups, 1, 1, 4));
    xd_groups_unuse(&groups, 1, 0);
    ck_assert(!xd_groups_is_free(&groups, 1, 0));
    xd_groups_unuse_more(&groups, 1, 0);
    xd_groups_unuse_more(&groups, 1, 1);
    ck_assert(xd_groups_is_free(&groups, 1, 0));
    ck_assert(xd_groups_is_free(&groups, 1, 1));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("groups");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_host_has_what_is_there_until_all_of_it_is_gone);
    tcase_add_test(tcase, what_a_host_has_of_one_group_is_nothing_to_others);
    tcase_add_test(tcase, a_host_with_two_shards_has_neither_alone);
    tcase_add_test(tcase, copies_more_lie_beside_data_alone);
    tcase_add_test(tcase, what_has_several_shards_has_none_of_them_alone);
    tcase_add_test(tcase,
                   a_host_with_a_copy_more_is_not_free_and_has_its_shard_still);
    return run_suite("groups", tcase);
}
