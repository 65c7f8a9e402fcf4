/* When what a request has received is written, and reported. */
#include "session/intake.h"

#include "suite.h"

#define KIB ((uint64_t)1 << 10)

static struct xd_intake in;

static void setup(void)
{
    xd_intake_begin(&in, 1000);
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
    ck_assert_uint_eq(xd_intake_buffer(64), 256 * KIB);
    ck_assert_uint_eq(xd_intake_buffer(128), 128 * KIB);
    ck_assert_uint_eq(xd_intake_buffer(1024), 64 * KIB);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("intake");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, nothing_is_due_before_a_byte_comes);
    tcase_add_test(
        tcase, a_buffer_is_flushed_when_its_first_byte_is_half_a_second_old);
    tcase_add_test(tcase, what_comes_after_a_flush_has_its_own_half_second);
    tcase_add_test(tcase, where_there_are_readers_a_byte_is_flushed_at_once);
    tcase_add_test(tcase, the_first_bytes_are_reported_at_once);
    tcase_add_test(tcase, later_ones_are_reported_every_20_ms);
    tcase_add_test(tcase, the_buffers_of_many_requests_are_smaller);
    return run_suite("intake", tcase);
}
