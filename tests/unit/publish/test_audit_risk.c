/* SPDX-License-Identifier: MIT */
#include "publish/audit_risk.h"

#include "suite.h"

static struct xd_audit_risk risk;
#define none risk.none
#define one risk.one

static void forget_risk(void)
{
    xd_rangeset_fini(&none);
    xd_rangeset_fini(&one);
    xd_rangeset_fini(&risk.restorable);
}

static void find_with(const struct xd_audit_holding *list, size_t n,
                      uint64_t size, const struct xd_audit_parity *parity,
                      size_t n_parity, struct xd_audit_stripe *stripes,
                      size_t n_stripes)
{
    const struct xd_audit_held held = {.list = list,
                                       .n = n,
                                       .n_depots = 8,
                                       .size = size,
                                       .parity = parity,
                                       .n_parity = n_parity,
                                       .stripes = stripes,
                                       .n_stripes = n_stripes};

    forget_risk();
    ck_assert_int_eq(xd_audit_find_risk(&held, &risk), 0);
}

static void find(const struct xd_audit_holding *list, size_t n, uint64_t size)
{
    find_with(list, n, size, NULL, 0, NULL, 0);
}

static void assert_run(const struct xd_rangeset *s, size_t i, uint64_t begin,
                       uint64_t end)
{
    ck_assert_uint_lt(i, s->n);
    ck_assert_uint_eq(s->ranges[i].begin, begin);
    ck_assert_uint_eq(s->ranges[i].end, end);
}

START_TEST(bytes_that_no_depot_has_are_found)
{
    const struct xd_audit_holding list[] = {
        {{0, 10}, 0}, {{0, 4}, 1}, {{6, 8}, 1}};

    find(list, 3, 12);
    ck_assert_uint_eq(none.n, 1);
    assert_run(&none, 0, 10, 12);
    ck_assert_uint_eq(one.n, 2);
    assert_run(&one, 0, 4, 6);
    assert_run(&one, 1, 8, 10);
}
END_TEST

START_TEST(two_copies_on_one_depot_are_one)
{
    const struct xd_audit_holding list[] = {
        {{0, 6}, 2}, {{2, 10}, 2}, {{0, 10}, 2}};

    find(list, 3, 10);
    ck_assert_uint_eq(none.n, 0);
    ck_assert_uint_eq(one.bytes, 10);
}
END_TEST

START_TEST(what_two_depots_have_is_not_at_risk)
{
    const struct xd_audit_holding list[] = {
        {{0, 5}, 0}, {{5, 10}, 1}, {{0, 10}, 2}};

    find(list, 3, 10);
    ck_assert_uint_eq(none.bytes + one.bytes, 0);
}
END_TEST

START_TEST(without_any_depot_all_is_lost)
{
    find(NULL, 0, 7);
    assert_run(&none, 0, 0, 7);
}
END_TEST

START_TEST(what_lies_behind_the_file_does_not_count)
{
    const struct xd_audit_holding list[] = {{{3, 20}, 0}, {{9, 20}, 1}};

    find(list, 2, 5);
    assert_run(&none, 0, 0, 3);
    assert_run(&one, 0, 3, 5);
    ck_assert_uint_eq(one.n, 1);
}
END_TEST

/* ---- stripes ---- */

/* Bytes 10 to 40 of 50: three shards of 10 bytes, and two of parity. */
static struct xd_audit_stripe stripe = {
    .offset = 10, .length = 30, .shard_bytes = 10, .k = 3, .n = 5};

/* Depots 5 and 6 have what lies around it; 0, 1 and 2 a shard each; 3 and 4 parity. */
#define AROUND                                 \
    {{0, 10}, 5}, {{0, 10}, 6}, {{40, 50}, 5}, \
    {                                          \
        {40, 50}, 6                            \
    }
static const struct xd_audit_holding all[] = {
    AROUND, {{10, 20}, 0}, {{20, 30}, 1}, {{30, 40}, 2}};
static const struct xd_audit_parity both[] = {{0, 3, 3}, {0, 4, 4}};
#define N_AROUND 4

static void assert_good(const char *expected)
{
    unsigned n = 0;

    for (unsigned i = 0; i < stripe.n; i++) {
        ck_assert_msg(stripe.is_good[i] == (expected[i] == '1'), "shard %u", i);
        n += stripe.is_good[i];
    }
    ck_assert_uint_eq(stripe.n_good, n);
}

