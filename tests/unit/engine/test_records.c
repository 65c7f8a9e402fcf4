/* SPDX-License-Identifier: MIT */

#include "command/records.h"
#include "engine/records.h"
#include "suite.h"

static struct xd_fetch_record numbered(uint64_t n)
{
    return (struct xd_fetch_record){.begin = n};
}

START_TEST(records_come_out_in_the_order_they_went_in)
{
    struct xd_records r;
    struct xd_fetch_record record;

    ck_assert_int_eq(xd_records_init(&r, true), 0);
    for (uint64_t i = 0; i < 3; i++) {
        record = numbered(i);
        xd_records_put(&r, &record);
    }
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert(xd_records_take(&r, &record));
        ck_assert_uint_eq(record.begin, i);
    }
    ck_assert(!xd_records_take(&r, &record));
    xd_records_fini(&r);
}
END_TEST

START_TEST(a_queue_that_grows_while_it_is_read_keeps_the_order)
{
    struct xd_records r;
    struct xd_fetch_record record;
    uint64_t n_taken = 0;

    ck_assert_int_eq(xd_records_init(&r, true), 0);
    for (uint64_t i = 0; i < 4000; i++) {
        record = numbered(i);
        xd_records_put(&r, &record);
        if (i % 3 != 0)
            continue;
        ck_assert(xd_records_take(&r, &record));
        ck_assert_uint_eq(record.begin, n_taken++);
    }
    while (xd_records_take(&r, &record))
        ck_assert_uint_eq(record.begin, n_taken++);
    ck_assert_uint_eq(n_taken, 4000);
    ck_assert_uint_eq(r.lost, 0);
    xd_records_fini(&r);
}
END_TEST

START_TEST(a_full_queue_loses_the_oldest_and_counts_them)
{
    struct xd_records r;
    struct xd_fetch_record record;

    ck_assert_int_eq(xd_records_init(&r, true), 0);
    for (uint64_t i = 0; i < 4096 + 10; i++) {
        record = numbered(i);
        xd_records_put(&r, &record);
    }
    ck_assert_uint_eq(r.lost, 10);
    ck_assert(xd_records_take(&r, &record));
    ck_assert_uint_eq(record.begin, 10);
    xd_records_fini(&r);
}
END_TEST

START_TEST(nothing_is_kept_when_nobody_wants_records)
{
    struct xd_records r;
    struct xd_fetch_record record = numbered(1);

    ck_assert_int_eq(xd_records_init(&r, false), 0);
    xd_records_put(&r, &record);
    ck_assert(!xd_records_take(&r, &record));
    ck_assert_uint_eq(r.lost, 0);
    xd_records_fini(&r);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("records");

    tcase_add_test(tcase, records_come_out_in_the_order_they_went_in);
    tcase_add_test(tcase, a_queue_that_grows_while_it_is_read_keeps_the_order);
    tcase_add_test(tcase, a_full_queue_loses_the_oldest_and_counts_them);
    tcase_add_test(tcase, nothing_is_kept_when_nobody_wants_records);
    return run_suite("records", tcase);
}
