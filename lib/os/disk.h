/* SPDX-License-Identifier: MIT */
/*
 * Free space and syncing of whole file systems.
 */
#ifndef XD_OS_DISK_H
#define XD_OS_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct statvfs;
struct xd_error;

/* Writes everything that is cached for the file system of `fd` to its disk.
 * Returns false if the system has no such call or if it failed; then sync each
 * file instead.  Blocks: on the disk. */
bool xd_disk_sync(int fd);

/* Returns the free bytes of a file system, or UINT64_MAX if unknown: many FUSE
 * file systems report 0 blocks in total. */
uint64_t xd_disk_left(const struct statvfs *fs);

/* Finds the file system on which a file at `path` would be created, from the
 * nearest existing folder above it.  Sets *out_disk to its device number and
 * *out_bytes to its free bytes, as xd_disk_left() returns them.  Returns false
 * if these are unknown. */
bool xd_disk_room(const char *path, uint64_t *out_disk, uint64_t *out_bytes);

/* Fails with IO: `what` needs more bytes than its disk has left. */
int xd_fail_disk_full(struct xd_error *err, const char *what, uint64_t needed,
                      uint64_t left);

/* Returns the bytes that the file occupies on its disk, 0 if there is no such
 * file. */
uint64_t xd_disk_taken(const char *path);

#endif
