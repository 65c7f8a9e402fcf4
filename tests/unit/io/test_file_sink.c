/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sinks/sink.h"
#include "os/file.h"
#include "suite.h"

static char folder[64], path[80], part[90];
static struct xd_error err;

static void set_up(void)
{
    strcpy(folder, "file-sink-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    snprintf(part, sizeof part, "%s.part", path);
}

static void tear_down(void)
{
    unlink(path);
    unlink(part);
    ck_assert_int_eq(rmdir(folder), 0);
}

static struct xd_sink *open_sink(bool replace)
{
    struct xd_sink *s = NULL;

    ck_assert_int_eq(xd_file_sink_new(&s, path, SIZE_MAX, replace, &err), 0);
    return s;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
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

START_TEST(file_has_its_name_only_after_finish)
{
    struct xd_sink *s = open_sink(false);

    ck_assert_int_eq(xd_sink_write(s, 3, "def", 3, &err), 0);
    ck_assert_int_eq(xd_sink_write(s, 0, "abc", 3, &err), 0);
    ck_assert(access(path, F_OK) != 0);
    ck_assert_int_eq(xd_sink_finish(s, 6, &err), 0);
    xd_sink_free(s);
    ck_assert(access(part, F_OK) != 0);
    check_content(path, "abcdef");
}
END_TEST

START_TEST(what_lies_behind_the_size_is_cut_off)
{
    struct xd_sink *s = open_sink(false);

    ck_assert_int_eq(xd_sink_write(s, 0, "abcdef", 6, &err), 0);
    ck_assert_int_eq(xd_sink_finish(s, 4, &err), 0);
    xd_sink_free(s);
    check_content(path, "abcd");
}
END_TEST

START_TEST(free_without_finish_leaves_the_part)
{
    struct xd_sink *s = open_sink(false);

    ck_assert_int_eq(xd_sink_write(s, 0, "abc", 3, &err), 0);
    xd_sink_free(s);
    ck_assert(access(path, F_OK) != 0);
    check_content(part, "abc");
}
END_TEST

START_TEST(free_leaves_no_empty_part_and_no_folder_made_for_it)
{
    char deep[100], mine[100];
    struct xd_sink *s = open_sink(false);

    xd_sink_free(s);
    ck_assert(access(part, F_OK) != 0);

    /* One that was there, and was emptied, too. */
    put(part, "old");
    s = open_sink(false);
    ck_assert(!xd_file_sink_remove_empty(s));
    ck_assert_int_eq(xd_file_sink_empty(s, &err), 0);
    ck_assert(xd_file_sink_remove_empty(s));
    ck_assert(access(part, F_OK) != 0);
    xd_sink_free(s);

    snprintf(deep, sizeof deep, "%s/p/q/f", folder);
    snprintf(mine, sizeof mine, "%s/p", folder);
    ck_assert_int_eq(xd_file_sink_new(&s, deep, strlen(folder), false, &err),
                     0);
    ck_assert_int_eq(access(mine, F_OK), 0);
    xd_sink_free(s);
    ck_assert(access(mine, F_OK) != 0);
}
END_TEST

START_TEST(existing_file_is_refused_before_anything_is_made)
{
    struct xd_sink *s = NULL;

    put(path, "old");
    ck_assert_int_eq(xd_file_sink_new(&s, path, SIZE_MAX, false, &err),
                     XD_E_IO);
    ck_assert_ptr_null(s);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
    ck_assert_ptr_nonnull(strstr(err.msg, "already exists"));
    ck_assert(access(part, F_OK) != 0);
    check_content(path, "old");
}
END_TEST

START_TEST(existing_file_is_replaced_only_at_finish)
{
    struct xd_sink *s;

    put(path, "old");
    s = open_sink(true);
    ck_assert_int_eq(xd_sink_write(s, 0, "new", 3, &err), 0);
    check_content(path, "old");
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), 0);
    xd_sink_free(s);
    check_content(path, "new");
}
END_TEST

