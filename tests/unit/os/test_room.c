/* SPDX-License-Identifier: MIT */
#include "os/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <xdownload/error.h>

#include "suite.h"

static char folder[SUITE_FOLDER], path[200];

static void setup(void)
{
    suite_folder(folder);
}

static void teardown(void)
{
    char command[100];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void expect_disk_of(const char *where)
{
    struct stat st;
    uint64_t disk = 0, room = 0;

    ck_assert_int_eq(stat(where, &st), 0);
    ck_assert(xd_disk_room(path, &disk, &room));
    ck_assert_uint_eq(disk, (uint64_t)st.st_dev);
}

START_TEST(
    folders_that_are_not_there_yet_will_lie_on_the_disk_of_those_that_are)
{
    snprintf(path, sizeof path, "%s/a/b/file", folder);
    expect_disk_of(folder);
    snprintf(path, sizeof path, "/proc/none/file");
    expect_disk_of("/proc");
    snprintf(path, sizeof path, "/proc-none/file");
    expect_disk_of("/");
    snprintf(path, sizeof path, "/proc-none");
    expect_disk_of("/");
}
END_TEST

START_TEST(a_path_without_a_folder_lies_in_the_current_one)
{
    ck_assert_int_eq(chdir("/proc"), 0);
    snprintf(path, sizeof path, "file");
    expect_disk_of("/proc");
    snprintf(path, sizeof path, "none/file");
    expect_disk_of("/proc");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(a_file_takes_up_what_was_written_to_it)
{
    FILE *f;

    snprintf(path, sizeof path, "%s/file", folder);
    ck_assert_uint_eq(xd_disk_taken(path), 0);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(fputc('x', f), 'x');
    ck_assert_int_eq(fflush(f), 0);
    ck_assert_int_eq(fsync(fileno(f)), 0);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_uint_ge(xd_disk_taken(path), 100000);
    ck_assert_uint_lt(xd_disk_taken(path), 1000000);
}
END_TEST

START_TEST(full_disk_is_reported_with_both_sizes)
{
    struct xd_error error;

    ck_assert_int_eq(xd_fail_disk_full(&error, "d.part", 64 << 20, 10 << 20),
                     XD_E_IO);
    ck_assert_str_eq(error.msg,
                     "d.part needs 64 MiB, but only 10 MiB are free on its "
                     "disk: free some space or use --directory");
    ck_assert_int_eq(
        xd_fail_disk_full(&error, "d.part", (64 << 20) + 1, 64 << 20), XD_E_IO);
    ck_assert_ptr_nonnull(
        strstr(error.msg, "needs 67108865, but only 67108864 bytes are free"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("room");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(
        t,
        folders_that_are_not_there_yet_will_lie_on_the_disk_of_those_that_are);
    tcase_add_test(t, a_path_without_a_folder_lies_in_the_current_one);
    tcase_add_test(t, a_file_takes_up_what_was_written_to_it);
    tcase_add_test(t, full_disk_is_reported_with_both_sizes);
    return run_suite("room", t);
}
