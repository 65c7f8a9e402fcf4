/* SPDX-License-Identifier: MIT */
/* lib/base/date: dates that an exNode records. */
#include <string.h>

#include "base/date.h"
#include "suite.h"

static const struct {
    const char *text;
    uint64_t seconds;
} dates[] = {
    {"1970-01-01 00:00:00", 0},
    {"1970-03-01 00:00:00", 5097600},
    {"1999-12-31 23:59:60", 946684800},
    {"2000-02-29 12:00:00", 951825600},
    {"2026-11-20 23:36:15", 1795217775},
    {"2100-03-01 00:00:00", 4107542400},
    {"9999-12-31 23:59:59", 253402300799},
};

START_TEST(dates_are_seconds_since_1970)
{
    uint64_t seconds;

    ck_assert_msg(
        xd_date_parse(dates[_i].text, strlen(dates[_i].text), &seconds), "%s",
        dates[_i].text);
    ck_assert_uint_eq(seconds, dates[_i].seconds);
}
END_TEST

static const char *const others[] = {
    "",
    "2026-11-20",
    "2026-11-20 23:36:15 ",
    " 2026-11-20 23:36:15",
    "2026-11-20T23:36:15",
    "2026-11-20 23:36:1x",
    "1969-12-31 23:59:59",
    "0000-00-00 00:00:00",
    "2026-00-20 23:36:15",
    "2026-13-20 23:36:15",
    "2026-11-31 23:36:15",
    "2026-11-00 23:36:15",
    "2026-02-29 00:00:00",
    "2100-02-29 00:00:00",
    "2026-11-20 24:00:00",
    "2026-11-20 23:60:00",
    "2026-11-20 23:00:61",
    "-026-11-20 23:36:15",
};

START_TEST(what_is_no_date_is_refused)
{
    uint64_t seconds = 4711;

    ck_assert_msg(!xd_date_parse(others[_i], strlen(others[_i]), &seconds),
                  "%s", others[_i]);
    ck_assert_uint_eq(seconds, 4711);
}
END_TEST

/* Every day of a few centuries, and the last second of the last one. */
START_TEST(what_is_written_is_read_again)
{
    char text[XD_DATE_SIZE];
    uint64_t seconds;

    for (uint64_t t = 0; t < 500ULL * 366 * 86400; t += 86399) {
        xd_date_format(t, text);
        ck_assert(xd_date_parse(text, strlen(text), &seconds));
        ck_assert_uint_eq(seconds, t);
    }
    xd_date_format(253402300799, text);
    ck_assert_str_eq(text, "9999-12-31 23:59:59");
    xd_date_format(253402300800, text);
    ck_assert_str_eq(text, "");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("date");

    tcase_add_loop_test(t, dates_are_seconds_since_1970, 0,
                        sizeof dates / sizeof *dates);
    tcase_add_loop_test(t, what_is_no_date_is_refused, 0,
                        sizeof others / sizeof *others);
    tcase_add_test(t, what_is_written_is_read_again);
    return run_suite("base.date", t);
}
