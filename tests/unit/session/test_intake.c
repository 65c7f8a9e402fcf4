/* SPDX-License-Identifier: MIT */
/* When what a request has received is written, and what of it; and when it is
 * reported. */
#include "session/intake.h"

#include "suite.h"

#define KIB ((uint64_t)1 << 10)

#define DEPOT 3

static struct xd_intake in;
static struct xd_ledger ledger;

static void setup(void)
{
    xd_intake_begin(&in, 1000);
}

static void teardown(void)
{
    xd_ledger_fini(&ledger);
}

START_TEST(nothing_is_due_before_a_byte_comes)
{
    ck_assert_uint_eq(xd_intake_flush_at(&in), XD_NEVER);
    ck_assert_uint_eq(xd_intake_report_at(&in), XD_NEVER);
    ck_assert(!xd_intake_must_flush(&in, true, XD_SECOND));
    ck_assert(!xd_intake_report(&in, XD_SECOND));
    ck_assert(xd_range_is_empty(xd_intake_buffered(&in)));
}
END_TEST

START_TEST(a_buffer_is_flushed_when_its_first_byte_is_half_a_second_old)
{
    xd_intake_add(&in, 10, 3 * XD_SECOND);
    xd_intake_add(&in, 10, 3 * XD_SECOND + 400 * XD_MS);
    ck_assert_uint_eq(xd_intake_flush_at(&in), 3 * XD_SECOND + 500 * XD_MS);
    ck_assert(!xd_intake_must_flush(&in, false, 3 * XD_SECOND + 499 * XD_MS));
    ck_assert(xd_intake_must_flush(&in, false, 3 * XD_SECOND + 500 * XD_MS));
    ck_assert_uint_eq(xd_intake_buffered(&in).begin, 1000);
    ck_assert_uint_eq(xd_intake_buffered(&in).end, 1020);
}
END_TEST

START_TEST(what_comes_after_a_flush_has_its_own_half_second)
{
    xd_intake_add(&in, 10, XD_SECOND);
    in.flushed = in.received;
    ck_assert_uint_eq(xd_intake_flush_at(&in), XD_NEVER);
    xd_intake_add(&in, 10, 2 * XD_SECOND);
    ck_assert_uint_eq(xd_intake_flush_at(&in), 2 * XD_SECOND + 500 * XD_MS);
}
END_TEST

START_TEST(where_there_are_readers_a_byte_is_flushed_at_once)
{
    xd_intake_add(&in, 1, XD_SECOND);
    ck_assert(xd_intake_must_flush(&in, true, XD_SECOND));
}
END_TEST

START_TEST(the_first_bytes_are_reported_at_once)
{
    xd_intake_add(&in, 1, 5 * XD_MS);
    ck_assert_uint_le(xd_intake_report_at(&in), 5 * XD_MS);
    ck_assert(xd_intake_report(&in, 5 * XD_MS));
    ck_assert_uint_eq(in.reported, 1001);
    ck_assert_uint_eq(xd_intake_report_at(&in), XD_NEVER);
}
END_TEST

START_TEST(later_ones_are_reported_every_20_ms)
{
    xd_intake_add(&in, 1, XD_SECOND);
    ck_assert(xd_intake_report(&in, XD_SECOND));
    xd_intake_add(&in, 1, XD_SECOND + XD_MS);
    ck_assert_uint_eq(xd_intake_report_at(&in), XD_SECOND + 20 * XD_MS);
    ck_assert(xd_intake_report(&in, XD_SECOND + 2 * XD_MS)); /* by a flush */
    ck_assert(!xd_intake_report(&in, XD_SECOND + 3 * XD_MS));
    xd_intake_add(&in, 1, XD_SECOND + 4 * XD_MS);
    ck_assert_uint_eq(xd_intake_report_at(&in), XD_SECOND + 22 * XD_MS);
}
END_TEST

START_TEST(the_buffers_of_many_requests_are_smaller)
{
    ck_assert_uint_eq(xd_intake_buffer(1), 256 * KIB);
    ck_assert_uint_eq(xd_intake_buffer(32), 256 * KIB);
    ck_assert_uint_eq(xd_intake_buffer(64), 128 * KIB);
    ck_assert_uint_eq(xd_intake_buffer(1024), 64 * KIB);
}
END_TEST

/* A thousand bytes more are in the buffer, as the scheduler knows. */
static void receive(void)
{
    xd_intake_add(&in, 1000, XD_SECOND);
    ck_assert_int_eq(
        xd_ledger_change(&ledger, XD_RECEIVE, xd_intake_buffered(&in)), 0);
}

