/* SPDX-License-Identifier: MIT */
#include "store/web_path.h"

#include "suite.h"
#include "url_of.h"

START_TEST(name_of_an_object_has_no_odd_part)
{
    static const char *const good[] = {"a", "a/b", "...", "a b", ".x", "a/..b"};
    static const char *const bad[] = {"",  "/",  "/a",  "a/",   "a//b",
                                      ".", "..", "a/.", "../a", "a/../b"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(xd_web_name_is_good(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!xd_web_name_is_good(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(name_is_escaped_but_for_what_urls_have)
{
    struct xd_text t = {.s = NULL};

    xd_web_add_name(&t, "aZ09-._~/ %?#;+\xc3\xa9\n");
    ck_assert_str_eq(t.s, "aZ09-._~/%20%25%3F%23%3B%2B%C3%A9%0A");
    xd_text_fini(&t);
}
END_TEST

START_TEST(object_is_below_its_folder_and_nowhere_else)
{
    static const char *const folder = "http://h.example:8080/a/b/";
    static const struct {
        const char *url;
        bool is_below;
    } rows[] = {
        {"http://h.example:8080/a/b/x", true},
        {"http://H.EXAMPLE:8080/a/b/x", true},
        {"http://h.example:8080/a/b/c/x.000", true},
        {"http://h.example:8080/a/b/...", true},
        {"http://h.example:8080/a/b/a%20b", true},
        {"http://h.example:8080/a/b/x;y", true},
        {"http://h.example:8080/a/b/%C3%A9", true},
        {"http://h.example:8080/a/b/", false},
        {"http://h.example:8080/a/b", false},
        {"http://h.example:8080/a/bx", false},
        {"http://h.example:8080/a/B/x", false},
        {"http://h.example:8080/x", false},
        {"http://h.example:8080/a/b/c/", false},
        {"http://h.example:8080/a/b/../x", false},
        {"http://h.example:8080/a/b/./x", false},
        {"http://h.example:8080/a/b/..", false},
        {"http://h.example:8080/a/b/%2e%2e/x", false},
        {"http://h.example:8080/a/b/%2E./x", false},
        {"http://h.example:8080/a/b/.%2e", false},
        {"http://h.example:8080/a/b/..%2fx", false},
        {"http://h.example:8080/a/b/..%5cx", false},
        {"http://h.example:8080/a/b/%00", false},
        {"http://h.example:8080/a/b/%7f", false},
        {"http://h.example:8080/a/b/%0a", false},
        {"http://h.example:8080/a/b/%zz", false},
        {"http://h.example:8080/a/b/%2", false},
        {"http://h.example:8080/a/b/%u002e%u002e/x", false},
        {"http://h.example:8080/a/b/%c0%ae%c0%ae/x", false},
        {"http://h.example:8080/a/b/..;/x", false},
        {"http://h.example:8080/a/b/..;v=1/x", false},
        {"http://h.example:8080/a/b/..%3b/x", false},
        {"http://h.example:8080/a/b/x;\\y", false},
        {"http://h.example:8080/a/b/x;%2fy", false},
        {"http://h.example:8080/a/b/x;%0a", false},
        {"http://h.example:8080/a/b/x?delete", false},
        {"http://h.example:8080/a/b/x#y", false},
        {"http://me@h.example:8080/a/b/x", false},
        {"http://h.example:8080@evil.example/a/b/x", false},
        {"http://h.example:8081/a/b/x", false},
        {"http://h.example/a/b/x", false},
        {"https://h.example:8080/a/b/x", false},
        {"http://h.example.evil:8080/a/b/x", false},
        {"http://evil/a/b/x", false},
        {"s3://h.example:8080/a/b/x", false},
        {"/a/b/x", false},
        {"", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(xd_web_is_below(url_of(folder), url_of(rows[i].url)) ==
                          rows[i].is_below,
                      "%s", rows[i].url);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("web_path");

    tcase_add_test(tcase, name_of_an_object_has_no_odd_part);
    tcase_add_test(tcase, name_is_escaped_but_for_what_urls_have);
    tcase_add_test(tcase, object_is_below_its_folder_and_nowhere_else);
    return run_suite("web_path", tcase);
}
