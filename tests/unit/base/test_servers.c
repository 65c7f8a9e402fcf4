/* SPDX-License-Identifier: MIT */
#include "base/servers.h"

#include <stdio.h>
#include <string.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "suite.h"
#include "url_of.h"

#define NOW UINT64_C(1800000000)
#define HEADER "xdownload depots 1\n" /* without what was learned */
#define SECOND "xdownload depots 2\n" /* without SPREADS */
#define THIRD "xdownload depots 3\n"
#define DAY UINT64_C(86400)

static struct xd_servers servers;

static void teardown(void)
{
    xd_servers_fini(&servers);
}

static int parse(const char *text)
{
    return xd_servers_parse(&servers, text, strlen(text), NOW);
}

static void put(const char *name, uint64_t seen, uint64_t rate)
{
    char copy[400];

    snprintf(copy, sizeof copy, "%s", name);
    ck_assert_int_eq(
        xd_servers_put(&servers, &(struct xd_server){.name = copy,
                                                     .seen = seen,
                                                     .bytes_per_s = rate}),
        0);
}

static void named(const char *url, const char *expected)
{
    char *name = NULL;

    ck_assert_int_eq(xd_server_name(&name, url_of(url)), 0);
    ck_assert_str_eq(name, expected);
    xd_free(name);
}

START_TEST(a_server_is_scheme_host_and_port_and_no_secret)
{
    named("https://me:secret@A.example./private?token=1#x",
          "https://a.example");
    named("http://a.example:80/f", "http://a.example");
    named("https://a.example:80/f", "https://a.example:80");
    named("ftp://a.example/f", "ftp://a.example");
    named("http://[2001:DB8::1]:8080/f", "http://[2001:db8::1]:8080");
}
END_TEST

START_TEST(what_is_no_server_of_the_web_has_no_name)
{
    char long_host[400] = "http://";
    char *name = NULL;

    memset(long_host + 7, 'a', 320);
    ck_assert_int_eq(xd_server_name(&name, url_of("file:///etc/passwd")),
                     XD_E_INVAL);
    ck_assert_int_eq(xd_server_name(&name, url_of("http:///f")), XD_E_INVAL);
    ck_assert_int_eq(xd_server_name(&name, url_of("a.example")), XD_E_INVAL);
    ck_assert_int_eq(xd_server_name(&name, url_of(long_host)), XD_E_INVAL);
    ck_assert_ptr_null(name);
}
END_TEST

START_TEST(what_is_written_is_read_again)
{
    static const char text[] =
        THIRD "1799999999 2097152 48000 3 1799999000 6 349525 8 47000 1 "
              "https://mirror.example:8443\n"
              "1800000000 0 0 0 0 0 0 0 0 0 ftp://a.example\n";
    const struct xd_server *s;
    struct xd_text out = {.s = NULL};

    ck_assert_int_eq(parse(text), 0);
    s = xd_servers_find(&servers, "https://mirror.example:8443");
    ck_assert_ptr_nonnull(s);
    ck_assert_uint_eq(s->seen, NOW - 1);
    ck_assert_uint_eq(s->bytes_per_s, 2097152);
    ck_assert_uint_eq(s->latency, 48 * XD_MS);
    ck_assert_uint_eq(s->failures, 3);
    ck_assert_uint_eq(s->learned_at, NOW - 1000);
    ck_assert_uint_eq(s->useful, 6);
    ck_assert_uint_eq(s->cap, 349525);
    ck_assert_uint_eq(s->ceiling, 8);
    ck_assert_uint_eq(s->learned_latency, 47 * XD_MS);
    ck_assert(s->spreads);
    ck_assert_ptr_null(xd_servers_find(&servers, "http://mirror.example:8443"));
    xd_servers_write(&servers, &out);
    ck_assert_str_eq(out.s, text);
    xd_text_fini(&out);
}
END_TEST

START_TEST(an_empty_file_says_nothing_and_another_file_is_left_alone)
{
    ck_assert_int_eq(parse(""), 0);
    ck_assert_int_eq(parse("my diary\n"), XD_E_INVAL);
    ck_assert_int_eq(parse("xdownload depots 4\n"), XD_E_INVAL);
    ck_assert_int_eq(parse("xdownload depots 1"), XD_E_INVAL);
    ck_assert_uint_eq(servers.n, 0);
}
END_TEST

