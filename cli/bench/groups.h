/* SPDX-License-Identifier: MIT */
/*
 * Results put together: the runs of several files, and what those with equal
 * settings have in common.
 */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "args/args.h"
#include "bench/results.h"

/* All rows of the files that were given, each run once. */
struct merged {
    struct results *files;
    size_t n_files;
    const struct row **rows; /* in the order of their settings */
    size_t n;
};

/* Returns 0, or a status after the reason was said.
 * Ownership: whatever it returns, to release with merged_fini(). */
int merged_init(struct merged *m, const struct args *a);
void merged_fini(struct merged *m);

/* <0, 0, >0: the order of two rows by these columns, numbers as numbers.  Its
 * length is n. */
int groups_compare(const struct row *a, const struct row *b,
                   const enum column *columns, size_t n);

/* The columns that say what was measured, and with which settings. */
#define GROUPS_SUBJECT 4
#define GROUPS_SETTINGS 13
extern const enum column groups_columns[GROUPS_SETTINGS];

/* How many rows from the first on agree in the first `n_columns` of these. */
size_t groups_length(const struct row *const *rows, size_t n, size_t n_columns);

/* What a column's numbers come to. */
struct spread {
    size_t n;                                  /* of rows that have one */
    double mean, deviation, low, median, high; /* of the sample; quartiles */
};

/* False: no memory.  Rows without a number do not count. */
bool spread_of(struct spread *out, const struct row *const *rows, size_t n,
               enum column c);

#endif
