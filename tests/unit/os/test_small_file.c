/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* renameat2() */

#include "os/small_file.h"

#include <errno.h>
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
static bool refuses_owners; /* as to who is not root */

static void setup(void)
{
    suite_folder(dir);
    n_calls = 0;
    calls[0] = '\0';
    refuses_owners = false;
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

int renameat(int a, const char *from, int b, const char *to)
{
    note('r');
    return renameat2(a, from, b, to, 0);
}

int fchown(int fd, uid_t user, gid_t group)
{
    if (!refuses_owners)
        return fchownat(fd, "", user, group, AT_EMPTY_PATH);
    errno = EPERM;
    return -1;
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
    ck_assert_int_eq(
        xd_small_file_publish(path, "third", 5, XD_REPLACE_FILE, &err), 0);
    ck_assert_str_eq(calls, "frd");
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_str_eq(text.s, "third");
}
END_TEST

/* Also the mode that nobody gets from a umask: it is the user's choice. */
START_TEST(a_file_that_is_replaced_leaves_its_mode)
{
    static const mode_t modes[] = {0600, 0640, 0660, 0400, 0644};
    const mode_t mask = umask(022);

    replace("first");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        replace("second");
        ck_assert_uint_eq(mode_of(path), modes[i]);
        ck_assert_int_eq(
            xd_small_file_publish(path, "third", 5, XD_REPLACE_FILE, &err), 0);
        ck_assert_uint_eq(mode_of(path), modes[i]);
    }
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(xd_small_file_publish(path, "x", 1, XD_REPLACE_FILE, &err),
                     0);
    ck_assert_uint_eq(mode_of(path), 0644);
    umask(mask);
}
END_TEST

START_TEST(a_secret_is_for_its_owner_whatever_the_old_mode_was)
{
    replace("first");
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(xd_small_file_keep(path, "secret", 6, &err), 0);
    ck_assert_uint_eq(mode_of(path), 0600);
}
END_TEST

START_TEST(a_file_that_is_replaced_leaves_its_owner)
{
    struct stat st;

    if (geteuid() != 0)
        return; /* nobody else may give files away */
    replace("first");
    ck_assert_int_eq(chown(path, 12, 34), 0);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(
        xd_small_file_publish(path, "second", 6, XD_REPLACE_FILE, &err), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_uid, 12);
    ck_assert_uint_eq(st.st_gid, 34);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_group_that_is_refused_takes_its_rights_along)
{
    struct stat st;

    replace("first");
    if (chown(path, (uid_t)-1, 34) != 0)
        return; /* we are not root */
    ck_assert_int_eq(chmod(path, 0674), 0);
    refuses_owners = true;
    ck_assert_int_eq(
        xd_small_file_publish(path, "second", 6, XD_REPLACE_FILE, &err), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0644);
}
END_TEST

START_TEST(a_file_that_exists_is_left_alone_unless_it_may_be_replaced)
{
    replace("first");
    ck_assert_int_eq(
        xd_small_file_publish(path, "second", 6, XD_REPLACE_NOTHING, &err),
        XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "already exists"));
    ck_assert_int_eq(xd_small_file_read(&text, path, 100, &err), 0);
    ck_assert_str_eq(text.s, "first");
}
END_TEST

START_TEST(a_link_is_replaced_itself_or_not_at_all)
{
    char other[160];

    replace("first");
    snprintf(other, sizeof other, "%s.other", path);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_int_eq(
        xd_small_file_publish(path, "x", 1, XD_REPLACE_NOTHING, &err), XD_E_IO);
    ck_assert_int_eq(xd_small_file_publish(path, "x", 1, XD_REPLACE_FILE, &err),
                     XD_E_IO);
    ck_assert_int_eq(
        xd_small_file_publish(path, "x", 1, XD_REPLACE_FILE_OR_LINK, &err), 0);
    ck_assert_int_eq(xd_small_file_read(&text, other, 100, &err), 0);
    ck_assert_str_eq(text.s, "first");
    ck_assert_int_eq(unlink(other), 0);
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
    tcase_add_test(tcase, a_link_is_replaced_itself_or_not_at_all);
    tcase_add_test(tcase, a_file_that_is_replaced_leaves_its_mode);
    tcase_add_test(tcase, a_secret_is_for_its_owner_whatever_the_old_mode_was);
    tcase_add_test(tcase, a_file_that_is_replaced_leaves_its_owner);
    tcase_add_test(tcase, a_group_that_is_refused_takes_its_rights_along);
    tcase_add_test(tcase,
                   a_file_that_exists_is_left_alone_unless_it_may_be_replaced);
    return run_suite("small_file", tcase);
}
