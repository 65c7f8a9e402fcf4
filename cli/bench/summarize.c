/* SPDX-License-Identifier: MIT */
#include "bench/summarize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/groups.h"
#include "bench/subset.h"
#include "bench/sweep.h"
#include "common/status.h"
#include "common/text.h"
#include "common/units.h"
#include "common/words.h"

/* for names like "progress R=2 P=auto b=512.0K t=16 E6" */
#define NAME_COLUMNS 46
#define NAME_SIZE 300

/* Runs of one subject with the same settings. */
struct group {
    const struct row *const *rows;
    size_t n;
    struct spread rate, seconds;
};

struct groups {
    struct group *items;
    size_t n;
};

/* ---- groups ---- */

/* Groups `n` rows of one subject.  Leaves out runs that had a player. */
static bool find_groups(struct groups *g, const struct row *const *rows,
                        size_t n)
{
    *g = (struct groups){calloc(n + 1, sizeof *g->items), 0};
    for (size_t i = 0, len; g->items != NULL && i < n; i += len) {
        struct group *group = &g->items[g->n];
        len = groups_length(rows + i, n - i, GROUPS_SETTINGS);
        if (row_get(rows[i], COL_READER)[0] != '\0')
            continue;
        *group = (struct group){.rows = rows + i, .n = len};
        if (!spread_of(&group->rate, group->rows, len, COL_BYTES_PER_S) ||
            !spread_of(&group->seconds, group->rows, len, COL_SECONDS))
            return false;
        g->n++;
    }
    return g->items != NULL;
}

/* Compares groups: the fastest group comes first, groups without a complete run
 * come last. */
static int compare_rates(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    const double p = x->rate.n > 0 ? x->rate.median : -1;
    const double q = y->rate.n > 0 ? y->rate.median : -1;

    return (q > p) - (q < p);
}

static void put_setting(char *out, size_t *len, const char *name,
                        const char *value)
{
    if (value[0] != '\0')
        *len += (size_t)snprintf(out + *len, NAME_SIZE - *len, " %s%.20s", name,
                                 value);
}

/* Writes a name like "progress R=2 P=auto b=512.0K t=1 E6" for the settings.
 * Returns `out`. */
static const char *name_group(char out[NAME_SIZE], const struct row *row)
{
    const double block = row_number(row, COL_BLOCK_BYTES);
    char size[UNITS_SIZE];
    size_t len =
        (size_t)snprintf(out, NAME_SIZE, "%.20s", row_get(row, COL_ALGORITHM));

    put_setting(out, &len, "R=", row_get(row, COL_REDUNDANCY));
    put_setting(out, &len, "P=", row_get(row, COL_PROGRESS_NUMBER));
    put_setting(out, &len,
                "b=", block > 0 ? units_size_short(size, (uint64_t)block) : "");
    put_setting(out, &len, "t=", row_get(row, COL_THREADS));
    put_setting(out, &len, "", row_get(row, COL_DEPOTS));
    return out;
}

/* ---- the table ---- */

static void put_group(const struct group *g)
{
    char name[NAME_SIZE], median[UNITS_SIZE], low[UNITS_SIZE], high[UNITS_SIZE],
        seconds[UNITS_SIZE];

    text_put_fit(stdout, name_group(name, g->rows[0]), NAME_COLUMNS, true);
    printf(" %4zu", g->n);
    if (g->rate.n == 0) {
        puts("  none complete");
        return;
    }
    printf("  %8s  %7s - %-7s %9s", units_rate_short(median, g->rate.median),
           units_rate_short(low, g->rate.low),
           units_rate_short(high, g->rate.high),
           units_seconds(seconds, g->seconds.median));
    if (g->rate.n < g->n)
        printf("  %zu failed", g->n - g->rate.n);
    putchar('\n');
}

static void put_table(const struct groups *g)
{
    text_put_fit(stdout, "settings", NAME_COLUMNS, true);
    printf(" %4s  %8s  %17s %9s\n", "runs", "median", "quartiles    ", "time");
    for (size_t i = 0; i < g->n; i++)
        put_group(&g->items[i]);
}

static void put_best(const struct groups *g)
{
    char name[NAME_SIZE], rate[UNITS_SIZE];

    if (g->n == 0 || g->items[0].rate.n == 0)
        return;
    fputs("\nbest: ", stdout);
    text_put(stdout, name_group(name, g->items[0].rows[0]));
    printf(", %s\n", units_rate(rate, g->items[0].rate.median));
}

/* ---- the depots ---- */

/* Copies word number `k` of a cell, counted from 0.  Returns false if the cell
 * has fewer words. */
static bool word_of(char *out, size_t size, const char *cell, size_t k)
{
    while (k-- > 0) {
        cell += strcspn(cell, " ");
        cell += strspn(cell, " ");
    }
    snprintf(out, size, "%.*s", (int)strcspn(cell, " "), cell);
    return out[0] != '\0';
}

