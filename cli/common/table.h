/* SPDX-License-Identifier: MIT */
/*
 * A table whose first column takes the room that the others leave, and whose
 * other columns are left out one by one where there is no room.  Pure.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TABLE_COLUMNS 6 /* beside the first */
#define TABLE_CELL 32

struct table_column {
    const char *title;
    unsigned width;
    unsigned rank; /* 0 stays longest; each has its own, below n */
    bool to_left;  /* words; numbers stand to the right */
};

struct table {
    const struct table_column *columns;
    unsigned n, gap, first_width;
    bool shown[TABLE_COLUMNS];
};

/* Decide what is shown in `width` columns, where the longest first cell takes
 * `longest`.  `columns` must outlive the table. */
void table_init(struct table *t, const struct table_column *columns, unsigned n,
                unsigned width, unsigned longest);

/* A line each.  Cells of columns that are not shown are passed over. */
void table_put_titles(const struct table *t, FILE *to, const char *first);
void table_put_row(const struct table *t, FILE *to, const char *first,
                   char cells[][TABLE_CELL]);

#endif
