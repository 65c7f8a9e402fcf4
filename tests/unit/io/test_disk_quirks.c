/* SPDX-License-Identifier: MIT */
/*
 * File systems that do less than POSIX says: they count no blocks, sync no files,
 * rename no file that is open, or report a failed write when a file is closed.
 * The calls are defined here, in front of the system's.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/sinks/sink.h"
#include "os/disk.h"
#include "os/file.h"
#include "os/small_file.h"
#include "suite.h"

#define MOST_FD 256

static struct {
    int sync_errno, close_errno, statvfs_errno; /* 0: they succeed */
    int rename_open_errno; /* of a file that is open; 0: it is renamed */
    int link_errno;        /* 0: there are hard links */
    bool renames_at_once;  /* renameat2() is there */
    unsigned long blocks, free, unit;
    bool has_blocks; /* the numbers above count */
} disk;

static char folder[SUITE_FOLDER], path[SUITE_FOLDER + 10],
    part[SUITE_FOLDER + 20];
static struct xd_error err;

/* ---- the file system ---- */

int fdatasync(int fd)
{
    (void)fd;
    errno = disk.sync_errno;
    return disk.sync_errno != 0 ? -1 : 0;
}

static bool is_ours(int fd)
{
    struct stat open, st;

    return fstat(fd, &open) == 0 && stat(part, &st) == 0 &&
           st.st_ino == open.st_ino && st.st_dev == open.st_dev;
}

int close(int fd)
{
    const bool fails = disk.close_errno != 0 && is_ours(fd);

    if (syscall(SYS_close, fd) != 0)
        return -1;
    errno = disk.close_errno;
    return fails ? -1 : 0;
}

int fstatvfs(int fd, struct statvfs *out)
{
    (void)fd;
    memset(out, 0, sizeof *out);
    out->f_blocks = disk.blocks;
    out->f_bavail = disk.free;
    out->f_frsize = disk.unit;
    errno = disk.statvfs_errno;
    return disk.statvfs_errno != 0 ? -1 : 0;
}

int statvfs(const char *name, struct statvfs *out)
{
    (void)name;
    return fstatvfs(-1, out);
}

static bool is_open(int at, const char *name)
{
    struct stat named, open;

    if (fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    for (int fd = 3; fd < MOST_FD; fd++)
        if (fstat(fd, &open) == 0 && open.st_ino == named.st_ino &&
            open.st_dev == named.st_dev)
            return true;
    return false;
}

static bool refuses(int at, const char *name)
{
    errno = disk.rename_open_errno;
    return disk.rename_open_errno != 0 && is_open(at, name);
}

int renameat(int from_at, const char *from, int at, const char *to)
{
    return refuses(from_at, from)
               ? -1
               : (int)syscall(SYS_renameat2, from_at, from, at, to, 0);
}

int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags);
int renameat2(int from_at, const char *from, int at, const char *to,
              unsigned flags)
{
    if (refuses(from_at, from))
        return -1;
    if (disk.renames_at_once)
        return (int)syscall(SYS_renameat2, from_at, from, at, to, flags);
    errno = EINVAL;
    return -1;
}

int linkat(int from_at, const char *from, int at, const char *to, int flags)
{
    if (disk.link_errno == 0)
        return (int)syscall(SYS_linkat, from_at, from, at, to, flags);
    errno = disk.link_errno;
    return -1;
}

/* ---- the tests ---- */

static void set_up(void)
{
    memset(&disk, 0, sizeof disk);
    memset(&err, 0, sizeof err);
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/f", folder);
    snprintf(part, sizeof part, "%s.part", path);
}

static void tear_down(void)
{
    memset(&disk, 0, sizeof disk);
    unlink(path);
    unlink(part);
    ck_assert_int_eq(rmdir(folder), 0);
}

static struct xd_sink *written(bool replace)
{
    struct xd_sink *s = NULL;

    ck_assert_int_eq(xd_file_sink_new(&s, path, SIZE_MAX, replace, &err), 0);
    ck_assert_int_eq(xd_sink_write(s, 0, "abc", 3, &err), 0);
    return s;
}

static void check_content(const char *name, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(name, "r");

    ck_assert_ptr_nonnull(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    ck_assert_str_eq(got, text);
}

static const struct room_row {
    int os_errno;
    unsigned long blocks, free, unit;
    uint64_t room; /* UINT64_MAX: it is unknown */
} room_rows[] = {
    {0, 0, 0, 4096, UINT64_MAX},
    {0, 0, 0, 0, UINT64_MAX},
    {0, 0, 7, 4096, UINT64_MAX},
    {ENOSYS, 0, 0, 0, UINT64_MAX},
    {EACCES, 9, 9, 9, UINT64_MAX},
    {0, 100, 0, 4096, 0}, /* it is full */
    {0, 100, 10, 512, 5120},
    {0, UINT64_MAX, UINT64_MAX, 4096, UINT64_MAX},
};

START_TEST(room_of_a_disk_that_counts_no_blocks_is_unknown)
{
    const struct room_row *row = &room_rows[_i];
    struct xd_sink *s = written(false);
    uint64_t number, bytes = 1;
    struct stat st;

    disk.statvfs_errno = row->os_errno;
    disk.blocks = row->blocks;
    disk.free = row->free;
    disk.unit = row->unit;
    ck_assert_int_eq(stat(part, &st), 0);
    ck_assert_int_eq(xd_file_sink_space(s, &bytes, &err), 0);
    ck_assert_uint_eq(bytes, row->room == UINT64_MAX
                                 ? UINT64_MAX
                                 : row->room + (uint64_t)st.st_blocks * 512);
    ck_assert(xd_disk_room(path, &number, &bytes) == (row->os_errno == 0));
    if (row->os_errno == 0)
        ck_assert_uint_eq(bytes, row->room);
    xd_sink_free(s);
}
END_TEST

static const struct {
    int os_errno, rc;
} sync_rows[] = {{EINVAL, 0},       {EOPNOTSUPP, 0},   {ENOTSUP, 0},
                 {ENOSYS, 0},       {EROFS, 0},        {EIO, XD_E_IO},
                 {ENOSPC, XD_E_IO}, {EDQUOT, XD_E_IO}, {EBADF, XD_E_IO}};

START_TEST(sync_that_the_disk_does_not_know_is_no_failure)
{
    const int rc = sync_rows[_i].rc;
    struct xd_sink *s = written(false);

    disk.sync_errno = sync_rows[_i].os_errno;
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), rc);
    ck_assert_int_eq(access(path, F_OK), rc < 0 ? -1 : 0);
    ck_assert_int_eq(err.os_errno, rc < 0 ? disk.sync_errno : 0);
    xd_sink_free(s);
}
END_TEST

