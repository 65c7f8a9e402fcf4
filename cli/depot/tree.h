/* SPDX-License-Identifier: MIT */
/*
 * What may be served of a folder: regular files in it and in the folders below, by
 * names none of which begins with a dot.  A symbolic link is followed as long as it
 * does not lead upwards: what it names is searched for below the folder that it
 * lies in, by the same rules.
 *
 * Each part of a path is opened in the folder before it, so that nothing that is
 * exchanged meanwhile leads out.
 *
 * Threads: any.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <sys/stat.h>

/* Open the file of that path, "a/b.iso", to read it.  Returns a descriptor, the
 * caller's, and what it is; or -1: there is no such file, or errno is the reason why it
 * cannot be opened now (EMFILE, ENFILE, ENOMEM). */
int tree_open(int folder, const char *path, struct stat *out);

#endif
