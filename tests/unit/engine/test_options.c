/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "command/settings.h"
#include "engine/options.h"
#include "sched/sched.h"
#include "suite.h"

static struct xd_options *options;
static struct xd_error error;

static void setup(void)
{
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
}

static void teardown(void)
{
    xd_options_free(options);
}

static int set(const char *name, const char *value)
{
    error.msg[0] = '\0';
    return xd_options_set(options, name, value, &error);
}

START_TEST(defaults_are_the_ones_of_the_table)
{
    ck_assert_str_eq(xd_options_algorithm(options), "adaptive");
    ck_assert_uint_eq(options->redundancy, 2);
    ck_assert_uint_eq(options->progress_number, XD_AUTO);
    ck_assert_uint_eq(options->block_bytes, 1 << 20);
    ck_assert_uint_eq(options->max_depots, 0);
    ck_assert_uint_eq(options->silence, 5 * XD_SECOND);
    ck_assert_int_eq(xd_options_check(options, &error), 0);
}
END_TEST

START_TEST(every_default_can_be_set_again)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    size_t n = 0;

    for (; xd_option_info(n, &info) == 0; n++) {
        if (info.default_value)
            ck_assert_msg(set(info.name, info.default_value) == 0, "%s",
                          error.msg);
    }
    ck_assert_uint_ge(n, 13);
}
END_TEST

START_TEST(values_with_units_are_understood)
{
    ck_assert_int_eq(set("block-size", "256k"), 0);
    ck_assert_uint_eq(options->block_bytes, 256 * 1024);
    ck_assert_int_eq(set("silence", "500ms"), 0);
    ck_assert_uint_eq(options->silence, 500 * XD_MS);
    ck_assert_int_eq(set("force", "yes"), 0);
    ck_assert_uint_eq(options->force, 1);
    ck_assert_int_eq(set("progress-number", "0"), 0);
    ck_assert_uint_eq(options->progress_number, 0);
}
END_TEST

START_TEST(a_lookahead_is_a_size_or_a_time_whichever_came_last)
{
    ck_assert_int_eq(set("lookahead", "20s"), 0);
    ck_assert_uint_eq(options->lookahead_time, 20 * XD_SECOND);
    ck_assert_int_eq(set("lookahead", "2500ms"), 0);
    ck_assert_uint_eq(options->lookahead_time, 2500 * XD_MS);
    ck_assert_int_eq(set("lookahead", "2m"), 0);
    ck_assert_uint_eq(options->lookahead_time, 0);
    ck_assert_uint_eq(options->lookahead, 2 * 1024 * 1024);
}
END_TEST

START_TEST(a_bad_value_is_refused_with_name_value_and_range)
{
    static const char *const bad[][2] = {
        {"redundancy", "0"},    {"redundancy", "17"},  {"redundancy", "-1"},
        {"redundancy", "auto"}, {"redundancy", ""},    {"block-size", "3x"},
        {"block-size", "1"},    {"algorithm", "fast"}, {"force", "maybe"},
        {"silence", "5 s"},     {"range", "10"},       {"range", "9-3"},
        {"range", "-0"},        {"range", "a-b"},      {"max-depots", "1e3"},
        {"lookahead", "2t"},    {"lookahead", "2h"},   {"lookahead", "500ms"},
        {"lookahead", "3601s"}, {"lookahead", "s"},    {"lookahead", "1e9s"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(set(bad[i][0], bad[i][1]) == XD_E_INVAL, "%s %s",
                      bad[i][0], bad[i][1]);
        ck_assert_ptr_nonnull(strstr(error.msg, bad[i][0]));
        ck_assert_ptr_nonnull(strstr(error.msg, bad[i][1]));
    }
    ck_assert_uint_eq(options->redundancy, 2);
}
END_TEST

START_TEST(range_that_starts_after_its_end_is_called_so)
{
    ck_assert_int_eq(set("range", "10-5"), XD_E_INVAL);
    ck_assert_str_eq(error.msg,
                     "invalid --range '10-5': the range starts after it ends");
    ck_assert_int_eq(set("range", "10-x"), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "use FIRST-LAST"));
}
END_TEST