static void claim_for_another(uint64_t begin, uint64_t end)
{
    ck_assert_int_eq(
        xd_ledger_change(&ledger, XD_CLAIM, (struct xd_range){begin, end}), 0);
}

static struct xd_intake_action expect(bool counts,
                                      enum xd_intake_action_kind kind,
                                      uint64_t begin, uint64_t end)
{
    struct xd_intake_action a = xd_intake_next(&in, &ledger, counts);

    ck_assert_int_eq(a.kind, kind);
    ck_assert_uint_eq(a.range.begin, begin);
    ck_assert_uint_eq(a.range.end, end);
    return a;
}

static void expect_write(uint64_t begin, uint64_t end)
{
    const struct xd_range range = {begin, end};

    ck_assert(!expect(true, XD_INTAKE_WRITE, begin, end).is_missing);
    ck_assert(xd_ledger_has(&ledger, 1 << XD_BYTE_WRITING, range));
    ck_assert_uint_eq(in.flushed, begin);
    ck_assert_int_eq(xd_intake_written(&in, &ledger, DEPOT), 0);
    ck_assert(xd_ledger_has(&ledger, 1 << XD_BYTE_WRITTEN, range));
    ck_assert_uint_eq(xd_ledger_bytes_of(&ledger, DEPOT, range), end - begin);
    ck_assert_uint_eq(in.flushed, end);
}

static void expect_nothing(void)
{
    ck_assert_int_eq(xd_intake_next(&in, &ledger, true).kind,
                     XD_INTAKE_NOTHING);
    ck_assert(xd_range_is_empty(xd_intake_buffered(&in)));
}

START_TEST(what_no_other_request_has_is_claimed_and_written)
{
    expect_nothing();
    receive();
    expect_write(1000, 2000);
    expect_nothing();
}
END_TEST

START_TEST(what_others_have_claimed_is_duplicate)
{
    receive();
    claim_for_another(900, 1100);
    claim_for_another(1500, 1600);
    expect(true, XD_INTAKE_COUNT_DUPLICATE, 1000, 1100);
    expect_write(1100, 1500);
    claim_for_another(1900, 2100); /* while that was written */
    expect(true, XD_INTAKE_COUNT_DUPLICATE, 1500, 1600);
    expect_write(1600, 1900);
    expect(true, XD_INTAKE_COUNT_DUPLICATE, 1900, 2000);
    expect_nothing();
}
END_TEST

/* The request is distrusted while the first bytes are written. */
START_TEST(what_counts_no_longer_is_duplicate)
{
    receive();
    claim_for_another(1500, 1600);
    expect_write(1000, 1500);
    expect(false, XD_INTAKE_COUNT_DUPLICATE, 1500, 2000);
    expect_nothing();
    ck_assert(xd_ledger_has(&ledger, 1 << XD_BYTE_RECEIVED,
                            (struct xd_range){1600, 2000}));
}
END_TEST

START_TEST(what_the_scheduler_takes_for_missing_is_held)
{
    receive();
    ck_assert_int_eq(
        xd_ledger_change(&ledger, XD_LOSE, (struct xd_range){1999, 2000}), 0);
    ck_assert(expect(true, XD_INTAKE_WRITE, 1000, 2000).is_missing);
}
END_TEST

START_TEST(what_cannot_be_written_leaves_the_buffer)
{
    receive();
    expect(true, XD_INTAKE_WRITE, 1000, 2000);
    xd_intake_drop(&in);
    expect_nothing();
    receive();
    expect_write(2000, 3000);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("intake");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_is_due_before_a_byte_comes);
    tcase_add_test(
        tcase, a_buffer_is_flushed_when_its_first_byte_is_half_a_second_old);
    tcase_add_test(tcase, what_comes_after_a_flush_has_its_own_half_second);
    tcase_add_test(tcase, where_there_are_readers_a_byte_is_flushed_at_once);
    tcase_add_test(tcase, the_first_bytes_are_reported_at_once);
    tcase_add_test(tcase, later_ones_are_reported_every_20_ms);
    tcase_add_test(tcase, the_buffers_of_many_requests_are_smaller);
    tcase_add_test(tcase, what_no_other_request_has_is_claimed_and_written);
    tcase_add_test(tcase, what_others_have_claimed_is_duplicate);
    tcase_add_test(tcase, what_counts_no_longer_is_duplicate);
    tcase_add_test(tcase, what_the_scheduler_takes_for_missing_is_held);
    tcase_add_test(tcase, what_cannot_be_written_leaves_the_buffer);
    return run_suite("intake", tcase);
}
