/* SPDX-License-Identifier: MIT */
/*
 * One row of a results file: what a run was, and what it came to, each column
 * as text.  A column without a value is empty.
 */
#ifndef CLI_ROW_H
#define CLI_ROW_H

#include <stdbool.h>
#include <stdio.h>

#include <xdownload/error.h>

#define ROW_FORMAT "1" /* of the columns; see columns.def */

enum column {
#define COLUMN(id, name, kind, role) COL_##id,
#include "bench/columns.def"
#undef COLUMN
    COLUMNS
};

#define OUTCOME_COMPLETE "complete"
#define OUTCOME_FAILED "failed"

struct row {
    char *cells[COLUMNS]; /* each from malloc(), or NULL: empty */
};

const char *column_name(enum column c);
bool column_is_number(enum column c);

/* Set a cell; controls in it become blanks, so that a row is a line.  Without
 * memory it stays empty and false is returned. */
bool row_set(struct row *r, enum column c, const char *format, ...)
    XD_PRINTF(3, 4);
bool row_set_number(struct row *r, enum column c, double x);

const char *row_get(const struct row *r, enum column c); /* "": none */
double row_number(const struct row *r, enum column c);   /* NAN: none */
bool row_is_complete(const struct row *r);

/* `to` has the cells of `from` that tell runs apart, or the others.  False: no
 * memory. */
bool row_copy_key(struct row *to, const struct row *from);
bool row_copy_measures(struct row *to, const struct row *from);

/* <0, 0, >0: the order of their keys; 0 is the same run. */
int row_compare_keys(const struct row *a, const struct row *b);

void row_fini(struct row *r);

/* The line of titles, and a row, as CSV (RFC 4180) or as JSON. */
void row_put_titles(FILE *to);
void row_put_csv(FILE *to, const struct row *r);
void row_put_json(FILE *to, const struct row *r);

/* Read what these have written, a line without its end.  False: it is no such
 * row; *r is empty then. */
bool row_are_titles(const char *line);
bool row_read_csv(struct row *r, const char *line);
bool row_read_json(struct row *r, const char *line);

#endif