START_TEST(a_value_of_null_is_refused_and_changes_nothing)
{
    struct xd_option_info row = {.struct_size = sizeof row};

    for (size_t i = 0; xd_option_info(i, &row) == 0; i++) {
        ck_assert_int_eq(set(row.name, NULL), XD_E_INVAL);
        ck_assert_ptr_nonnull(strstr(error.msg, row.name));
        ck_assert(!xd_options_is_set(options, row.name));
    }
}
END_TEST

START_TEST(an_unknown_name_is_refused)
{
    ck_assert_int_eq(set("redundancies", "2"), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "redundancies"));
}
END_TEST

START_TEST(an_option_that_the_algorithm_does_not_use_names_those_that_do)
{
    ck_assert_int_eq(set("algorithm", "basic"), 0);
    ck_assert_int_eq(set("redundancy", "2"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "aggressive and progress"));

    ck_assert_int_eq(set("algorithm", "aggressive"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), 0);
    ck_assert_int_eq(set("progress-number", "3"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "used only by progress"));
}
END_TEST

static struct xd_range wanted(const char *range, uint64_t size)
{
    struct xd_range out = {1, 0};

    ck_assert_int_eq(set("range", range), 0);
    ck_assert_int_eq(xd_options_wanted(options, size, &out, &error), 0);
    return out;
}

START_TEST(a_range_is_cut_to_the_file)
{
    struct xd_range r = wanted("10-19", 100);

    ck_assert_uint_eq(r.begin, 10);
    ck_assert_uint_eq(r.end, 20);
    r = wanted("90-", 100);
    ck_assert_uint_eq(r.begin, 90);
    ck_assert_uint_eq(r.end, 100);
    r = wanted("-30", 100);
    ck_assert_uint_eq(r.begin, 70);
    ck_assert_uint_eq(r.end, 100);
    r = wanted("-300", 100);
    ck_assert_uint_eq(r.begin, 0);
    r = wanted("0-99999999999", 100);
    ck_assert_uint_eq(r.end, 100);
}
END_TEST

START_TEST(a_range_beyond_the_file_is_an_error_that_tells_its_size)
{
    struct xd_range r;

    ck_assert_int_eq(set("range", "100-"), 0);
    ck_assert_int_eq(xd_options_wanted(options, 100, &r, &error), XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "100"));
}
END_TEST

START_TEST(an_empty_file_is_wanted_whole)
{
    struct xd_range r = {1, 2};

    ck_assert_int_eq(xd_options_wanted(options, 0, &r, &error), 0);
    ck_assert_uint_eq(r.begin, 0);
    ck_assert_uint_eq(r.end, 0);
}
END_TEST

START_TEST(a_caller_with_a_smaller_struct_gets_no_more_than_that)
{
    struct xd_option_info info = {.struct_size =
                                      offsetof(struct xd_option_info, argument),
                                  .argument = "untouched"};

    ck_assert_int_eq(xd_option_info(0, &info), 0);
    ck_assert_str_eq(info.name, "algorithm");
    ck_assert_str_eq(info.argument, "untouched");
}
END_TEST

START_TEST(excluded_hosts_add_up_in_one_spelling)
{
    ck_assert_int_eq(set("exclude", "A.Example."), 0);
    ck_assert_int_eq(set("exclude", "b.example:80"), 0);
    ck_assert_int_eq(set("exclude", "[2001:DB8::1]"), 0);
    ck_assert_str_eq(options->exclude, "a.example b.example:80 [2001:db8::1]");
}
END_TEST

