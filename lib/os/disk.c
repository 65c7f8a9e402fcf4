/* SPDX-License-Identifier: MIT */
/* for syncfs() */
#define _GNU_SOURCE

#include "os/disk.h"

#include <stdio.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/error.h"
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

/* Removes the last component of the path.  Returns false if there is no folder
 * above. */
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

uint64_t xd_disk_left(const struct statvfs *fs)
{
    const uint64_t unit = fs->f_frsize > 0 ? fs->f_frsize : fs->f_bsize;
    uint64_t bytes;

    if (fs->f_blocks == 0 || unit == 0 ||
        !xd_mul_u64(fs->f_bavail, unit, &bytes))
        return UINT64_MAX;
    return bytes;
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
    *out_bytes = xd_disk_left(&fs);
    return true;
}

uint64_t xd_disk_taken(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

int xd_fail_disk_full(struct xd_error *err, const char *what, uint64_t needed,
                      uint64_t left)
{
    char a[XD_SIZE_TEXT], b[XD_SIZE_TEXT];

    xd_size_text(a, needed);
    xd_size_text(b, left);
    /* the rounded sizes look equal, so print the exact numbers */
    if (strcmp(a, b) == 0) {
        snprintf(a, sizeof a, "%llu", (unsigned long long)needed);
        snprintf(b, sizeof b, "%llu bytes", (unsigned long long)left);
    }
    return xd_fail(err, XD_E_IO,
                   "%s needs %s, but only %s are free on its disk: free some "
                   "space or use --directory",
                   what, a, b);
}
