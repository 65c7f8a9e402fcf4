/* SPDX-License-Identifier: MIT */
#include <xdownload/manifest.h>

#include <stdio.h>
#include <string.h>

#include "command/inspect.h"
#include "command/lists.h"
#include "command/manifests.h"
#include "io/mock_server.h"
#include "suite.h"

#define METALINK                                             \
    "<?xml version=\"1.0\"?>\n"                              \
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"   \
    "<file name=\"f\"><size>7</size><url>rel/f</url></file>" \
    "</metalink>"
#define CLOSED "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"

static const struct mock_step metalink[] = {SAY(CLOSED METALINK), CLOSE, END};
static const struct mock_step slow_metalink[] = {
    SLEEP(1500), SAY(CLOSED METALINK), CLOSE, END};
static const struct mock_step object[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), BODY(0, 1000000),
    END};
static const struct mock_step page[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n"
        "<html><body>hi</body></html>\n"),
    END};
static const struct mock_step list[] = {
    SAY(CLOSED "http://a.example/f\nhttp://b.example/f\n"), CLOSE, END};
static const struct mock_step broken[] = {
    SAY(CLOSED "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file"),
    CLOSE, END};
static const struct mock_step missing[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step silent[] = {HOLD, END};
static const struct mock_step busy_once[] = {
    SAY("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), NEXT,
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n"
        "<html><body>hi</body></html>\n"),
    END};

static struct mock_server *servers[3];
static struct xd_inspection *inspection;
static struct xd_error error;

static void teardown(void)
{
    xd_inspection_free(inspection);
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        if (servers[i])
            mock_stop(servers[i]);
    }
}

static void inspect(int are_manifests, const struct mock_step *first,
                    const struct mock_step *second)
{
    const char *urls[2];
    size_t n = 0;

    servers[n] = mock_start(first);
    urls[n] = mock_url(servers[n]);
    n++;
    if (second) {
        servers[n] = mock_start(second);
        urls[n] = mock_url(servers[n]);
        n++;
    }
    ck_assert_int_eq(
        xd_inspect(&inspection, urls, n, are_manifests, NULL, &error), 0);
}

static struct xd_inspected get(size_t i)
{
    struct xd_inspected out = {.struct_size = sizeof out};

    ck_assert_int_eq(xd_inspection_get(inspection, i, &out), 0);
    return out;
}

START_TEST(a_metalink_is_understood)
{
    struct xd_inspected it;

    inspect(0, metalink, NULL);
    it = get(0);
    ck_assert_int_eq(it.error.code, XD_OK);
    ck_assert_ptr_nonnull(it.manifest);
    ck_assert_str_eq(xd_manifest_format(it.manifest), "metalink4");
}
END_TEST

START_TEST(relative_urls_resolve_against_where_it_came_from)
{
    struct xd_replica replica = {.struct_size = sizeof replica};
    char expected[100];

    inspect(0, metalink, NULL);
    ck_assert_ptr_nonnull(get(0).manifest);
    ck_assert_int_eq(xd_manifest_replica(get(0).manifest, 0, 0, 0, &replica),
                     0);
    snprintf(expected, sizeof expected, "http://127.0.0.1:%u/rel/f",
             mock_port(servers[0]));
    ck_assert_str_eq(replica.url, expected);
}
END_TEST

START_TEST(anything_else_is_a_replica_of_its_size)
{
    inspect(0, object, page);
    ck_assert_ptr_null(get(0).manifest);
    ck_assert_int_eq(get(0).error.code, XD_OK);
    ck_assert_uint_eq(get(0).size, 1000000);
    ck_assert_ptr_null(get(1).manifest);
    ck_assert_int_eq(get(1).error.code, XD_OK);
    ck_assert_uint_eq(get(1).size, 29);
}
END_TEST

START_TEST(a_list_of_urls_is_a_manifest_only_if_that_is_said)
{
    inspect(0, list, NULL);
    ck_assert_ptr_null(get(0).manifest);
    xd_inspection_free(inspection);
    mock_stop(servers[0]);
    inspect(1, list, NULL);
    ck_assert_ptr_nonnull(get(0).manifest);
    ck_assert_str_eq(xd_manifest_format(get(0).manifest), "urls");
}
END_TEST

START_TEST(a_broken_manifest_says_what_is_wrong)
{
    inspect(0, broken, NULL);
    ck_assert_int_eq(get(0).error.code, XD_E_MANIFEST);
    ck_assert_ptr_null(get(0).manifest);
    ck_assert_ptr_nonnull(strstr(get(0).error.msg, "127.0.0.1"));
}
END_TEST

