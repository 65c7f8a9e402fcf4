/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/alloc.h"
#include "io/http/http_redirect.h"
#include "suite.h"
#include "url_of.h"

static void check(const char *first, const char *from, const char *location,
                  const char *expected)
{
    struct xd_error err = {0};
    struct xd_url *to;
    int rc = xd_http_redirect(&to, url_of(first), url_of(from), location,
                              "NAME", &err);

    if (expected != NULL && strncmp(expected, "http", 4) == 0) {
        ck_assert_msg(rc == 0, "%s: %s", location, err.msg);
        ck_assert_str_eq(xd_url_secret_text(to), expected);
    } else {
        ck_assert_msg(rc == XD_E_NET, "%s", location);
        ck_assert_ptr_null(to);
        ck_assert_ptr_nonnull(strstr(err.msg, "NAME: redirects"));
        if (expected != NULL)
            ck_assert_ptr_nonnull(strstr(err.msg, expected));
        ck_assert_ptr_null(strstr(err.msg, "secret"));
    }
    xd_free(to);
}

START_TEST(a_location_is_resolved)
{
    static const char base[] = "http://a.example/d/x?q";

    check(base, base, "y", "http://a.example/d/y");
    check(base, base, "/y?k=1", "http://a.example/y?k=1");
    check(base, base, "//b.example/y", "http://b.example/y");
    check(base, base, "https://b.example:8443", "https://b.example:8443/");
    check(base, base, "a b", "http://a.example/d/a%20b");
    check(base, base, "/y//a@b@c", "http://a.example/y//a@b@c");
    check(base, "http://b.example/z", "y", "http://b.example/y");
    check(base, base, "/y\\z", "http://a.example/y\\z");
    check(base, base, "\\y", "http://a.example/d/\\y");
    check(base, base, "http://127.1:81/y", "http://127.0.0.1:81/y");
}
END_TEST

START_TEST(a_location_may_be_long)
{
    static const char base[] = "http://a.example/x";
    char location[16000] = "/y?";
    char expected[sizeof location + sizeof base] = "http://a.example/y?";

    memset(location + 3, 'q', sizeof location - 4);
    memset(expected + 19, 'q', sizeof location - 4);
    check(base, base, location, expected);
}
END_TEST

START_TEST(a_backslash_hides_no_host)
{
    static const char base[] = "http://a.example/x";

    check(base, base, "http://a.example\\@secret/", NULL);
    check(base, base, "http://secret\\y/", NULL);
    check(base, base, "//secret\\y/", NULL);
}
END_TEST

START_TEST(a_login_stays_with_its_origin)
{
    static const char first[] = "http://u:p%20w@a.example/x";

    check(first, first, "y", "http://u:p%20w@a.example/y");
    check(first, first, "http://A.example:80/y",
          "http://u:p%20w@A.example:80/y");
    check(first, first, "http://b.example/y", "http://b.example/y");
    check(first, first, "http://a.example:81/y", "http://a.example:81/y");
    check(first, first, "https://a.example/y", "https://a.example/y");
    check(first, "http://b.example/", "http://a.example/y",
          "http://u:p%20w@a.example/y");
}
END_TEST

START_TEST(a_login_of_the_location_is_dropped)
{
    check("http://a.example/x", "http://a.example/x", "http://u:p@a.example/y",
          "http://a.example/y");
    check("http://u:p@a.example/x", "http://u:p@a.example/x",
          "http://v:q@b.example/y", "http://b.example/y");
}
END_TEST

START_TEST(what_is_not_http_is_refused)
{
    static const char base[] = "http://a.example/x";

    check(base, base, "ftp://secret@a.example/y", "neither http nor https");
    check(base, base, "file:///etc/secret", NULL);
    check(base, base, "gopher://secret/", NULL);
    check(base, base, "javascript:secret", NULL);
    check(base, base, "http://secret host/", NULL);
    check(base, base, "http://a.example:secret/", NULL);
    check(base, base, "http://a@secret@b/", NULL);
    check(base, base, "//a@secret@b/", NULL);
    check(base, base, "http:///", NULL);
}
END_TEST

START_TEST(the_way_back_into_the_clear_is_refused)
{
    check("http://a.example/x", "https://b.example/x",
          "http://c.example/secret", "from https to http");
    check("https://a.example/x", "https://a.example/x", "y",
          "https://a.example/y");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("http_redirect");

    tcase_add_test(tcase, a_location_is_resolved);
    tcase_add_test(tcase, a_location_may_be_long);
    tcase_add_test(tcase, a_backslash_hides_no_host);
    tcase_add_test(tcase, a_login_stays_with_its_origin);
    tcase_add_test(tcase, a_login_of_the_location_is_dropped);
    tcase_add_test(tcase, what_is_not_http_is_refused);
    tcase_add_test(tcase, the_way_back_into_the_clear_is_refused);
    return run_suite("http_redirect", tcase);
}
