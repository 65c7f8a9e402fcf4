/* SPDX-License-Identifier: MIT */
/*
 * lib/os/file: nothing of another is emptied, followed or replaced.
 *
 * renameat2(), linkat(), unlinkat() and pwrite() are defined here, in front of the system's, so
 * that a file system without hard links and a disk that takes a few bytes at a
 * time can be had anywhere.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/range.h"
#include "os/file.h"
#include "suite.h"

static struct {
    int link_errno;       /* what linkat() fails with, or 0 */
    bool renames_at_once; /* the system and the file system can do that */
    bool keeps_first;     /* the first name that is to go stays */
    const char *appears;  /* a file that another makes during linkat() */
    size_t write_at_most; /* bytes per pwrite(), or 0: all */
    int interrupted;      /* how many calls of pwrite() a signal ends */
    int write_errno;      /* what pwrite() fails with, or 0 */
} fault;

static char dir[64], a[80], b[80];
static struct xd_error err;
static int in; /* dir, open */

static void put(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(content, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void holds(const char *path, const char *content)
{
    char buf[100];
    FILE *f = fopen(path, "r");
    size_t n;

    ck_assert_msg(f != NULL, "%s is not there", path);
    n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    ck_assert_uint_eq(n, strlen(content));
    ck_assert_mem_eq(buf, content, n);
}

int renameat2(int from_folder, const char *from, int folder, const char *to,
              unsigned flags);
int renameat2(int from_folder, const char *from, int folder, const char *to,
              unsigned flags)
{
    if (fault.renames_at_once)
        return (int)syscall(SYS_renameat2, from_folder, from, folder, to,
                            flags);
    errno = ENOSYS;
    return -1;
}

int linkat(int from_folder, const char *from, int folder, const char *to,
           int flags)
{
    if (fault.appears != NULL)
        put(fault.appears, "another's");
    if (fault.link_errno == 0)
        return (int)syscall(SYS_linkat, from_folder, from, folder, to, flags);
    errno = fault.link_errno;
    return -1;
}

int unlinkat(int folder, const char *path, int flags)
{
    if (fault.keeps_first) {
        fault.keeps_first = false;
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    if (fault.interrupted > 0) {
        fault.interrupted--;
        errno = EINTR;
        return -1;
    }
    if (fault.write_errno != 0) {
        errno = fault.write_errno;
        return -1;
    }
    if (fault.write_at_most > 0 && len > fault.write_at_most)
        len = fault.write_at_most;
    if (lseek(fd, offset, SEEK_SET) < 0)
        return -1;
    return write(fd, data, len);
}

static void setup(void)
{
    memset(&fault, 0, sizeof fault);
    memset(&err, 0, sizeof err);
    snprintf(dir, sizeof dir, "%s", "test_file.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(a, sizeof a, "%s/a", dir);
    snprintf(b, sizeof b, "%s/b", dir);
    ck_assert_int_eq(xd_folder_open(&in, a, &err), 0);
}

static void teardown(void)
{
    xd_file_close(in);
    remove(a);
    remove(b);
    ck_assert_int_eq(rmdir(dir), 0); /* no litter */
}

static void fails_with(int rc, const char *path, const char *reason)
{
    char expected[300];

    snprintf(expected, sizeof expected, "%s: %s", path, reason);
    ck_assert_int_eq(rc, XD_E_IO);
    ck_assert_int_eq(err.code, XD_E_IO);
    ck_assert_str_eq(err.msg, expected);
}

static int create(const char *path)
{
    uint64_t size;
    int fd, folder;
    int rc = xd_folder_open(&folder, path, &err);

    if (rc < 0)
        return rc;
    rc = xd_file_own(&fd, &size, folder, path, &err);
    xd_file_close(folder);
    if (rc == 0)
        xd_file_close(fd);
    return rc;
}

START_TEST(a_new_file_is_written_and_closed_on_exec)
{
    uint64_t size;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, 3, "def", 3, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, 0, "abc", 3, &err), 0);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    xd_file_close(fd);
    holds(a, "abcdef");
}
END_TEST

START_TEST(the_mode_of_a_new_file_is_up_to_the_umask)
{
    struct stat st;
    mode_t old = umask(027);

    ck_assert_int_eq(create(a), 0);
    umask(old);
    ck_assert_int_eq(stat(a, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_file_that_is_there_is_left_as_it_is)
{
    uint64_t size;
    int fd;

    put(a, "old");
    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_uint_eq(size, 3);
    xd_file_close(fd);
    holds(a, "old");
}
END_TEST

START_TEST(a_file_that_another_process_owns_is_refused)
{
    uint64_t size;
    int fd, status;
    pid_t child;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    child = fork();
    if (child == 0)
        _exit(create(a) == XD_E_IO && strstr(err.msg, "another download") ? 0
                                                                          : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    xd_file_close(fd);
    child = fork();
    if (child == 0)
        _exit(create(a) == 0 ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(what_is_written_is_brought_to_the_disk)
{
    uint64_t size, space, taken;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, 0, "abc", 3, &err), 0);
    ck_assert_int_eq(xd_file_sync(fd, a, &err), 0);
    ck_assert_int_eq(xd_folder_sync(in, a, &err), 0);
    ck_assert_int_eq(xd_file_space(fd, a, &space, &taken, &err), 0);
    ck_assert_uint_gt(space, 0);
    xd_file_close(fd);
    ck_assert_int_eq(xd_file_sync(fd, a, &err), XD_E_IO);
}
END_TEST

START_TEST(a_name_that_is_not_there_is_removed_too)
{
    put(a, "");
    ck_assert_int_eq(xd_file_remove(in, a, &err), 0);
    ck_assert(!xd_file_exists(in, a));
    ck_assert_int_eq(xd_file_remove(in, a, &err), 0);
    ck_assert_int_eq(xd_file_remove(AT_FDCWD, dir, &err), XD_E_IO);
}
END_TEST

START_TEST(two_names_of_one_file_are_the_same)
{
    put(a, "");
    ck_assert(!xd_file_is_same(in, a, b));
    put(b, "");
    ck_assert(!xd_file_is_same(in, a, b));
    ck_assert_int_eq(remove(b), 0);
    ck_assert_int_eq(link(a, b), 0);
    ck_assert(xd_file_is_same(in, a, b));
}
END_TEST

START_TEST(the_boot_id_is_the_same_twice)
{
    char x[XD_BOOT_ID_SIZE], y[XD_BOOT_ID_SIZE];

    xd_boot_id(x);
    xd_boot_id(y);
    ck_assert_str_eq(x, y);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    put(a, "precious");
    ck_assert_int_eq(symlink("a", b), 0);
    fails_with(create(b), b, "not a regular file");
    holds(a, "precious");
}
END_TEST

START_TEST(a_dangling_link_is_not_followed)
{
    ck_assert_int_eq(symlink("a", b), 0);
    fails_with(create(b), b, "not a regular file");
    ck_assert(!xd_file_exists(in, a));
}
END_TEST

START_TEST(a_file_with_two_names_is_not_owned)
{
    put(a, "precious");
    ck_assert_int_eq(link(a, b), 0);
    fails_with(create(b), b, "has 2 names and would change under each");
    holds(a, "precious");
}
END_TEST

START_TEST(a_fifo_is_neither_opened_nor_waited_for)
{
    int reader;

    ck_assert_int_eq(mkfifo(a, 0600), 0);
    fails_with(create(a), a, "not a regular file");
    reader = open(a, O_RDONLY | O_NONBLOCK);
    fails_with(create(a), a, "not a regular file");
    close(reader);
}
END_TEST

START_TEST(a_folder_that_is_missing_is_named)
{
    char path[100];

    snprintf(path, sizeof path, "%s/none/x", dir);
    fails_with(create(path), path, strerror(ENOENT));
    ck_assert_int_eq(err.os_errno, ENOENT);
    fails_with(create(dir), dir, strerror(EISDIR));
}
END_TEST

/* Of the path `dir` and `below`, with the folders that `dir` does not name. */
static int make(const char *below, unsigned *made, char path[400])
{
    int folder = -1;

    snprintf(path, 400, "%s%s", dir, below);
    if (xd_folder_make(&folder, made, path, strlen(dir), &err) < 0)
        return -1;
    ck_assert(xd_folder_is_of(folder, path));
    return folder;
}

static bool has_folder(const char *below)
{
    char path[300];
    struct stat st;

    snprintf(path, sizeof path, "%s%s", dir, below);
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

START_TEST(folders_that_are_missing_are_made_and_removed_while_empty)
{
    char path[400];
    unsigned made;
    int folder = make("/p/q/r/x", &made, path);

    ck_assert_int_ge(folder, 0);
    ck_assert_uint_eq(made, 3);
    ck_assert(has_folder("/p/q/r"));
    snprintf(path, sizeof path, "%s/p/mine", dir);
    put(path, "");
    snprintf(path, sizeof path, "%s/p/q/r/x", dir);
    xd_folder_unmake(folder, made, path);
    xd_file_close(folder);
    ck_assert(has_folder("/p") && !has_folder("/p/q"));

    folder = make("/p/q/x", &made, path);
    ck_assert_uint_eq(made, 1);
    xd_folder_unmake(folder, 0, path);
    ck_assert(has_folder("/p/q"));
    xd_folder_unmake(folder, made, path);
    xd_file_close(folder);
    ck_assert(has_folder("/p") && !has_folder("/p/q"));

    snprintf(path, sizeof path, "%s/p/mine", dir);
    ck_assert_int_eq(remove(path), 0);
    snprintf(path, sizeof path, "%s/p", dir);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(folders_that_were_made_on_a_way_that_ends_are_removed)
{
    char below[300] = "/p/q/", path[400];
    unsigned made;

    memset(below + strlen(below), 'n', 260);
    strcpy(below + 265, "/x");
    ck_assert_int_eq(make(below, &made, path), -1);
    ck_assert_int_eq(err.os_errno, ENAMETOOLONG);
    ck_assert(!has_folder("/p"));
}
END_TEST

START_TEST(a_link_among_the_folders_that_are_made_is_not_followed)
{
    char path[400], link[80], there[90];
    unsigned made;

    snprintf(link, sizeof link, "%s/link", dir);
    ck_assert_int_eq(symlink(".", link), 0);
    ck_assert_int_eq(make("/link/p/x", &made, path), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/link: is a symbolic link"));
    put(a, "");
    ck_assert_int_eq(make("/a/x", &made, path), -1);
    fails_with(XD_E_IO, a, strerror(ENOTDIR));

    /* What the caller names may be one. */
    int folder;
    snprintf(there, sizeof there, "%s/p/x", link);
    ck_assert_int_eq(
        xd_folder_make(&folder, &made, there, strlen(link) + 1, &err), 0);
    ck_assert(has_folder("/p"));
    xd_folder_unmake(folder, made, there);
    ck_assert(!has_folder("/p"));
    xd_file_close(folder);
    ck_assert_int_eq(remove(link), 0);
}
END_TEST

START_TEST(only_an_empty_file_is_removed_as_such)
{
    uint64_t size;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    put(b, "");
    ck_assert(!xd_file_remove_empty(fd, in, b)); /* another file's name */
    ck_assert_int_eq(xd_file_write(fd, a, 0, "x", 1, &err), 0);
    ck_assert(!xd_file_remove_empty(fd, in, a));
    ck_assert_int_eq(xd_file_truncate(fd, a, 0, &err), 0);
    ck_assert(xd_file_remove_empty(fd, in, a));
    ck_assert(!xd_file_remove_empty(fd, in, a));
    ck_assert(!xd_file_exists(in, a) && xd_file_exists(in, b));
    xd_file_close(fd);
}
END_TEST

START_TEST(a_folder_without_a_slash_is_the_one_that_we_are_in)
{
    int folder;

    ck_assert_int_eq(xd_folder_open(&folder, "name", &err), 0);
    ck_assert(xd_folder_is_of(folder, "other"));
    ck_assert(!xd_folder_is_of(folder, a));
    xd_file_close(folder);
}
END_TEST

START_TEST(a_folder_that_may_not_be_read_is_written_to)
{
    struct stat st;

    ck_assert_int_eq(chmod(dir, 0300), 0);
    ck_assert_int_eq(create(a), 0);
    ck_assert_int_eq(stat(a, &st), 0);
    ck_assert_int_eq(chmod(dir, 0700), 0);
}
END_TEST

/* The folder has gone to `moved`, and in its place a link leads to `other`. */
START_TEST(what_a_folder_is_replaced_by_is_not_written_to)
{
    char moved[80], other[80], there[100];
    uint64_t size;
    int fd;

    put(a, "here");
    snprintf(moved, sizeof moved, "%s.moved", dir);
    snprintf(other, sizeof other, "%s.other", dir);
    snprintf(there, sizeof there, "%s/a", other);
    ck_assert_int_eq(mkdir(other, 0700), 0);
    put(there, "precious");
    ck_assert(xd_folder_is_of(in, a));
    ck_assert_int_eq(rename(dir, moved), 0);
    ck_assert_int_eq(symlink(other, dir), 0);

    ck_assert(!xd_folder_is_of(in, a));
    ck_assert_int_eq(xd_file_own(&fd, &size, in, b, &err), 0);
    ck_assert(xd_file_has_name(fd, in, b));
    xd_file_close(fd);
    ck_assert_int_eq(xd_file_rename(in, a, b, true, &err), 0);
    ck_assert(!xd_file_exists(in, a) && xd_file_exists(in, b));
    ck_assert_int_eq(xd_file_rename(in, b, a, false, &err), 0);
    ck_assert_int_eq(xd_file_remove(in, a, &err), 0);
    holds(there, "precious");

    ck_assert_int_eq(remove(there), 0);
    ck_assert_int_eq(rmdir(other), 0);
    ck_assert_int_eq(remove(dir), 0);
    ck_assert_int_eq(rename(moved, dir), 0);
}
END_TEST

START_TEST(a_disk_that_takes_few_bytes_gets_them_all)
{
    uint64_t size;
    int fd;

    fault.write_at_most = 2;
    fault.interrupted = 3;
    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, 0, "abcdefg", 7, &err), 0);
    xd_file_close(fd);
    holds(a, "abcdefg");
}
END_TEST

START_TEST(a_full_disk_is_told_with_offset_and_length)
{
    char reason[200];
    uint64_t size;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    fault.write_errno = ENOSPC;
    snprintf(reason, sizeof reason, "cannot write 3 bytes at offset 4096: %s",
             strerror(ENOSPC));
    fails_with(xd_file_write(fd, a, 4096, "abc", 3, &err), a, reason);
    ck_assert_int_eq(err.os_errno, ENOSPC);
    xd_file_close(fd);
}
END_TEST

START_TEST(an_offset_that_no_file_has_is_an_error)
{
    uint64_t size;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, INT64_MAX - 1, "abc", 3, &err),
                     XD_E_IO);
    ck_assert_int_eq(xd_file_write(fd, a, UINT64_MAX, "abc", 3, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EFBIG);
    ck_assert_int_eq(xd_file_truncate(fd, a, UINT64_MAX, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EFBIG);
    xd_file_close(fd);
    holds(a, "");
}
END_TEST

START_TEST(a_file_is_cut_and_stretched)
{
    uint64_t size;
    int fd;

    ck_assert_int_eq(xd_file_own(&fd, &size, in, a, &err), 0);
    ck_assert_int_eq(xd_file_write(fd, a, 0, "abcdef", 6, &err), 0);
    ck_assert_int_eq(xd_file_truncate(fd, a, 2, &err), 0);
    holds(a, "ab");
    ck_assert_int_eq(xd_file_truncate(fd, a, 100, &err), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), 100);
    xd_file_close(fd);
}
END_TEST

/* With hard links, and with each way to say that there are none. */
static const int link_errnos[] = {0,      EPERM,  ENOTSUP, EOPNOTSUPP,
                                  ENOSYS, EMLINK, EACCES};
#define LINK_ERRNOS ((int)(sizeof link_errnos / sizeof *link_errnos))

START_TEST(a_file_moves_to_a_free_name)
{
    fault.link_errno = link_errnos[_i];
    put(a, "new");
    ck_assert_int_eq(xd_file_rename(in, a, b, false, &err), 0);
    holds(b, "new");
    ck_assert(!xd_file_exists(in, a));
}
END_TEST

START_TEST(a_file_moves_in_one_step_where_that_can_be)
{
    fault.renames_at_once = true;
    put(a, "new");
    put(b, "old");
    fails_with(xd_file_rename(in, a, b, false, &err), b, "already exists");
    holds(a, "new");
    holds(b, "old");
    ck_assert_int_eq(remove(b), 0);
    ck_assert_int_eq(xd_file_rename(in, a, b, false, &err), 0);
    holds(b, "new");
    ck_assert(!xd_file_exists(in, a));
}
END_TEST

START_TEST(a_file_that_is_there_is_not_replaced)
{
    fault.link_errno = link_errnos[_i];
    put(a, "new");
    put(b, "old");
    fails_with(xd_file_rename(in, a, b, false, &err), b, "already exists");
    holds(a, "new");
    holds(b, "old");
}
END_TEST

START_TEST(a_file_that_appears_meanwhile_is_not_replaced)
{
    fault.link_errno = link_errnos[_i];
    fault.appears = b;
    put(a, "new");
    fails_with(xd_file_rename(in, a, b, false, &err), b, "already exists");
    holds(a, "new");
    holds(b, "another's");
}
END_TEST

START_TEST(not_even_a_dangling_link_is_replaced)
{
    fault.link_errno = link_errnos[_i];
    put(a, "new");
    ck_assert_int_eq(symlink("nowhere", b), 0);
    fails_with(xd_file_rename(in, a, b, false, &err), b, "already exists");
    holds(a, "new");
    ck_assert(xd_file_exists(in, b));
}
END_TEST

START_TEST(a_failed_move_leaves_no_empty_file)
{
    fault.link_errno = link_errnos[_i];
    ck_assert_int_eq(xd_file_rename(in, a, b, false, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, a));
    ck_assert_int_eq(err.os_errno, ENOENT);
    ck_assert(!xd_file_exists(in, b));
}
END_TEST

START_TEST(an_old_name_that_stays_takes_the_new_one_back)
{
    fault.keeps_first = true;
    put(a, "new");
    ck_assert_int_eq(xd_file_rename(in, a, b, false, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EIO);
    holds(a, "new");
    ck_assert(!xd_file_exists(in, b));
}
END_TEST

START_TEST(with_leave_a_file_is_replaced)
{
    put(a, "new");
    put(b, "old");
    ck_assert_int_eq(xd_file_rename(in, a, b, true, &err), 0);
    holds(b, "new");
    ck_assert(!xd_file_exists(in, a));
    ck_assert_int_eq(xd_file_rename(in, a, b, true, &err), XD_E_IO);
    holds(b, "new");
}
END_TEST

START_TEST(whatever_has_the_name_exists)
{
    ck_assert(!xd_file_exists(in, a));
    ck_assert(xd_file_exists(AT_FDCWD, dir));
    ck_assert_int_eq(symlink("nowhere", a), 0);
    ck_assert(xd_file_exists(in, a));
}
END_TEST

START_TEST(a_file_is_read_at_any_offset_and_closed_on_exec)
{
    char buf[10];
    uint64_t size;
    int fd;

    put(a, "hello");
    ck_assert_int_eq(xd_file_open(&fd, &size, a, &err), 0);
    ck_assert_uint_eq(size, 5);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(xd_file_read(fd, a, 1, buf, sizeof buf, &err), 4);
    ck_assert_mem_eq(buf, "ello", 4);
    ck_assert_int_eq(xd_file_read(fd, a, 5, buf, sizeof buf, &err), 0);
    ck_assert_int_eq(xd_file_read(fd, a, UINT64_MAX, buf, 1, &err), XD_E_IO);
    ck_assert_int_eq(xd_file_read(-1, a, 7, buf, 1, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EBADF);
    ck_assert_ptr_nonnull(strstr(err.msg, ": cannot be read at offset 7: "));
    xd_file_close(fd);
}
END_TEST

/* A file of three runs of 64 KiB, the middle one and the last never written. */
START_TEST(what_was_never_written_is_a_hole)
{
    const uint64_t run = 65536;
    struct xd_rangeset holes;
    uint64_t size;
    int fd;

    put(a, "x");
    ck_assert_int_eq(truncate(a, (off_t)(2 * run)), 0);
    fd = open(a, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, "y", 1, (off_t)(2 * run)), 1);
    ck_assert_int_eq(ftruncate(fd, (off_t)(4 * run)), 0);
    close(fd);
    ck_assert_int_eq(xd_file_open(&fd, &size, a, NULL), 0);
    xd_rangeset_init(&holes);
    ck_assert_int_eq(xd_file_holes(fd, size, 9, &holes), 0);
    ck_assert(xd_rangeset_contains(&holes, (struct xd_range){run, 2 * run}));
    ck_assert(
        xd_rangeset_contains(&holes, (struct xd_range){3 * run, 4 * run}));
    ck_assert(!xd_rangeset_contains(&holes, (struct xd_range){0, 1}));
    xd_rangeset_fini(&holes);
    xd_rangeset_init(&holes);
    ck_assert_int_eq(xd_file_holes(fd, size, 1, &holes), 0);
    ck_assert_uint_eq(holes.n, 1);
    xd_rangeset_fini(&holes);
    xd_file_close(fd);
}
END_TEST

START_TEST(a_link_to_a_file_is_opened_for_reading)
{
    uint64_t size;
    int fd;

    put(a, "hello");
    ck_assert_int_eq(symlink(strrchr(a, '/') + 1, b), 0);
    ck_assert_int_eq(xd_file_open(&fd, &size, b, &err), 0);
    ck_assert_uint_eq(size, 5);
    xd_file_close(fd);
}
END_TEST

/* The fifo has no writer: to wait for one would be a hang. */
START_TEST(what_is_no_file_is_not_opened_for_reading)
{
    uint64_t size;
    int fd;

    ck_assert_int_eq(mkfifo(a, 0600), 0);
    ck_assert_int_eq(symlink(strrchr(a, '/') + 1, b), 0);
    for (int i = 0; i < 3; i++) {
        const char *path = (const char *[]){a, b, dir}[i];

        ck_assert_int_eq(xd_file_open(&fd, &size, path, &err), XD_E_IO);
        ck_assert_ptr_nonnull(strstr(err.msg, ": not a regular file"));
    }
    ck_assert_int_eq(unlink(a), 0);
    ck_assert_int_eq(xd_file_open(&fd, &size, a, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, ENOENT);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("file");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_new_file_is_written_and_closed_on_exec);
    tcase_add_test(t, the_mode_of_a_new_file_is_up_to_the_umask);
    tcase_add_test(t, a_file_that_is_there_is_left_as_it_is);
    tcase_add_test(t, a_file_that_another_process_owns_is_refused);
    tcase_add_test(t, what_is_written_is_brought_to_the_disk);
    tcase_add_test(t, a_name_that_is_not_there_is_removed_too);
    tcase_add_test(t, two_names_of_one_file_are_the_same);
    tcase_add_test(t, what_was_never_written_is_a_hole);
    tcase_add_test(t, the_boot_id_is_the_same_twice);
    tcase_add_test(t, a_link_is_not_followed);
    tcase_add_test(t, a_dangling_link_is_not_followed);
    tcase_add_test(t, a_file_with_two_names_is_not_owned);
    tcase_add_test(t, a_fifo_is_neither_opened_nor_waited_for);
    tcase_add_test(t, a_folder_that_is_missing_is_named);
    tcase_add_test(t,
                   folders_that_are_missing_are_made_and_removed_while_empty);
    tcase_add_test(t, folders_that_were_made_on_a_way_that_ends_are_removed);
    tcase_add_test(t, a_link_among_the_folders_that_are_made_is_not_followed);
    tcase_add_test(t, only_an_empty_file_is_removed_as_such);
    tcase_add_test(t, a_folder_without_a_slash_is_the_one_that_we_are_in);
    tcase_add_test(t, a_folder_that_may_not_be_read_is_written_to);
    tcase_add_test(t, what_a_folder_is_replaced_by_is_not_written_to);
    tcase_add_test(t, a_disk_that_takes_few_bytes_gets_them_all);
    tcase_add_test(t, a_full_disk_is_told_with_offset_and_length);
    tcase_add_test(t, an_offset_that_no_file_has_is_an_error);
    tcase_add_test(t, a_file_is_cut_and_stretched);
    tcase_add_test(t, a_file_moves_in_one_step_where_that_can_be);
    tcase_add_loop_test(t, a_file_moves_to_a_free_name, 0, LINK_ERRNOS);
    tcase_add_loop_test(t, a_file_that_is_there_is_not_replaced, 0,
                        LINK_ERRNOS);
    tcase_add_loop_test(t, a_file_that_appears_meanwhile_is_not_replaced, 0,
                        LINK_ERRNOS);
    tcase_add_loop_test(t, not_even_a_dangling_link_is_replaced, 0,
                        LINK_ERRNOS);
    tcase_add_loop_test(t, a_failed_move_leaves_no_empty_file, 0, LINK_ERRNOS);
    tcase_add_test(t, an_old_name_that_stays_takes_the_new_one_back);
    tcase_add_test(t, with_leave_a_file_is_replaced);
    tcase_add_test(t, whatever_has_the_name_exists);
    tcase_add_test(t, a_file_is_read_at_any_offset_and_closed_on_exec);
    tcase_add_test(t, a_link_to_a_file_is_opened_for_reading);
    tcase_add_test(t, what_is_no_file_is_not_opened_for_reading);
    return run_suite("os.file", t);
}
