/* SPDX-License-Identifier: MIT */
/*
 * Names that a file system refuses, or folds into one.  The calls that make and look at
 * files are defined here, in front of the system's, so that such a file system can be
 * had anywhere.
 */
#define _DEFAULT_SOURCE /* syscall() */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/sinks/set_names.h"
#include "suite.h"

#define E_ACUTE "\xc3\xa9"
#define E_CAPITAL_ACUTE "\xc3\x89"
#define E_AND_ACUTE "e\xcc\x81"
#define SHARP_S "\xc3\x9f"
#define KELVIN "\xe2\x84\xaa"

static struct {
    bool folds;
    const char *refused; /* these characters */
    size_t longest;      /* component, in bytes; 0: as the disk has it */
} disk;

static char folder[SUITE_FOLDER];
static struct xd_error err;
static unsigned n_made;

/* ---- the file system ---- */

static bool replace_at(const char **from, char **to, const char *what,
                       const char *by)
{
    if (strncmp(*from, what, strlen(what)) != 0)
        return false;
    *from += strlen(what);
    *to += sprintf(*to, "%s", by);
    return true;
}

static const char *fold(const char *name, char out[2000])
{
    char *to = out;

    if (!disk.folds)
        return name;
    while (*name != '\0')
        if (!replace_at(&name, &to, E_AND_ACUTE, E_ACUTE) &&
            !replace_at(&name, &to, E_CAPITAL_ACUTE, E_ACUTE) &&
            !replace_at(&name, &to, SHARP_S, "ss") &&
            !replace_at(&name, &to, KELVIN, "k")) {
            *to++ = (char)(*name >= 'A' && *name <= 'Z' ? *name + 'a' - 'A'
                                                        : *name);
            name++;
        }
    *to = '\0';
    return out;
}

static bool refuses(const char *name)
{
    const char *last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;

    errno = disk.longest > 0 && strlen(last) > disk.longest ? ENAMETOOLONG
            : disk.refused && strpbrk(last, disk.refused)   ? EINVAL
                                                            : 0;
    return errno != 0;
}

int openat(int at, const char *name, int flags, ...)
{
    char folded[2000];
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = (mode_t)va_arg(args, int);
    va_end(args);
    if (flags & O_CREAT && refuses(name))
        return -1;
    n_made += (flags & O_CREAT) != 0;
    return (int)syscall(SYS_openat, at, fold(name, folded), flags, mode);
}

int mkdirat(int at, const char *name, mode_t mode)
{
    char folded[2000];

    return refuses(name)
               ? -1
               : (int)syscall(SYS_mkdirat, at, fold(name, folded), mode);
}

int unlinkat(int at, const char *name, int flags)
{
    char folded[2000];

    return (int)syscall(SYS_unlinkat, at, fold(name, folded), flags);
}

int fstatat(int at, const char *restrict name, struct stat *restrict out,
            int flags)
{
    char folded[2000];
    const int fd = (int)syscall(SYS_openat, at, fold(name, folded),
                                O_RDONLY | O_NOFOLLOW, 0);
    int rc;

    (void)flags;
    if (fd < 0)
        return -1;
    rc = fstat(fd, out);
    close(fd);
    return rc;
}

/* ---- the tests ---- */

static void set_up(void)
{
    memset(&disk, 0, sizeof disk);
    memset(&err, 0, sizeof err);
    n_made = 0;
    suite_folder(folder);
}

static void tear_down(void)
{
    ck_assert_int_eq(rmdir(folder), 0); /* no litter */
}

#define MOST 6

static int check(const char *const paths[MOST], const char *directory)
{
    struct xd_set_place places[MOST] = {{.path = NULL}};
    size_t n = 0;

    for (; n < MOST && paths[n]; n++)
        places[n].path = paths[n];
    return xd_set_names_check(places, n, directory, &err);
}

static void expect_refused(const char *const paths[MOST], const char *a,
                           const char *b)
{
    ck_assert_int_eq(check(paths, folder), XD_E_IO);
    ck_assert_msg(strstr(err.msg, a) && strstr(err.msg, b), "%s", err.msg);
}

