/* Every test program runs one test case and says by its status how it went. */
#ifndef XD_TESTS_SUITE_H
#define XD_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int run_suite(const char *name, TCase *tcase)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
