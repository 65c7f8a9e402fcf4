/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_PATH, where there is such a thing */

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/range.h"
#include "base/number.h"
#include "base/text.h"

#ifdef __APPLE__ /* which has these under other names, or not at all */
#define st_mtim st_mtimespec
#define fdatasync fsync
#endif

#define LONGEST_PATH \
    ((size_t)4096) /* with its NUL; Linux opens no longer one */

static int open_with(int folder, const char *path, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(folder, xd_path_name(path), flags | O_NOFOLLOW | O_CLOEXEC,
                    mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_in(int folder, const char *path, int flags)
{
    return open_with(folder, path, flags, 0666);
}

/* What stands there itself, and no link's end. */
static bool look_at(int folder, const char *path, struct stat *out)
{
    return fstatat(folder, xd_path_name(path), out, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the open file has that name. */
static bool is_at(const struct stat *open, int folder, const char *path)
{
    struct stat st;

    return look_at(folder, path, &st) && is_one(open, &st);
}

/* "DIR" of "DIR/NAME", or "."; false if it is too long to be opened. */
static bool folder_of(char out[LONGEST_PATH], const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash && slash > path ? (size_t)(slash - path) : 1;

    if (len >= LONGEST_PATH)
        return false;
    memcpy(out, slash ? path : ".", len);
    out[len] = '\0';
    return true;
}

/* For its files alone: one that may not be read can be written to. */
static int open_folder(int in, const char *folder, int how)
{
    int fd;

    how |= O_DIRECTORY | O_CLOEXEC;
    do
        fd = openat(in, folder, how | O_RDONLY);
    while (fd < 0 && errno == EINTR);
#ifdef O_PATH
    if (fd < 0 && errno == EACCES)
        fd = openat(in, folder, how | O_PATH);
#endif
    return fd;
}

int xd_folder_open(int *out_folder, const char *path, struct xd_error *err)
{
    char folder[LONGEST_PATH];
    int fd;

    if (!folder_of(folder, path))
        return xd_fail(err, XD_E_IO, "%s: the name is too long", path);
    fd = open_folder(AT_FDCWD, folder, 0);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    *out_folder = fd;
    return 0;
}

/* How many bytes of the path are its folder. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

/* The last component of the first *end bytes of the path, which are then those
 * before it. */
static void cut_last(char name[LONGEST_PATH], const char *path, size_t *end)
{
    size_t begin, after = *end;

    while (after > 0 && path[after - 1] == '/')
        after--;
    for (begin = after; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    memcpy(name, path + begin, after - begin);
    name[after - begin] = '\0';
    *end = begin;
}

/* Whether `folder` was `name` in `parent`, and is gone. */
static bool remove_folder(int folder, int parent, const char *name)
{
    struct stat is, was;

    return look_at(parent, name, &is) && fstat(folder, &was) == 0 &&
           is_one(&is, &was) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* `end` bytes of the path are that of `folder`. */
static void unmake(int folder, unsigned made, const char *path, size_t end)
{
    char name[LONGEST_PATH];
    int fd = folder;

    while (made > 0 && fd >= 0) {
        int parent = open_folder(fd, "..", 0);

        cut_last(name, path, &end);
        made = parent >= 0 && remove_folder(fd, parent, name) ? made - 1 : 0;
        if (fd != folder)
            xd_file_close(fd);
        fd = parent;
    }
    if (fd != folder && fd >= 0)
        xd_file_close(fd);
}

void xd_folder_unmake(int folder, unsigned made, const char *path)
{
    unmake(folder, made, path, folder_length(path));
}

/* Open the folder `name` in `in`, and make it first if it is not there; -1
 * after a failure.  *made is how many were made one in the other. */
static int enter(int in, const char *name, unsigned *made)
{
    if (mkdirat(in, name, 0777) == 0)
        ++*made;
    else if (errno == EEXIST)
        *made = 0;
    else
        return -1;
    return open_folder(in, name, O_NOFOLLOW);
}

static int fail_enter(int in, const char *name, const char *path, size_t len,
                      struct xd_error *err)
{
    int os_errno = errno;
    struct stat st;

    if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
        return xd_fail(err, XD_E_IO,
                       "%.*s: is a symbolic link, and none is followed to a "
                       "place that a manifest or a list names",
                       (int)len, path);
    return xd_fail_errno(err, XD_E_IO, os_errno, "%.*s", (int)len, path);
}

int xd_folder_make(int *out_folder, unsigned *out_made, const char *path,
                   size_t given, struct xd_error *err)
{
    const size_t end = folder_length(path);
    char name[LONGEST_PATH];
    size_t len;
    int fd;

    *out_made = 0;
    if (given >= end)
        return xd_folder_open(out_folder, path, err);
    if (end >= LONGEST_PATH)
        return xd_fail(err, XD_E_IO, "%s: the name is too long", path);
    memcpy(name, given > 0 ? path : ".", given > 0 ? given : 1);
    name[given > 0 ? given : 1] = '\0';
    fd = open_folder(AT_FDCWD, name, 0);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", name);
    for (size_t at = given; at < end; at += len) {
        int in = fd, rc;

        at += strspn(path + at, "/");
        len = strcspn(path + at, "/");
        memcpy(name, path + at, len);
        name[len] = '\0';
        fd = enter(in, name, out_made);
        rc = fd < 0 ? fail_enter(in, name, path, at + len, err) : 0;
        if (rc < 0)
            unmake(in, *out_made, path, at);
        xd_file_close(in);
        if (rc < 0)
            return rc;
    }
    *out_folder = fd;
    return 0;
}

bool xd_folder_is_of(int folder, const char *path)
{
    char name[LONGEST_PATH];
    struct stat is, was;

    return folder_of(name, path) && stat(name, &is) == 0 &&
           fstat(folder, &was) == 0 && is_one(&is, &was);
}

int xd_folder_sync(int folder, const char *path, struct xd_error *err)
{
    /* A folder that may not be read, or a file system that syncs none, keeps
     * its names as well as it can. */
    if (fsync(folder) != 0 && errno == EIO)
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: its folder cannot be synced to the disk",
                             path);
    return 0;
}

static int check_regular(const struct stat *st, const char *path,
                         struct xd_error *err)
{
    if (S_ISREG(st->st_mode))
        return 0;
    return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
}

/* Nothing is changed before the checks: what lies behind another name of the
 * file, or behind a link, is not ours to write to. */
static int check_own(const struct stat *st, const char *path,
                     struct xd_error *err)
{
    if (check_regular(st, path, err) < 0)
        return XD_E_IO;
    if (st->st_nlink > 1)
        return xd_fail(err, XD_E_IO,
                       "%s: has %ju names and would change under each", path,
                       (uintmax_t)st->st_nlink);
    return 0;
}

static int look_at_open(int fd, const char *path, struct stat *out,
                        struct xd_error *err)
{
    if (fstat(fd, out) == 0)
        return 0;
    return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
}

/*
 * The lock is the descriptor's; the kernel gives it back however that ends.
 * Not that of fcntl(), which is the process's: it keeps no other download of
 * the process out, and goes when any descriptor of the file is closed.  Both
 * at once would be too much on NFS, where the one is made of the other.
 */
static int lock_own(int fd, const char *path, struct xd_error *err)
{
    int rc;

    do
        rc = flock(fd, LOCK_EX | LOCK_NB);
    while (rc != 0 && errno == EINTR);
    if (rc == 0 || errno != EWOULDBLOCK)
        return 0; /* a file system without locks cannot help */
    return xd_fail(err, XD_E_IO, "%s: another download writes to it", path);
}

/* A new file, or the one that is there. */
static int open_own(int folder, const char *path, mode_t mode, bool *out_is_new)
{
    int fd = open_with(folder, path, O_RDWR | O_CREAT | O_EXCL, mode);

    *out_is_new = fd >= 0;
    /* Not to wait for the reader of a fifo; it means nothing to a file. */
    if (fd < 0 && errno == EEXIST)
        fd = open_in(folder, path, O_RDWR | O_NONBLOCK);
    return fd;
}

/* A new file in `folder` without a name, or with one for a moment. */
static int open_nameless(int folder)
{
    char name[60];
    struct timespec now;
    int fd = -1;

#ifdef O_TMPFILE /* of which a kill leaves nothing */
    fd = open_in(folder, ".", O_RDWR | O_TMPFILE);
#endif
    if (fd >= 0)
        return fd;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(name, sizeof name, ".xdownload-%ld-%ld-%ld", (long)getpid(),
             (long)now.tv_sec, now.tv_nsec);
    fd = open_in(folder, name, O_RDWR | O_CREAT | O_EXCL);
    if (fd >= 0)
        unlinkat(folder, name, 0);
    return fd;
}

/* What a new file in `folder` is like: its owner, and its mode.  There is no
 * other way to ask for the umask that leaves it alone. */
static bool look_at_new(int folder, struct stat *out)
{
    int fd = open_nameless(folder);
    bool is_seen = fd >= 0 && fstat(fd, out) == 0;

    if (fd >= 0)
        xd_file_close(fd);
    return is_seen;
}

/* There are file systems on which all files belong to one user. */
static bool is_ours(const struct stat *st, int folder)
{
    struct stat other;

    return st->st_uid == geteuid() ||
           (look_at_new(folder, &other) && other.st_uid == st->st_uid);
}

static int check_private(const struct stat *st, int folder, const char *path,
                         struct xd_error *err)
{
    if (!is_ours(st, folder))
        return xd_fail(err, XD_E_IO,
                       "%s: belongs to user %ju, who could change it: remove "
                       "it, or use another folder",
                       path, (uintmax_t)st->st_uid);
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0 && st->st_uid == geteuid())
        return xd_fail(err, XD_E_IO,
                       "%s: others may write to it (mode %04o): remove it, or "
                       "remove that permission if its content is known",
                       path, (unsigned)(st->st_mode & 07777));
    return 0;
}

/* What was there before, and may be another's. */
static int check_found(int fd, int folder, const char *path, bool is_private,
                       struct xd_error *err)
{
    struct stat st;
    int rc = look_at_open(fd, path, &st, err);

    if (rc == 0)
        rc = check_own(&st, path, err);
    if (rc == 0 && is_private)
        rc = check_private(&st, folder, path, err);
    return rc;
}

/* What its owner before us did until a moment ago: the process that had the lock
 * may have renamed the file. */
static int check_locked(int fd, int folder, const char *path, struct stat *out,
                        struct xd_error *err)
{
    int rc = look_at_open(fd, path, out, err);

    if (rc == 0 && !is_at(out, folder, path))
        rc = xd_fail(err, XD_E_IO, "%s: another download finished it", path);
    return rc == 0 ? check_own(out, path, err) : rc;
}

static int own(int *out_fd, uint64_t *out_size, int folder, const char *path,
               bool is_private, struct xd_error *err)
{
    struct stat st;
    bool is_new;
    int fd = open_own(folder, path, is_private ? 0600 : 0666, &is_new);
    int rc;

    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) /* a link; a fifo */
        return xd_fail(err, XD_E_IO, "%s: not a regular file", path);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    rc = is_new ? 0 : check_found(fd, folder, path, is_private, err);
    if (rc == 0)
        rc = lock_own(fd, path, err);
    if (rc == 0)
        rc = check_locked(fd, folder, path, &st, err);
    if (rc < 0) {
        xd_file_close(fd);
        return rc;
    }
    if (is_private && (st.st_mode & 0777) != 0600)
        (void)fchmod(fd, 0600); /* not all file systems have modes */
    *out_size = (uint64_t)st.st_size;
    *out_fd = fd;
    return 0;
}

int xd_file_own(int *out_fd, uint64_t *out_size, int folder, const char *path,
                struct xd_error *err)
{
    return own(out_fd, out_size, folder, path, false, err);
}

int xd_file_own_private(int *out_fd, uint64_t *out_size, int folder,
                        const char *path, struct xd_error *err)
{
    return own(out_fd, out_size, folder, path, true, err);
}

unsigned xd_folder_new_mode(int folder)
{
    struct stat other;

    return look_at_new(folder, &other) ? (unsigned)other.st_mode & 0777 : 0;
}

void xd_file_publish(int fd, unsigned mode)
{
    if (mode != 0)
        (void)fchmod(fd, (mode_t)mode);
}

/* As utimensat() takes them: when it was read stays. */
static void fill_times(struct timespec out[2], int64_t modified)
{
    out[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
    out[1] = (struct timespec){.tv_sec = (time_t)modified};
}

void xd_file_set_time(int fd, int64_t modified)
{
    struct timespec times[2];

    fill_times(times, modified);
    (void)futimens(fd, times);
}

void xd_path_set_time(const char *path, int64_t modified)
{
    struct timespec times[2];

    fill_times(times, modified);
    (void)utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static int check_size(const struct stat *st, const char *path, uint64_t size,
                      struct xd_error *err)
{
    if ((uint64_t)st->st_size >= size)
        return 0;
    return xd_fail(err, XD_E_IO,
                   "%s: another program has cut it to %ju bytes, of %ju that "
                   "were written",
                   path, (uintmax_t)st->st_size, (uintmax_t)size);
}

int xd_file_check_size(int fd, const char *path, uint64_t size,
                       struct xd_error *err)
{
    struct stat st;
    int rc = look_at_open(fd, path, &st, err);

    return rc == 0 ? check_size(&st, path, size, err) : rc;
}

int xd_file_check_whole(int fd, int folder, const char *path, uint64_t size,
                        struct xd_error *err)
{
    struct stat st;
    int rc = look_at_open(fd, path, &st, err);

    if (rc == 0)
        rc = check_size(&st, path, size, err);
    if (rc == 0 && !is_at(&st, folder, path))
        rc = xd_fail(err, XD_E_IO, "%s: it was removed or replaced meanwhile",
                     path);
    return rc;
}

int xd_file_temporary(int *out_fd, const char *folder, struct xd_error *err)
{
    char path[LONGEST_PATH];
    int fd, n = snprintf(path, sizeof path, "%s/xdownload-XXXXXX", folder);

    if (n < 0 || (size_t)n >= sizeof path)
        return xd_fail(err, XD_E_IO, "%s: the name is too long", folder);
    fd = mkstemp(path);
    if (fd < 0)
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: no file can be made in it", folder);
    unlink(path);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        int rc = xd_fail_errno(err, XD_E_IO, errno, "%s", path);

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

void xd_file_stamp(int fd, char out[XD_FILE_STAMP_SIZE])
{
    struct stat st;

    out[0] = '\0';
    if (fstat(fd, &st) == 0)
        snprintf(out, XD_FILE_STAMP_SIZE, "\"%jd.%09ld\"",
                 (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

int xd_file_holes(int fd, uint64_t size, size_t most, struct xd_rangeset *out)
{
#ifdef SEEK_HOLE
    off_t at = 0;

    for (size_t i = 0; i < most; i++) {
        struct xd_range hole;

        at = lseek(fd, at, SEEK_HOLE);
        if (at < 0 || (uint64_t)at >= size)
            break;
        hole.begin = (uint64_t)at;
        at = lseek(fd, at, SEEK_DATA);
        hole.end = at < 0 ? size : (uint64_t)at;
        if (xd_rangeset_add(out, hole) < 0)
            return XD_E_NOMEM;
        if (at < 0)
            break;
    }
#else
    (void)fd, (void)size, (void)most, (void)out;
#endif
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

int xd_file_sync(int fd, const char *path, struct xd_error *err)
{
    int rc;

    do
        rc = fdatasync(fd);
    while (rc != 0 && errno == EINTR);
    if (rc != 0)
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: cannot be synced to the disk", path);
    return 0;
}

int xd_file_space(int fd, const char *path, uint64_t *out_free,
                  uint64_t *out_taken, struct xd_error *err)
{
    struct statvfs fs;
    struct stat st;

    if (fstatvfs(fd, &fs) != 0 || fstat(fd, &st) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    if (!xd_mul_u64(fs.f_bavail, fs.f_frsize, out_free))
        *out_free = UINT64_MAX;
    *out_taken = (uint64_t)st.st_blocks * 512;
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

static int move(int folder, const char *from, const char *to)
{
    return renameat(folder, xd_path_name(from), folder, xd_path_name(to));
}

/* Where there are no hard links: take the name with an empty file, which is
 * then the only one that rename() can replace. */
static int rename_over_own(int folder, const char *from, const char *to,
                           struct xd_error *err)
{
    int fd = open_in(folder, to, O_WRONLY | O_CREAT | O_EXCL);
    int rc;

    if (fd < 0)
        return fail_rename(from, to, errno, err);
    xd_file_close(fd);
    if (move(folder, from, to) == 0)
        return 0;
    rc = fail_rename(from, to, errno, err);
    unlinkat(folder, xd_path_name(to), 0);
    return rc;
}

/* FAT, SMB, FUSE and a file of another user each have their own word for "no
 * hard links here". */
static bool means_no_links(int os_errno)
{
    return os_errno == EPERM || os_errno == ENOTSUP || os_errno == EOPNOTSUPP ||
           os_errno == ENOSYS || os_errno == EMLINK || os_errno == EACCES;
}

/* Where there is no renaming that replaces nothing. */
static int link_and_remove(int folder, const char *from, const char *to,
                           struct xd_error *err)
{
    int rc;

    if (linkat(folder, xd_path_name(from), folder, xd_path_name(to), 0) != 0)
        return means_no_links(errno) ? rename_over_own(folder, from, to, err)
                                     : fail_rename(from, to, errno, err);
    if (unlinkat(folder, xd_path_name(from), 0) == 0)
        return 0;
    rc = fail_rename(from, to, errno, err);
    unlinkat(folder, xd_path_name(to), 0);
    return rc;
}

/* One step, of a system and a file system that have it. */
static bool move_to_new(int folder, const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    return renameat2(folder, xd_path_name(from), folder, xd_path_name(to),
                     RENAME_NOREPLACE) == 0;
#else
    (void)folder, (void)from, (void)to;
    errno = ENOSYS;
    return false;
#endif
}

int xd_file_rename(int folder, const char *from, const char *to, bool replace,
                   struct xd_error *err)
{
    if (replace ? move(folder, from, to) == 0 : move_to_new(folder, from, to))
        return 0;
    if (replace || errno == EEXIST)
        return fail_rename(from, to, errno, err);
    return link_and_remove(folder, from, to, err);
}

int xd_file_remove(int folder, const char *path, struct xd_error *err)
{
    if (unlinkat(folder, xd_path_name(path), 0) == 0 || errno == ENOENT)
        return 0;
    return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be removed", path);
}

bool xd_file_remove_empty(int fd, int folder, const char *path)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == 0 &&
           xd_file_has_name(fd, folder, path) &&
           unlinkat(folder, xd_path_name(path), 0) == 0;
}

bool xd_file_is_same(int folder, const char *a, const char *b)
{
    struct stat x, y;

    return look_at(folder, a, &x) && look_at(folder, b, &y) && is_one(&x, &y);
}

bool xd_file_has_name(int fd, int folder, const char *path)
{
    struct stat st;

    return fstat(fd, &st) == 0 && is_at(&st, folder, path);
}

bool xd_file_exists(int folder, const char *path)
{
    struct stat st;

    return look_at(folder, path, &st);
}

bool xd_path_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

bool xd_path_is_beside(const char *a, const char *b)
{
    const char *in_a = strrchr(a, '/'), *in_b = strrchr(b, '/');

    if (!in_a || !in_b)
        return in_a == in_b;
    return in_a - a == in_b - b && memcmp(a, b, (size_t)(in_a - a)) == 0;
}

bool xd_file_is_writable(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Not again after EINTR: the descriptor is gone, and may be another's. */
void xd_file_close(int fd)
{
    close(fd);
}

void xd_boot_id(char out[XD_BOOT_ID_SIZE])
{
    static const char path[] = "/proc/sys/kernel/random/boot_id";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t n = 0;

    if (fd >= 0) {
        n = xd_file_read(fd, path, 0, out, XD_BOOT_ID_SIZE - 1, NULL);
        xd_file_close(fd);
    }
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}
