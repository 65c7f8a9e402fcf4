#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
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

    ck_assert_int_eq(xd_file_sink_new(&s, path, replace, &err), 0);
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
    ck_assert(!xd_file_exists(path));
    ck_assert_int_eq(xd_sink_finish(s, 6, &err), 0);
    xd_sink_free(s);
    ck_assert(!xd_file_exists(part));
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
    ck_assert(!xd_file_exists(path));
    check_content(part, "abc");
}
END_TEST

START_TEST(existing_file_is_refused_before_anything_is_made)
{
    struct xd_sink *s = NULL;

    put(path, "old");
    ck_assert_int_eq(xd_file_sink_new(&s, path, false, &err), XD_E_IO);
    ck_assert_ptr_null(s);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
    ck_assert_ptr_nonnull(strstr(err.msg, "already exists"));
    ck_assert(!xd_file_exists(part));
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
    ck_assert(!xd_file_exists(path));
    check_content(part, "other");
}
END_TEST

START_TEST(folder_that_is_not_there_is_an_io_error)
{
    struct xd_sink *s = NULL;
    char nowhere[100];

    snprintf(nowhere, sizeof nowhere, "%s/no/f", folder);
    ck_assert_int_eq(xd_file_sink_new(&s, nowhere, false, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, nowhere));
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
    tcase_add_test(tcase, existing_file_is_refused_before_anything_is_made);
    tcase_add_test(tcase, existing_file_is_replaced_only_at_finish);
    tcase_add_test(tcase, file_that_appears_meanwhile_is_not_replaced);
    tcase_add_test(tcase, file_that_took_the_place_of_the_part_gets_no_name);
    tcase_add_test(tcase, folder_that_is_not_there_is_an_io_error);
    return run_suite("file_sink", tcase);
}
