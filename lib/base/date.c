/* SPDX-License-Identifier: MIT */
#include "base/date.h"

#include <stdio.h>

#define FORM "0000-00-00 00:00:00"
#define FORM_LEN (sizeof FORM - 1)

static bool has_form(const char *s, size_t len)
{
    if (len != FORM_LEN)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_digit = s[i] >= '0' && s[i] <= '9';

        if (FORM[i] == '0' ? !is_digit : s[i] != FORM[i])
            return false;
    }
    return true;
}

/* Returns the value of `len` digits. */
static unsigned number(const char *digits, size_t len)
{
    unsigned n = 0;

    for (size_t i = 0; i < len; i++)
        n = n * 10 + (unsigned)(digits[i] - '0');
    return n;
}

static bool is_leap(unsigned year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of(unsigned year, unsigned month)
{
    static const unsigned days[] = {31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Returns the days from 1970-01-01 to the first day of the month. */
static uint64_t days_before(unsigned year, unsigned month)
{
    uint64_t y = year - 1, n = (y - 1969) * 365;

    n += y / 4 - y / 100 + y / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    for (unsigned m = 1; m < month; m++)
        n += days_of(year, m);
    return n;
}

bool xd_date_parse(const char *s, size_t len, uint64_t *out)
{
    unsigned year, month, day, hour, minute, second;

    if (!has_form(s, len))
        return false;
    year = number(s, 4);
    month = number(s + 5, 2);
    day = number(s + 8, 2);
    hour = number(s + 11, 2);
    minute = number(s + 14, 2);
    second = number(s + 17, 2);
    if (year < 1970 || month < 1 || month > 12 || day < 1 ||
        day > days_of(year, month) || hour > 23 || minute > 59 || second > 60)
        return false;
    *out = ((days_before(year, month) + day - 1) * 24 + hour) * 3600 +
           minute * 60 + second;
    return true;
}

void xd_date_format(uint64_t seconds, char out[XD_DATE_SIZE])
{
    uint64_t days = seconds / 86400;
    unsigned year = 1970, month = 1;

    out[0] = '\0';
    if (days >= days_before(10000, 1))
        return;
    /* a lower bound; the loop below corrects it */
    year += (unsigned)(days / 366);
    while (days >= days_before(year + 1, 1))
        year++;
    while (month < 12 && days >= days_before(year, month + 1))
        month++;
    days -= days_before(year, month);
    seconds %= 86400;
    snprintf(out, XD_DATE_SIZE, "%04u-%02u-%02u %02u:%02u:%02u", year % 10000,
             month, (unsigned)days % 31 + 1, (unsigned)(seconds / 3600),
             (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}
