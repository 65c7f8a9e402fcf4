/* SPDX-License-Identifier: MIT */
/* Files that the command writes beside what it fetches. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>

/* Make the file, or empty it; a symbolic link is not followed, for another user of
 * the folder may have made it.  "/dev/fd/3" is the descriptor.  `what` names it in
 * the message: "the report".  Returns 0, or a status after the reason was said. */
int output_open(FILE **out, const char *path, const char *what);

/* The file of --report: *out is NULL if `path` is, and standard error for "-".
 * Both return 0, or a status after the reason has been said; close() takes NULL. */
int output_open_report(FILE **out, const char *path);
int output_close_report(FILE *report, const char *path);

#endif
