/* SPDX-License-Identifier: MIT */
/* Opens files that the command writes in addition to downloads, such as
 * reports. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>

/* Creates or truncates the file.  A symbolic link is not followed, because
 * another user of the folder may have made it.  "/dev/fd/3" stands for
 * descriptor 3. `what` names the file in messages ("the report").  Returns 0;
 * after a failure, prints the error and returns the exit status. */
int output_open(FILE **out, const char *path, const char *what);

/* Open and close the file of --report.  If `path` is NULL, *out is NULL.  If
 * `path` is "-", *out is standard error.  Return 0; after a failure, print the
 * error and return the exit status.  close() accepts NULL. */
int output_open_report(FILE **out, const char *path);
int output_close_report(FILE *report, const char *path);

#endif
