/* SPDX-License-Identifier: MIT */
/* Which bytes a reader wants next. */
#include "session/lookahead.h"

#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static void expect(struct xd_range r, uint64_t begin, uint64_t end)
{
    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

START_TEST(a_window_ends_at_a_quarter_of_its_length)
{
    expect(xd_lookahead_window(0, 0, 400, 5000), 0, 400);
    expect(xd_lookahead_window(99, 99, 400, 5000), 99, 400);
    expect(xd_lookahead_window(100, 100, 400, 5000), 100, 500);
    expect(xd_lookahead_window(100, 250, 400, 5000), 100, 600);
}
END_TEST

START_TEST(a_window_ends_where_the_file_does)
{
    expect(xd_lookahead_window(4900, 4900, 400, 5000), 4900, 5000);
    expect(xd_lookahead_window(100, 100, UINT64_MAX, 5000), 100, 5000);
}
END_TEST

START_TEST(a_window_of_a_byte_has_one)
{
    expect(xd_lookahead_window(7, 7, 1, 5000), 7, 8);
}
END_TEST

START_TEST(players_look_at_the_head_and_the_tail)
{
    struct xd_range wanted = {10 * MIB, 20 * MIB};

    expect(xd_lookahead_head(wanted), 10 * MIB, 10 * MIB + MIB / 4);
    expect(xd_lookahead_tail(wanted), 19 * MIB, 20 * MIB);
}
END_TEST

START_TEST(of_a_short_file_both_are_all_of_it)
{
    expect(xd_lookahead_head((struct xd_range){3, 9}), 3, 9);
    expect(xd_lookahead_tail((struct xd_range){3, 9}), 3, 9);
}
END_TEST

START_TEST(a_byte_is_needed_when_the_player_comes_to_it)
{
    struct xd_player p = {.byte = 1000, .bytes_per_s = 100, .at = XD_SECOND};

    ck_assert_uint_eq(xd_lookahead_due(&p, 1500, 3 * XD_SECOND), 8 * XD_SECOND);
    p.is_playing = true;
    ck_assert_uint_eq(xd_lookahead_due(&p, 1500, 3 * XD_SECOND), 6 * XD_SECOND);
    ck_assert_uint_eq(xd_lookahead_due(&p, 1500, 9 * XD_SECOND), 9 * XD_SECOND);
}
END_TEST

START_TEST(a_byte_is_needed_now_if_no_player_tells_better)
{
    struct xd_player p = {.byte = 1000, .bytes_per_s = 100, .at = XD_SECOND};

    ck_assert_uint_eq(xd_lookahead_due(&p, 1000, 3), 3);
    p.bytes_per_s = 0;
    ck_assert_uint_eq(xd_lookahead_due(&p, 1500, 3), 3);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("reader_window");

    tcase_add_test(tcase, a_window_ends_at_a_quarter_of_its_length);
    tcase_add_test(tcase, a_window_ends_where_the_file_does);
    tcase_add_test(tcase, a_window_of_a_byte_has_one);
    tcase_add_test(tcase, players_look_at_the_head_and_the_tail);
    tcase_add_test(tcase, of_a_short_file_both_are_all_of_it);
    tcase_add_test(tcase, a_byte_is_needed_when_the_player_comes_to_it);
    tcase_add_test(tcase, a_byte_is_needed_now_if_no_player_tells_better);
    return run_suite("reader_window", tcase);
}
