/* SPDX-License-Identifier: MIT */
/* How long bytes may stand in the queue of a slow line. */
#include "sched/bottleneck.h"
#include "suite.h"

static struct xd_bottleneck b;
static xd_usec now;

static void set_up(void)
{
    b = (struct xd_bottleneck){.began = 0};
    now = XD_SECOND;
}

static void flow(double bytes_per_s, xd_usec time)
{
    for (xd_usec end = now + time; now < end; now += 20 * XD_MS)
        xd_bottleneck_received(&b, now, (uint64_t)(bytes_per_s / 50));
}

static void expect(double least, double most)
{
    double time = (double)xd_bottleneck_queue_time(&b, now) / 1e6;

    ck_assert_double_ge(time, least);
    ck_assert_double_le(time, most);
}

START_TEST(a_line_that_brought_nothing_is_not_known)
{
    expect(0, 0);
    flow(16000, 480 * XD_MS);
    expect(0, 0);
    flow(16000, 80 * XD_MS);
    expect(15, 18);
}
END_TEST

/* 256 KiB, at what the line brings. */
START_TEST(the_slower_a_line_the_longer_its_queue_lasts)
{
    flow(16000, 9 * XD_SECOND);
    expect(15.5, 17.5);
    flow(160000, 5 * XD_SECOND);
    expect(1.55, 1.75);
}
END_TEST

START_TEST(the_most_that_came_counts)
{
    flow(160000, 2 * XD_SECOND);
    flow(16000, 5 * XD_SECOND);
    expect(1.55, 1.75);
}
END_TEST

/* Behind a packet that was lost. */
START_TEST(what_comes_at_once_after_a_silence_counts_little)
{
    flow(16000, 9 * XD_SECOND);
    xd_bottleneck_received(&b, now, 200000);
    flow(16000, 9 * XD_SECOND);
    expect(15.5, 17.5);
}
END_TEST

START_TEST(only_a_slow_line_explains_a_silence)
{
    flow(200000, 2 * XD_SECOND);
    ck_assert(xd_bottleneck_is_slow(&b, now));
    ck_assert_uint_gt(xd_bottleneck_silence(&b, now), 5 * XD_SECOND);
    flow(300000, 2 * XD_SECOND);
    ck_assert(!xd_bottleneck_is_slow(&b, now));
    ck_assert_uint_eq(xd_bottleneck_silence(&b, now), 0);
}
END_TEST

START_TEST(nothing_lasts_for_ever)
{
    flow(100, 2 * XD_SECOND);
    expect(40, 40);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("bottleneck");

    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, a_line_that_brought_nothing_is_not_known);
    tcase_add_test(t, the_slower_a_line_the_longer_its_queue_lasts);
    tcase_add_test(t, the_most_that_came_counts);
    tcase_add_test(t, what_comes_at_once_after_a_silence_counts_little);
    tcase_add_test(t, only_a_slow_line_explains_a_silence);
    tcase_add_test(t, nothing_lasts_for_ever);
    return run_suite("sched.bottleneck", t);
}
