/* SPDX-License-Identifier: MIT */
/*
 * The report of --report: one JSON object per file, each on its line, and one
 * per set of files behind those of its files.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "common/snapshot.h"

/* One line, complete at once.  `file` is the path, "-" for standard output or
 * NULL if it never had one; `error` is NULL if all went well. */
void report_put(FILE *to, const struct snapshot *s, const char *file,
                const char *outcome, const char *error);

/* The same for a set of so many, and before that for each of them: what is only
 * known of all is null. */
void report_put_set(FILE *to, const struct snapshot *s, size_t n_files,
                    const char *outcome, const char *error);
void report_put_file(FILE *to, const struct xd_file_progress *p,
                     const char *directory, const char *outcome,
                     const char *error);

#endif
