/* SPDX-License-Identifier: MIT */
/*
 * Whatever can run out is refused once, for each time that it is asked for.
 *
 * The linker puts us between the library's objects and what gives them memory,
 * threads, locks, handles of libcurl and so on (CMakeLists.txt has the list);
 * the library knows nothing of it, and what a test and its mock server want is
 * never refused.
 *
 *     static int scenario(void)
 *     {
 *         ... whatever is needed before ...
 *         torture_begin();
 *         rc = what_is_tested(&out);
 *         torture_end();
 *         ... look at what is left, release all ...
 *         return rc;
 *     }
 *
 *     torture(scenario);
 */
#ifndef XD_TESTS_TORTURE_H
#define XD_TESTS_TORTURE_H

#include <stdbool.h>

typedef int torture_fn(void);

/*
 * Run the scenario with its first wish refused, its second, and so on until
 * none was; then again, with all that follow refused as well.  It must return
 * 0 when nothing was refused, else NOMEM, and leave no block of memory behind.
 */
void torture(torture_fn *scenario);

/* The same of one that may succeed without what was refused. */
void torture_survivor(torture_fn *scenario);

/* Between the two, wishes of any thread count and may be refused. */
void torture_begin(void);
void torture_end(void);

/* Count a wish for `name`, and say whether it is refused. */
bool torture_refuses(const char *name);

/* The linker calls __wrap_X() instead of X(), and X() when we say __real_X(),
 * which is weak: a test that does without a layer has none of its functions. */
#define WRAP(type, name, parameters, arguments, refusal) \
    type __real_##name parameters __attribute__((weak)); \
    type __wrap_##name parameters;                       \
    type __wrap_##name parameters                        \
    {                                                    \
        if (torture_refuses(#name))                      \
            return refusal;                              \
        return __real_##name arguments;                  \
    }

#endif
