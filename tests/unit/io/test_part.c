/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "io/part.h"
#include "suite.h"

static struct xd_text text;

static const char *part_of(const char *path, const char *suffix)
{
    xd_text_fini(&text);
    xd_part_path(&text, path, suffix);
    ck_assert(!text.failed);
    return text.s;
}

START_TEST(names_have_their_suffix)
{
    ck_assert_str_eq(part_of("a.iso", XD_PART), "a.iso.part");
    ck_assert_str_eq(part_of("/x/a", XD_PART_JOURNAL), "/x/a.part.journal");
}
END_TEST

/* A path within a folder, of `len` bytes `c`. */
static const char *long_path(char c, size_t len)
{
    static char path[400];

    strcpy(path, "folder/");
    memset(path + 7, c, len);
    path[7 + len] = '\0';
    return path;
}

START_TEST(no_name_is_longer_than_file_systems_take)
{
    char suffixed[400];

    for (size_t len = 1; len <= 255; len++) {
        const char *path = long_path('n', len);
        const char *longest = part_of(path, ".part.journal.new");

        ck_assert_uint_le(strlen(longest), 7 + 255);
        ck_assert_int_eq(strncmp(longest, "folder/n", 8), 0);
        snprintf(suffixed, sizeof suffixed, "%s.new",
                 part_of(path, XD_PART_JOURNAL));
        ck_assert_str_eq(part_of(path, ".part.journal.new"), suffixed);
    }
}
END_TEST

START_TEST(long_names_stay_different)
{
    char first[400], other[300];

    snprintf(first, sizeof first, "%s", part_of(long_path('n', 255), XD_PART));
    ck_assert_str_eq(part_of(long_path('n', 255), XD_PART), first);
    ck_assert_str_ne(part_of(long_path('n', 254), XD_PART), first);
    memset(other, 'n', 254);
    strcpy(other + 254, "m");
    ck_assert_str_ne(part_of(other, XD_PART), first + 7);
}
END_TEST

START_TEST(a_character_is_not_cut)
{
    char path[256] = "";

    for (size_t i = 0; i + 3 < 255; i += 3)
        strcat(path, "\xe6\x98\xa0");
    part_of(path, XD_PART);
    ck_assert_uint_eq((size_t)(strchr(text.s, '~') - text.s) % 3, 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("part");

    tcase_add_test(t, names_have_their_suffix);
    tcase_add_test(t, no_name_is_longer_than_file_systems_take);
    tcase_add_test(t, long_names_stay_different);
    tcase_add_test(t, a_character_is_not_cut);
    return run_suite("io.part", t);
}
