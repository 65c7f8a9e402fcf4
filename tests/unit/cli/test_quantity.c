/* SPDX-License-Identifier: MIT */
/* cli/args/quantity: the units are those of lib/base/number. */
#include "args/quantity.h"

#include <string.h>

#include "base/number.h"
#include "suite.h"

static const char *const words[] = {
    "",        "5",     "0.5",  "1k",      "1K",      "1kB",      "1KiB",
    "3m",      "3MB",   "3MiB", "1.5g",    "2GB",     "1t",       "1TB",
    "5B",      "1mb",   "5q",   "1kb",     "2m/s",    "2MB/s",    "7B/s",
    "5ms",     "5s",    "5sec", "5second", "5min",    "1h",       "2hours",
    "1d",      "1day",  "1D",   "1w",      "8Mbit/s", "8Mibit/s", "80kbit/s",
    "1Gbit/s", "1Mbit", "-1k",  " 1k",     "1k ",     "1e3",
};

#define DAY_S 86400.0
#define N_WORDS (sizeof words / sizeof *words)

START_TEST(a_size_is_what_the_library_takes)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        uint64_t ours = 0, theirs = 0;
        const bool known = quantity_bytes(&ours, words[i]);

        ck_assert_msg(known == (xd_parse_size(words[i], &theirs) && theirs > 0),
                      "%s", words[i]);
        ck_assert_msg(ours == theirs || !known, "%s", words[i]);
    }
}
END_TEST

START_TEST(a_rate_is_what_the_library_takes_if_it_has_a_unit)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        double ours = 0;
        uint64_t theirs = 0;
        const bool known = quantity_rate(&ours, words[i]);

        if (strcmp(words[i], "5") == 0)
            ck_assert(!known);
        else
            ck_assert_msg(known == xd_parse_rate(words[i], &theirs), "%s",
                          words[i]);
        ck_assert_msg(!known || (uint64_t)ours == theirs, "%s", words[i]);
    }
}
END_TEST

START_TEST(a_time_is_what_the_library_takes)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        double ours = 0;
        uint64_t theirs = 0;
        const bool known = quantity_seconds(&ours, words[i], DAY_S);

        ck_assert_msg(known == xd_parse_duration(words[i], &theirs), "%s",
                      words[i]);
        ck_assert_msg(!known || (uint64_t)(ours * 1e6 + 0.5) == theirs, "%s",
                      words[i]);
    }
}
END_TEST

START_TEST(what_is_out_of_bounds_is_refused)
{
    uint64_t n;
    double x;

    ck_assert(quantity_seconds(&x, "24h", DAY_S));
    ck_assert(!quantity_seconds(&x, "25h", DAY_S));
    ck_assert(quantity_seconds(&x, "30d", 3660 * DAY_S));
    ck_assert_double_eq(x, 30 * 86400);
    ck_assert(quantity_seconds(&x, "2w", 3660 * DAY_S));
    ck_assert_double_eq(x, 14 * 86400);
    ck_assert(!quantity_seconds(&x, "9999d", 3660 * DAY_S));
    ck_assert(quantity_count(&n, "10", 1, 10));
    ck_assert(!quantity_count(&n, "11", 1, 10));
    ck_assert(!quantity_count(&n, "0", 1, 10));
    ck_assert(!quantity_rate(&x, "0k"));
    ck_assert(quantity_rate(&x, "1TB/s"));
    ck_assert(!quantity_rate(&x, "2TB/s"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("quantity");

    tcase_add_test(t, a_size_is_what_the_library_takes);
    tcase_add_test(t, a_rate_is_what_the_library_takes_if_it_has_a_unit);
    tcase_add_test(t, a_time_is_what_the_library_takes);
    tcase_add_test(t, what_is_out_of_bounds_is_refused);
    return run_suite("cli.quantity", t);
}
