#include <xdownload/inspect.h>

#include <stdio.h>
#include <string.h>

#include "io/mock_server.h"
#include "suite.h"

#define METALINK                                             \
    "<?xml version=\"1.0\"?>\n"                              \
    "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"   \
    "<file name=\"f\"><size>7</size><url>rel/f</url></file>" \
    "</metalink>"
#define CLOSED "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"

static const struct mock_step metalink[] = {SAY(CLOSED METALINK), CLOSE, END};
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
    tcase_add_test(tcase, past_the_last_is_invalid);
    tcase_add_test(tcase, many_more_than_are_asked_at_a_time_all_get_an_answer);
    return run_suite("inspect", tcase);
}