/* Returns the depots that the run of a row could use, or 0 if unknown. */
static subset depots_of(const struct row *row)
{
    struct subsets found;
    char why[300];

    if (!subsets_parse(&found, row_get(row, COL_DEPOTS), SUBSET_DEPOTS_MAX, why,
                       sizeof why))
        return 0;
    const subset s = found.n == 1 ? found.items[0] : 0;
    free(found.items);
    return s;
}

/* Of the groups with the most depots, returns the fastest. */
static const struct group *widest(const struct groups *g)
{
    const struct group *best = NULL;

    for (size_t i = 0; i < g->n; i++)
        if (g->items[i].rate.n > 0 &&
            (best == NULL || subset_count(depots_of(g->items[i].rows[0])) >
                                 subset_count(depots_of(best->rows[0]))))
            best = &g->items[i];
    return best;
}

/* Returns the share of the file that depot number `k` delivered in the complete
 * runs of a group. */
static double share(const struct group *g, size_t k)
{
    double bytes = 0, all = 0;
    char word[100];

    for (size_t i = 0; i < g->n; i++) {
        const char *cell = row_get(g->rows[i], COL_DEPOT_BYTES);
        for (size_t d = 0;
             row_is_complete(g->rows[i]) && word_of(word, sizeof word, cell, d);
             d++) {
            const double n = strtod(word, NULL);
            all += n;
            bytes += d == k ? n : 0;
        }
    }
    return all > 0 ? bytes / all : NAN;
}

/* Returns true if two groups differ only in their depots. */
static bool are_alike(const struct group *a, const struct group *b)
{
    return groups_compare(a->rows[0], b->rows[0], groups_columns,
                          GROUPS_SETTINGS - 3) == 0;
}

/* Returns by which fraction the median run is slower without depot `bit` and
 * with otherwise the same settings.  Returns NAN if this was not measured. */
static double cost_of_dropping(const struct groups *g, const struct group *with,
                               unsigned bit)
{
    const subset rest = depots_of(with->rows[0]) & ~((subset)1 << bit);

    for (size_t i = 0; i < g->n; i++) {
        const struct group *without = &g->items[i];
        if (without->rate.n > 0 && depots_of(without->rows[0]) == rest &&
            are_alike(with, without))
            return without->seconds.median / with->seconds.median - 1;
    }
    return NAN;
}

static void put_depots(const struct groups *g)
{
    const struct group *wide = widest(g);
    const subset all = wide != NULL ? depots_of(wide->rows[0]) : 0;
    char name[NAME_SIZE], depot[300];
    size_t k = 0;

    if (all == 0)
        return;
    fputs("\ndepots in ", stdout);
    text_put(stdout, name_group(name, wide->rows[0]));
    puts(":");
    text_put_fit(stdout, "depot", NAME_COLUMNS, true);
    printf(" %6s  %s\n", "share", "time without it");
    for (unsigned bit = 0; bit < SUBSET_DEPOTS_MAX; bit++) {
        if (!(all >> bit & 1))
            continue;
        if (!word_of(depot, sizeof depot,
                     row_get(wide->rows[0], COL_DEPOT_NAMES), k))
            snprintf(depot, sizeof depot, "%u", bit + 1);
        const double cost = cost_of_dropping(g, wide, bit);
        text_put_fit(stdout, depot, NAME_COLUMNS, true);
        printf(" %5.1f %%  ", share(wide, k) * 100);
        if (isnan(cost))
            puts("not measured");
        else
            printf("%+.0f %%\n", cost * 100);
        k++;
    }
}

/* ---- output ---- */

static void put_title(const struct row *row, size_t n)
{
    const double bytes = row_number(row, COL_FILE_BYTES);
    char size[UNITS_SIZE];

    text_put(stdout, row_get(row, COL_INPUT));
    printf(": %s, %zu %s", row_get(row, COL_KIND), n, run_word(n));
    if (bytes > 0)
        printf(" of %s", units_size(size, (uint64_t)bytes));
    if (row_get(row, COL_OPTIONS)[0] != '\0') {
        fputs(" (", stdout);
        text_put(stdout, row_get(row, COL_OPTIONS));
        putchar(')');
    }
    puts("\n");
}

static int put_subject(const struct row *const *rows, size_t n)
{
    struct groups g;

    if (!find_groups(&g, rows, n)) {
        free(g.items);
        words_error("out of memory");
        return STATUS_FAILED;
    }
    qsort(g.items, g.n, sizeof *g.items, compare_rates);
    put_title(rows[0], n);
    put_table(&g);
    put_best(&g);
    put_depots(&g);
    free(g.items);
    return 0;
}

int summarize_results(const struct args *a)
{
    struct merged m;
    int status = merged_init(&m, a);

    for (size_t i = 0, n; status == 0 && i < m.n; i += n) {
        n = groups_length(m.rows + i, m.n - i, GROUPS_SUBJECT);
        if (i > 0)
            puts("");
        status = put_subject(m.rows + i, n);
    }
    merged_fini(&m);
    return status;
}
