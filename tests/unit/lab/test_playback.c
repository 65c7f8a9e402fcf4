/* SPDX-License-Identifier: MIT */
/* lab/playback.h: section 4.2 of the paper. */
#include "lab/playback.h"

#include <string.h>

#include "command/records.h"
#include "suite.h"

#define KIB UINT64_C(1024)

/* The paper's Mbit has 2^20 bits. */
#define MBIT (1024.0 * 1024.0 / 8)

static struct xd_fetch_record record(uint64_t begin, uint64_t end,
                                     double first_byte_s, double end_s)
{
    return (struct xd_fetch_record){.begin = begin,
                                    .end = end,
                                    .received = end - begin,
                                    .first_byte_s = first_byte_s,
                                    .end_s = end_s};
}

static double delay_of(const struct xd_fetch_record *records, size_t n,
                       uint64_t size, uint64_t block_bytes, double bytes_per_s,
                       double prebuffer_s)
{
    struct xd_error err = {0};
    double delay = -1;

    ck_assert_msg(xd_playback_delay(&delay, records, n, size, block_bytes,
                                    bytes_per_s, prebuffer_s, &err) == 0,
                  "%s", err.msg);
    return delay;
}

/* "At 1.3 Mbps and a block size of 128 KB, the second block must be completely
 * downloaded at 128 x 8 / (1024 x 1.3) = 0.77 seconds after the pre-buffering
 * phase." */
START_TEST(the_second_block_is_needed_when_the_first_is_played)
{
    double due = 5 + 128.0 * 8 / (1024 * 1.3);
    struct xd_fetch_record r[] = {record(0, 128 * KIB, 0, 5),
                                  record(128 * KIB, 256 * KIB, 0, due)};

    ck_assert_double_eq_tol(delay_of(r, 2, 256 * KIB, 128 * KIB, 1.3 * MBIT, 5),
                            0, 1e-9);
    r[1].end_s = due + 0.25;
    ck_assert_double_eq_tol(delay_of(r, 2, 256 * KIB, 128 * KIB, 1.3 * MBIT, 5),
                            0.25, 1e-9);
}
END_TEST

/* What was waited for once is not waited for again. */
START_TEST(delays_add_up_to_that_of_the_latest_block)
{
    const struct xd_fetch_record r[] = {
        record(0, 10, 0, 3), record(10, 20, 0, 3), record(20, 30, 0, 6),
        record(30, 40, 0, 6.5)};

    ck_assert_double_eq_tol(delay_of(r, 1, 10, 10, 10, 1), 2, 1e-9);
    ck_assert_double_eq_tol(delay_of(r, 2, 20, 10, 10, 1), 2, 1e-9);
    ck_assert_double_eq_tol(delay_of(r, 4, 40, 10, 10, 1), 3, 1e-9);
}
END_TEST

/* A block is there when all of it is, and not before. */
START_TEST(a_block_counts_when_it_is_complete)
{
    const struct xd_fetch_record r[] = {record(0, 100, 0, 10)};

    ck_assert_double_eq_tol(delay_of(r, 1, 100, 100, 10, 0), 10, 1e-9);
    ck_assert_double_eq_tol(delay_of(r, 1, 100, 10, 10, 0), 1, 1e-9);
    ck_assert_double_eq_tol(delay_of(r, 1, 100, 30, 10, 0), 3, 1e-9);
}
END_TEST

START_TEST(the_first_of_several_copies_counts)
{
    const struct xd_fetch_record r[] = {
        record(10, 20, 2, 9), record(0, 10, 0, 1), record(10, 20, 0, 4)};

    ck_assert_double_eq_tol(delay_of(r, 3, 20, 10, 10, 0), 3, 1e-9);
}
END_TEST

/* Half of the block from a request that failed, the rest from another. */
START_TEST(requests_complete_a_block_together)
{
    struct xd_fetch_record r[] = {record(0, 20, 0, 2), record(10, 20, 3, 5),
                                  record(12, 14, 0, 1)};

    r[0].received = 10;
    r[0].code = XD_E_NET;
    ck_assert_double_eq_tol(delay_of(r, 3, 20, 20, 10, 0), 5, 1e-9);
}
END_TEST

START_TEST(a_byte_that_no_request_brought_is_named)
{
    struct xd_fetch_record r[] = {record(0, 20, 0, 2), record(30, 40, 3, 5)};
    struct xd_error err = {0};
    double delay = 7;

    ck_assert_int_eq(xd_playback_delay(&delay, r, 2, 40, 40, 10, 0, &err),
                     XD_E_INVAL);
    ck_assert_str_eq(err.msg, "records: no request has delivered byte 20");
    ck_assert_double_eq_tol(delay, 7, 1e-9);
    ck_assert_int_eq(xd_playback_delay(&delay, NULL, 0, 40, 40, 10, 0, NULL),
                     XD_E_INVAL);
}
END_TEST

static const struct {
    uint64_t size, block_bytes;
    double bytes_per_s, prebuffer_s;
} senseless[] = {{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, -1}};

START_TEST(senseless_numbers_are_refused)
{
    const struct xd_fetch_record r[] = {record(0, 1, 0, 1)};
    double delay;

    ck_assert_int_eq(xd_playback_delay(&delay, r, 1, senseless[_i].size,
                                       senseless[_i].block_bytes,
                                       senseless[_i].bytes_per_s,
                                       senseless[_i].prebuffer_s, NULL),
                     XD_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("playback");

    tcase_add_test(t, the_second_block_is_needed_when_the_first_is_played);
    tcase_add_test(t, delays_add_up_to_that_of_the_latest_block);
    tcase_add_test(t, a_block_counts_when_it_is_complete);
    tcase_add_test(t, the_first_of_several_copies_counts);
    tcase_add_test(t, requests_complete_a_block_together);
    tcase_add_test(t, a_byte_that_no_request_brought_is_named);
    tcase_add_loop_test(t, senseless_numbers_are_refused, 0,
                        sizeof senseless / sizeof *senseless);
    return run_suite("lab.playback", t);
}
