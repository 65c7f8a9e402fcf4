/* SPDX-License-Identifier: MIT */
#include <xdownload/error.h>

#include "base/choice.h"
#include "suite.h"
#include "url_of.h"

static const char *why;

static int refuses(const struct xd_choice *c, const char *url)
{
    return xd_choice_refuses(c, url_of(url), &why);
}

START_TEST(a_choice_of_nothing_refuses_nothing)
{
    const struct xd_choice c = {.exclude = NULL};

    ck_assert_int_eq(refuses(&c, "http://a.example/"), 0);
    ck_assert_int_eq(refuses(&c, "ftp://a.example/"), 0);
}
END_TEST

START_TEST(each_refusal_has_its_reason)
{
    const struct xd_choice c = {
        .exclude = "b.a.example", .only = "*.a.example", .https_only = true};

    ck_assert_int_eq(refuses(&c, "https://c.a.example/"), 0);
    ck_assert_int_eq(refuses(&c, "https://b.a.example/"), 1);
    ck_assert_str_eq(why, "its host is excluded");
    ck_assert_int_eq(refuses(&c, "https://a.example/"), 1);
    ck_assert_str_eq(why, "its host is none of those that --only names");
    ck_assert_int_eq(refuses(&c, "http://c.a.example/"), 1);
    ck_assert_str_eq(why, "it is no https: URL");
    ck_assert_int_eq(refuses(&c, "ftps://c.a.example/"), 1);
}
END_TEST

START_TEST(locations_are_countries)
{
    const struct xd_choice c = {.locations = "de,AT"};

    ck_assert(xd_choice_are_locations("de"));
    ck_assert(xd_choice_are_locations("de,AT"));
    ck_assert(!xd_choice_are_locations(""));
    ck_assert(!xd_choice_are_locations("deu"));
    ck_assert(!xd_choice_are_locations("de,"));
    ck_assert(!xd_choice_are_locations("d1"));
    ck_assert(xd_choice_prefers(&c, "de"));
    ck_assert(xd_choice_prefers(&c, "at"));
    ck_assert(!xd_choice_prefers(&c, "ch"));
    ck_assert(!xd_choice_prefers(&c, NULL));
    ck_assert(!xd_choice_prefers(&(struct xd_choice){.only = NULL}, "de"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("choice");

    tcase_add_test(tcase, a_choice_of_nothing_refuses_nothing);
    tcase_add_test(tcase, each_refusal_has_its_reason);
    tcase_add_test(tcase, locations_are_countries);
    return run_suite("choice", tcase);
}
