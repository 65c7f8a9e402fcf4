#include "base/number.h"

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
 * 0.DIGITS of `factor`, rounded down.  From the last digit to the first, so
 * that any number of them is exact and nothing grows beyond 10 * factor.
 */
static uint64_t fraction_of(const char *digits, size_t n, uint64_t factor)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = ((uint64_t)(digits[n] - '0') * factor + value) / 10;
    return value;
}

/* A number with at most one of the units behind it.  There are no parts of
 * what has no parts: "1.5" bytes is nothing. */
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

bool xd_parse_size(const char *s, uint64_t *out)
{
    static const struct unit units[] = {
        {"", 1},
#define UNIT(lower, upper, shift)                                          \
    {lower, UINT64_C(1) << shift}, {lower "B", UINT64_C(1) << shift},      \
        {lower "iB", UINT64_C(1) << shift}, {upper, UINT64_C(1) << shift}, \
        {upper "B", UINT64_C(1) << shift}, {upper "iB", UINT64_C(1) << shift}
        UNIT("k", "K", 10),
        UNIT("m", "M", 20),
        UNIT("g", "G", 30),
        UNIT("t", "T", 40),
#undef UNIT
    };

    return parse_with_unit(s, units, sizeof units / sizeof *units, out);
}

bool xd_parse_duration(const char *s, uint64_t *out_usec)
{
    static const struct unit units[] = {
        {"", 1000000},   {"ms", 1000},       {"s", 1000000},
        {"m", 60000000}, {"h", 3600000000u},
    };

    return parse_with_unit(s, units, sizeof units / sizeof *units, out_usec);
}
