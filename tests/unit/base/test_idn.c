/* SPDX-License-Identifier: MIT */
/* International names of hosts, as people write them and as the DNS does. */
#include "base/idn.h"

#include "base/alloc.h"
#include "suite.h"

static void check(const char *host, const char *letters)
{
    char *got = xd_idn_letters(host);

    ck_assert_ptr_nonnull(got);
    ck_assert_str_eq(got, letters);
    xd_free(got);
}

START_TEST(both_ways_to_write_a_host_are_one)
{
    check("xn--bcher-kva.example", "b\u00fccher.example");
    check("b\u00fccher.example", "b\u00fccher.example");
    check("B\u00dcCHER.example:8080", "b\u00fccher.example:8080");
    check("www.XN--BCHER-KVA.example:81", "www.b\u00fccher.example:81");
    /* RFC 3492, section 7.1 (B) and (S); RFC 5891's languages of choice. */
    check("xn--ihqwcrb4cv8a8dqg056pqjye",
          "\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587");
    check("xn--e1afmkfd.xn--p1ai",
          "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444");
    check("\u041f\u0440\u0438\u043c\u0435\u0440.\u0420\u0424",
          "\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444");
    check("xn--hxajbheg2az3al.xn--qxam",
          "\u03c0\u03b1\u03c1\u03ac\u03b4\u03b5\u03b9\u03b3\u03bc\u03b1."
          "\u03b5\u03bb");
}
END_TEST

START_TEST(two_hosts_stay_two)
{
    check("xn--abc-.example", "xn--abc-.example"); /* not abc.example */
    check("xn--.example", "xn--.example");
    check("xn--99999999.example", "xn--99999999.example");
    check("xn--a-\u00fc.example", "xn--a-\u00fc.example");
    check("xn--bcher-2pa.example", "b\u00dccher.example");
    check("127.0.0.1:80", "127.0.0.1:80");
    check("[2001:db8::1]:80", "[2001:db8::1]:80");
    check("", "");
}
END_TEST

/* U+202E, and a label that is longer than any. */
START_TEST(what_deceives_or_is_too_long_stays_as_it_is)
{
    char longest[200] = "xn--";

    memset(longest + 4, 'a', 150);
    check(longest, longest);
    check("xn--abc-5q0a", "xn--abc-5q0a");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("idn");

    tcase_add_test(t, both_ways_to_write_a_host_are_one);
    tcase_add_test(t, two_hosts_stay_two);
    tcase_add_test(t, what_deceives_or_is_too_long_stays_as_it_is);
    return run_suite("base.idn", t);
}
