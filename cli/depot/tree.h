/* SPDX-License-Identifier: MIT */
/*
 * Decides which files of a folder may be served: regular files in the folder
 * and in its subfolders, unless a component of the path starts with a dot.  A
 * symbolic link is followed if its target is below the link's own folder and
 * obeys the same rules.
 *
 * Each component is opened relative to the folder before it, so that concurrent
 * renames cannot lead outside the folder.
 *
 * Threads: any.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <sys/stat.h>

/* Opens the file at a path like "a/b.iso" for reading, and fills in `out`.
 * Returns a descriptor, which the caller owns.  Returns -1 if the file does not
 * exist or may not be served, or with errno EMFILE, ENFILE or ENOMEM if it
 * cannot be opened now. */
int tree_open(int folder, const char *path, struct stat *out);

#endif
