/* SPDX-License-Identifier: MIT */
/* syncfs() is Linux's. */
#define _GNU_SOURCE

#include "os/disk.h"

#include <unistd.h>

bool xd_disk_sync(int fd)
{
#ifdef __linux__
    return syncfs(fd) == 0;
#else
    (void)fd;
    return false;
#endif
}
