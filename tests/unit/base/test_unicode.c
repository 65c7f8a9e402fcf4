/* SPDX-License-Identifier: MIT */
/* lib/base/unicode: UTF-8, and characters that deceive. */
#include <string.h>

#include "base/unicode.h"
#include "suite.h"

START_TEST(a_character_is_as_long_as_utf8_says)
{
    static const struct {
        const char *text;
        size_t len;
        uint32_t character;
    } rows[] = {
        {"a", 1, 'a'},
        {"\xd8\x9c", 2, 0x61c},
        {"\xe2\x80\xae", 3, 0x202e},
        {"\xf3\xa0\x80\x81", 4, 0xe0001},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xd8", 0, 0},             /* cut */
        {"\xc0\xaf", 0, 0},         /* overlong */
        {"\xed\xa0\x80", 0, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0, 0}, /* past the last */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t c = 0;

        ck_assert_uint_eq(
            xd_utf8_decode(rows[i].text, strlen(rows[i].text), &c),
            rows[i].len);
        ck_assert_uint_eq(c, rows[i].character);
    }
}
END_TEST

START_TEST(what_is_not_seen_or_turns_the_writing_is_deceptive)
{
    static const uint32_t bad[] = {
        0,      0x1f,   0x7f,   0x9b,    0xad,    0x61c,   0x200b, 0x200e,
        0x202a, 0x202e, 0x2028, 0x2066,  0x2069,  0x3164,  0xfe0f, 0xfeff,
        0xffa0, 0xfff9, 0xffff, 0x1bca0, 0x1fffe, 0xe0001, 0xe0fff};
    static const uint32_t good[] = {' ',    'a',    0xa0,    0xe9,   0x61b,
                                    0x61d,  0x2010, 0x2027,  0x20ac, 0x4e2d,
                                    0xfffc, 0xfffd, 0x1f600, 0xe1000};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(xd_is_deceptive(bad[i]), "U+%04X", (unsigned)bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(!xd_is_deceptive(good[i]), "U+%04X", (unsigned)good[i]);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("unicode");

    tcase_add_test(tcase, a_character_is_as_long_as_utf8_says);
    tcase_add_test(tcase, what_is_not_seen_or_turns_the_writing_is_deceptive);
    return run_suite("unicode", tcase);
}
