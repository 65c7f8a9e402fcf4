/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for O_PATH */

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
#include "base/text.h"
#include "os/disk.h"

#ifdef __APPLE__ /* macOS has other names for these */
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#define fdatasync fsync
#endif

/* largest size of a path with its NUL: PATH_MAX of Linux */
#define LONGEST_PATH ((size_t)4096)

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

/* Like lstat(). */
static bool look_at(int folder, const char *path, struct stat *out)
{
    return fstatat(folder, xd_path_name(path), out, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns whether `path` names the open file. */
static bool is_at(const struct stat *open, int folder, const char *path)
{
    struct stat st;

    return look_at(folder, path, &st) && is_one(open, &st);
}

/* Writes the folder part of the path, or ".".  Returns false if it is too
 * long. */
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

/* Opens a folder.  With O_PATH, files can be opened by name even in a folder
 * without read permission. */
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

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

/* Copies the last component of the first *end bytes of `path` to `name`, and
 * sets *end to the length before it. */
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

/* Removes the folder `name` from `parent` if it is the open folder `folder`.
 * Returns whether it was removed. */
static bool remove_folder(int folder, int parent, const char *name)
{
    struct stat is, was;

    return look_at(parent, name, &is) && fstat(folder, &was) == 0 &&
           is_one(&is, &was) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* Removes up to `made` empty folders, the innermost first.  The first `end`
 * bytes of `path` name `folder`. */
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

/* Opens the folder `name` in `in`, creating it if missing.  Returns -1 on
 * failure.  *made counts the folders created in a row, each inside the last
 * one. */
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
    /* Folders without read permission and some file systems cannot be synced;
     * only a disk error counts. */
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

/* Checks the file before anything is written to it: a file with several names
 * would change under all of them. */
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
 * Locks the file against other downloads.  flock() locks belong to the open
 * file, and the kernel releases them however the process ends.  fcntl() locks
 * belong to the process: they would not keep out a second download of this
 * process, and closing any descriptor of the file would release them.  Using
 * both would deadlock on NFS, which emulates flock() by fcntl() locks.
 */
static int lock_own(int fd, const char *path, struct xd_error *err)
{
    int rc;

    do
        rc = flock(fd, LOCK_EX | LOCK_NB);
    while (rc != 0 && errno == EINTR);
    if (rc == 0 || errno != EWOULDBLOCK)
        return 0; /* the file system has no locks: continue without a lock */
    return xd_fail(err, XD_E_IO, "%s: another download writes to it", path);
}

/* Creates the file, or opens the existing one. */
static int open_own(int folder, const char *path, mode_t mode, bool *out_is_new)
{
    int fd = open_with(folder, path, O_RDWR | O_CREAT | O_EXCL, mode);

    *out_is_new = fd >= 0;
    /* O_NONBLOCK: if the name is a fifo, open() must not wait for a reader. */
    if (fd < 0 && errno == EEXIST)
        fd = open_in(folder, path, O_RDWR | O_NONBLOCK);
    return fd;
}

/* Opens a new file without a name.  Without O_TMPFILE the file has a name for a
 * moment. */
static int open_nameless(int folder)
{
    char name[60];
    struct timespec now;
    int fd = -1;

#ifdef O_TMPFILE /* leaves nothing behind if the process is killed */
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

/* Finds the owner and mode that a new file gets.  umask() cannot be read
 * without changing it for all threads. */
static bool look_at_new(int folder, struct stat *out)
{
    int fd = open_nameless(folder);
    bool is_seen = fd >= 0 && fstat(fd, out) == 0;

    if (fd >= 0)
        xd_file_close(fd);
    return is_seen;
}

/* Returns true if the file belongs to this user.  On some file systems, such as
 * FAT, every file belongs to the same user. */
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

/* Checks whether a file that existed before may be used. */
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

/* Checks again under the lock: the previous owner of the lock may just have
 * renamed the file. */
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

    /* the name is a link, or a fifo without a reader */
    if (fd < 0 && (errno == ELOOP || errno == ENXIO))
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
        /* failure is ignored: FAT, for example, has no modes */
        (void)fchmod(fd, 0600);
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

static struct xd_file_rights rights_of(const struct stat *st)
{
    return (struct xd_file_rights){true, (unsigned)st->st_mode & 0777,
                                   (unsigned)st->st_uid, (unsigned)st->st_gid};
}

struct xd_file_rights xd_folder_new_rights(int folder)
{
    struct stat other;

    return look_at_new(folder, &other) ? rights_of(&other)
                                       : (struct xd_file_rights){0};
}

struct xd_file_rights xd_file_rights_of(int folder, const char *path)
{
    struct stat st;

    return look_at(folder, path, &st) && S_ISREG(st.st_mode)
               ? rights_of(&st)
               : (struct xd_file_rights){0};
}

/* Sets owner, group and mode as far as the system allows.  Only root can change
 * the owner, and other users can only choose a group to which they belong. */
void xd_file_set_rights(int fd, const struct xd_file_rights *rights)
{
    unsigned mode = rights->mode;
    struct stat st;

    if (!rights->is_known || fstat(fd, &st) != 0)
        return;
    if ((st.st_uid != rights->user || st.st_gid != rights->group) &&
        fchown(fd, rights->user, rights->group) != 0 &&
        st.st_gid != rights->group && fchown(fd, (uid_t)-1, rights->group) != 0)
        mode &= ~070U | (mode & 07) << 3;
    /* failure is ignored: FAT, for example, has no modes */
    (void)fchmod(fd, (mode_t)mode);
}

/* Fills in the times for utimensat().  The access time stays unchanged. */
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
 * Calls stat() first, because merely opening some devices has side effects.
 * Calls fstat() again afterwards, because the name may have been replaced in
 * between.
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

int64_t xd_file_modified(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (int64_t)st.st_mtime : 0;
}

void xd_file_stamp(int fd, char out[XD_FILE_STAMP_SIZE])
{
    struct stat st;

    out[0] = '\0';
    if (fstat(fd, &st) == 0)
        snprintf(out, XD_FILE_STAMP_SIZE, "\"%ju-%jd.%09ld-%jd.%09ld\"",
                 (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
                 st.st_mtim.tv_nsec, (intmax_t)st.st_ctim.tv_sec,
                 st.st_ctim.tv_nsec);
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

/* Returns true if the error means that this kind of file cannot be synced.
 *     EINVAL      shared folders of virtual machines
 *     EOPNOTSUPP  some SMB and FUSE file systems
 *     ENOSYS      FUSE without fsync()
 *     EROFS       special files */
static bool means_no_sync(int os_errno)
{
    return os_errno == EINVAL || os_errno == EOPNOTSUPP ||
           os_errno == ENOTSUP || os_errno == ENOSYS || os_errno == EROFS;
}

int xd_file_sync(int fd, const char *path, struct xd_error *err)
{
    int rc;

    do
        rc = fdatasync(fd);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && !means_no_sync(errno))
        return xd_fail_errno(err, XD_E_IO, errno,
                             "%s: cannot be synced to the disk", path);
    return 0;
}

/* Reports a failed close().  After EINTR the descriptor is closed all the
 * same. */
static int report_close(int rc, const char *path, struct xd_error *err)
{
    if (rc == 0 || errno == EINTR)
        return 0;
    return xd_fail_errno(err, XD_E_IO, errno,
                         "%s: the file system could not write all of it", path);
}

/* Closes a duplicate of the descriptor, which makes the file system write back
 * and report failures. */
int xd_file_flush(int fd, const char *path, struct xd_error *err)
{
    const int second = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return second < 0 ? 0 : report_close(close(second), path, err);
}

int xd_file_close_written(int fd, const char *path, struct xd_error *err)
{
    return report_close(close(fd), path, err);
}

int xd_file_space(int fd, const char *path, uint64_t *out_free,
                  uint64_t *out_taken, struct xd_error *err)
{
    struct statvfs fs;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s", path);
    *out_free = fstatvfs(fd, &fs) == 0 ? xd_disk_left(&fs) : UINT64_MAX;
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

/* Renames without hard links: creates an empty file `to` first, so that
 * rename() can only replace that file. */
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

/* Returns true if the file system may have no hard links.  The error differs
 * between FAT, SMB, FUSE and files of other users. */
static bool means_no_links(int os_errno)
{
    return os_errno == EPERM || os_errno == ENOTSUP || os_errno == EOPNOTSUPP ||
           os_errno == ENOSYS || os_errno == EMLINK || os_errno == EACCES;
}

/* Renames on systems that cannot rename without replacing. */
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

/* Renames atomically without replacing, where system and file system support
 * it. */
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

/* Opens the file under whichever of the two names it has now.  Returns -1 if
 * neither. */
static int open_renamed(const struct stat *was, int folder, const char *a,
                        const char *b)
{
    const char *path = is_at(was, folder, a) ? a : b;
    struct stat st;
    const int fd = open_in(folder, path, O_RDWR | O_NONBLOCK);

    if (fd >= 0 && (fstat(fd, &st) != 0 || !is_one(was, &st))) {
        xd_file_close(fd);
        return -1;
    }
    return fd;
}

/* Keeps the descriptor number in use while the file is closed, so that no other
 * file gets it while another thread may be about to read from it.  For that
 * time it is the writing end of a pipe, from which reads fail. */
int xd_file_rename_closed(int fd, int folder, const char *from, const char *to,
                          bool replace, struct xd_error *err)
{
    struct stat st;
    int ends[2], again, rc = look_at_open(fd, from, &st, err);

    if (rc < 0)
        return rc;
    if (pipe(ends) != 0)
        return xd_fail_errno(err, XD_E_IO, errno, "%s: cannot be closed", from);
    (void)dup2(ends[1], fd);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
    rc = xd_file_rename(folder, from, to, replace, err);
    again = open_renamed(&st, folder, to, from);
    if (again >= 0) {
        (void)dup2(again, fd);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        close(again);
    }
    return rc;
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

bool xd_file_means_bad_name(int os_errno)
{
    return os_errno == ENAMETOOLONG || os_errno == EINVAL || os_errno == EILSEQ;
}

int xd_file_check_name(int folder, const char *path, struct xd_error *err)
{
    struct stat st;

    if (look_at(folder, path, &st) || !xd_file_means_bad_name(errno))
        return 0;
    return xd_file_fail_name(path, errno, err);
}

int xd_file_fail_name(const char *path, int os_errno, struct xd_error *err)
{
    return xd_fail_errno(err, XD_E_IO, os_errno,
                         "%s: its file system refuses this name; give another "
                         "one",
                         path);
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

/* Does not repeat close() after EINTR: the descriptor is closed, and another
 * thread may already have its number. */
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
