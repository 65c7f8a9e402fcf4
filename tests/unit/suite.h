/* SPDX-License-Identifier: MIT */
/* Every test program runs its test cases, one most often, and says by its
 * status how they went. */
#ifndef XD_TESTS_SUITE_H
#define XD_TESTS_SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* How many cases a test runs: all of them where tests may take long. */
static inline int suite_cases(int quick, int all)
{
    return getenv("XD_SLOW") ? all : quick;
}

#define SUITE_FOLDER 40 /* room for the name of a folder */

/* Make a folder for a test, where files for a while are made. */
static inline void suite_folder(char folder[SUITE_FOLDER])
{
    const char *where = getenv("TMPDIR");
    int len = snprintf(folder, SUITE_FOLDER, "%s/xd-test-XXXXXX",
                       where ? where : "/tmp");

    ck_assert_int_lt(len, SUITE_FOLDER);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void suite_rest_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static inline int run_suite_of(const char *name, size_t n, TCase *const *tcases)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    for (size_t i = 0; i < n; i++)
        suite_add_tcase(suite, tcases[i]);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_suite(const char *name, TCase *tcase)
{
    return run_suite_of(name, 1, &tcase);
}

#endif
