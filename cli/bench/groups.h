/* SPDX-License-Identifier: MIT */
/*
 * The runs of several results files, grouped by their settings.
 */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "args/args.h"
#include "bench/results.h"

/* All rows of the given files, without duplicates. */
struct merged {
    struct results *files;
    size_t n_files;
    const struct row **rows; /* sorted by settings */
    size_t n;
};

/* Reads the results files.  Returns 0; after a failure, prints the error and
 * returns the exit status.
 * Ownership: in any case release *m with merged_fini(). */
int merged_init(struct merged *m, const struct args *a);
void merged_fini(struct merged *m);

/* Compares two rows by `n` columns.  Numbers are compared as numbers.  Returns
 * <0, 0 or >0. */
int groups_compare(const struct row *a, const struct row *b,
                   const enum column *columns, size_t n);

/* The columns for grouping.  The first GROUPS_SUBJECT columns tell what was
 * measured, the other columns tell with which settings. */
#define GROUPS_SUBJECT 4
#define GROUPS_SETTINGS 13
extern const enum column groups_columns[GROUPS_SETTINGS];

/* Returns the number of rows at the beginning of `rows` that agree in the first
 * `n_columns` of groups_columns. */
size_t groups_length(const struct row *const *rows, size_t n, size_t n_columns);

/* Statistics of the numbers in one column. */
struct spread {
    size_t n;                 /* number of rows that have a number */
    double low, median, high; /* quartiles */
};

/* Computes the statistics of complete rows that have a number.  Returns false
 * if out of memory. */
bool spread_of(struct spread *out, const struct row *const *rows, size_t n,
               enum column c);

#endif
