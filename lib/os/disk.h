/* SPDX-License-Identifier: MIT */
/*
 * A disk as a whole.
 */
#ifndef XD_OS_DISK_H
#define XD_OS_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* All that was written to the file system that `fd` is of is on its disk.  False:
 * that is not known, as this system cannot do it, or it failed: sync each file.
 * Blocks: on the disk. */
bool xd_disk_sync(int fd);

/* Of the disk that a file at `path` would lie on, by the nearest of its folders
 * that there is: a number of it, and how many bytes it has left.  False: that is
 * not known. */
bool xd_disk_room(const char *path, uint64_t *out_disk, uint64_t *out_bytes);

/* How many bytes the file takes up on its disk; 0 if there is none. */
uint64_t xd_disk_taken(const char *path);

#endif
