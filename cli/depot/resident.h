/* SPDX-License-Identifier: MIT */
/*
 * Reads what is in the memory of the system, and nothing that it would have to get from
 * a disk.
 *
 * Threads: any.
 */
#ifndef CLI_RESIDENT_H
#define CLI_RESIDENT_H

#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

/*
 * As pread(), of up to `n` bytes.  Where the system tells neither to read nor to look in
 * memory alone, of some file systems to others than the owner of a file, it waits for
 * the disk.
 * Errors: -1 and EAGAIN if the first byte is not in memory.
 */
ssize_t resident_read(int fd, void *to, size_t n, uint64_t at);

#endif