START_TEST(error_of_close_counts_before_the_file_has_its_name)
{
    struct xd_sink *s = written(false);

    disk.close_errno = ENOSPC;
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, part));
    ck_assert_int_eq(err.os_errno, ENOSPC);
    ck_assert_int_eq(access(path, F_OK), -1);
    xd_sink_free(s);

    s = written(false);
    ck_assert_int_eq(xd_file_sink_finish_synced(s, 3, &err), XD_E_IO);
    ck_assert_int_eq(access(path, F_OK), -1);
    disk.close_errno = EINTR; /* it is closed all the same */
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), 0);
    xd_sink_free(s);
    check_content(path, "abc");
}
END_TEST

START_TEST(error_of_close_keeps_a_small_file_as_it_was)
{
    ck_assert_int_eq(xd_small_file_replace(path, "old", 3, &err), 0);
    snprintf(part, sizeof part, "%s", path); /* what close() fails for */
    disk.close_errno = EIO;
    ck_assert_int_eq(xd_small_file_append(path, "er", 2, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EIO);
}
END_TEST

static const int refusals[] = {EBUSY, ETXTBSY, EACCES, EPERM, EIO};

#define N(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* Each refusal with a disk that renames at once, one with links, and one without. */
START_TEST(file_that_is_renamed_only_when_closed_gets_its_name)
{
    struct xd_sink *s = written(false);
    char bytes[3];

    disk.rename_open_errno = refusals[_i / 3];
    disk.renames_at_once = _i % 3 == 0;
    disk.link_errno = _i % 3 == 1 ? EPERM : 0;
    ck_assert_msg(xd_sink_finish(s, 3, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(access(part, F_OK), -1);
    check_content(path, "abc");
    ck_assert_int_eq(xd_sink_read(s, 0, bytes, 3, &err), 0);
    ck_assert_mem_eq(bytes, "abc", 3);
    xd_file_sink_set_time(s, 1000);
    xd_sink_free(s);
}
END_TEST

START_TEST(closed_file_replaces_only_what_it_may)
{
    struct xd_sink *s = written(true);

    disk.rename_open_errno = EBUSY;
    ck_assert_int_eq(xd_small_file_replace(path, "old", 3, &err), 0);
    ck_assert_msg(xd_sink_finish(s, 3, &err) == 0, "%s", err.msg);
    check_content(path, "abc");
    xd_sink_free(s);

    ck_assert_int_eq(unlink(path), 0);
    s = written(false);
    ck_assert_int_eq(xd_small_file_replace(path, "new", 3, &err), 0);
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), XD_E_IO);
    check_content(path, "new");
    check_content(part, "abc");
    xd_sink_free(s);
}
END_TEST

static void *read_often(void *arg)
{
    struct xd_sink *s = arg;
    struct xd_error error;
    char bytes[3];

    for (int i = 0; i < 2000; i++)
        if (xd_sink_read(s, 0, bytes, 3, &error) < 0 ||
            memcmp(bytes, "abc", 3) != 0)
            return arg;
    return NULL;
}

START_TEST(reader_does_not_notice_that_the_file_is_closed)
{
    struct xd_sink *s = written(false);
    pthread_t thread;
    void *failure;

    disk.rename_open_errno = EBUSY;
    ck_assert_int_eq(pthread_create(&thread, NULL, read_often, s), 0);
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), 0);
    ck_assert_int_eq(pthread_join(thread, &failure), 0);
    ck_assert_msg(failure == NULL, "it could not be read");
    xd_sink_free(s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("disk_quirks");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, room_of_a_disk_that_counts_no_blocks_is_unknown, 0,
                        N(room_rows));
    tcase_add_loop_test(t, sync_that_the_disk_does_not_know_is_no_failure, 0,
                        N(sync_rows));
    tcase_add_test(t, error_of_close_counts_before_the_file_has_its_name);
    tcase_add_test(t, error_of_close_keeps_a_small_file_as_it_was);
    tcase_add_loop_test(t, file_that_is_renamed_only_when_closed_gets_its_name,
                        0, 3 * N(refusals));
    tcase_add_test(t, closed_file_replaces_only_what_it_may);
    tcase_add_test(t, reader_does_not_notice_that_the_file_is_closed);
    return run_suite("disk_quirks", t);
}