START_TEST(a_missing_one_says_why)
{
    inspect(0, missing, NULL);
    ck_assert_int_eq(get(0).error.code, XD_E_NET);
    ck_assert_ptr_nonnull(strstr(get(0).error.msg, "404"));
    ck_assert_int_eq(get(0).error.http_status, 404);
    ck_assert_str_eq(get(0).error.url, mock_url(servers[0]));
}
END_TEST

START_TEST(a_silent_one_is_left_when_another_has_answered)
{
    inspect(0, silent, object);
    ck_assert_int_eq(get(0).error.code, XD_E_AGAIN);
    ck_assert_int_eq(get(1).error.code, XD_OK);
}
END_TEST

START_TEST(one_that_is_busy_is_asked_again)
{
    inspect(0, busy_once, NULL);
    ck_assert_int_eq(get(0).error.code, XD_OK);
    ck_assert_uint_eq(get(0).size, 29);
    ck_assert_uint_eq(mock_requests(servers[0]), 2);
}
END_TEST

START_TEST(a_password_is_not_said)
{
    char url[100];
    const char *urls[] = {url};

    servers[0] = mock_start(broken);
    snprintf(url, sizeof url, "http://me:secret@127.0.0.1:%u/x?token=secret",
             mock_port(servers[0]));
    ck_assert_int_eq(xd_inspect(&inspection, urls, 1, 0, NULL, &error), 0);
    ck_assert_int_eq(get(0).error.code, XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(get(0).error.msg, "127.0.0.1"));
    ck_assert_ptr_null(strstr(get(0).error.msg, "secret"));
}
END_TEST

static struct xd_manifest *manifest;

static void expect_manifest(size_t i, const char *format, uint64_t size)
{
    struct xd_file file = {.struct_size = sizeof file};

    ck_assert_int_eq(xd_inspection_manifest(&manifest, inspection, i, &error),
                     0);
    ck_assert_str_eq(xd_manifest_format(manifest), format);
    ck_assert_int_eq(xd_manifest_file(manifest, 0, &file), 0);
    ck_assert_uint_eq(file.size, size);
    xd_manifest_unref(manifest);
}

START_TEST(manifests_stand_for_themselves)
{
    inspect(0, metalink, metalink);
    ck_assert_int_eq(xd_inspection_n_manifests(inspection, &error), 2);
    expect_manifest(0, "metalink4", 7);
    expect_manifest(1, "metalink4", 7);
    ck_assert_int_eq(xd_inspection_manifest(&manifest, inspection, 2, &error),
                     XD_E_INVAL);
    ck_assert_ptr_null(manifest);
}
END_TEST

START_TEST(copies_stand_for_one_file_of_the_size_they_agree_on)
{
    inspect(0, page, page);
    ck_assert_int_eq(xd_inspection_n_manifests(inspection, &error), 1);
    expect_manifest(0, "urls", 29);
    xd_inspection_free(inspection);
    mock_stop(servers[0]);
    mock_stop(servers[1]);
    inspect(0, page, object);
    expect_manifest(0, "urls", XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(a_manifest_and_a_copy_do_not_go_together)
{
    inspect(0, metalink, page);
    ck_assert_int_eq(xd_inspection_n_manifests(inspection, &error), XD_E_INVAL);
    ck_assert_int_eq(xd_inspection_manifest(&manifest, inspection, 0, &error),
                     XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, mock_url(servers[1])));
}
END_TEST

START_TEST(where_none_answers_the_first_says_why)
{
    inspect(0, missing, missing);
    ck_assert_int_eq(xd_inspection_n_manifests(inspection, &error), XD_E_NET);
    ck_assert_int_eq(error.http_status, 404);
    ck_assert_str_eq(error.url, mock_url(servers[0]));
}
END_TEST

/* Slow copies are left, slow manifests are not. */
START_TEST(beside_a_manifest_a_slow_one_is_waited_for)
{
    inspect(0, metalink, slow_metalink);
    ck_assert_int_eq(xd_inspection_n_manifests(inspection, &error), 2);
    expect_manifest(1, "metalink4", 7);
}
END_TEST

START_TEST(a_url_is_opened_in_one_call)
{
    const char *urls[2];

    servers[0] = mock_start(metalink);
    servers[1] = mock_start(page);
    urls[0] = mock_url(servers[0]);
    urls[1] = mock_url(servers[1]);
    ck_assert_int_eq(xd_manifest_open(&manifest, urls, 1, NULL, &error), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "metalink4");
    xd_manifest_unref(manifest);
    ck_assert_int_eq(xd_manifest_open(&manifest, urls + 1, 1, NULL, &error), 0);
    ck_assert_str_eq(xd_manifest_format(manifest), "urls");
    xd_manifest_unref(manifest);
    ck_assert_int_eq(xd_manifest_open(&manifest, urls, 2, NULL, &error),
                     XD_E_INVAL);
    ck_assert_ptr_null(manifest);
}
END_TEST

/* Only a single source without SCHEME:// is a path. */
START_TEST(no_url_opens_a_file_and_no_path_a_url)
{
    const char *texts[] = {"/etc/passwd", "passwd", "-", "file:///etc/passwd"};
    char url[100];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *both[] = {texts[i], texts[3]};

        ck_assert_int_lt(xd_manifest_open(&manifest, both, 2, NULL, &error), 0);
        ck_assert_ptr_null(strstr(error.msg, "root"));
        ck_assert_int_ne(error.code, XD_E_MANIFEST);
    }
    ck_assert_int_lt(xd_manifest_open(&manifest, &texts[3], 1, NULL, &error),
                     0);
    ck_assert_int_ne(error.code, XD_E_MANIFEST);
    servers[0] = mock_start(metalink);
    snprintf(url, sizeof url, "%s", mock_url(servers[0]));
    ck_assert_int_eq(xd_manifest_read(&manifest, url, &error), XD_E_IO);
    ck_assert_uint_eq(mock_requests(servers[0]), 0);
}
END_TEST