static const char *const twins[][MOST] = {
    {"ReadMe.txt", "a.txt", "README.txt"},
    {"a/x", "b/y", "A/x"},
    {E_ACUTE ".txt", "b", E_AND_ACUTE ".txt"},
    {E_ACUTE ".txt", "b", E_CAPITAL_ACUTE ".TXT"},
    {"stra" SHARP_S "e", "x", "STRASSE"},
    {"1" KELVIN, "x", "1k"},
};

START_TEST(names_that_the_disk_folds_into_one_are_refused)
{
    disk.folds = true;
    expect_refused(twins[_i], twins[_i][0], twins[_i][2]);
}
END_TEST

START_TEST(names_that_differ_are_taken_by_other_disks)
{
    ck_assert_msg(check(twins[_i], folder) == 0, "%s", err.msg);
}
END_TEST

START_TEST(names_that_only_look_alike_are_taken)
{
    static const char *const paths[MOST] = {E_ACUTE ".txt", "e.txt", "f.txt",
                                            "\xc3\xa8.txt"};

    disk.folds = true;
    ck_assert_msg(check(paths, folder) == 0, "%s", err.msg);
}
END_TEST

START_TEST(characters_that_the_disk_refuses_are_named_with_the_file)
{
    static const char *const paths[MOST] = {"a", "b/what?.txt", "c"};
    static const char *const other[MOST] = {"a", "b: c/d", "e"};
    static const char *const foreign[MOST] = {"a", "\xe6\xbc\xa2.txt"};

    disk.refused = "?:\xe6";
    expect_refused(paths, "b/what?.txt", folder);
    expect_refused(other, "b: c/d", folder);
    expect_refused(foreign, "\xe6\xbc\xa2.txt", folder);
}
END_TEST

START_TEST(name_that_is_too_long_is_named)
{
    char name[200];
    const char *const paths[MOST] = {"a", name};

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(check(paths, folder), 0);
    disk.longest = 143;
    expect_refused(paths, name, folder);
    ck_assert_int_eq(err.os_errno, ENAMETOOLONG);
}
END_TEST

START_TEST(plain_names_are_not_tried)
{
    static const char *const paths[MOST] = {"a-1.0.tar.gz", "b/c_d (1).txt",
                                            "b/e", "f"};

    disk.folds = true;
    ck_assert_int_eq(check(paths, folder), 0);
    ck_assert_uint_eq(n_made, 0);
}
END_TEST

START_TEST(characters_are_tried_once)
{
    static const char *const paths[MOST] = {
        "1" E_ACUTE, "2" E_ACUTE, "3" E_ACUTE E_ACUTE, "4", "5" E_ACUTE "?"};

    ck_assert_int_eq(check(paths, folder), 0);
    ck_assert_uint_ge(n_made, 1);
    ck_assert_uint_le(n_made, 2);
}
END_TEST

START_TEST(folder_that_is_not_there_yet_is_tried_above)
{
    char directory[SUITE_FOLDER + 20];

    snprintf(directory, sizeof directory, "%s/not/there", folder);
    disk.folds = true;
    ck_assert_int_eq(check(twins[0], directory), XD_E_IO);
}
END_TEST

#define N_TWINS ((int)(sizeof twins / sizeof *twins))

int main(void)
{
    TCase *t = tcase_create("set_names");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, names_that_the_disk_folds_into_one_are_refused, 0,
                        N_TWINS);
    tcase_add_loop_test(t, names_that_differ_are_taken_by_other_disks, 0,
                        N_TWINS);
    tcase_add_test(t, names_that_only_look_alike_are_taken);
    tcase_add_test(t, characters_that_the_disk_refuses_are_named_with_the_file);
    tcase_add_test(t, name_that_is_too_long_is_named);
    tcase_add_test(t, plain_names_are_not_tried);
    tcase_add_test(t, characters_are_tried_once);
    tcase_add_test(t, folder_that_is_not_there_yet_is_tried_above);
    return run_suite("set_names", t);
}
