/* SPDX-License-Identifier: MIT */
/*
 * Detects whether another program opened one of our files, with inotify(7).
 * Accesses by other machines to a network file system are not seen.
 *
 * Threads: one at a time.
 */
#ifndef XD_OS_FILE_WATCH_H
#define XD_OS_FILE_WATCH_H

#include <stdbool.h>

/* Starts watching for programs that open the file `fd`.  `is_new` is false if
 * the file existed before.  Returns a descriptor.  Returns -1 if watching is
 * impossible, or if another program may have opened an existing file for
 * writing already.
 * Ownership: release it with xd_file_close(). */
int xd_file_watch(int fd, bool is_new);

/* Returns whether the file was, or may have been, opened since xd_file_watch().
 * After it has returned true, the watch is of no further use.  Blocks: no. */
bool xd_file_was_opened(int watch);

#endif