START_TEST(earlier_versions_are_read_and_written_as_the_third)
{
    static const char *const rows[][2] = {
        {HEADER "1800000000 5 6 7 http://a.example\n",
         THIRD "1800000000 5 6 7 0 0 0 0 0 0 http://a.example\n"},
        {SECOND "1800000000 5 6 7 8 9 10 11 12 http://a.example\n",
         THIRD "1800000000 5 6 7 8 9 10 11 12 0 http://a.example\n"}};
    struct xd_text out = {.s = NULL};

    ck_assert_int_eq(parse(rows[_i][0]), 0);
    xd_servers_write(&servers, &out);
    ck_assert_str_eq(out.s, rows[_i][1]);
    xd_text_fini(&out);
}
END_TEST

/* Connections without a rate, too many, and learned after they were seen. */
START_TEST(what_was_learned_has_to_make_sense)
{
    ck_assert_int_eq(
        parse(THIRD "1800000000 1 1 0 http://first.example\n"
                    "1800000000 1 1 0 1 6 0 0 1 0 http://no-cap.example\n"
                    "1800000000 1 1 0 1 1001 1 0 1 0 http://many.example\n"
                    "1799999999 1 1 0 1800000000 6 1 0 1 0 http://l.example\n"
                    "1800000000 1 1 0 1 6 1 4 1 2 http://spreads.example\n"
                    "1800000000 1 1 0 1 6 1 4 1 1 http://good.example\n"),
        0);
    ck_assert_uint_eq(servers.n, 1);
    ck_assert_ptr_nonnull(xd_servers_find(&servers, "http://good.example"));
}
END_TEST

/* Each but the last, which shows that the rest is read. */
START_TEST(lines_that_make_no_sense_are_passed_over)
{
    static const char text[] =
        HEADER "\n"
               "     \n"
               "1800000000 1 1 0\n"
               "1800000000 1 1 0 \n"
               "1800000000 1 1 http://no-failures.example\n"
               "1800000001 1 1 0 http://future.example\n"
               "18446744073709551615 1 1 0 http://far-future.example\n"
               "99999999999999999999 1 1 0 http://overflow.example\n"
               "-1 1 1 0 http://sign.example\n"
               "1800000000 1099511627777 1 0 http://fast.example\n"
               "1800000000 1 3600000001 0 http://late.example\n"
               "1800000000 1 1 1000001 http://failing.example\n"
               "1800000000 1 1 0 http://path.example/f\n"
               "1800000000 1 1 0 http://query.example?q\n"
               "1800000000 1 1 0 http://me:secret@login.example\n"
               "1800000000 1 1 0 http://UPPER.example\n"
               "1800000000 1 1 0 http://port.example:80\n"
               "1800000000 1 1 0 http://blank.example \n"
               "1800000000 1 1 0 http://return.example\r\n"
               "1800000000 1 1 0 http://escape.example\x1b[2J\n"
               "1800000000 1 1 0 file:///etc/passwd\n"
               "1800000000 1 1 0 http://good.example\n"
               "1800000000 1 1 0 http://cut.exam";

    ck_assert_int_eq(parse(text), 0);
    ck_assert_uint_eq(servers.n, 1);
    ck_assert_ptr_nonnull(xd_servers_find(&servers, "http://good.example"));
}
END_TEST

START_TEST(a_nul_and_an_endless_line_are_passed_over)
{
    static const char nul[] = HEADER "1800000000 1 1 0 http://a\0b.example\n"
                                     "1800000000 1 1 0 http://c.example\n";
    static char endless[XD_SERVERS_BYTES];

    ck_assert_int_eq(xd_servers_parse(&servers, nul, sizeof nul - 1, NOW), 0);
    ck_assert_uint_eq(servers.n, 1);
    memset(endless, 'a', sizeof endless);
    memcpy(endless, HEADER "1800000000 1 1 0 http://",
           strlen(HEADER "1800000000 1 1 0 http://"));
    endless[sizeof endless - 1] = '\n';
    ck_assert_int_eq(xd_servers_parse(&servers, endless, sizeof endless, NOW),
                     0);
    ck_assert_uint_eq(servers.n, 1);
}
END_TEST

