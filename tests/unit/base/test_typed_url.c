/* SPDX-License-Identifier: MIT */
#include "base/typed_url.h"

#include "base/alloc.h"
#include "base/url.h"
#include "suite.h"

static void check(const char *typed, const char *expected)
{
    char *made = xd_typed_url(typed);

    ck_assert_ptr_nonnull(made);
    ck_assert_msg(strcmp(made, expected) == 0, "%s is %s, not %s", typed, made,
                  expected);
    xd_free(made);
}

/* The URL is as it was, and is one. */
static void check_stays(const char *typed)
{
    struct xd_url u;

    check(typed, typed);
    ck_assert_msg(xd_url_parse(&u, typed), "%s is no URL", typed);
}

START_TEST(strict_url_stays_as_it_is)
{
    check_stays("http://a.example/x?y=1&z#top");
    check_stays("HTTPS://A.example:8443/");
    check_stays("ftp://me:s3cr3t@a/x%20y;type=i");
    check_stays("http://127.0.0.1:80/");
    check_stays("http://[::1]:80/x");
    check_stays("http://[::ffff:1.2.3.4]/x");
    check_stays("http://a/b\\c?d\\e");
    check_stays("http://a/\"<>|^`{}");
    check_stays("http://a/b@c?d@e");
    check_stays("http://b\303\274cher.example/\303\274");
    check_stays("http://1password.example/");
    check_stays("http://0x.example/");
    check_stays("ibp://a:6714/0#k/1/READ");
    check_stays("file:///a/b");
}
END_TEST

START_TEST(blanks_are_left_out_around_it_and_escaped_in_it)
{
    check(" \thttp://a/b\r\n", "http://a/b");
    check("http://a/b c?d e", "http://a/b%20c?d%20e");
    check("http://a/b c ", "http://a/b%20c");
}
END_TEST

START_TEST(numeric_host_becomes_a_dotted_address)
{
    check("http://127.1/x", "http://127.0.0.1/x");
    check("http://127.1:8080/x", "http://127.0.0.1:8080/x");
    check("http://2130706433/x", "http://127.0.0.1/x");
    check("http://0x7f000001/x", "http://127.0.0.1/x");
    check("http://0X7F.1/x", "http://127.0.0.1/x");
    check("http://0177.0.0.1/x", "http://127.0.0.1/x");
    check("http://10.0.258/x", "http://10.0.1.2/x");
    check("http://0/x", "http://0.0.0.0/x");
    check("http://me:pw@127.1/x", "http://me:pw@127.0.0.1/x");
    check("ftp://127.1", "ftp://127.0.0.1");
}
END_TEST

START_TEST(number_that_is_no_address_stays)
{
    check("http://256.1.1.1/x", "http://256.1.1.1/x");
    check("http://1.2.3.4.5/x", "http://1.2.3.4.5/x");
    check("http://08.1/x", "http://08.1/x");
    check("http://4294967296/x", "http://4294967296/x");
    check("http://1..2/x", "http://1..2/x");
    check("http://127.16777216/x", "http://127.16777216/x");
}
END_TEST

START_TEST(zone_of_an_ipv6_address_is_escaped)
{
    struct xd_url u;

    check("http://[fe80::1%eth0]:80/x", "http://[fe80::1%25eth0]:80/x");
    check("http://[fe80::1%25eth0]:80/x", "http://[fe80::1%25eth0]:80/x");
    ck_assert(xd_url_parse(&u, "http://[fe80::1%25eth0]:80/x"));
    ck_assert_uint_eq(u.port, 80);
}
END_TEST

START_TEST(port_and_path_are_written_as_usual)
{
    check("http://a:0080/x", "http://a:80/x");
    check("http://a:/x", "http://a/x");
    check("http://a?b@c", "http://a/?b@c");
    check("http://a#b", "http://a/#b");
    check("http:///a/x", "http://a/x");
}
END_TEST

START_TEST(login_is_escaped)
{
    check("http://m\"e:p^w {}@a/x", "http://m%22e:p%5Ew%20%7B%7D@a/x");
    check("http://me:p%40w@a/x", "http://me:p%40w@a/x");
}
END_TEST

START_TEST(text_that_is_no_url_stays_as_it_is)
{
    check("", "");
    check(" ", " ");
    check("a b", "a b");
    check("127.1", "127.1");
    check("http:/a b", "http:/a b");
    check("gopher://a b", "gopher://a b");
    check("http://", "http://");
    check("://a b", "://a b");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("typed_url");

    tcase_add_test(t, strict_url_stays_as_it_is);
    tcase_add_test(t, blanks_are_left_out_around_it_and_escaped_in_it);
    tcase_add_test(t, numeric_host_becomes_a_dotted_address);
    tcase_add_test(t, number_that_is_no_address_stays);
    tcase_add_test(t, zone_of_an_ipv6_address_is_escaped);
    tcase_add_test(t, port_and_path_are_written_as_usual);
    tcase_add_test(t, login_is_escaped);
    tcase_add_test(t, text_that_is_no_url_stays_as_it_is);
    return run_suite("typed_url", t);
}
