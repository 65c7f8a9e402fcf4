#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int open_retrying(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int check_regular(const struct stat *st, const char *path,
                         struct xd_error *err)
{
    if (S_ISREG(st->st_mode))
        return 0;
    return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
}

/*
 * Nothing is changed before the checks: what lies behind another name of the
 * file, or behind a link, is not ours to empty.
 */
static int empty_own_file(int fd, const char *path, struct xd_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    if (check_regular(&st, path, err) < 0)
        return XD_E_IO;
    if (st.st_nlink != 1)
        return xd_fail(err, XD_E_IO,
                       "%s: has %ju names and would change under each", path,
                       (uintmax_t)st.st_nlink);
    return xd_file_truncate(fd, path, 0, err);
}

int xd_file_create(int *out_fd, const char *path, struct xd_error *err)
{
    int fd = open_retrying(path, O_RDWR | O_CREAT | O_EXCL);
    int rc;

    if (fd >= 0) {
        *out_fd = fd;
        return 0;
    }
    if (errno != EEXIST)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);

    /* Not to wait for the reader of a fifo; it means nothing to a file. */
    fd = open_retrying(path, O_RDWR | O_NONBLOCK);
    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) /* a link; a fifo */
        return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    rc = empty_own_file(fd, path, err);
    if (rc < 0) {
        xd_file_close(fd);
        return rc;
    }
    *out_fd = fd;
    return 0;
}

int xd_file_write(int fd, const char *path, uint64_t offset, const void *data,
                  size_t len, struct xd_error *err)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = -1;

        if (offset <= (uint64_t)INT64_MAX - len)
            n = pwrite(fd, p, len, (off_t)offset);
        else
            errno = EFBIG;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return xd_fail_errno(
                err, XD_E_IO, n < 0 ? errno : EIO,
                "%s: cannot write %zu bytes at offset %" PRIu64, path, len,
                offset);
        p += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

/*
 * Looked at first, as opening alone sets some devices in motion, and again
 * when it is open, as it may have become another meanwhile.
 */
int xd_file_open(int *out_fd, uint64_t *out_size, const char *path,
                 struct xd_error *err)
{
    struct stat st;
    int fd, rc;

    if (stat(path, &st) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    rc = check_regular(&st, path, err);
    if (rc < 0)
        return rc;
    do
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    if (fstat(fd, &st) != 0)
        rc = xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    else
        rc = check_regular(&st, path, err);
    if (rc < 0) {
        xd_file_close(fd);
        return rc;
    }
    *out_size = (uint64_t)st.st_size;
    *out_fd = fd;
    return 0;
}

int64_t xd_file_read(int fd, const char *path, uint64_t offset, void *data,
                     size_t len, struct xd_error *err)
{
    ssize_t n = -1;

    if (len > PTRDIFF_MAX)
        len = PTRDIFF_MAX;
    do
        if (offset <= (uint64_t)INT64_MAX)
            n = pread(fd, data, len, (off_t)offset);
        else
            errno = EOVERFLOW;
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: cannot be read at offset %" PRIu64, path,
                             offset);
    return n;
}

int xd_file_truncate(int fd, const char *path, uint64_t size,
                     struct xd_error *err)
{
    int rc = -1;

    do
        if (size <= (uint64_t)INT64_MAX)
            rc = ftruncate(fd, (off_t)size);
        else
            errno = EFBIG;
    while (rc != 0 && errno == EINTR);
    if (rc != 0)
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: cannot be made %" PRIu64 " bytes long", path,
                             size);
    return 0;
}

static int fail_rename(const char *from, const char *to, int os_errno,
                       struct xd_error *err)
{
    if (os_errno == EEXIST)
        return xd_fail(err, XD_E_IO, "%s: already exists", to);
    return xd_fail_errno(err, XD_E_IO, os_errno, "%s: cannot be renamed to %s",
                         from, to);
}

/* Where there are no hard links: take the name with an empty file, which is
 * then the only one that rename() can replace. */
static int rename_over_own(const char *from, const char *to,
                           struct xd_error *err)
{
    int fd = open_retrying(to, O_WRONLY | O_CREAT | O_EXCL);
    int rc;

    if (fd < 0)
        return fail_rename(from, to, errno, err);
    xd_file_close(fd);
    if (rename(from, to) == 0)
        return 0;
    rc = fail_rename(from, to, errno, err);
    unlink(to);
    return rc;
}

/* FAT, SMB, FUSE and a file of another user each have their own word for "no
 * hard links here". */
static bool means_no_links(int os_errno)
{
    return os_errno == EPERM || os_errno == ENOTSUP || os_errno == EOPNOTSUPP ||
           os_errno == ENOSYS || os_errno == EMLINK || os_errno == EACCES;
}

int xd_file_rename(const char *from, const char *to, bool replace,
                   struct xd_error *err)
{
    int rc;

    if (replace)
        return rename(from, to) == 0 ? 0 : fail_rename(from, to, errno, err);

    if (link(from, to) != 0)
        return means_no_links(errno) ? rename_over_own(from, to, err)
                                     : fail_rename(from, to, errno, err);
    if (unlink(from) == 0)
        return 0;
    rc = fail_rename(from, to, errno, err);
    unlink(to);
    return rc;
}

bool xd_file_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Not again after EINTR: the descriptor is gone, and may be another's. */
void xd_file_close(int fd)
{
    close(fd);
}

void xd_file_remove(const char *path)
{
    unlink(path);
}