START_TEST(what_is_older_than_thirty_days_is_forgotten)
{
    char text[200];

    snprintf(text, sizeof text,
             HEADER "%llu 1 1 0 http://old.example\n"
                    "%llu 1 1 0 http://older.example\n",
             (unsigned long long)(NOW - 30 * DAY),
             (unsigned long long)(NOW - 30 * DAY - 1));
    ck_assert_int_eq(parse(text), 0);
    ck_assert_ptr_nonnull(xd_servers_find(&servers, "http://old.example"));
    ck_assert_ptr_null(xd_servers_find(&servers, "http://older.example"));
}
END_TEST

START_TEST(the_younger_of_two_that_were_seen_holds)
{
    put("http://a.example", NOW - 5, 1);
    put("http://a.example", NOW - 6, 2);
    ck_assert_uint_eq(servers.list[0].bytes_per_s, 1);
    put("http://a.example", NOW, 3);
    ck_assert_uint_eq(servers.list[0].bytes_per_s, 3);
    ck_assert_uint_eq(servers.n, 1);
}
END_TEST

START_TEST(of_too_many_the_one_not_seen_for_longest_goes)
{
    char name[40];

    for (unsigned i = 0; i < XD_SERVERS_MOST; i++) {
        snprintf(name, sizeof name, "http://%u.example", i);
        put(name, i == 500 ? NOW - 9 : NOW, 1);
    }
    put("http://new.example", NOW, 1);
    ck_assert_uint_eq(servers.n, XD_SERVERS_MOST);
    ck_assert_ptr_nonnull(xd_servers_find(&servers, "http://new.example"));
    ck_assert_ptr_null(xd_servers_find(&servers, "http://500.example"));
    put("http://ancient.example", 1, 1);
    ck_assert_ptr_null(xd_servers_find(&servers, "http://ancient.example"));
}
END_TEST

START_TEST(the_longest_text_of_ours_is_within_its_bound)
{
    char name[400] = "https://";
    struct xd_text out = {.s = NULL};
    char *proper;

    memset(name + 8, 'a', 284);
    memcpy(name + 292, ":65535", 7);
    ck_assert_int_eq(xd_server_name(&proper, url_of(name)), 0);
    xd_free(proper);
    for (unsigned i = 0; i < XD_SERVERS_MOST; i++) {
        snprintf(name + 8, 5, "%04u", i);
        name[12] = 'a';
        ck_assert_int_eq(xd_servers_put(&servers,
                                        &(struct xd_server){
                                            .name = name,
                                            .bytes_per_s = UINT64_C(1) << 40,
                                            .latency = 3600 * XD_SECOND,
                                            .failures = 1000000,
                                            .seen = NOW,
                                            .learned_at = NOW,
                                            .useful = 1000,
                                            .cap = UINT64_C(1) << 40,
                                            .ceiling = 1000,
                                            .learned_latency = 3600 * XD_SECOND,
                                            .spreads = true}),
                         0);
    }
    xd_servers_write(&servers, &out);
    ck_assert_uint_le(out.len, XD_SERVERS_BYTES);
    xd_text_fini(&out);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("servers");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, a_server_is_scheme_host_and_port_and_no_secret);
    tcase_add_test(tcase, what_is_no_server_of_the_web_has_no_name);
    tcase_add_test(tcase, what_is_written_is_read_again);
    tcase_add_test(tcase,
                   an_empty_file_says_nothing_and_another_file_is_left_alone);
    tcase_add_loop_test(
        tcase, earlier_versions_are_read_and_written_as_the_third, 0, 2);
    tcase_add_test(tcase, what_was_learned_has_to_make_sense);
    tcase_add_test(tcase, lines_that_make_no_sense_are_passed_over);
    tcase_add_test(tcase, a_nul_and_an_endless_line_are_passed_over);
    tcase_add_test(tcase, what_is_older_than_thirty_days_is_forgotten);
    tcase_add_test(tcase, the_younger_of_two_that_were_seen_holds);
    tcase_add_test(tcase, of_too_many_the_one_not_seen_for_longest_goes);
    tcase_add_test(tcase, the_longest_text_of_ours_is_within_its_bound);
    return run_suite("servers", tcase);
}
