/* SPDX-License-Identifier: MIT */
#include "bench/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/units.h"
#include "common/words.h"

/* A sweep that may download more bytes than this starts only with --yes or
 * --byte-budget. */
#define UNASKED_BYTES (UINT64_C(1) << 30)

/* Expected rate if there are no results yet: 100 Mbit/s. */
#define ASSUMED_BYTES_PER_S 12.5e6

uint64_t cost_of(const struct run *r, const struct subject *s)
{
    return s->size == XD_SIZE_UNKNOWN ? 0 : s->size * run_copies(r);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the median rate of the results so far, or NAN if there are none. */
static double known_rate(const struct series *s)
{
    double *rates = calloc(s->results->n + 1, sizeof *rates), median = NAN;
    size_t n = 0;

    for (size_t i = 0; rates != NULL && i < s->results->n; i++) {
        const struct row *row = &s->results->rows[i];
        if (row_is_complete(row) && row_number(row, COL_BYTES_PER_S) > 0)
            rates[n++] = row_number(row, COL_BYTES_PER_S);
    }
    if (n > 0) {
        qsort(rates, n, sizeof *rates, compare);
        median = rates[n / 2];
    }
    free(rates);
    return median;
}

static void print_live(const struct series *s, uint64_t bytes)
{
    const double known = known_rate(s), given = s->args->bench.cool_down_s;
    const double pause = given >= 0 ? given : COOL_DOWN_LEAST_S;
    const double rate = known > 0 ? known : ASSUMED_BYTES_PER_S;
    char size[UNITS_SIZE], time[UNITS_SIZE], speed[UNITS_SIZE];

    if (bytes == 0)
        words_error("%zu %s; the size of the file, and so the cost, is not "
                    "known before the first",
                    s->n, run_word(s->n));
    else
        words_error(
            "%zu %s, about %s, about %s if %s come as %s", s->n, run_word(s->n),
            units_size(size, bytes),
            units_clock(time, (double)bytes / rate + pause * (double)s->n),
            units_rate(speed, rate),
            known > 0 ? "in the results so far" : "is assumed");
}

static uint64_t sum(const struct series *s)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->n; i++) {
        const uint64_t more = cost_of(&s->runs[i], s->subjects);
        bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
    }
    return bytes;
}

int cost_print(const struct series *s)
{
    const bool is_live = s->subjects[0].scenario == NULL;
    const uint64_t bytes = is_live ? sum(s) : 0;

    if (s->n_before > 0 && !s->args->quiet)
        words_error("%zu %s been done before", s->n_before,
                    s->n_before == 1 ? "run has" : "runs have");
    if (s->args->quiet)
        ;
    else if (!is_live)
        words_error("%zu %s in virtual time, in which nothing is fetched", s->n,
                    run_word(s->n));
    else if (s->n > 0)
        print_live(s, bytes);
    if (!is_live || s->args->bench.yes || s->args->bench.byte_budget > 0 ||
        s->args->dry_run)
        return 0;
    if (s->n > 0 && s->subjects[0].size == XD_SIZE_UNKNOWN)
        return words_usage("no depot says how large the file is: to fetch it "
                           "%zu times, use --byte-budget SIZE or --yes",
                           s->n);
    if (bytes <= UNASKED_BYTES)
        return 0;
    return words_usage("more than 1 GiB is fetched only with --yes or with "
                       "--byte-budget SIZE");
}
