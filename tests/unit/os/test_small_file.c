/* SPDX-License-Identifier: MIT */
#include "os/small_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static char dir[SUITE_FOLDER], path[128];
static struct xd_error err;
static struct xd_text text;
static char calls[32]; /* of the disk */
static size_t n_calls;

static void setup(void)
{
    suite_folder(dir);
    n_calls = 0;
    calls[0] = '\0';
    snprintf(path, sizeof path, "%s/a/b/file", dir);
}

static void teardown(void)
{
    char part[128];

    xd_text_fini(&text);
    unlink(path);
    snprintf(part, sizeof part, "%s/a/b", dir);
    rmdir(part);
    snprintf(part, sizeof part, "%s/a", dir);
    rmdir(part);
    /* Fails where something was left behind. */
    ck_assert_int_eq(rmdir(dir), 0);
}

/* ---- what is asked of the disk, in order, in place of the system's ---- */

static void note(char call)
{
    if (n_calls + 1 < sizeof calls)
        calls[n_calls++] = call;
    calls[n_calls] = '\0';
}

int fsync(int fd)
{
    struct stat st;

    note(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? 'd' : 'f');
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

int rename(const char *from, const char *to)
{
    note('r');
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void replace(const char *content)
{
    int rc = xd_small_file_replace(path, content, strlen(content), &err);

    ck_assert_msg(rc == 0, "%s", err.msg);
}

static mode_t mode_of(const char *name)
{
    struct stat st;

    ck_assert_int_eq(lstat(name, &st), 0);
    return st.st_mode & 07777;
}

START_TEST(what_was_written_is_read)
{
    replace("first and longer");
    replace("second");
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_str_eq(text.s, "second");
}
END_TEST

START_TEST(no_more_is_read_than_was_asked_for)
{
    static char many[10000];

    memset(many, 'x', sizeof many - 1);
    replace(many);
    ck_assert_int_eq(xd_small_file_read(&text, path, 5000, &err), 0);
    ck_assert_uint_eq(text.len, 5000);
}
END_TEST

START_TEST(a_file_that_is_not_there_holds_nothing)
{
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_uint_eq(text.len, 0);
}
END_TEST

START_TEST(only_the_owner_may_read_it)
{
    mode_t mask = umask(0);

    replace("x");
    umask(mask);
    ck_assert_uint_eq(mode_of(path), 0600);
    *strrchr(path, '/') = '\0';
    ck_assert_uint_eq(mode_of(path), 0700);
    path[strlen(path)] = '/';
}
END_TEST

START_TEST(what_is_no_regular_file_is_neither_read_nor_replaced)
{
    replace("x");
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), XD_E_IO);
    ck_assert_int_eq(xd_small_file_replace(path, "y", 1, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "not a regular file"));
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_told_by_name)
{
    snprintf(path, sizeof path, "/dev/null/cache/file");
    ck_assert_int_eq(xd_small_file_replace(path, "y", 1, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "/dev/null/cache"));
}
END_TEST

static int read_private(void)
{
    xd_text_fini(&text);
    text = (struct xd_text){.s = NULL};
    return xd_small_file_read_private(&text, path, 100, &err);
}

START_TEST(what_is_private_is_read)
{
    replace("secret");
    ck_assert_int_eq(read_private(), 0);
    ck_assert_str_eq(text.s, "secret");
    ck_assert_int_eq(chmod(path, 0400), 0);
    ck_assert_int_eq(read_private(), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(read_private(), 0);
    ck_assert_uint_eq(text.len, 0);
}
END_TEST

START_TEST(what_others_may_use_is_not_private)
{
    replace("secret");
    for (mode_t bit = 01; bit < 0100; bit <<= 1) {
        ck_assert_int_eq(chmod(path, 0600 | bit), 0);
        ck_assert_int_eq(read_private(), XD_E_IO);
        ck_assert_uint_eq(text.len, 0);
        ck_assert_ptr_nonnull(strstr(err.msg, "chmod 600"));
    }
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_private)
{
    char other[160];

    replace("secret");
    snprintf(other, sizeof other, "%s.other", path);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_int_eq(read_private(), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "symbolic link"));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(read_private(), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "regular"));
}
END_TEST

/* File, name, folder: at no moment is neither on the disk. */
START_TEST(what_is_kept_is_on_the_disk_before_its_name_is)
{
    replace("first");
    ck_assert_str_eq(calls, "r");
    n_calls = 0;
    ck_assert_int_eq(xd_small_file_keep(path, "second", 6, &err), 0);
    ck_assert_str_eq(calls, "frd");
    ck_assert_uint_eq(mode_of(path), 0600);
    n_calls = 0;
    ck_assert_int_eq(xd_small_file_publish(path, "third", 5, &err), 0);
    ck_assert_str_eq(calls, "frd");
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_str_eq(text.s, "third");
}
END_TEST

START_TEST(what_is_added_is_on_the_disk_behind_what_was_kept)
{
    ck_assert_int_eq(xd_small_file_append(path, "x", 1, &err), XD_E_IO);
    replace("first");
    n_calls = 0;
    ck_assert_int_eq(xd_small_file_append(path, ", second", 8, &err), 0);
    ck_assert_str_eq(calls, "f");
    ck_assert_int_eq(xd_small_file_append(path, ", third", 7, &err), 0);
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_str_eq(text.s, "first, second, third");
    ck_assert_int_eq(chmod(path, 0620), 0);
    ck_assert_int_eq(xd_small_file_append(path, "x", 1, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "chmod 600"));
}
END_TEST

START_TEST(what_is_kept_has_its_folder)
{
    ck_assert_int_eq(xd_small_file_keep(path, "x", 1, &err), XD_E_IO);
    ck_assert_str_eq(calls, "");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("small_file");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_was_written_is_read);
    tcase_add_test(tcase, no_more_is_read_than_was_asked_for);
    tcase_add_test(tcase, a_file_that_is_not_there_holds_nothing);
    tcase_add_test(tcase, only_the_owner_may_read_it);
    tcase_add_test(tcase, what_is_no_regular_file_is_neither_read_nor_replaced);
    tcase_add_test(tcase, a_folder_that_cannot_be_made_is_told_by_name);
    tcase_add_test(tcase, what_is_private_is_read);
    tcase_add_test(tcase, what_others_may_use_is_not_private);
    tcase_add_test(tcase, what_is_no_regular_file_is_not_private);
    tcase_add_test(tcase, what_is_kept_is_on_the_disk_before_its_name_is);
    tcase_add_test(tcase, what_is_added_is_on_the_disk_behind_what_was_kept);
    tcase_add_test(tcase, what_is_kept_has_its_folder);
    return run_suite("small_file", tcase);
}
