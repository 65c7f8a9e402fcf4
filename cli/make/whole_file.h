/* SPDX-License-Identifier: MIT */
/*
 * A file that has its name only once all of it is written.
 */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the file may be written, before there is anything to write: 0, or a
 * status after the reason was said. */
int whole_file_check(const char *path, bool replace);

/* Write it beside `path` and rename it.  Unless `replace`, never over what is
 * there.  Returns 0, or a status after the reason was said. */
int whole_file_write(const char *path, const char *text, size_t len,
                     bool replace);

#endif
