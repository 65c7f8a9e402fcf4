/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"

struct unit {
    const char *suffix;
    uint64_t factor;
};

bool xd_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

bool xd_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

bool xd_parse_u64(const char *s, size_t len, uint64_t *out)
{
    uint64_t value = 0;

    if (len == 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        if (!xd_mul_u64(value, 10, &value) ||
            !xd_add_u64(value, (uint64_t)(s[i] - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

/*
 * Returns 0.DIGITS * factor, rounded down.  Works from the last digit to the
 * first: exact for any number of digits, without a value above 10 * factor.
 */
static uint64_t fraction_of(const char *digits, size_t n, uint64_t factor)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = ((uint64_t)(digits[n] - '0') * factor + value) / 10;
    return value;
}

/* Parses a number with an optional unit.  A fraction needs a unit: "1.5" bytes
 * is rejected. */
static bool parse_with_unit(const char *s, const struct unit *units, size_t n,
                            uint64_t *out)
{
    size_t whole_len = strspn(s, DIGITS), fraction_len = 0;
    const char *fraction = s + whole_len, *suffix = fraction;
    uint64_t value;
    size_t i = 0;

    if (*fraction == '.') {
        fraction++;
        fraction_len = strspn(fraction, DIGITS);
        if (fraction_len == 0)
            return false;
        suffix = fraction + fraction_len;
    }
    while (i < n && strcmp(suffix, units[i].suffix) != 0)
        i++;
    if (i == n || (fraction_len > 0 && units[i].factor == 1))
        return false;
    return xd_parse_u64(s, whole_len, &value) &&
           xd_mul_u64(value, units[i].factor, &value) &&
           xd_add_u64(value,
                      fraction_of(fraction, fraction_len, units[i].factor),
                      out);
}

/* All spellings of one unit: "m", "M" and "MiB" are powers of 1024, "MB" of
 * 1000. */
#define MULTIPLE(lower, upper, shift, power_of_1000)                    \
    {lower, UINT64_C(1) << shift}, {upper, UINT64_C(1) << shift},       \
        {lower "iB", UINT64_C(1) << shift},                             \
        {upper "iB", UINT64_C(1) << shift}, {lower "B", power_of_1000}, \
    {                                                                   \
        upper "B", power_of_1000                                        \
    }

bool xd_parse_size(const char *s, uint64_t *out)
{
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        MULTIPLE("k", "K", 10, 1000),
        MULTIPLE("m", "M", 20, 1000000),
        MULTIPLE("g", "G", 30, 1000000000),
        MULTIPLE("t", "T", 40, UINT64_C(1000000000000)),
    };

    return parse_with_unit(s, units, sizeof units / sizeof *units, out);
}

bool xd_parse_rate(const char *s, uint64_t *out_bytes_per_s)
{
    static const struct unit bits[] = {
        {"kbit/s", 125},
        {"Kbit/s", 125},
        {"Mbit/s", 125000},
        {"Gbit/s", 125000000},
        {"Kibit/s", 1024 / 8},
        {"Mibit/s", (1 << 20) / 8},
        {"Gibit/s", (1 << 30) / 8},
    };
    const size_t len = strlen(s);
    char size[32]; /* room for the digits of 2^64 and the longest unit */

    if (parse_with_unit(s, bits, sizeof bits / sizeof *bits, out_bytes_per_s))
        return true;
    if (len < 2 || len - 2 >= sizeof size || strcmp(s + len - 2, "/s") != 0)
        return xd_parse_size(s, out_bytes_per_s);
    memcpy(size, s, len - 2);
    size[len - 2] = '\0';
    return xd_parse_size(size, out_bytes_per_s);
}

bool xd_parse_duration(const char *s, uint64_t *out_usec)
{
    enum { SECOND = 1000000, MINUTE = 60 * SECOND };
    const uint64_t hour = UINT64_C(60) * MINUTE, day = 24 * hour;
    const struct unit units[] = {
        {"", SECOND},       {"ms", SECOND / 1000},
        {"s", SECOND},      {"sec", SECOND},
        {"second", SECOND}, {"seconds", SECOND},
        {"m", MINUTE},      {"min", MINUTE},
        {"minute", MINUTE}, {"minutes", MINUTE},
        {"h", hour},        {"hour", hour},
        {"hours", hour},    {"d", day},
        {"day", day},       {"days", day},
    };

    return parse_with_unit(s, units, sizeof units / sizeof *units, out_usec);
}

char *xd_size_text(char out[XD_SIZE_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    uint64_t whole = bytes, rest = 0;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(out, XD_SIZE_TEXT, "%u byte%s", (unsigned)bytes,
                 bytes == 1 ? "" : "s");
        return out;
    }
    for (; whole >= 1024; i++) {
        rest = whole % 1024;
        whole /= 1024;
    }
    const unsigned tenth = (unsigned)(rest * 10 / 1024);
    if (tenth > 0)
        snprintf(out, XD_SIZE_TEXT, "%u.%u %s", (unsigned)whole, tenth,
                 units[i - 1]);
    else
        snprintf(out, XD_SIZE_TEXT, "%u %s", (unsigned)whole, units[i - 1]);
    return out;
}
