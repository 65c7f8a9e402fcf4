/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "command/manifests.h"

START_TEST(a_list_of_urls_is_one_file_of_unknown_size)
{
    read_data("mirrors.urls");
    ck_assert_str_eq(xd_manifest_format(manifest), "urls");
    ck_assert_uint_eq(xd_manifest_n_files(manifest), 1);
    ck_assert_uint_eq(file_at(0).size, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(file_at(0).n_extents, 1);
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 4);
    ck_assert_str_eq(file_at(0).name, "big file.iso");
}
END_TEST

START_TEST(blank_lines_comments_blanks_and_tabs_separate_urls)
{
    read_data("mirrors.urls");
    expect_url(0, 0, 0, "http://a.example/pub/big%20file.iso");
    expect_url(0, 0, 1, "https://b.example/big.iso");
    expect_url(0, 0, 2, "http://c.example/big.iso");
    expect_url(0, 0, 3, "ftp://d.example/pub/big.iso");
    expect_warning("line 7: a source is not used: its URL has a scheme");
    ck_assert_uint_eq(n_warnings(), 1);
}
END_TEST

START_TEST(the_last_line_needs_no_end)
{
    parse("http://a/x\nhttp://b/x");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
}
END_TEST

START_TEST(a_byte_order_mark_is_passed_over)
{
    parse("\xef\xbb\xbfhttp://a/x\n");
    expect_url(0, 0, 0, "http://a/x");
}
END_TEST

START_TEST(an_ibp_capability_is_a_url)
{
    parse("ibp://d.example:6714/0#IBP-key/123/READ\n");
    expect_url(0, 0, 0, "ibp://d.example:6714/0#IBP-key/123/READ");
    ck_assert_ptr_null(file_at(0).name);
}
END_TEST

START_TEST(text_that_does_not_begin_with_a_url_is_no_manifest)
{
    expect_refused("hello world\nhttp://a/x\n", "line 1: this is neither XML "
                                                "nor a URL");
    expect_refused("#!/bin/sh\n\necho http://a/x\n", "line 3: this is neither");
    expect_refused("{\"files\": []}", "line 1: this is neither");
    expect_refused("[#---", "this is neither");
    expect_refused("a/relative/path\n", "this is neither");
    expect_refused("http://\n", "this is neither");
}
END_TEST

START_TEST(later_lines_that_are_no_urls_are_dropped)
{
    parse("http://a/x\n  out=name\nhttp://b c/x\nhttp://c/x\n");
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
    expect_warning("line 2: a source is not used");
    expect_warning("line 3: a source is not used");
}
END_TEST

START_TEST(a_list_without_a_url_is_refused)
{
    expect_refused("", "it is empty");
    expect_refused(" \n\t\r\n", "it is empty");
    expect_refused("# nothing\n# here\n", "there is no URL in it");
    expect_refused("rsync://a/x\nrsync://b/x\n",
                   "no file in it has a source; line 1: ");
}
END_TEST

START_TEST(a_url_longer_than_any_is_dropped)
{
    static char text[80000];
    strcpy(text, "http://a/x\nhttp://b/");
    memset(text + strlen(text), 'y', 70000);
    parse(text);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 1);
    ck_assert_uint_eq(n_warnings(), 1);
    text[strlen("http://a/x\n") + 65535] = '\0';
    parse(text);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, 2);
}
END_TEST

START_TEST(urls_given_one_by_one_are_copies_of_one_file)
{
    const char *urls[] = {"http://a/d/x.iso?token=1#top", " ftp://b/y ",
                          "nonsense", "http://a/d/x.iso?token=1#top"};
    forget_manifest();
    ck_assert_int_eq(
        xd_manifest_from_urls(&manifest, urls, 4, XD_SIZE_UNKNOWN, &error), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "urls");
    ck_assert_str_eq(file_at(0).name, "x.iso");
    expect_bytes(0, 0, XD_SIZE_UNKNOWN, 2);
    expect_url(0, 0, 1, "ftp://b/y");
    expect_warning("URL 3: a source is not used");
}
END_TEST

