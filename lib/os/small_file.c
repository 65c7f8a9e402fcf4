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
#include "base/span.h"
#include "os/file.h"

/* Reads an open file and closes it. */
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

/* Checks the open file rather than its name, which may change.  *out_size is
 * its length. */
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

/* Opens the path without following a link.  O_NONBLOCK: do not wait at a
 * fifo. */
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
    if (rc == 0)
        return xd_file_close_written(fd, path, err);
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

/* Creates missing folders of the path.  Temporarily cuts `path` at each
 * slash. */
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

struct replacing {
    /* rights of the new file; if unknown, the mode is 0600 */
    struct xd_file_rights rights;
    enum xd_replaceable replaceable;
    bool syncs;
};

/* Writes the new file, closes it, and renames it. */
static int write_new(int fd, int folder, const char *name, const char *path,
                     struct xd_span text, const struct replacing *how,
                     struct xd_error *err)
{
    int rc = xd_file_write(fd, name, 0, text.s, text.len, err);

    if (rc == 0)
        xd_file_set_rights(fd, &how->rights);
    if (rc == 0 && how->syncs)
        rc = xd_file_sync(fd, name, err);
    xd_file_close(fd);
    if (rc == 0)
        rc = xd_file_rename(folder, name, path,
                            how->replaceable != XD_REPLACE_NOTHING, err);
    if (rc == 0 && how->syncs)
        rc = xd_folder_sync(folder, path, err);
    else if (rc < 0)
        unlink(name);
    return rc;
}

/* Creates a temporary file in the same folder, readable only by this user. */
static int make_beside(int *out_fd, struct xd_text *out_name, const char *path,
                       struct xd_error *err)
{
    xd_text_addf(out_name, "%s.XXXXXX", path);
    if (out_name->failed)
        return xd_fail_nomem(err);
    *out_fd = mkstemp(out_name->s);
    if (*out_fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be made",
                             out_name->s);
    (void)fcntl(*out_fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static int replace(int folder, const char *path, struct xd_span text,
                   const struct replacing *how, struct xd_error *err)
{
    struct xd_text name = {.s = NULL};
    struct stat st;
    int fd = -1, rc;

    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
        !(S_ISLNK(st.st_mode) && how->replaceable != XD_REPLACE_FILE))
        return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
    rc = make_beside(&fd, &name, path, err);
    if (rc == 0)
        rc = write_new(fd, folder, name.s, path, text, how, err);
    xd_text_fini(&name);
    return rc;
}

int xd_small_file_replace(const char *path, const char *text, size_t len,
                          struct xd_error *err)
{
    struct replacing how = {.replaceable = XD_REPLACE_FILE};
    struct xd_text way = {.s = NULL};
    int folder, rc;

    xd_text_add(&way, path, strlen(path));
    rc = way.failed ? xd_fail_nomem(err) : make_folders(way.s, err);
    xd_text_fini(&way);
    if (rc == 0)
        rc = xd_folder_open(&folder, path, err);
    if (rc < 0)
        return rc;
    how.rights = xd_file_rights_of(folder, path);
    rc = replace(folder, path, xd_span(text, len), &how, err);
    xd_file_close(folder);
    return rc;
}

int xd_small_file_keep(const char *path, const char *text, size_t len,
                       struct xd_error *err)
{
    const struct replacing how = {.replaceable = XD_REPLACE_FILE,
                                  .syncs = true};
    int folder, rc = xd_folder_open(&folder, path, err);

    if (rc < 0)
        return rc;
    rc = replace(folder, path, xd_span(text, len), &how, err);
    xd_file_close(folder);
    return rc;
}

int xd_small_file_publish(const char *path, const char *text, size_t len,
                          enum xd_replaceable replaceable, struct xd_error *err)
{
    struct replacing how = {.replaceable = replaceable, .syncs = true};
    int folder, rc = xd_folder_open(&folder, path, err);

    if (rc < 0)
        return rc;
    how.rights = xd_file_rights_of(folder, path);
    if (!how.rights.is_known)
        how.rights = xd_folder_new_rights(folder);
    rc = replace(folder, path, xd_span(text, len), &how, err);
    xd_file_close(folder);
    return rc;
}
