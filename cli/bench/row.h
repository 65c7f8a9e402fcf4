/* SPDX-License-Identifier: MIT */
/*
 * One row of a results file: the settings and the results of a run, as text.  A
 * column without a value is empty.
 */
#ifndef CLI_ROW_H
#define CLI_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <xdownload/error.h>

#define ROW_FORMAT "1" /* version of the columns (columns.def) */

enum column {
#define COLUMN(id, name, kind, role) COL_##id,
#include "bench/columns.def"
#undef COLUMN
    COLUMNS
};

#define OUTCOME_COMPLETE "complete"
#define OUTCOME_FAILED "failed"

struct row {
    char *cells[COLUMNS]; /* from malloc(), or NULL if empty */
    bool lacks_memory;    /* a cell could not be set */
};

const char *column_name(enum column c);
bool column_is_number(enum column c);

/* Sets a cell.  Control characters become blanks, so that each row stays on one
 * line. */
void row_set(struct row *r, enum column c, const char *format, ...)
    XD_PRINTF(3, 4);

/* Set a cell to a number, if it is finite, and to a count. */
void row_set_number(struct row *r, enum column c, double x);
void row_set_count(struct row *r, enum column c, uint64_t n);

const char *row_get(const struct row *r, enum column c); /* "" if empty */
double row_number(const struct row *r, enum column c);   /* NAN if empty */
bool row_is_complete(const struct row *r);

/* Copies only the cells that contain results, not settings. */
void row_copy_measures(struct row *to, const struct row *from);

/* Compares the settings.  Returns <0, 0 or >0. */
int row_compare_keys(const struct row *a, const struct row *b);

void row_fini(struct row *r);

/* Write the title line, or a row, as CSV (RFC 4180) or JSON. */
void row_put_titles(FILE *to);
void row_put_csv(FILE *to, const struct row *r);
void row_put_json(FILE *to, const struct row *r);

/* Read a line, without its newline, that the functions above have written.
 * Return false if the line is not valid; then *r is empty. */
bool row_are_titles(const char *line);
bool row_read_csv(struct row *r, const char *line);
bool row_read_json(struct row *r, const char *line);

#endif
