/* SPDX-License-Identifier: MIT */
/*
 * Writes the report of --report: one JSON object per line and file.  The files
 * of a set are followed by an object for the set.  Also writes the lines of
 * --progress json.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "common/snapshot.h"

/* Writes the line of a file and flushes it.  `file` is its path, "-" for
 * standard output, or NULL if the file never had a path.  `error` is NULL on
 * success. */
void report_put(FILE *to, const struct snapshot *s, const char *file,
                const char *outcome, const char *error);

/* Writes and flushes the line of a set of `n_files` files. */
void report_put_set(FILE *to, const struct snapshot *s, size_t n_files,
                    const char *outcome, const char *error);

/* Writes and flushes the line of one file of a set.  Numbers that are only
 * known for the whole set are null. */
void report_put_file(FILE *to, const struct xd_file_progress *p,
                     const char *directory, const char *outcome,
                     const char *error);

/* Writes a line of --progress json.  `outcome` is NULL while the download
 * runs. */
void report_put_progress(FILE *to, const struct snapshot *s, const char *file,
                         const char *outcome, const char *error);

#endif
