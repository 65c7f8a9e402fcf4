/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for F_SETLEASE and F_SETSIG */

#include "os/file_watch.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Returns whether the file system is local, so that no other machine can open
 * its files.  The numbers are from statfs(2). */
static bool is_local(int fd)
{
    static const unsigned long kinds[] = {0xEF53 /* ext2 to ext4 */,
                                          0x58465342 /* XFS */,
                                          0x9123683E /* Btrfs */,
                                          0x01021994 /* tmpfs */,
                                          0xF2F52010 /* F2FS */,
                                          0x2FC12FC1 /* ZFS */,
                                          0x794C7630 /* overlayfs */};
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (((unsigned long)fs.f_type & 0xFFFFFFFF) == kinds[i])
            return true;
    return false;
}

static int watch_openings(int fd)
{
    char path[40];
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

    if (watch < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (inotify_add_watch(watch, path, IN_OPEN) >= 0)
        return watch;
    close(watch);
    return -1;
}

/* Takes a write lease, which the kernel grants only if nobody else has the file
 * open.  If a program opens the file during the lease, that program waits until
 * the lease ends, and the kernel sends us SIGURG, which is ignored by
 * default. */
static bool take_lease(int fd)
{
    return fcntl(fd, F_SETSIG, SIGURG) == 0 &&
           fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

int xd_file_watch(int fd, bool is_new)
{
    int watch;

    if (!is_local(fd) || (!is_new && !take_lease(fd)))
        return -1;
    watch = watch_openings(fd);
    if (!is_new)
        (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    return watch;
}

bool xd_file_was_opened(int watch)
{
    struct inotify_event event;

    /* The buffer is too small for an event, so EINVAL means that there is
     * one. */
    return watch < 0 || read(watch, &event, sizeof event) >= 0 ||
           errno != EAGAIN;
}

#else

int xd_file_watch(int fd, bool is_new)
{
    (void)fd;
    (void)is_new;
    return -1;
}

bool xd_file_was_opened(int watch)
{
    (void)watch;
    return true;
}

#endif
