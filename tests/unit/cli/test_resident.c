/* SPDX-License-Identifier: MIT */
#include "depot/resident.h"

#include <errno.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

#define SIZE ((size_t)200000)

static char buffer[SIZE];
static int fd;

/* In a folder whose files are in memory and nowhere else a byte that was never written is
 * not in memory, in others one that was dropped. */
static void make(const char *name)
{
    char path[100];

    snprintf(path, sizeof path, "%s/xd-test-XXXXXX", name);
    fd = mkstemp(path);
    if (fd < 0)
        return;
    unlink(path);
    memset(buffer, 'x', SIZE);
    ck_assert_int_eq(write(fd, buffer, SIZE), (ssize_t)SIZE);
}

START_TEST(what_was_just_written_is_in_memory)
{
    make("/tmp");
    ck_assert_int_ge(fd, 0);
    memset(buffer, 0, SIZE);
    ck_assert_int_eq(resident_read(fd, buffer, 10, 5), 10);
    ck_assert_mem_eq(buffer, "xxxxxxxxxx", 11);
    ck_assert_int_eq(resident_read(fd, buffer, 10, SIZE - 4), 4);
    ck_assert_int_eq(resident_read(fd, buffer, 10, SIZE), 0);
    close(fd);
}
END_TEST

/* Where no file system keeps files elsewhere there is nothing to be seen. */
START_TEST(what_was_dropped_is_not_read)
{
    make("/var/tmp");
    if (fd < 0)
        return;
#ifdef __linux__
    ck_assert_int_eq(fsync(fd), 0);
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    if (resident_read(fd, buffer, 10, 100000) < 0) {
        ck_assert_int_eq(errno, EAGAIN);
        ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
        ck_assert_int_eq(pread(fd, buffer, 10, 100000), 10);
        ck_assert_int_eq(resident_read(fd, buffer, 10, 100000), 10);
        ck_assert_int_eq(resident_read(fd, buffer, 10, 0), -1);
        ck_assert_int_eq(errno, EAGAIN);
    }
#endif
    close(fd);
}
END_TEST

START_TEST(where_only_pages_can_be_looked_at_they_are)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    make("/dev/shm");
    if (fd < 0)
        return;
#ifdef __linux__
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)(8 * page)), 0);
    ck_assert_int_eq(pwrite(fd, "abcd", 4, (off_t)(2 * page - 2)), 4);
    if (resident_read(fd, buffer, page, 5 * page) < 0) {
        ck_assert_int_eq(errno, EAGAIN);
        ck_assert_int_eq(resident_read(fd, buffer, 4, 2 * page - 2), 4);
        ck_assert_mem_eq(buffer, "abcd", 4);
        ck_assert_int_eq(resident_read(fd, buffer, 4 * page, page + 7),
                         (ssize_t)(2 * page - 7));
        ck_assert_int_eq(resident_read(fd, buffer, page, 3 * page - 1), 1);
        ck_assert_int_eq(resident_read(fd, buffer, page, page - 1), -1);
    }
#endif
    close(fd);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("resident");

    tcase_add_test(t, what_was_just_written_is_in_memory);
    tcase_add_test(t, what_was_dropped_is_not_read);
    tcase_add_test(t, where_only_pages_can_be_looked_at_they_are);
    return run_suite("resident", t);
}
