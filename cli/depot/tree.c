/* SPDX-License-Identifier: MIT */
#include "depot/tree.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LINKS_MOST 16 /* limit of symbolic links in one path, to detect loops */
#define PATH_MOST 4096
#define NAME_MOST 256

/* Removes the first component of *path and copies it to `name`.  Returns false
 * if this component may not be served. */
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

/* Replaces the name of a symbolic link by its target, followed by `rest`. */
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

/* Opens the path `text` in `folder`.  Takes ownership of `folder`. */
static int open_below(int folder, char text[PATH_MOST])
{
    const char *path = text;
    unsigned n_links = 0;
    char name[NAME_MOST];

    while (folder >= 0 && take_name(&path, name)) {
        const bool is_last = *path == '\0';
        /* O_NONBLOCK keeps open() from waiting for the writer of a FIFO. */
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
