/* SPDX-License-Identifier: MIT */
/* syncfs() is Linux's. */
#define _GNU_SOURCE

#include "os/disk.h"

#include <string.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/text.h"

bool xd_disk_sync(int fd)
{
#ifdef __linux__
    return syncfs(fd) == 0;
#else
    (void)fd;
    return false;
#endif
}

/* Cut to the folder that has it.  False: it is the last one. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == path && slash[1])
        slash++;
    if (!slash || !*slash)
        return false;
    *slash = '\0';
    return true;
}

bool xd_disk_room(const char *path, uint64_t *out_disk, uint64_t *out_bytes)
{
    char *folder = xd_strdup(path);
    struct statvfs fs;
    struct stat st;
    bool is_there = false, is_known;

    while (folder && !is_there && go_up(folder))
        is_there = stat(folder, &st) == 0;
    is_known = folder && (is_there || stat(".", &st) == 0) &&
               statvfs(is_there ? folder : ".", &fs) == 0;
    xd_free(folder);
    if (!is_known)
        return false;
    *out_disk = (uint64_t)st.st_dev;
    if (!xd_mul_u64(fs.f_bavail, fs.f_frsize, out_bytes))
        *out_bytes = UINT64_MAX;
    return true;
}

uint64_t xd_disk_taken(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}
