/* SPDX-License-Identifier: MIT */
/* Which bytes that come a second time are compared, and where they differ. */
#include "session/second_copy.h"

#include <string.h>

#include "suite.h"

#define MOST XD_SECOND_COPY_MOST
#define PART 16

static struct xd_ledger ledger;
static unsigned char data[2 * MOST], stored[MOST];
static struct xd_second_copy copy;
static struct xd_range differs;

static void setup(void)
{
    copy = (struct xd_second_copy){.ledger = &ledger,
                                   .depot = 1,
                                   .range = {100, 100 + sizeof data},
                                   .data = data};
    memset(data, 0, sizeof data);
    memset(stored, 0, sizeof stored);
}

static void teardown(void)
{
    xd_ledger_fini(&ledger);
    ledger = (struct xd_ledger){0};
}

static void store(unsigned depot, uint64_t begin, uint64_t end)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_change(&ledger, XD_CLAIM, r), 0);
    ck_assert_int_eq(xd_ledger_written(&ledger, r, depot), 0);
}

static void expect_run(unsigned deliverer, uint64_t begin, uint64_t end)
{
    ck_assert(xd_second_copy_next(&copy));
    ck_assert_uint_eq(copy.deliverer, deliverer);
    ck_assert_uint_eq(copy.run.begin, begin);
    ck_assert_uint_eq(copy.run.end, end);
}

static enum xd_second_copy_result compare(void)
{
    return xd_second_copy_compare(&copy, stored, PART, &differs);
}

START_TEST(only_what_another_depot_has_delivered_is_compared)
{
    store(1, 0, 110);
    store(3, 110, 120);
    store(XD_HELD, 130, 140);
    store(1, 140, 150);
    store(2, 150, 160);
    store(3, 160, 170);
    expect_run(3, 110, 120);
    expect_run(2, 150, 160);
    expect_run(3, 160, 170);
    ck_assert(!xd_second_copy_next(&copy));
}
END_TEST

START_TEST(what_lies_outside_of_the_second_copy_is_not_read)
{
    store(2, 0, 101);
    store(3, 90 + sizeof data, 200 + sizeof data);
    expect_run(2, 100, 101);
    expect_run(3, 90 + sizeof data, 100 + sizeof data);
    ck_assert(!xd_second_copy_next(&copy));
}
END_TEST

START_TEST(a_long_run_is_compared_in_parts)
{
    store(2, 100, 100 + MOST + 1);
    expect_run(2, 100, 100 + MOST);
    ck_assert_int_eq(compare(), XD_SECOND_COPY_EQUAL);
    expect_run(2, 100 + MOST, 100 + MOST + 1);
    ck_assert_int_eq(compare(), XD_SECOND_COPY_EQUAL);
    ck_assert(!xd_second_copy_next(&copy));
}
END_TEST

START_TEST(the_first_part_that_differs_is_named)
{
    store(2, 104, 104 + 2 * PART + 3);
    expect_run(2, 104, 104 + 2 * PART + 3);
    stored[2 * PART + 2] = 1;
    ck_assert_int_eq(compare(), XD_SECOND_COPY_DIFFERS);
    ck_assert_uint_eq(differs.begin, 104 + 2 * PART);
    ck_assert_uint_eq(differs.end, 104 + 2 * PART + 3);
    stored[PART] = 1;
    ck_assert_int_eq(compare(), XD_SECOND_COPY_DIFFERS);
    ck_assert_uint_eq(differs.begin, 104 + PART);
    ck_assert_uint_eq(differs.end, 104 + 2 * PART);
    data[4 + PART] = 1;
    data[4 + 2 * PART + 2] = 1;
    ck_assert_int_eq(compare(), XD_SECOND_COPY_EQUAL);
}
END_TEST

/* While it was read. */
static void change(uint64_t begin, uint64_t end, unsigned depot)
{
    struct xd_range r = {begin, end};

    ck_assert_int_eq(xd_ledger_discard(&ledger, r, XD_DISCARD_BANNED), 0);
    if (depot != XD_HELD)
        store(depot, begin, end);
}

START_TEST(what_was_discarded_meanwhile_is_not_compared)
{
    const struct xd_range ranges[] = {
        {110, 120}, {110, 111}, {119, 120}, {114, 116}};

    store(2, 110, 120);
    expect_run(2, 110, 120);
    change(ranges[_i].begin, ranges[_i].end, XD_HELD);
    ck_assert_int_eq(compare(), XD_SECOND_COPY_VOID);
}
END_TEST

START_TEST(nor_is_what_another_has_delivered_meanwhile)
{
    store(2, 110, 120);
    expect_run(2, 110, 120);
    change(110, 120, 3);
    ck_assert_int_eq(compare(), XD_SECOND_COPY_VOID);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("second_copy");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, only_what_another_depot_has_delivered_is_compared);
    tcase_add_test(t, what_lies_outside_of_the_second_copy_is_not_read);
    tcase_add_test(t, a_long_run_is_compared_in_parts);
    tcase_add_test(t, the_first_part_that_differs_is_named);
    tcase_add_loop_test(t, what_was_discarded_meanwhile_is_not_compared, 0, 4);
    tcase_add_test(t, nor_is_what_another_has_delivered_meanwhile);
    return run_suite("second_copy", t);
}
