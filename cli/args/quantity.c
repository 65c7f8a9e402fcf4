/* SPDX-License-Identifier: MIT */
#include "args/quantity.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KI 1024.0

struct unit {
    const char *name;
    double factor;
};

/* Parses digits without a sign, followed by one of the units. */
static bool parse(double *out, const char *text, const struct unit *units,
                  size_t n)
{
    const size_t digits = strspn(text, "0123456789.");
    char *end;

    if (digits == 0 || digits > 20)
        return false;
    const double number = strtod(text, &end);
    if (end != text + digits)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(end, units[i].name) == 0) {
            *out = number * units[i].factor;
            return true;
        }
    return false;
}

/* As in the library, k, m, g, t, KiB and MiB are powers of 1024.  kB and MB are
 * powers of 1000. */
#define MULTIPLE(lower, upper, ki, kilo)                          \
    {lower, ki}, {upper, ki}, {lower "iB", ki}, {upper "iB", ki}, \
        {lower "B", kilo},                                        \
    {                                                             \
        upper "B", kilo                                           \
    }

static const struct unit sizes[] = {
    {"B", 1},
    MULTIPLE("k", "K", KI, 1e3),
    MULTIPLE("m", "M", KI *KI, 1e6),
    MULTIPLE("g", "G", KI *KI *KI, 1e9),
    MULTIPLE("t", "T", KI *KI *KI *KI, 1e12),
};

/* Parses a size that ends with `tail`, such as "/s". */
static bool parse_size_before(double *out, const char *text, const char *tail)
{
    const size_t len = strlen(text), tail_len = strlen(tail);
    char size[32]; /* longer than any text that parse() accepts */

    if (len < tail_len || len - tail_len >= sizeof size ||
        strcmp(text + len - tail_len, tail) != 0)
        return false;
    memcpy(size, text, len - tail_len);
    size[len - tail_len] = '\0';
    return parse(out, size, sizes, sizeof sizes / sizeof *sizes);
}

bool quantity_rate(double *out_bytes_per_s, const char *text)
{
    static const struct unit bits[] = {
        {"bit/s", 0.125},         {"kbit/s", 125},
        {"Kbit/s", 125},          {"Mbit/s", 125e3},
        {"Gbit/s", 125e6},        {"Kibit/s", KI / 8},
        {"Mibit/s", KI * KI / 8}, {"Gibit/s", KI * KI * KI / 8},
    };

    return (parse(out_bytes_per_s, text, bits, sizeof bits / sizeof *bits) ||
            parse_size_before(out_bytes_per_s, text, "/s") ||
            parse_size_before(out_bytes_per_s, text, "")) &&
           *out_bytes_per_s >= 1 && *out_bytes_per_s <= KI * KI * KI * KI;
}

bool quantity_seconds(double *out, const char *text, double most)
{
    static const struct unit units[] = {
        {"", 1},         {"ms", 1e-3},     {"s", 1},          {"sec", 1},
        {"second", 1},   {"seconds", 1},   {"m", 60},         {"min", 60},
        {"minute", 60},  {"minutes", 60},  {"h", 3600},       {"hour", 3600},
        {"hours", 3600}, {"d", 86400},     {"day", 86400},    {"days", 86400},
        {"w", 604800},   {"week", 604800}, {"weeks", 604800},
    };

    return parse(out, text, units, sizeof units / sizeof *units) &&
           *out <= most;
}

bool quantity_bytes(uint64_t *out, const char *text)
{
    static const struct unit plain[] = {{"", 1}};
    double bytes;

    if ((!parse(&bytes, text, plain, 1) &&
         !parse_size_before(&bytes, text, "")) ||
        bytes < 1 || bytes > 1e18)
        return false;
    *out = (uint64_t)bytes;
    return true;
}

bool quantity_count(uint64_t *out, const char *text, uint64_t least,
                    uint64_t most)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 18 || text[digits] != '\0')
        return false;
    const uint64_t n = strtoull(text, NULL, 10);
    if (n < least || n > most)
        return false;
    *out = n;
    return true;
}