START_TEST(past_the_last_is_invalid)
{
    struct xd_inspected out = {.struct_size = sizeof out};

    inspect(0, object, NULL);
    ck_assert_int_eq(xd_inspection_get(inspection, 1, &out), XD_E_INVAL);
}
END_TEST

START_TEST(many_more_than_are_asked_at_a_time_all_get_an_answer)
{
    const char *urls[40];

    servers[0] = mock_start(object);
    for (size_t i = 0; i < 40; i++)
        urls[i] = mock_url(servers[0]);
    /* Of what may be replicas the late ones would be left. */
    ck_assert_int_eq(xd_inspect(&inspection, urls, 40, 1, NULL, &error), 0);
    for (size_t i = 0; i < 40; i++)
        ck_assert_int_eq(get(i).error.code, XD_E_MANIFEST);
}
END_TEST

static int find_copies_of_list(const char *text)
{
    struct xd_manifest *all;
    struct xd_list *l;
    int rc;

    ck_assert_int_eq(
        xd_list_parse(&l, text, strlen(text), "l.txt", false, &error), 0);
    ck_assert_int_eq(xd_list_manifest(&all, l, &error), 0);
    xd_list_free(l);
    rc = xd_copies_find(&manifest, all, NULL, &error);
    ck_assert((rc == 0) == (manifest == all));
    ck_assert((rc == 0) == (manifest != NULL));
    xd_manifest_unref(manifest);
    xd_manifest_unref(all);
    return rc;
}

START_TEST(copies_of_several_files_at_once_are_refused)
{
    ck_assert_int_eq(find_copies_of_list("http://a.invalid/f\n"
                                         "http://a.invalid/g\n"),
                     0);
    ck_assert_int_eq(find_copies_of_list("http://a.invalid/f\t"
                                         "http://b.invalid/f\n"
                                         "http://a.invalid/g\n"),
                     XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "2 files"));
    ck_assert_int_eq(find_copies_of_list("http://a.invalid/f\n"
                                         "http://a.invalid/g\t"
                                         "http://b.invalid/g\n"),
                     XD_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("inspect");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, a_metalink_is_understood);
    tcase_add_test(tcase, relative_urls_resolve_against_where_it_came_from);
    tcase_add_test(tcase, anything_else_is_a_replica_of_its_size);
    tcase_add_test(tcase, a_list_of_urls_is_a_manifest_only_if_that_is_said);
    tcase_add_test(tcase, a_broken_manifest_says_what_is_wrong);
    tcase_add_test(tcase, a_missing_one_says_why);
    tcase_add_test(tcase, a_silent_one_is_left_when_another_has_answered);
    tcase_add_test(tcase, one_that_is_busy_is_asked_again);
    tcase_add_test(tcase, a_password_is_not_said);
    tcase_add_test(tcase, manifests_stand_for_themselves);
    tcase_add_test(tcase, copies_stand_for_one_file_of_the_size_they_agree_on);
    tcase_add_test(tcase, a_manifest_and_a_copy_do_not_go_together);
    tcase_add_test(tcase, where_none_answers_the_first_says_why);
    tcase_add_test(tcase, beside_a_manifest_a_slow_one_is_waited_for);
    tcase_add_test(tcase, a_url_is_opened_in_one_call);
    tcase_add_test(tcase, no_url_opens_a_file_and_no_path_a_url);
    tcase_add_test(tcase, past_the_last_is_invalid);
    tcase_add_test(tcase, copies_of_several_files_at_once_are_refused);
    tcase_add_test(tcase, many_more_than_are_asked_at_a_time_all_get_an_answer);
    return run_suite("inspect", tcase);
}
