/* SPDX-License-Identifier: MIT */
/*
 * A results file.  Existing rows are read, and new rows are appended.  Existing
 * rows never change.  Only an incomplete last line, which a killed run has
 * left, is removed before the next row is written.
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/row.h"

struct results {
    const char *path; /* owned by the caller; NULL: standard output */
    bool is_json;
    int fd; /* for appending; < 0: read-only */
    /* the file was created by us; it is deleted if it stays empty */
    bool is_new;
    /* the line of titles must be written before the first row */
    bool needs_titles;
    struct row *rows; /* rows read from the file */
    size_t n;
};

/* Reads a whole file.  Returns 0; after a failure, prints the error and returns
 * the exit status.
 * Ownership: in any case release *r with results_fini(). */
int results_read(struct results *r, const char *path);

/* Reads the file if it exists, and opens it for appending.  If `path` is NULL
 * or "-", opens standard output, and reads nothing.  Otherwise like
 * results_read(). */
int results_open(struct results *r, const char *path, bool is_json);

/* Appends a row with a single write.  Returns 0; after a failure, prints the
 * error and returns the exit status. */
int results_add(struct results *r, const struct row *row);

void results_fini(struct results *r);

#endif