START_TEST(bytes_of_a_stripe_are_at_no_risk_as_long_as_it_bears_a_loss)
{
    find_with(all, N_AROUND + 3, 50, both, 2, &stripe, 1);
    assert_good("11111");
    ck_assert_uint_eq(none.bytes + one.bytes + risk.restorable.bytes, 0);
    find_with(all, N_AROUND + 3, 50, both, 1, &stripe, 1);
    assert_good("11110");
    ck_assert_uint_eq(none.bytes + one.bytes + risk.restorable.bytes, 0);
}
END_TEST

START_TEST(without_parity_the_bytes_of_a_stripe_are_as_all_others)
{
    find_with(all, N_AROUND + 3, 50, NULL, 0, &stripe, 1);
    assert_good("11100");
    assert_run(&one, 0, 10, 40);
    ck_assert_uint_eq(one.n, 1);
    ck_assert_uint_eq(none.bytes, 0);
}
END_TEST

START_TEST(what_parity_restores_is_not_lost)
{
    find_with(all, N_AROUND + 2, 50, both, 2, &stripe, 1);
    assert_good("11011");
    ck_assert_uint_eq(none.bytes, 0);
    ck_assert_uint_eq(risk.restorable.n, 1);
    assert_run(&risk.restorable, 0, 30, 40);
    ck_assert_uint_eq(one.bytes, 0); /* it bears one more */
}
END_TEST

START_TEST(of_a_stripe_that_bears_no_loss_all_is_at_risk_that_one_depot_has)
{
    find_with(all, N_AROUND + 2, 50, both, 1, &stripe, 1);
    assert_good("11010");
    ck_assert_uint_eq(none.bytes, 0);
    assert_run(&risk.restorable, 0, 30, 40);
    assert_run(&one, 0, 10, 40);
    ck_assert_uint_eq(one.n, 1);
}
END_TEST

START_TEST(below_k_shards_what_no_depot_has_is_lost)
{
    find_with(all, N_AROUND + 1, 50, both, 1, &stripe, 1);
    assert_good("10010");
    ck_assert_uint_eq(none.n, 1);
    assert_run(&none, 0, 20, 40);
    ck_assert_uint_eq(risk.restorable.bytes, 0);
    assert_run(&one, 0, 10, 20);
}
END_TEST

/* A depot that has two shards takes two with it. */
START_TEST(shards_on_one_depot_are_lost_together)
{
    const struct xd_audit_parity on_two[] = {{0, 3, 1}, {0, 4, 4}};

    find_with(all, N_AROUND + 3, 50, on_two, 2, &stripe, 1);
    ck_assert_uint_eq(one.bytes, 0); /* 5 - 2 is 3 */
    find_with(all, N_AROUND + 3, 50, on_two, 1, &stripe, 1);
    ck_assert_uint_eq(one.n,
                      1); /* 4 - 2 is less, and that depot has 20 to 30 */
    assert_run(&one, 0, 20, 30);
}
END_TEST

/* A shard is counted once for a depot, however many pieces of it that has; and a shard
 * that two depots have is lost with neither. */
START_TEST(a_shard_is_lost_once)
{
    const struct xd_audit_holding pieces[] = {{{10, 13}, 0}, {{13, 15}, 1},
                                              {{15, 20}, 0}, {{20, 40}, 2},
                                              {{20, 40}, 5}, AROUND};
    const struct xd_audit_parity twice[] = {{0, 3, 3}, {0, 3, 4}};

    find_with(pieces, 5 + N_AROUND, 50, twice, 2, &stripe, 1);
    assert_good("11110");
    ck_assert_uint_eq(one.bytes, 0);
    find_with(pieces, 5 + N_AROUND, 50, NULL, 0, &stripe, 1);
    assert_run(&one, 0, 10, 20);
    ck_assert_uint_eq(one.bytes, 10);
}
END_TEST

/* Whichever of them is named first. */
START_TEST(parity_that_two_depots_have_is_lost_with_neither)
{
    const struct xd_audit_parity twice[][2] = {{{0, 3, 0}, {0, 3, 1}},
                                               {{0, 3, 1}, {0, 3, 0}}};

    for (size_t i = 0; i < 2; i++) {
        find_with(all, N_AROUND + 3, 50, twice[i], 2, &stripe, 1);
        assert_good("11110");
        ck_assert_uint_eq(one.bytes, 0); /* 4 - 1 is enough */
        find_with(all, N_AROUND + 3, 50, twice[i], 1, &stripe, 1);
        assert_run(&one, 0, i == 0 ? 10 : 20, i == 0 ? 20 : 30);
    }
}
END_TEST

