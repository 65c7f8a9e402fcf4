#include "args/quantity.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KI 1024.0

struct unit {
    const char *name;
    double factor;
};

/* A number that is not negative, in plain digits, and a unit of the list. */
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

bool quantity_rate(double *out_bytes_per_s, const char *text)
{
    static const struct unit units[] = {
        {"bit/s", 0.125},
        {"kbit/s", 125},
        {"Mbit/s", 125e3},
        {"Gbit/s", 125e6},
        {"Mibit/s", KI * KI / 8},
        {"B/s", 1},
        {"kB/s", 1e3},
        {"MB/s", 1e6},
        {"GB/s", 1e9},
        {"KiB/s", KI},
        {"MiB/s", KI * KI},
        {"GiB/s", KI * KI * KI},
    };

    return parse(out_bytes_per_s, text, units, sizeof units / sizeof *units) &&
           *out_bytes_per_s >= 1 && *out_bytes_per_s <= 1e12;
}

bool quantity_seconds(double *out, const char *text)
{
    static const struct unit units[] = {
        {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};

    return parse(out, text, units, sizeof units / sizeof *units) &&
           *out <= 86400;
}

bool quantity_bytes(uint64_t *out, const char *text)
{
    static const struct unit units[] = {{"", 1},
                                        {"k", KI},
                                        {"m", KI * KI},
                                        {"g", KI * KI * KI},
                                        {"t", KI * KI * KI * KI}};
    double bytes;

    if (!parse(&bytes, text, units, sizeof units / sizeof *units) ||
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
