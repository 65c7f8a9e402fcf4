/* SPDX-License-Identifier: MIT */
/*
 * Writes a file under a temporary name and renames it when it is complete.
 */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Checks that the file may be written.  Returns 0; after a failure, prints the
 * error and returns the exit status. */
int whole_file_check(const char *path, bool replace);

/* Writes the file, like xd_manifest_save().  After a failure, no incomplete
 * file is left.  Returns 0; after a failure, prints the error and returns the
 * exit status. */
int whole_file_write(const char *path, const char *text, size_t len,
                     bool replace);

#endif
