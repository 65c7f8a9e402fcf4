/* SPDX-License-Identifier: MIT */
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/hosts.h"
#include "suite.h"

static char *list;

static void teardown(void)
{
    xd_free(list);
    list = NULL;
}

static int has(const char *url)
{
    struct xd_url u;

    ck_assert(xd_url_parse(&u, url));
    return xd_hosts_have(list, &u);
}

START_TEST(an_empty_list_has_nobody)
{
    ck_assert_int_eq(has("http://a.example/"), 0);
}
END_TEST

START_TEST(a_host_stands_for_all_its_servers)
{
    ck_assert_int_eq(xd_hosts_add(&list, "A.Example."), 0);
    ck_assert_int_eq(has("http://a.example/"), 1);
    ck_assert_int_eq(has("ftp://a.example:8021/"), 1);
    ck_assert_int_eq(has("http://b.a.example/"), 0);
}
END_TEST

START_TEST(a_host_may_be_typed_as_curl_reads_it)
{
    ck_assert_int_eq(xd_hosts_add(&list, "127.1:08080"), 0);
    ck_assert_int_eq(xd_hosts_add_url(&list, "http://[fe80::1%eth0]/a b"), 0);
    ck_assert_int_eq(has("http://127.0.0.1:8080/"), 1);
    ck_assert_int_eq(has("http://127.0.0.1/"), 0);
    ck_assert_int_eq(has("http://[fe80::1%25eth0]/"), 1);
    ck_assert_int_eq(has("http://[fe80::1%25eth1]/"), 0);
}
END_TEST

static int matches(const char *url)
{
    struct xd_url u;

    ck_assert(xd_url_parse(&u, url));
    return xd_hosts_match(list, &u);
}

START_TEST(a_star_stands_for_any_letters_where_that_is_asked)
{
    ck_assert_int_eq(matches("http://a.example/"), 0);
    ck_assert_int_eq(xd_hosts_add_pattern(&list, "*.Example"), 0);
    ck_assert_int_eq(xd_hosts_add_pattern(&list, "m*r*.test:8080"), 0);
    ck_assert_int_eq(matches("http://a.example/"), 1);
    ck_assert_int_eq(matches("ftp://b.a.example:8021/"), 1);
    ck_assert_int_eq(matches("http://example/"), 0);
    ck_assert_int_eq(matches("http://a.example.org/"), 0);
    ck_assert_int_eq(matches("http://mirror.test:8080/"), 1);
    ck_assert_int_eq(matches("http://mr.test:8080/"), 1);
    ck_assert_int_eq(matches("http://mirror.test/"), 0);
    ck_assert_int_eq(matches("http://mile.test:8080/"), 0);
    ck_assert_int_eq(has("http://a.example/"), 0);
    ck_assert_int_eq(xd_hosts_add_pattern(&list, "a*/b"), XD_E_INVAL);
    ck_assert_int_eq(xd_hosts_add_pattern(&list, "a* b"), XD_E_INVAL);
    ck_assert_int_eq(xd_hosts_add_pattern(&list, "Plain.test"), 0);
    ck_assert_int_eq(matches("http://plain.test/"), 1);
}
END_TEST

START_TEST(a_url_stands_for_its_server_alone)
{
    ck_assert_int_eq(xd_hosts_add_url(&list, "HTTPS://u:p@A.example/x?y#z"), 0);
    ck_assert_int_eq(xd_hosts_add_url(&list, "http://[2001:db8::1]:8080"), 0);
    ck_assert_str_eq(list, "a.example:443 [2001:db8::1]:8080");
    ck_assert_int_eq(has("https://a.example/other"), 1);
    ck_assert_int_eq(has("http://a.example/"), 0);
    ck_assert_int_eq(has("https://a.example:4430/"), 0);
    ck_assert_int_eq(has("https://b.example@c.example/"), 0);
    ck_assert_int_eq(has("http://[2001:DB8::1]:8080/"), 1);
}
END_TEST

START_TEST(a_host_is_the_same_in_any_script_and_in_ascii)
{
    ck_assert_int_eq(xd_hosts_add(&list, "b\u00fccher.example"), 0);
    ck_assert_int_eq(xd_hosts_add(&list, "xn--e1afmkfd.xn--p1ai"), 0);
    ck_assert_int_eq(has("http://xn--bcher-kva.example/"), 1);
    ck_assert_int_eq(has("http://B\u00dcCHER.example:81/"), 1);
    ck_assert_int_eq(has("http://bucher.example/"), 0);
    ck_assert_int_eq(has("http://\u043f\u0440\u0438\u043c\u0435\u0440."
                         "\u0440\u0444/"),
                     1);
}
END_TEST

START_TEST(what_has_no_host_is_no_server)
{
    static const char *const bad[] = {"", "a.example", "file:///etc", "http://",
                                      "http://a.example@b.example@c/"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(xd_hosts_add_url(&list, bad[i]) == XD_E_INVAL, "%s",
                      bad[i]);
    ck_assert_ptr_null(list);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("hosts");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, an_empty_list_has_nobody);
    tcase_add_test(tcase, a_host_stands_for_all_its_servers);
    tcase_add_test(tcase, a_host_may_be_typed_as_curl_reads_it);
    tcase_add_test(tcase, a_url_stands_for_its_server_alone);
    tcase_add_test(tcase, a_star_stands_for_any_letters_where_that_is_asked);
    tcase_add_test(tcase, what_has_no_host_is_no_server);
    tcase_add_test(tcase, a_host_is_the_same_in_any_script_and_in_ascii);
    return run_suite("hosts", tcase);
}
