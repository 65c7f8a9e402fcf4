/* SPDX-License-Identifier: MIT */
/* How many shards of a stripe stay where replicas are dropped. */
#include "publish/shards_left.h"

#include <string.h>

#include "suite.h"

/* Stripe 7 is bytes 10 to 35, in shards of 10: two whole ones, a short one and one
 * without bytes.  Of parity shard 4 has two replicas, shard 5 one, and shard 6 none. */
static const struct xd_model_shard shards[] = {
    {.number = 4, .n_replicas = 2, .first_replica = 1},
    {.number = 5, .n_replicas = 1, .first_replica = 0},
    {.number = 6}};
static const struct xd_model_stripe stripes[] = {{.number = 7,
                                                  .offset = 10,
                                                  .length = 25,
                                                  .shard_bytes = 10,
                                                  .k = 4,
                                                  .n = 7,
                                                  .n_shards = 3,
                                                  .n_replicas = 3,
                                                  .shards = shards,
                                                  .is_used = true},
                                                 {.number = 3,
                                                  .offset = 40,
                                                  .length = 10,
                                                  .shard_bytes = 10,
                                                  .k = 1,
                                                  .n = 7,
                                                  .n_shards = 3,
                                                  .n_replicas = 3,
                                                  .shards = shards,
                                                  .first_place = 3,
                                                  .is_used = true}};
static const struct xd_model_rare rare = {.stripes = stripes, .n_stripes = 2};
static const struct xd_model_file file = {.size = 50, .rare = &rare};

static struct xd_rangeset kept;
static bool dropped[6];
static struct xd_shards_left left;

static bool are_too_few(void)
{
    return xd_shards_are_too_few(&left, &file, &kept, dropped);
}

static void keep(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(xd_rangeset_add(&kept, (struct xd_range){begin, end}), 0);
}

static void begin(void)
{
    memset(dropped, 0, sizeof dropped);
    xd_rangeset_init(&kept);
    keep(40, 50);
}

static void end(void)
{
    xd_rangeset_fini(&kept);
}

START_TEST(data_alone_is_enough)
{
    keep(10, 35);
    for (size_t i = 0; i < 6; i++)
        dropped[i] = true;
    ck_assert(!are_too_few());
}
END_TEST

/* What lacks a byte is no shard. */
START_TEST(data_and_parity_count_alike)
{
    keep(10, 20);
    keep(20, 29);
    keep(30, 35);
    ck_assert(!are_too_few()); /* 0, 2, the empty one, 4 and 5 */
    dropped[0] = true;
    ck_assert(!are_too_few());
    dropped[2] = true;
    ck_assert(!are_too_few()); /* 4 has another replica */
    dropped[1] = true;
    ck_assert(are_too_few());
    ck_assert_uint_eq(left.stripe, 7);
    ck_assert_uint_eq(left.n, 3);
    ck_assert_uint_eq(left.k, 4);
}
END_TEST

START_TEST(each_stripe_has_replicas_of_its_own)
{
    xd_rangeset_fini(&kept);
    keep(10, 35);
    dropped[0] = dropped[1] = dropped[2] = true;
    ck_assert(!are_too_few());
    dropped[3] = dropped[4] = true;
    ck_assert(!are_too_few());
    dropped[5] = true;
    ck_assert(are_too_few());
    ck_assert_uint_eq(left.stripe, 3);
    ck_assert_uint_eq(left.n, 0);
    ck_assert_uint_eq(left.k, 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("shards_left");

    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, data_alone_is_enough);
    tcase_add_test(t, data_and_parity_count_alike);
    tcase_add_test(t, each_stripe_has_replicas_of_its_own);
    return run_suite("shards_left", t);
}
