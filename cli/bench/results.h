/* SPDX-License-Identifier: MIT */
/*
 * A file of results: rows of this format are read from it, and added to its
 * end.  What is in it is never changed, but for a last line that a killed run
 * has left incomplete, which is cut off before the next row is added.
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/row.h"

struct results {
    const char *path; /* the caller's; NULL: standard output */
    bool is_json;
    int fd;            /* to add rows to; < 0: it is only read */
    bool is_new;       /* it was made, and goes again if it stays empty */
    bool needs_titles; /* before the first row */
    struct row *rows;  /* that were read */
    size_t n;
};

/* Read all of a file.  Returns 0, or a status after the reason was said.
 * Ownership: whatever they return, to release with results_fini(). */
int results_read(struct results *r, const char *path);

/* The same, if there is one, and open it for more rows; `path` NULL or "-":
 * standard output, of which nothing is read. */
int results_open(struct results *r, const char *path, bool is_json);

/* Add a row, in one piece.  Returns 0 or a status, as above. */
int results_add(struct results *r, const struct row *row);

void results_fini(struct results *r);

#endif
