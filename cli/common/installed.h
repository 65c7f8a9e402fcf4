/* SPDX-License-Identifier: MIT */
/*
 * Finds files that were installed with the command: scenarios and scripts.
 */
#ifndef CLI_INSTALLED_H
#define CLI_INSTALLED_H

#include <stdbool.h>

#define INSTALLED_PATH_SIZE 4096

/* Finds the file or folder `name` relative to the command's own location: in
 * the same folder in a build tree, or in share/xdownload of the installation.
 * Returns false if it does not exist. */
bool installed_find(char out[INSTALLED_PATH_SIZE], const char *name);

/*
 * Replaces this process by the Python script scripts/NAME with these
 * NULL-terminated arguments.  If that fails, prints the error and returns the
 * exit status.
 */
int installed_run(const char *name, const char *const *arguments);

#endif
