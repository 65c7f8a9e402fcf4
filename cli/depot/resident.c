/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for preadv2() and mincore() */
#include "depot/resident.h"

#include <errno.h>

#include <unistd.h>

#ifdef __linux__
#include <sys/mman.h>
#include <sys/uio.h>

#define PAGES_MOST 64

/* Returns the number of consecutive bytes in memory, starting at `at`.  For
 * files of other users, the kernel claims that all bytes are in memory. */
static size_t count_resident(int fd, size_t n, uint64_t at)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (size_t)(at % page);
    unsigned char is_there[PAGES_MOST];
    size_t i = 0;

    if (n > PAGES_MOST * page - before)
        n = PAGES_MOST * page - before;
    void *map =
        mmap(NULL, before + n, PROT_READ, MAP_SHARED, fd, (off_t)(at - before));
    if (map == MAP_FAILED)
        return n;
    const size_t n_pages = (before + n + page - 1) / page;
    if (mincore(map, before + n, is_there) == 0)
        while (i < n_pages && (is_there[i] & 1) != 0)
            i++;
    else
        i = n_pages;
    munmap(map, before + n);
    if (i == n_pages)
        return n;
    return i > 0 ? i * page - before : 0;
}
#endif

ssize_t resident_read(int fd, void *to, size_t n, uint64_t at)
{
#ifdef __linux__
#ifdef RWF_NOWAIT
    const struct iovec v = {to, n};
    const ssize_t got = preadv2(fd, &v, 1, (off_t)at, RWF_NOWAIT);

    if (got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return got;
#endif
    n = count_resident(fd, n, at);
    if (n == 0) {
        errno = EAGAIN;
        return -1;
    }
#endif
    return pread(fd, to, n, (off_t)at);
}