START_TEST(no_usable_url_is_an_error_that_says_why)
{
    const char *urls[] = {"file:///etc/passwd"};
    forget_manifest();
    int rc = xd_manifest_from_urls(&manifest, urls, 1, XD_SIZE_UNKNOWN, &error);
    ck_assert_int_eq(rc, XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "URL 1: "));
    ck_assert_ptr_nonnull(strstr(error.msg, "file: URL"));
    ck_assert_ptr_null(manifest);
    rc = xd_manifest_from_urls(&manifest, urls, 0, XD_SIZE_UNKNOWN, NULL);
    ck_assert_int_eq(rc, XD_E_MANIFEST);
}
END_TEST

START_TEST(only_a_manifest_that_is_a_file_may_name_files_of_this_machine)
{
    static const char *const elsewhere[] = {
        NULL, "-", "http://h/list", "file:///home/list", "https://h h/list"};
    const char *text = "http://a/x\nfile:///pool/a%20b\n";
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        ck_assert_int_eq(parse_from(text, elsewhere[i]), 0);
        expect_bytes(0, 0, XD_SIZE_UNKNOWN, 1);
        expect_warning("line 2: a source is not used: it is a file: URL, "
                       "which only a manifest that is itself a file may name");
    }
    ck_assert_int_eq(parse_from(text, "lists/mine"), 0);
    expect_url(0, 0, 1, "file:///pool/a%20b");
    ck_assert_uint_eq(n_warnings(), 0);
}
END_TEST

START_TEST(a_file_url_names_a_path_on_this_machine_or_nothing)
{
    static const char *const none[] = {"file://elsewhere/x", "file://",
                                       "file:///x?y", "file:///x%2",
                                       "file://me@localhost/x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[100];
        snprintf(text, sizeof text, "http://a/x\n%s\n", none[i]);
        ck_assert_int_eq(parse_from(text, "list"), 0);
        expect_bytes(0, 0, XD_SIZE_UNKNOWN, 1);
        expect_warning("line 2: a source is not used: it ");
    }
}
END_TEST

START_TEST(many_urls_are_sorted_out_without_comparing_each_with_each)
{
    enum { N = 100000, LINE = 40 };
    char *text = malloc((size_t)2 * N * LINE), *end = text;
    ck_assert_ptr_nonnull(text);
    for (int twice = 0; twice < 2; twice++) {
        for (int i = 0; i < N; i++)
            end += snprintf(end, LINE, "http://m%d.example/x\n", i);
    }
    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)(end - text), NULL, &error),
        0);
    ck_assert_uint_eq(extent_at(0, 0).n_replicas, N);
    expect_url(0, 0, N - 1, "http://m99999.example/x");
    free(text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("urls");
    tcase_add_checked_fixture(t, NULL, forget_manifest);
    tcase_add_test(t, a_list_of_urls_is_one_file_of_unknown_size);
    tcase_add_test(t, blank_lines_comments_blanks_and_tabs_separate_urls);
    tcase_add_test(t, the_last_line_needs_no_end);
    tcase_add_test(t, a_byte_order_mark_is_passed_over);
    tcase_add_test(t, an_ibp_capability_is_a_url);
    tcase_add_test(t, text_that_does_not_begin_with_a_url_is_no_manifest);
    tcase_add_test(t, later_lines_that_are_no_urls_are_dropped);
    tcase_add_test(t, a_list_without_a_url_is_refused);
    tcase_add_test(t, a_url_longer_than_any_is_dropped);
    tcase_add_test(t, urls_given_one_by_one_are_copies_of_one_file);
    tcase_add_test(t, no_usable_url_is_an_error_that_says_why);
    tcase_add_test(
        t, only_a_manifest_that_is_a_file_may_name_files_of_this_machine);
    tcase_add_test(t, a_file_url_names_a_path_on_this_machine_or_nothing);
    tcase_add_test(t,
                   many_urls_are_sorted_out_without_comparing_each_with_each);
    return run_suite("urls", t);
}
