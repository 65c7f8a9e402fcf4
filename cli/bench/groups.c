/* SPDX-License-Identifier: MIT */
#include "bench/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"
#include "common/words.h"

const enum column groups_columns[GROUPS_SETTINGS] = {
    /* the subject of the measurement: */
    COL_KIND, COL_INPUT, COL_DIGEST, COL_OPTIONS,
    /* the settings: */
    COL_ALGORITHM, COL_REDUNDANCY, COL_PROGRESS_NUMBER, COL_WHOLE_BLOCKS,
    COL_BLOCK_BYTES, COL_THREADS, COL_N_DEPOTS, COL_DEPOTS, COL_READER};

int groups_compare(const struct row *a, const struct row *b,
                   const enum column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double x = row_number(a, columns[i]);
        const double y = row_number(b, columns[i]);
        const int order =
            column_is_number(columns[i]) && !isnan(x) && !isnan(y)
                ? (x > y) - (x < y)
                : strcmp(row_get(a, columns[i]), row_get(b, columns[i]));
        if (order != 0)
            return order;
    }
    return 0;
}

size_t groups_length(const struct row *const *rows, size_t n, size_t n_columns)
{
    size_t k = 0;

    while (k < n &&
           groups_compare(rows[0], rows[k], groups_columns, n_columns) == 0)
        k++;
    return k;
}

/* ---- several files ---- */

static int compare(const void *a, const void *b)
{
    const struct row *const *x = a, *const *y = b;
    const int order = groups_compare(*x, *y, groups_columns, GROUPS_SETTINGS);

    return order != 0 ? order : row_compare_keys(*x, *y);
}

static bool collect(struct merged *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_files; i++)
        n += m->files[i].n;
    m->rows = malloc((n + 1) * sizeof *m->rows);
    if (m->rows == NULL)
        return false;
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; k < m->files[i].n; k++)
            m->rows[m->n++] = &m->files[i].rows[k];
    return true;
}

static void sort(struct merged *m)
{
    size_t kept = 0;

    if (m->n > 0)
        qsort(m->rows, m->n, sizeof *m->rows, compare);
    for (size_t i = 0; i < m->n; i++)
        if (kept == 0 || row_compare_keys(m->rows[kept - 1], m->rows[i]) != 0)
            m->rows[kept++] = m->rows[i];
    if (kept < m->n)
        words_error("warning: %zu rows are of runs that other rows are of, and "
                    "do not count",
                    m->n - kept);
    m->n = kept;
}

int merged_init(struct merged *m, const struct args *a)
{
    *m = (struct merged){.files = calloc(a->n_inputs, sizeof *m->files)};
    for (size_t i = 0; m->files != NULL && i < a->n_inputs; i++) {
        const int status = results_read(&m->files[m->n_files++], a->inputs[i]);
        if (status != 0)
            return status;
    }
    if (m->files == NULL || !collect(m)) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    sort(m);
    if (m->n > 0)
        return 0;
    words_error("%s holds no results", a->inputs[0]);
    return STATUS_LOCAL;
}

void merged_fini(struct merged *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        results_fini(&m->files[i]);
    free(m->files);
    free(m->rows);
}

/* ---- numbers ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns a quantile of sorted numbers.  Interpolates between the two nearest
 * numbers. */
static double quantile(const double *x, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;
    const double more = i + 1 < n ? x[i + 1] - x[i] : 0;

    return x[i] + (at - (double)i) * more;
}

bool spread_of(struct spread *out, const struct row *const *rows, size_t n,
               enum column c)
{
    double *x = malloc((n + 1) * sizeof *x);

    *out = (struct spread){.n = 0};
    if (x == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        if (row_is_complete(rows[i]) && isfinite(row_number(rows[i], c)))
            x[out->n++] = row_number(rows[i], c);
    if (out->n > 0) {
        qsort(x, out->n, sizeof *x, compare_numbers);
        out->low = quantile(x, out->n, 0.25);
        out->median = quantile(x, out->n, 0.5);
        out->high = quantile(x, out->n, 0.75);
    }
    free(x);
    return true;
}
