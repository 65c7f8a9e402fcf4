/* SPDX-License-Identifier: MIT */
/* cli/common/nearest: what a mistyped name was meant to be. */
#include "common/nearest.h"

#include <string.h>

#include "suite.h"

static const char *nearest_of(const char *word)
{
    static const char *const names[] = {"continue",   "no-continue", "retry",
                                        "limit-rate", "force",       "show",
                                        "serve"};
    struct nearest n;

    nearest_init(&n, word, strlen(word));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        nearest_consider(&n, names[i]);
    return n.name;
}

START_TEST(a_letter_that_is_missing_wrong_or_exchanged_is_forgiven)
{
    static const char *const pairs[][2] = {
        {"contiune", "continue"},  {"continu", "continue"},
        {"ccontinue", "continue"}, {"forze", "force"},
        {"shwo", "show"},          {"limitrate", "limit-rate"},
        {"retries", "retry"},      {"force", "force"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *name = nearest_of(pairs[i][0]);
        ck_assert_msg(name != NULL, "%s", pairs[i][0]);
        ck_assert_str_eq(name, pairs[i][1]);
    }
}
END_TEST

START_TEST(another_word_is_none_of_them)
{
    static const char *const words[] = {
        "",          "x",
        "progress",  "shop.example",
        "sever-all", "a-name-that-is-longer-than-that-of-any-option-there-is"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(nearest_of(words[i]) == NULL, "%s", words[i]);
}
END_TEST

START_TEST(one_letter_in_three_may_be_wrong)
{
    struct nearest n;

    nearest_init(&n, "abcdxx", 6); /* two of six */
    nearest_consider(&n, "abcdef");
    ck_assert_str_eq(n.name, "abcdef");
    nearest_init(&n, "abcxxx", 6); /* three */
    nearest_consider(&n, "abcdef");
    ck_assert_ptr_null(n.name);
}
END_TEST

START_TEST(only_the_given_length_of_the_word_counts)
{
    struct nearest n;

    nearest_init(&n, "forze=yes", 5);
    nearest_consider(&n, "force");
    ck_assert_str_eq(n.name, "force");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("nearest");

    tcase_add_test(t, a_letter_that_is_missing_wrong_or_exchanged_is_forgiven);
    tcase_add_test(t, another_word_is_none_of_them);
    tcase_add_test(t, one_letter_in_three_may_be_wrong);
    tcase_add_test(t, only_the_given_length_of_the_word_counts);
    return run_suite("cli.nearest", t);
}
