/* SPDX-License-Identifier: MIT */
#include "common/units.h"

#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>

/* Divides `bytes` by the largest unit for which the result is at least 1. */
static double scale(double bytes, size_t *out_unit)
{
    size_t unit = 0;

    /* 1023.95 would be printed as 1024.0, so it gets the next unit */
    for (; bytes >= 1023.95 && unit < 6; unit++)
        bytes /= 1024;
    *out_unit = unit;
    return bytes;
}

static char *put_size(char out[UNITS_SIZE], double bytes, const char *tail)
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    size_t unit;
    const double n = scale(bytes, &unit);

    snprintf(out, UNITS_SIZE, "%.*f %s%s", unit == 0 ? 0 : 1, n, units[unit],
             tail);
    return out;
}

static char *put_short(char out[UNITS_SIZE], double bytes, const char *tail)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
    size_t unit;
    const double n = scale(bytes, &unit);

    snprintf(out, UNITS_SIZE, "%.*f%s%s", unit == 0 || n >= 99.95 ? 0 : 1, n,
             units[unit], tail);
    return out;
}

char *units_size(char out[UNITS_SIZE], uint64_t bytes)
{
    return put_size(out, (double)bytes, "");
}

char *units_size_short(char out[UNITS_SIZE], uint64_t bytes)
{
    return put_short(out, (double)bytes, "");
}

char *units_rate(char out[UNITS_SIZE], double bytes_per_s)
{
    return put_size(out, bytes_per_s, "/s");
}

char *units_rate_short(char out[UNITS_SIZE], double bytes_per_s)
{
    return put_short(out, bytes_per_s, "/s");
}

/* Returns true if the time is too long to display, or is not a number. */
static int is_endless(double seconds)
{
    return !(seconds >= 0 && seconds < 365 * 86400.0);
}

char *units_clock(char out[UNITS_SIZE], double seconds)
{
    if (is_endless(seconds)) {
        snprintf(out, UNITS_SIZE, "-:--");
        return out;
    }
    const unsigned s = (unsigned)(seconds + 0.999);
    const unsigned minutes = s / 60, hours = s / 3600;
    if (hours >= 100)
        snprintf(out, UNITS_SIZE, "%u d", s / 86400);
    else if (hours > 0)
        snprintf(out, UNITS_SIZE, "%u:%02u:%02u", hours, minutes % 60, s % 60);
    else
        snprintf(out, UNITS_SIZE, "%u:%02u", minutes, s % 60);
    return out;
}

char *units_clock_short(char out[UNITS_SIZE], double seconds)
{
    if (is_endless(seconds) || seconds < 3599)
        return units_clock(out, seconds);
    const unsigned hours = (unsigned)(seconds / 3600);
    if (hours >= 100)
        snprintf(out, UNITS_SIZE, "%ud", hours / 24);
    else
        snprintf(out, UNITS_SIZE, "%uh", hours > 0 ? hours : 1);
    return out;
}

char *units_seconds(char out[UNITS_SIZE], double seconds)
{
    if (seconds >= 0 && seconds < 60)
        snprintf(out, UNITS_SIZE, "%.1f s", seconds);
    else
        units_clock(out, seconds);
    return out;
}

char *units_lifetime(char out[UNITS_SIZE], uint64_t seconds)
{
    const uint64_t minutes = seconds / 60, hours = minutes / 60;

    if (hours >= 24)
        snprintf(out, UNITS_SIZE, "%" PRIu64 " d %" PRIu64 " h", hours / 24,
                 hours % 24);
    else if (hours > 0)
        snprintf(out, UNITS_SIZE, "%" PRIu64 " h %" PRIu64 " min", hours,
                 minutes % 60);
    else
        snprintf(out, UNITS_SIZE, "%" PRIu64 " min %" PRIu64 " s", minutes,
                 seconds % 60);
    return out;
}

unsigned units_percent(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return 100;
    /* floating point would round 1e18 of 1e18 + 1 to 100 percent */
    return whole > UINT64_MAX / 100 ? (unsigned)(part / (whole / 100 + 1))
                                    : (unsigned)(part * 100 / whole);
}
