/* SPDX-License-Identifier: MIT */
/*
 * Reads bytes only if they are in the page cache, never from a disk.
 *
 * Threads: any.
 */
#ifndef CLI_RESIDENT_H
#define CLI_RESIDENT_H

#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

/*
 * Like pread(), for up to `n` bytes.  Some systems and file systems cannot tell
 * which bytes are in memory, or tell this only to the owner of the file.  Then
 * this function may wait for the disk.
 * Errors: -1 with EAGAIN if the first byte is not in memory.
 */
ssize_t resident_read(int fd, void *to, size_t n, uint64_t at);

#endif
