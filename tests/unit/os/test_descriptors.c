/* SPDX-License-Identifier: MIT */
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

/* Check runs each test in a process of its own, whose limit this is.  Returns
 * what it was. */
static rlim_t allow(rlim_t n)
{
    struct rlimit limit;
    rlim_t before;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = n;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

START_TEST(each_that_is_opened_is_one_less_and_none_is_left_at_the_limit)
{
    unsigned n, n_opened = 0;
    rlim_t before = allow(40);

    n = xd_descriptors_free(1000);
    ck_assert_uint_lt(n, 40);
    while (open("/dev/null", O_RDONLY) >= 0) {
        n_opened++;
        ck_assert_uint_eq(xd_descriptors_free(1000), n - n_opened);
    }
    ck_assert(xd_descriptors_ran_out(errno));
    ck_assert_uint_eq(n_opened, n);
    allow(before); /* sanitizers open files at the end */
}
END_TEST

START_TEST(no_more_are_counted_than_were_asked_for)
{
    allow(100);
    ck_assert_uint_eq(xd_descriptors_free(3), 3);
    ck_assert_uint_eq(xd_descriptors_free(0), 0);
}
END_TEST

START_TEST(other_failures_have_nothing_to_do_with_them)
{
    ck_assert(!xd_descriptors_ran_out(ENOMEM));
    ck_assert(!xd_descriptors_ran_out(0));
    ck_assert(xd_descriptors_ran_out(ENFILE));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("descriptors");

    tcase_add_test(
        tcase, each_that_is_opened_is_one_less_and_none_is_left_at_the_limit);
    tcase_add_test(tcase, no_more_are_counted_than_were_asked_for);
    tcase_add_test(tcase, other_failures_have_nothing_to_do_with_them);
    return run_suite("descriptors", tcase);
}