/* What is there of a shard that has a hole is of no use to others. */
START_TEST(a_shard_with_a_hole_is_not_good)
{
    const struct xd_audit_holding holed[] = {
        {{10, 19}, 0}, {{20, 40}, 1}, {{20, 40}, 2}, AROUND};

    find_with(holed, 3 + N_AROUND, 50, both, 1, &stripe, 1);
    assert_good("01110");
    assert_run(&risk.restorable, 0, 19, 20);
    ck_assert_uint_eq(risk.restorable.bytes, 1);
    /* 0 has bytes that the stripe restores; without 3 it would not restore 19 */
    assert_run(&one, 0, 19, 20);
    ck_assert_uint_eq(one.bytes, 1);
}
END_TEST

START_TEST(shards_without_bytes_are_good)
{
    struct xd_audit_stripe few = {
        .offset = 0, .length = 4, .shard_bytes = 4, .k = 3, .n = 4};
    const struct xd_audit_holding first = {{0, 4}, 0};

    find_with(NULL, 0, 4, both, 1, &few, 1);
    ck_assert_uint_eq(few.n_good, 3);
    ck_assert(!few.is_good[0] && few.is_good[1] && few.is_good[2] &&
              few.is_good[3]);
    ck_assert_uint_eq(risk.restorable.bytes, 4);
    ck_assert_uint_eq(none.bytes, 0);
    find_with(&first, 1, 4, NULL, 0, &few, 1);
    ck_assert_uint_eq(few.n_good, 3);
}
END_TEST

/* Each by itself: what one depot has in both is counted anew. */
START_TEST(stripes_are_looked_at_one_by_one)
{
    struct xd_audit_stripe two[] = {
        {.offset = 0, .length = 10, .shard_bytes = 5, .k = 2, .n = 3},
        {.offset = 20, .length = 10, .shard_bytes = 5, .k = 2, .n = 3}};
    const struct xd_audit_holding list[] = {
        {{0, 5}, 0}, {{5, 25}, 1}, {{25, 30}, 2}};
    const struct xd_audit_parity parity[] = {{0, 2, 3}, {1, 2, 4}};

    find_with(list, 3, 30, parity, 2, two, 2);
    ck_assert_uint_eq(two[0].n_good, 3);
    ck_assert_uint_eq(two[1].n_good, 3);
    ck_assert_uint_eq(one.n, 1);
    assert_run(&one, 0, 10, 20);
    find_with(list, 2, 30, parity, 1, two, 2);
    ck_assert_uint_eq(two[0].n_good, 3);
    ck_assert_uint_eq(two[1].n_good, 1);
    assert_run(&none, 0, 25, 30);
    assert_run(&one, 0, 10, 25);
}
END_TEST

static void forget(void)
{
    forget_risk();
    stripe.n_good = 0;
}

int main(void)
{
    TCase *t = tcase_create("audit_risk");

    tcase_add_checked_fixture(t, NULL, forget);
    tcase_add_test(t, bytes_that_no_depot_has_are_found);
    tcase_add_test(t, two_copies_on_one_depot_are_one);
    tcase_add_test(t, what_two_depots_have_is_not_at_risk);
    tcase_add_test(t, without_any_depot_all_is_lost);
    tcase_add_test(t, what_lies_behind_the_file_does_not_count);
    tcase_add_test(t,
                   bytes_of_a_stripe_are_at_no_risk_as_long_as_it_bears_a_loss);
    tcase_add_test(t, without_parity_the_bytes_of_a_stripe_are_as_all_others);
    tcase_add_test(t, what_parity_restores_is_not_lost);
    tcase_add_test(
        t, of_a_stripe_that_bears_no_loss_all_is_at_risk_that_one_depot_has);
    tcase_add_test(t, below_k_shards_what_no_depot_has_is_lost);
    tcase_add_test(t, shards_on_one_depot_are_lost_together);
    tcase_add_test(t, a_shard_is_lost_once);
    tcase_add_test(t, parity_that_two_depots_have_is_lost_with_neither);
    tcase_add_test(t, a_shard_with_a_hole_is_not_good);
    tcase_add_test(t, shards_without_bytes_are_good);
    tcase_add_test(t, stripes_are_looked_at_one_by_one);
    return run_suite("audit_risk", t);
}
