/*
 * The report of --report: one JSON object per file, each on its line.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "common/snapshot.h"

/* One line, complete at once.  `file` is the path, "-" for standard output or
 * NULL if it never had one; `error` is NULL if all went well. */
void report_put(FILE *to, const struct snapshot *s, const char *file,
                const char *outcome, const char *error);

#endif
