/* SPDX-License-Identifier: MIT */
/* Replicas that are bad are dropped once all in their place is there. */
#include "publish/heal.h"

#include "manifest/model.h"
#include "suite.h"

/* Two extents with two replicas each, and a stripe with two shards of parity, of which
 * the last has two replicas. */
static const struct xd_model_shard shards[] = {
    {.number = 2, .n_replicas = 1},
    {.number = 3, .first_replica = 1, .n_replicas = 2}};
static const struct xd_model_stripe stripes[] = {
    {.k = 2, .n = 4, .n_replicas = 0},
    {.k = 2,
     .n = 4,
     .n_shards = 2,
     .n_replicas = 3,
     .shards = shards,
     .first_place = 0}};
static const struct xd_model_rare rare = {.stripes = stripes, .n_stripes = 2};
static struct xd_model_extent extents[] = {
    {.length = 5, .n_replicas = 2},
    {.offset = 5, .length = 5, .n_replicas = 2, .first_replica = 2}};
static const struct xd_model_file file = {
    .size = 10, .n_extents = 2, .extents = extents, .rare = &rare};

static struct xd_heal heal;
static struct xd_error err;

static void setup(void)
{
    ck_assert_int_eq(xd_heal_init(&heal, &file, &err), 0);
}

static void teardown(void)
{
    xd_heal_fini(&heal);
}

static void add(struct xd_heal_item item)
{
    ck_assert_int_eq(xd_heal_add(&heal, item, &err), 0);
}

START_TEST(bad_replicas_go_when_all_of_their_extent_is_there)
{
    heal.bad[3] = true;
    add((struct xd_heal_item){.extent = 1, .left = 1});
    add((struct xd_heal_item){.extent = 1, .left = 1});
    ck_assert(!xd_heal_count(&heal, 1));
    ck_assert(!heal.dropped[3]);
    ck_assert(xd_heal_count(&heal, 0));
    ck_assert(heal.dropped[3]);
    ck_assert(!heal.dropped[2]);
    ck_assert(!heal.dropped[1]);
}
END_TEST

START_TEST(bad_replicas_of_parity_go_with_their_shard)
{
    heal.bad_parity[0] = heal.bad_parity[1] = heal.bad_parity[2] = true;
    heal.bad[0] = true;
    add((struct xd_heal_item){.extent = 0, .left = 1});
    add((struct xd_heal_item){
        .stripe = &stripes[1], .shard = &shards[1], .left = 2});
    ck_assert(!xd_heal_count(&heal, 1));
    ck_assert(!heal.dropped_parity[1]);
    ck_assert(xd_heal_count(&heal, 1));
    ck_assert(heal.dropped_parity[1]);
    ck_assert(heal.dropped_parity[2]);
    ck_assert(!heal.dropped_parity[0]);
    ck_assert(!heal.dropped[0]);
}
END_TEST

/* Such are not missing: what they are copies of stands for no other extent. */
START_TEST(more_copies_than_are_wanted_do_not_count)
{
    heal.bad[0] = true;
    heal.bad_parity[1] = true;
    add((struct xd_heal_item){.extent = 0, .left = 1});
    add((struct xd_heal_item){.extent = 0, .left = 1});
    add((struct xd_heal_item){
        .stripe = &stripes[1], .shard = &shards[1], .left = 1});
    ck_assert(!xd_heal_count(&heal, 0));
    ck_assert(!xd_heal_count(&heal, 0));
    ck_assert(!heal.dropped[0]);
    ck_assert(xd_heal_count(&heal, 1));
    ck_assert(heal.dropped[0]);
    ck_assert(xd_heal_count(&heal, 2));
    ck_assert(!xd_heal_count(&heal, 2));
}
END_TEST

START_TEST(an_extent_wants_copies_until_all_are_there)
{
    add((struct xd_heal_item){.extent = 0, .left = 2});
    ck_assert(xd_heal_wants(&heal, 0));
    (void)xd_heal_count(&heal, 0);
    ck_assert(xd_heal_wants(&heal, 0));
    (void)xd_heal_count(&heal, 0);
    ck_assert(!xd_heal_wants(&heal, 0));
    ck_assert(xd_heal_wants(&heal, 1)); /* it is of no heal */
}
END_TEST

START_TEST(what_is_of_no_heal_drops_nothing)
{
    struct xd_heal none = {.n = 0};

    ck_assert(!xd_heal_count(&none, 0));
    xd_heal_fini(&none);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("heal");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, bad_replicas_go_when_all_of_their_extent_is_there);
    tcase_add_test(tcase, bad_replicas_of_parity_go_with_their_shard);
    tcase_add_test(tcase, more_copies_than_are_wanted_do_not_count);
    tcase_add_test(tcase, an_extent_wants_copies_until_all_are_there);
    tcase_add_test(tcase, what_is_of_no_heal_drops_nothing);
    return run_suite("heal", tcase);
}
