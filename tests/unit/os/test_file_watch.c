/* SPDX-License-Identifier: MIT */
#include "os/file_watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "suite.h"

static char dir[SUITE_FOLDER], path[128];
static int file = -1, watch = -1;

static void setup(void)
{
    suite_folder(dir);
    snprintf(path, sizeof path, "%s/f.part", dir);
    file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(file, 0);
    watch = xd_file_watch(file, true);
}

static void teardown(void)
{
    if (watch >= 0)
        close(watch);
    close(file);
    unlink(path);
    rmdir(dir);
}

START_TEST(writes_and_reads_of_ours_are_no_opening)
{
    char c;

    if (watch < 0)
        return; /* the disk is not one of this machine */
    ck_assert_int_eq(pwrite(file, "abc", 3, 0), 3);
    ck_assert_int_eq(pread(file, &c, 1, 0), 1);
    ck_assert_int_eq(ftruncate(file, 2), 0);
    ck_assert_int_eq(fdatasync(file), 0);
    ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert(!xd_file_was_opened(watch));
}
END_TEST

START_TEST(an_opening_by_any_name_is_seen)
{
    char link_path[140];

    if (watch < 0)
        return;
    snprintf(link_path, sizeof link_path, "%s.link", path);
    ck_assert_int_eq(link(path, link_path), 0);
    ck_assert(!xd_file_was_opened(watch));
    const int other = open(link_path, O_WRONLY);
    ck_assert_int_ge(other, 0);
    ck_assert(xd_file_was_opened(watch));
    close(other);
    ck_assert_int_eq(unlink(link_path), 0);
}
END_TEST

START_TEST(old_file_is_watched_unless_another_program_may_write_to_it)
{
    int again;

    if (watch < 0)
        return;
    again = xd_file_watch(file, false);
    ck_assert_int_ge(again, 0);
    ck_assert(!xd_file_was_opened(again));
    close(again);
    const int writer = open(path, O_WRONLY);
    ck_assert_int_ge(writer, 0);
    ck_assert_int_eq(xd_file_watch(file, false), -1);
    close(writer);
    again = xd_file_watch(file, false);
    ck_assert_int_ge(again, 0);
    close(again);
}
END_TEST

START_TEST(without_a_watch_the_file_may_have_been_opened)
{
    ck_assert(xd_file_was_opened(-1));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("file_watch");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, writes_and_reads_of_ours_are_no_opening);
    tcase_add_test(tcase, an_opening_by_any_name_is_seen);
    tcase_add_test(tcase,
                   old_file_is_watched_unless_another_program_may_write_to_it);
    tcase_add_test(tcase, without_a_watch_the_file_may_have_been_opened);
    return run_suite("file_watch", tcase);
}