START_TEST(file_that_is_replaced_keeps_its_mode)
{
    struct xd_sink *s;
    struct stat st;

    put(path, "old");
    ck_assert_int_eq(chmod(path, 0640), 0);
    s = open_sink(true);
    ck_assert_int_eq(xd_sink_write(s, 0, "new", 3, &err), 0);
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), 0);
    xd_sink_free(s);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(file_that_appears_meanwhile_is_not_replaced)
{
    struct xd_sink *s = open_sink(false);

    ck_assert_int_eq(xd_sink_write(s, 0, "new", 3, &err), 0);
    put(path, "other");
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), XD_E_IO);
    xd_sink_free(s);
    check_content(path, "other");
    check_content(part, "new");
}
END_TEST

START_TEST(file_that_took_the_place_of_the_part_gets_no_name)
{
    struct xd_sink *s = open_sink(false);

    ck_assert_int_eq(xd_sink_write(s, 0, "new", 3, &err), 0);
    ck_assert_int_eq(unlink(part), 0);
    put(part, "other");
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, part));
    xd_sink_free(s);
    ck_assert(access(path, F_OK) != 0);
    check_content(part, "other");
}
END_TEST

START_TEST(folder_that_is_not_there_is_an_io_error)
{
    struct xd_sink *s = NULL;
    char nowhere[100];

    snprintf(nowhere, sizeof nowhere, "%s/no/f", folder);
    ck_assert_int_eq(xd_file_sink_new(&s, nowhere, SIZE_MAX, false, &err),
                     XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, nowhere));
}
END_TEST

/* The folder is moved, and a link to another takes its place. */
START_TEST(name_that_is_too_long_is_refused_before_anything_is_made)
{
    struct xd_sink *s;
    char name[400];

    snprintf(name, sizeof name, "%s/%0300d", folder, 1);
    ck_assert_int_eq(xd_file_sink_new(&s, name, SIZE_MAX, false, &err),
                     XD_E_IO);
    ck_assert_int_eq(err.os_errno, ENAMETOOLONG);
    ck_assert_ptr_nonnull(strstr(err.msg, "refuses this name"));
}
END_TEST

START_TEST(what_the_folder_is_replaced_by_is_not_written_to)
{
    char moved[100], other[100], there[120];
    struct xd_sink *s = open_sink(true), *scratch;

    snprintf(moved, sizeof moved, "%s.moved", folder);
    snprintf(other, sizeof other, "%s.other", folder);
    ck_assert_int_eq(mkdir(other, 0700), 0);
    ck_assert_int_eq(rename(folder, moved), 0);
    ck_assert_int_eq(symlink(other, folder), 0);

    ck_assert_int_eq(xd_sink_write(s, 0, "abc", 3, &err), 0);
    ck_assert_int_eq(xd_scratch_sink_new(&scratch, s, &err), 0);
    xd_sink_free(scratch);
    ck_assert_int_eq(xd_sink_finish(s, 3, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
    ck_assert_ptr_nonnull(strstr(err.msg, "folder was moved or replaced"));
    xd_sink_free(s);
    snprintf(there, sizeof there, "%s%s", moved, strrchr(part, '/'));
    check_content(there, "abc");

    ck_assert_int_eq(rmdir(other), 0); /* nothing was made in it */
    ck_assert_int_eq(unlink(folder), 0);
    ck_assert_int_eq(rename(moved, folder), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("file_sink");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, file_has_its_name_only_after_finish);
    tcase_add_test(tcase, what_lies_behind_the_size_is_cut_off);
    tcase_add_test(tcase, free_without_finish_leaves_the_part);
    tcase_add_test(tcase, free_leaves_no_empty_part_and_no_folder_made_for_it);
    tcase_add_test(tcase, existing_file_is_refused_before_anything_is_made);
    tcase_add_test(tcase, existing_file_is_replaced_only_at_finish);
    tcase_add_test(tcase, file_that_is_replaced_keeps_its_mode);
    tcase_add_test(tcase, file_that_appears_meanwhile_is_not_replaced);
    tcase_add_test(tcase, file_that_took_the_place_of_the_part_gets_no_name);
    tcase_add_test(tcase, folder_that_is_not_there_is_an_io_error);
    tcase_add_test(tcase,
                   name_that_is_too_long_is_refused_before_anything_is_made);
    tcase_add_test(tcase, what_the_folder_is_replaced_by_is_not_written_to);
    return run_suite("file_sink", tcase);
}
