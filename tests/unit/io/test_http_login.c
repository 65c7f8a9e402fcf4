/* SPDX-License-Identifier: MIT */
/* Downloads that log in: by Basic at once, by Digest where a server asks for it. */
#include <stdio.h>
#include <string.h>

#include "catcher.h"
#include "io/net_options.h"
#include "suite.h"
#include "url_of.h"

#define CHALLENGE(scheme)                                               \
    SAY("HTTP/1.1 401 Who\r\nWWW-Authenticate: " scheme " realm=\"r\"," \
        "nonce=\"n\",qop=\"auth\"\r\nContent-Length: 4\r\n\r\nwho?")
#define BYTES                                                   \
    SAY("HTTP/1.1 206 Part\r\nContent-Range: bytes 0-99/1000\r" \
        "\nContent-Length: 100\r\n\r\n"),                       \
        BODY(0, 100)

static char user[] = "ann:secret", hosts[] = "127.0.0.1";
static struct xd_net_options net;

static void set_up(void)
{
    struct xd_transport_config config = {
        .n_slots = SLOTS, .silence = 60 * XD_SECOND, .net = &net};

    setenv("NO_PROXY", "*", 1);
    net = (struct xd_net_options)XD_NET_OPTIONS_INIT;
    net.user = user;
    net.auth_hosts = hosts;
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
}

static const struct catcher *ask(unsigned slot, struct xd_request r)
{
    start(slot, r);
    run_to_end(slot);
    return &caught[slot];
}

static bool has(struct mock_server *m, unsigned i, const char *part)
{
    return strstr(mock_request(m, i), part) != NULL;
}

START_TEST(basic_is_sent_with_the_first_request)
{
    static const struct mock_step script[] = {BYTES, END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    ck_assert_uint_eq(mock_requests(server), 1);
    ck_assert(has(server, 0, "\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n"));
}
END_TEST

START_TEST(digest_is_answered_when_the_server_asks_for_it)
{
    static const struct mock_step script[] = {
        CHALLENGE("Digest"), NEXT, CHALLENGE("Digest"), NEXT, BYTES, END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    ck_assert_uint_eq(caught[0].heads, 1);
    ck_assert_uint_eq(mock_requests(server), 3);
    ck_assert(!has(server, 1, "Authorization"));
    ck_assert(has(server, 2, "\r\nAuthorization: Digest username=\"ann\""));
    ck_assert(has(server, 2, "\r\nRange: bytes=0-99\r\n"));
}
END_TEST

START_TEST(later_requests_answer_digest_at_once)
{
    static const struct mock_step script[] = {
        CHALLENGE("Digest"), NEXT, CHALLENGE("Digest"), NEXT, BYTES, END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    ck_assert_uint_eq(mock_requests(server), 4);
    ck_assert(has(server, 3, "nc=00000002"));
}
END_TEST

START_TEST(password_is_not_sent_in_clear_by_a_slot_that_comes_later)
{
    static const struct mock_step script[] = {CHALLENGE("Digest"),
                                              NEXT,
                                              CHALLENGE("Digest"),
                                              NEXT,
                                              BYTES,
                                              NEXT,
                                              CHALLENGE("Digest"),
                                              NEXT,
                                              BYTES,
                                              END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    check_end(ask(1, range(0, 100)), XD_VERDICT_OK, 100);
    ck_assert_uint_eq(mock_requests(server), 5);
    ck_assert(!has(server, 3, "Authorization"));
    ck_assert(has(server, 4, "\r\nAuthorization: Digest "));
}
END_TEST

START_TEST(login_of_a_url_answers_digest)
{
    static const struct mock_step script[] = {
        CHALLENGE("Digest"), NEXT, CHALLENGE("Digest"), NEXT, BYTES, END};
    struct xd_request r = range(0, 100);
    char url[80];

    server = mock_start(script);
    net.user = NULL;
    snprintf(url, sizeof url, "http://bob:pw@127.0.0.1:%u/x",
             mock_port(server));
    r.url = url_of(url);
    check_end(ask(0, r), XD_VERDICT_OK, 100);
    ck_assert(has(server, 2, "\r\nAuthorization: Digest username=\"bob\""));
}
END_TEST

START_TEST(another_server_is_sent_basic_again)
{
    static const struct mock_step digest[] = {
        CHALLENGE("Digest"), NEXT, CHALLENGE("Digest"), NEXT, BYTES, END};
    static const struct mock_step basic[] = {BYTES, END};
    struct mock_server *other = mock_start(basic);
    struct xd_request r = range(0, 100);

    server = mock_start(digest);
    r.url = url_of(mock_url(other));
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    check_end(ask(0, r), XD_VERDICT_OK, 100);
    ck_assert_uint_eq(mock_requests(other), 1);
    ck_assert(has(other, 0, "\r\nAuthorization: Basic "));
    check_end(ask(0, range(0, 100)), XD_VERDICT_OK, 100);
    ck_assert(!has(server, 3, "\r\nAuthorization: Basic "));
    mock_stop(other);
}
END_TEST

START_TEST(wrong_password_is_refused_after_one_digest)
{
    static const struct mock_step script[] = {CHALLENGE("Digest"), END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_GONE, 0);
    ck_assert(caught[0].outcome.needs_login);
    ck_assert_uint_eq(mock_requests(server), 3);
}
END_TEST

START_TEST(basic_that_was_refused_is_not_sent_again)
{
    static const struct mock_step script[] = {CHALLENGE("Basic"), END};

    server = mock_start(script);
    check_end(ask(0, range(0, 100)), XD_VERDICT_GONE, 0);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(digest_is_not_answered_without_a_login)
{
    static const struct mock_step script[] = {CHALLENGE("Digest"), END};
    static char elsewhere[] = "other.example";

    server = mock_start(script);
    net.auth_hosts = elsewhere;
    check_end(ask(0, range(0, 100)), XD_VERDICT_GONE, 0);
    ck_assert_uint_eq(mock_requests(server), 1);
    ck_assert(!has(server, 0, "Authorization"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("http_login");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, basic_is_sent_with_the_first_request);
    tcase_add_test(t, digest_is_answered_when_the_server_asks_for_it);
    tcase_add_test(t, later_requests_answer_digest_at_once);
    tcase_add_test(t, password_is_not_sent_in_clear_by_a_slot_that_comes_later);
    tcase_add_test(t, login_of_a_url_answers_digest);
    tcase_add_test(t, another_server_is_sent_basic_again);
    tcase_add_test(t, wrong_password_is_refused_after_one_digest);
    tcase_add_test(t, basic_that_was_refused_is_not_sent_again);
    tcase_add_test(t, digest_is_not_answered_without_a_login);
    return run_suite("http_login", t);
}
