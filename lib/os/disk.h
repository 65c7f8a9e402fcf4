/* SPDX-License-Identifier: MIT */
/*
 * A disk as a whole.
 */
#ifndef XD_OS_DISK_H
#define XD_OS_DISK_H

#include <stdbool.h>

/* All that was written to the file system that `fd` is of is on its disk.  False:
 * that is not known, as this system cannot do it, or it failed: sync each file.
 * Blocks: on the disk. */
bool xd_disk_sync(int fd);

#endif
