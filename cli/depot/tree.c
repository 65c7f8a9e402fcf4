/* SPDX-License-Identifier: MIT */
#include "depot/tree.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LINKS_MOST 16 /* in one path: it may go in circles */
#define PATH_MOST 4096
#define NAME_MOST 256

/* The first name of *path, which goes on behind it; false if there is none that may
 * be served. */
static bool take_name(const char **path, char name[NAME_MOST])
{
    const size_t len = strcspn(*path, "/");

    if (len == 0 || len >= NAME_MOST || **path == '.')
        return false;
    memcpy(name, *path, len);
    name[len] = '\0';
    *path += len;
    return true;
}

/* A symbolic link: put what it names in the place of its name, before `rest`. */
static bool follow(int folder, const char *name, const char *rest,
                   char path[PATH_MOST])
{
    char target[PATH_MOST], whole[PATH_MOST];
    const ssize_t len = readlinkat(folder, name, target, sizeof target - 1);

    if (len <= 0)
        return false;
    target[len] = '\0';
    const int needed = snprintf(whole, sizeof whole, "%s%s", target, rest);
    if (needed < 0 || (size_t)needed >= sizeof whole)
        return false;
    memcpy(path, whole, (size_t)needed + 1);
    return true;
}

/* Takes over `folder`. */
static int open_below(int folder, char text[PATH_MOST])
{
    const char *path = text;
    unsigned n_links = 0;
    char name[NAME_MOST];

    while (folder >= 0 && take_name(&path, name)) {
        const bool is_last = *path == '\0';
        /* Of a pipe no writer is waited for. */
        const int fd = openat(folder, name,
                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
                                  (is_last ? 0 : O_DIRECTORY));

        const int why = errno;

        if (fd < 0 && n_links++ < LINKS_MOST &&
            follow(folder, name, path, text)) {
            path = text;
            continue;
        }
        close(folder);
        errno = why;
        if (is_last)
            return fd;
        folder = fd;
        path++;
    }
    if (folder >= 0) {
        close(folder);
        errno = ENOENT;
    }
    return -1;
}

int tree_open(int folder, const char *path, struct stat *out)
{
    char text[PATH_MOST];

    errno = ENAMETOOLONG;
    if (strlen(path) >= sizeof text)
        return -1;
    strcpy(text, path);
    const int fd = open_below(fcntl(folder, F_DUPFD_CLOEXEC, 0), text);
    if (fd < 0)
        return -1;
    if (fstat(fd, out) == 0 && S_ISREG(out->st_mode))
        return fd;
    close(fd);
    errno = ENOENT;
    return -1;
}
