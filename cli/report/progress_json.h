/* SPDX-License-Identifier: MIT */
/*
 * The lines of --progress json: one JSON object each.
 */
#ifndef CLI_PROGRESS_JSON_H
#define CLI_PROGRESS_JSON_H

#include <stdio.h>

#include "common/snapshot.h"

/* `file` is the path, or "-" for standard output.  `outcome` is NULL before
 * the end, `error` is NULL if all went well. */
void progress_json_put(FILE *to, const struct snapshot *s, const char *file,
                       const char *outcome, const char *error);

#endif
