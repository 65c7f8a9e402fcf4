/* SPDX-License-Identifier: MIT */
/*
 * Formats a table.  The first column gets the remaining width.  If there is not
 * enough room, other columns are left out one by one.  Pure.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TABLE_COLUMNS 6 /* without the first column */
#define TABLE_CELL 32

struct table_column {
    const char *title;
    unsigned width;
    /* The column with rank 0 is left out last.  Ranks are unique and below
     * n. */
    unsigned rank;
    /* true: left-aligned, for words; false: right-aligned, for numbers */
    bool to_left;
};

struct table {
    const struct table_column *columns;
    unsigned n, gap, first_width;
    bool shown[TABLE_COLUMNS];
};

/* Decides which columns fit into `width`.  `longest` is the width of the
 * longest cell in the first column.  `columns` must outlive the table. */
void table_init(struct table *t, const struct table_column *columns, unsigned n,
                unsigned width, unsigned longest);

/* Print one line.  Cells of columns that are left out are ignored. */
void table_put_titles(const struct table *t, FILE *to, const char *first);
void table_put_row(const struct table *t, FILE *to, const char *first,
                   char cells[][TABLE_CELL]);

#endif