START_TEST(what_is_no_host_is_not_excluded)
{
    static const char *const bad[] = {
        "",           "http://a.example", "a.example/", "u@a.example", "a b",
        "a.x:0",      "a.x:65536",        "a.x?",       "a.x#y",       "::1",
        "*.exa mple", "256.0.0.1",
    };

    ck_assert_int_eq(set("exclude", "a.example"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(set("exclude", bad[i]) == XD_E_INVAL, "%s", bad[i]);
    ck_assert_str_eq(options->exclude, "a.example");
}
END_TEST

START_TEST(servers_are_named_by_host_or_by_url)
{
    ck_assert_int_eq(set("auth-host", "A.example"), 0);
    ck_assert_int_eq(set("auth-host", "https://u:p@b.example/x?y"), 0);
    ck_assert_str_eq(options->net.auth_hosts, "a.example b.example:443");
    ck_assert_int_eq(set("auth-host", "file:///x"), XD_E_INVAL);
    ck_assert_str_eq(options->net.auth_hosts, "a.example b.example:443");
}
END_TEST

START_TEST(headers_add_up_and_must_be_headers)
{
    static const char *const bad[] = {"",
                                      "secret",
                                      ": secret",
                                      "A B: secret",
                                      "A : secret",
                                      "A: secret\n",
                                      "A: b\r\nCookie: secret",
                                      "A;secret",
                                      "range: secret",
                                      "Accept-Encoding: secret",
                                      "If-Range: secret"};

    ck_assert_int_eq(set("header", "A: b: c"), 0);
    ck_assert_int_eq(set("header", "Ranges;"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(set("header", bad[i]) == XD_E_INVAL, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(error.msg, "header"));
        ck_assert_ptr_null(strstr(error.msg, "secret"));
    }
    ck_assert_str_eq(options->net.headers, "A: b: c\nRanges;\n");
}
END_TEST

START_TEST(a_text_has_the_last_value)
{
    ck_assert_int_eq(set("user-agent", "a"), 0);
    ck_assert_int_eq(set("user-agent", ""), 0);
    ck_assert_str_eq(options->net.user_agent, "");
    ck_assert_int_eq(set("user-agent", "a\nb"), XD_E_INVAL);
    ck_assert_str_eq(options->net.user_agent, "");
}
END_TEST

START_TEST(a_proxy_is_a_server)
{
    static const char *const good[] = {"", "p.example", "u:p@p.example:3128",
                                       "http://p.example/",
                                       "SOCKS5h://[::1]:1"};
    static const char *const bad[] = {"gopher://secret", "http://secret@",
                                      "p/secret",        "http://p?secret",
                                      "a@secret@p",      "http://secret b"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(set("proxy", good[i]) == 0, "%s", error.msg);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(set("proxy", bad[i]) == XD_E_INVAL, "%s", bad[i]);
        ck_assert_ptr_null(strstr(error.msg, "secret"));
    }
}
END_TEST

START_TEST(secrets_are_told_apart)
{
    struct xd_option_info info = {.struct_size = sizeof info};
    size_t n = 0;

    for (size_t i = 0; xd_option_info(i, &info) == 0; i++) {
        n += info.is_secret != 0;
        ck_assert(!info.is_secret || info.default_value == NULL);
        if (strcmp(info.name, "user") == 0)
            ck_assert(info.is_secret);
    }
    ck_assert_uint_eq(n, 8);
}
END_TEST

START_TEST(what_excludes_each_other_is_an_error)
{
    ck_assert_int_eq(set("ipv4", "yes"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), 0);
    ck_assert_int_eq(set("ipv6", "yes"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), XD_E_INVAL);
    ck_assert_int_eq(set("ipv6", "no"), 0);
    ck_assert_int_eq(set("key", "file"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), XD_E_INVAL);
    ck_assert_int_eq(set("cert", "file"), 0);
    ck_assert_int_eq(xd_options_check(options, &error), 0);
}
END_TEST

START_TEST(a_copy_does_not_share_its_hosts)
{
    struct xd_options copy;

    ck_assert_int_eq(set("exclude", "a.example"), 0);
    ck_assert_int_eq(set("user", "a:b"), 0);
    ck_assert_int_eq(xd_options_copy(&copy, options), 0);
    ck_assert_int_eq(set("exclude", "b.example"), 0);
    ck_assert_int_eq(set("user", "c:d"), 0);
    ck_assert_str_eq(copy.exclude, "a.example");
    ck_assert_str_eq(copy.net.user, "a:b");
    xd_options_fini(&copy);
}
END_TEST

START_TEST(a_copy_of_none_has_the_defaults)
{
    struct xd_options copy;

    ck_assert_int_eq(xd_options_copy(&copy, NULL), 0);
    ck_assert_uint_gt(copy.retry, 0);
    ck_assert_uint_eq(copy.retry, options->retry);
    ck_assert_uint_eq(copy.lookahead, options->lookahead);
    xd_options_fini(&copy);
}
END_TEST

START_TEST(a_duplicate_has_the_values_and_is_changed_alone)
{
    struct xd_options *copy;

    ck_assert_int_eq(set("block-size", "64k"), 0);
    ck_assert_int_eq(set("header", "A: 1"), 0);
    ck_assert_int_eq(xd_options_dup(&copy, options, &error), 0);
    ck_assert_uint_eq(copy->block_bytes, 65536);
    ck_assert_int_eq(xd_options_set(copy, "block-size", "1m", NULL), 0);
    ck_assert_int_eq(xd_options_set(copy, "user", "a:b", NULL), 0);
    ck_assert_uint_eq(options->block_bytes, 65536);
    ck_assert_ptr_null(options->net.user);
    ck_assert_int_eq(set("block-size", "2m"), 0);
    ck_assert_uint_eq(copy->block_bytes, 1 << 20);
    xd_options_free(copy);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("options");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, defaults_are_the_ones_of_the_table);
    tcase_add_test(tcase, every_default_can_be_set_again);
    tcase_add_test(tcase, values_with_units_are_understood);
    tcase_add_test(tcase, a_lookahead_is_a_size_or_a_time_whichever_came_last);
    tcase_add_test(tcase, a_bad_value_is_refused_with_name_value_and_range);
    tcase_add_test(tcase, range_that_starts_after_its_end_is_called_so);
    tcase_add_test(tcase, a_value_of_null_is_refused_and_changes_nothing);
    tcase_add_test(tcase, an_unknown_name_is_refused);
    tcase_add_test(
        tcase, an_option_that_the_algorithm_does_not_use_names_those_that_do);
    tcase_add_test(tcase, a_range_is_cut_to_the_file);
    tcase_add_test(tcase,
                   a_range_beyond_the_file_is_an_error_that_tells_its_size);
    tcase_add_test(tcase, an_empty_file_is_wanted_whole);
    tcase_add_test(tcase,
                   a_caller_with_a_smaller_struct_gets_no_more_than_that);
    tcase_add_test(tcase, excluded_hosts_add_up_in_one_spelling);
    tcase_add_test(tcase, what_is_no_host_is_not_excluded);
    tcase_add_test(tcase, servers_are_named_by_host_or_by_url);
    tcase_add_test(tcase, headers_add_up_and_must_be_headers);
    tcase_add_test(tcase, a_text_has_the_last_value);
    tcase_add_test(tcase, a_proxy_is_a_server);
    tcase_add_test(tcase, secrets_are_told_apart);
    tcase_add_test(tcase, what_excludes_each_other_is_an_error);
    tcase_add_test(tcase, a_copy_does_not_share_its_hosts);
    tcase_add_test(tcase, a_copy_of_none_has_the_defaults);
    tcase_add_test(tcase, a_duplicate_has_the_values_and_is_changed_alone);
    return run_suite("options", tcase);
}
