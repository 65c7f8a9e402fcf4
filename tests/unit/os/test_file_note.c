/* SPDX-License-Identifier: MIT */
/* lib/os/file_note: what the file system keeps with a file. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/file_note.h"
#include "suite.h"

static char folder[SUITE_FOLDER], path[SUITE_FOLDER + 2];
static int fd;

static void set_up(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/f", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "abc", 3), 3);
}

static void tear_down(void)
{
    close(fd);
    unlink(path);
    rmdir(folder);
}

static bool has_note(const char *expected)
{
    char *note = xd_file_note(fd);
    const bool is_it = note != NULL && strcmp(note, expected) == 0;

    xd_free(note);
    return is_it;
}

/* Not every file system keeps notes. */
static bool are_kept(void)
{
    xd_file_set_note(fd, "probe");
    return has_note("probe");
}

static bool has_none(void)
{
    char *note = xd_file_note(fd);

    xd_free(note);
    return note == NULL;
}

START_TEST(note_is_read_as_it_was_set)
{
    ck_assert(has_none());
    if (!are_kept())
        return;
    xd_file_set_note(fd, "one\n");
    ck_assert(has_note("one\n"));
    xd_file_set_note(fd, "two\n");
    ck_assert(has_note("two\n"));
    xd_file_set_note(fd, "");
    ck_assert(has_note(""));
}
END_TEST

START_TEST(file_that_changes_loses_its_note)
{
    xd_file_set_note(fd, "one\n");
    ck_assert_int_eq(write(fd, "d", 1), 1);
    ck_assert(has_none());
}
END_TEST

START_TEST(note_that_is_too_long_is_not_set)
{
    char text[XD_FILE_NOTE_MAX + 2] = "";

    if (!are_kept())
        return;
    memset(text, 'x', XD_FILE_NOTE_MAX + 1);
    xd_file_set_note(fd, text);
    ck_assert(has_note("probe"));
    text[XD_FILE_NOTE_MAX] = '\0';
    xd_file_set_note(fd, text);
    ck_assert(has_note(text));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("file_note");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, note_is_read_as_it_was_set);
    tcase_add_test(tcase, file_that_changes_loses_its_note);
    tcase_add_test(tcase, note_that_is_too_long_is_not_set);
    return run_suite("file_note", tcase);
}
