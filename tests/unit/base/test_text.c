/* SPDX-License-Identifier: MIT */
/* lib/base/text: strings that grow, and lines for people. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "suite.h"

static struct xd_text text;

static void setup(void)
{
    text = (struct xd_text){.s = NULL};
}

static void teardown(void)
{
    xd_text_fini(&text);
}

XD_PRINTF(3, 4)
static void line(char *out, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    xd_format_line(out, size, format, args);
    va_end(args);
}

START_TEST(what_is_added_stands_behind_what_was_there)
{
    xd_text_add(&text, "abcdef", 3);
    xd_text_addf(&text, "-%d-%s", 42, "x");
    ck_assert_str_eq(text.s, "abc-42-x");
    ck_assert_uint_eq(text.len, 8);
    ck_assert(!text.failed);
}
END_TEST

START_TEST(nothing_added_is_an_empty_string)
{
    ck_assert_ptr_null(text.s);
    xd_text_add(&text, "", 0);
    ck_assert_str_eq(text.s, "");
    xd_text_addf(&text, "%s", "");
    ck_assert_str_eq(text.s, "");
}
END_TEST

START_TEST(a_text_grows_over_every_size)
{
    for (size_t i = 0; i < 5000; i++) {
        char c = (char)('a' + i % 26);

        ck_assert_uint_eq(text.len, i);
        if (i % 2 == 0)
            xd_text_add(&text, &c, 1);
        else
            xd_text_addf(&text, "%c", c);
        ck_assert_uint_lt(text.len, text.capacity);
        ck_assert_int_eq(text.s[i], c);
        ck_assert_int_eq(text.s[i + 1], '\0');
    }
    ck_assert_uint_eq(strspn(text.s, "abcdefghijklmnopqrstuvwxyz"), 5000);
}
END_TEST

START_TEST(clearing_keeps_the_memory)
{
    xd_text_addf(&text, "%0200d", 0);
    char *s = text.s;
    size_t capacity = text.capacity;

    xd_text_clear(&text);
    ck_assert_str_eq(text.s, "");
    xd_text_add(&text, "again", 5);
    ck_assert_str_eq(text.s, "again");
    ck_assert_ptr_eq(text.s, s);
    ck_assert_uint_eq(text.capacity, capacity);
}
END_TEST

START_TEST(a_failure_stays_and_keeps_what_was_there)
{
    xd_text_add(&text, "kept", 4);
    xd_text_add(&text, "x", SIZE_MAX / 2);
    ck_assert(text.failed);
    xd_text_add(&text, "y", 1);
    xd_text_addf(&text, "z");
    ck_assert(text.failed);
    ck_assert_str_eq(text.s, "kept");
    ck_assert_uint_eq(text.len, 4);
}
END_TEST

START_TEST(control_characters_do_not_reach_the_terminal)
{
    char out[100];

    line(out, sizeof out, "%s", "a\nb\x1b[2Jc\x7f\t\r");
    ck_assert_str_eq(out, "a?b?[2Jc???");
    /* C1: the control sequence introducer, and the last one. */
    line(out, sizeof out, "%s",
         "\xc2\x9b"
         "2J \xc2\x9f");
    ck_assert_str_eq(out, "?2J ?");
    line(out, sizeof out, "%s", "\xc2\xa0 caf\xc3\xa9 \xe2\x82\xac");
    ck_assert_str_eq(out, "\xc2\xa0 caf\xc3\xa9 \xe2\x82\xac");
}
END_TEST

START_TEST(a_line_is_cut_between_characters)
{
    const char *one_to_four[] = {"z", "\xc3\xa9", "\xe2\x82\xac",
                                 "\xf0\x9f\x98\x80"};

    for (size_t i = 0; i < 4; i++) {
        size_t bytes = strlen(one_to_four[i]);
        char out[12];

        for (size_t size = 1; size <= sizeof out; size++) {
            line(out, size, "%s%s%s", one_to_four[i], one_to_four[i],
                 one_to_four[i]);
            size_t whole = (size - 1) / bytes < 3 ? (size - 1) / bytes : 3;
            ck_assert_uint_eq(strlen(out), whole * bytes);
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("text");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_is_added_stands_behind_what_was_there);
    tcase_add_test(t, nothing_added_is_an_empty_string);
    tcase_add_test(t, a_text_grows_over_every_size);
    tcase_add_test(t, clearing_keeps_the_memory);
    tcase_add_test(t, a_failure_stays_and_keeps_what_was_there);
    tcase_add_test(t, control_characters_do_not_reach_the_terminal);
    tcase_add_test(t, a_line_is_cut_between_characters);
    return run_suite("base.text", t);
}
