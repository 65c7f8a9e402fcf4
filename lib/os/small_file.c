/* SPDX-License-Identifier: MIT */
#include "os/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/file.h"

/* All of an open file, which is closed. */
static int read_all(struct xd_text *out, int fd, const char *path, size_t most,
                    struct xd_error *err)
{
    char part[4096];
    int64_t n = 1;

    for (size_t got = 0; n > 0 && got < most; got += (size_t)n) {
        size_t len = most - got < sizeof part ? most - got : sizeof part;

        n = xd_file_read(fd, path, got, part, len, err);
        if (n > 0)
            xd_text_add(out, part, (size_t)n);
    }
    xd_file_close(fd);
    if (n < 0)
        return (int)n;
    return out->failed ? xd_fail_nomem(err) : 0;
}

int xd_small_file_read(struct xd_text *out, const char *path, size_t most,
                       struct xd_error *err)
{
    struct stat st;
    uint64_t size;
    int fd, rc;

    if (lstat(path, &st) != 0)
        return 0;
    rc = xd_file_open(&fd, &size, path, err);
    if (rc < 0)
        return rc;
    return read_all(out, fd, path, most, err);
}

/* Of an open file, so that it is the one that is used; *out_size is its length. */
static int check_private(int fd, const char *path, uint64_t *out_size,
                         struct xd_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    *out_size = (uint64_t)st.st_size;
    if (!S_ISREG(st.st_mode))
        return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
    if (st.st_uid != geteuid())
        return xd_fail(err, XD_E_IO,
                       "%s: belongs to another user, and is not acted upon",
                       path);
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return xd_fail(err, XD_E_IO,
                       "%s: other users may read or change it (mode %03o), and "
                       "it is not acted upon: if you know that it is yours, "
                       "chmod 600 it",
                       path, (unsigned)(st.st_mode & 0777));
    return 0;
}

/* A fifo is not waited for. */
static int open_itself(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int xd_small_file_append(const char *path, const char *text, size_t len,
                         struct xd_error *err)
{
    int fd = open_itself(path, O_WRONLY);
    uint64_t size;
    int rc;

    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be written",
                             path);
    rc = check_private(fd, path, &size, err);
    if (rc == 0)
        rc = xd_file_write(fd, path, size, text, len, err);
    if (rc == 0)
        rc = xd_file_sync(fd, path, err);
    xd_file_close(fd);
    return rc;
}

int xd_small_file_read_private(struct xd_text *out, const char *path,
                               size_t most, struct xd_error *err)
{
    int fd = open_itself(path, O_RDONLY), rc;
    uint64_t size;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && (errno == ELOOP || errno == EMLINK))
        return xd_fail(err, XD_E_IO,
                       "%s: is a symbolic link, and is not acted upon", path);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be read", path);
    rc = check_private(fd, path, &size, err);
    if (rc < 0) {
        xd_file_close(fd);
        return rc;
    }
    return read_all(out, fd, path, most, err);
}

/* `path` is changed on the way, and is as before at the end. */
static int make_folders(char *path, struct xd_error *err)
{
    int rc = 0;

    for (char *slash = strchr(path + 1, '/'); rc == 0 && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST &&
            access(path, F_OK) != 0)
            rc = xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be made", path);
        *slash = '/';
    }
    return rc;
}

static int write_new(int fd, const char *name, const char *path,
                     const char *text, size_t len, mode_t mode, bool syncs,
                     struct xd_error *err)
{
    int rc = xd_file_write(fd, name, 0, text, len, err);

    if (rc == 0 && mode != 0)
        xd_file_publish(fd, mode);
    if (rc == 0 && syncs)
        rc = xd_file_sync(fd, name, err);
    xd_file_close(fd);
    if (rc == 0 && rename(name, path) != 0)
        rc = xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be renamed to %s",
                           name, path);
    if (rc < 0)
        unlink(name);
    return rc;
}

/* With that mode; 0: only its owner may read it. */
static int replace(const char *path, const char *text, size_t len, mode_t mode,
                   bool syncs, struct xd_error *err)
{
    struct xd_text name = {.s = NULL};
    struct stat st;
    int fd, rc;

    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
    xd_text_addf(&name, "%s.XXXXXX", path);
    if (name.failed) {
        xd_text_fini(&name);
        return xd_fail_nomem(err);
    }
    rc = make_folders(name.s, err);
    if (rc == 0) {
        fd = mkstemp(name.s);
        if (fd < 0)
            rc = xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be made",
                               name.s);
        else if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
            rc = write_new(fd, name.s, path, text, len, mode, syncs, err);
        else
            rc = XD_E_IO;
    }
    xd_text_fini(&name);
    return rc;
}

int xd_small_file_replace(const char *path, const char *text, size_t len,
                          struct xd_error *err)
{
    return replace(path, text, len, 0, false, err);
}

/* The new name is on the disk, too. */
static int keep(int folder, const char *path, const char *text, size_t len,
                mode_t mode, struct xd_error *err)
{
    int rc = replace(path, text, len, mode, true, err);

    if (rc == 0)
        rc = xd_folder_sync(folder, path, err);
    xd_file_close(folder);
    return rc;
}

int xd_small_file_keep(const char *path, const char *text, size_t len,
                       struct xd_error *err)
{
    int folder, rc = xd_folder_open(&folder, path, err);

    return rc < 0 ? rc : keep(folder, path, text, len, 0, err);
}

int xd_small_file_publish(const char *path, const char *text, size_t len,
                          struct xd_error *err)
{
    int folder, rc = xd_folder_open(&folder, path, err);

    return rc < 0
               ? rc
               : keep(folder, path, text, len, xd_folder_new_mode(folder), err);
}
