/* SPDX-License-Identifier: MIT */
/* Requests that send, at a server that does what a script says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catcher.h"
#include "io/net_options.h"
#include "os/clock.h"
#include "suite.h"
#include "url_of.h"

#define LARGE 3000000 /* more than the buffers on the way hold */

#define CONTINUE SAY("HTTP/1.1 100 Continue\r\n\r\n")
#define CREATED \
    SAY("HTTP/1.1 201 Created\r\nETag: \"e1\"\r\nContent-Length: 0\r\n\r\n")
#define NO(status, more) \
    SAY("HTTP/1.1 " status " No\r\n" more "Content-Length: 0\r\n\r\n")

static const struct mock_step takes_large[] = {CONTINUE, TAKE(0, LARGE),
                                               CREATED, END};

static struct xd_net_options net;

static void open_transport(xd_usec silence)
{
    struct xd_transport_config config = {
        .n_slots = SLOTS, .silence = silence, .net = &net};

    xd_transport_free(transport);
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
}

static void set_up(void)
{
    setenv("NO_PROXY", "*", 1);
    send_patience = 0;
    net = (struct xd_net_options)XD_NET_OPTIONS_INIT;
    open_transport(60 * XD_SECOND);
}

static const struct catcher *ask(const struct mock_step *script,
                                 const char *method, const char *fields,
                                 uint64_t length)
{
    if (server == NULL)
        server = mock_start(script);
    send_to(0, method, fields, length, NULL);
    run_to_end(0);
    return &caught[0];
}

static void check_reply(const struct catcher *c, int64_t code)
{
    check_end(c, XD_VERDICT_OK, c->received);
    ck_assert_uint_eq(c->heads, 1);
    ck_assert_int_eq(c->reply.code, code);
}

static void check_asked(unsigned i, const char *part)
{
    ck_assert_msg(strstr(mock_request(server, i), part) != NULL,
                  "no \"%s\" in: %s", part, mock_request(server, i));
}

static void check_not_asked(unsigned i, const char *part)
{
    ck_assert_msg(strstr(mock_request(server, i), part) == NULL,
                  "\"%s\" in: %s", part, mock_request(server, i));
}

/* ---- the request ---- */

START_TEST(body_is_sent_and_the_answer_handed_over)
{
    const struct catcher *c =
        ask(takes_large, "PUT", "If-None-Match: *\nX-One: 1\n", LARGE);

    check_reply(c, 201);
    ck_assert_str_eq(c->etag, "\"e1\"");
    ck_assert_str_eq(c->location, "");
    ck_assert_uint_eq(c->sent, LARGE);
    ck_assert_uint_eq(c->rewinds, 0);
    ck_assert_uint_eq(mock_taken(server), LARGE);
    check_asked(0, "PUT /x HTTP/1.1\r\n");
    check_asked(0, "\r\nContent-Length: 3000000\r\n");
    check_asked(0, "\r\nExpect: 100-continue\r\n");
    check_asked(0, "\r\nIf-None-Match: *\r\nX-One: 1\r\n");
    check_not_asked(0, "Range:");
    check_not_asked(0, "Content-Type:");
    check_not_asked(0, "Transfer-Encoding:");
}
END_TEST

START_TEST(own_lines_stand_before_those_of_options)
{
    char line[] = "X-Mine: 2\n";

    net.headers = line;
    open_transport(60 * XD_SECOND);
    check_reply(ask(takes_large, "PUT", "X-One: 1\n", LARGE), 201);
    ck_assert(strstr(mock_request(server, 0), "X-One: 1") <
              strstr(mock_request(server, 0), "X-Mine: 2"));
    check_asked(0, "X-Mine: 2");
}
END_TEST

START_TEST(method_without_a_body_is_sent_as_such)
{
    static const struct mock_step script[] = {NO("204", ""), END};
    static const char *const methods[] = {"DELETE", "MKCOL", "GET"};

    for (unsigned i = 0; i < 3; i++) {
        char line[40];

        check_reply(ask(script, methods[i], NULL, 0), 204);
        snprintf(line, sizeof line, "%s /x HTTP/1.1\r\n", methods[i]);
        check_asked(i, line);
        check_not_asked(i, "Content-Length");
    }
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(empty_body_of_put_and_post_has_a_length)
{
    static const struct mock_step script[] = {CREATED, END};
    static const char *const methods[] = {"PUT", "POST"};

    for (unsigned i = 0; i < 2; i++) {
        check_reply(ask(script, methods[i], NULL, 0), 201);
        check_asked(i, "\r\nContent-Length: 0\r\n");
        check_asked(i, methods[i]);
        check_not_asked(i, "Content-Type:");
    }
    ck_assert_uint_eq(caught[0].reads, 0);
}
END_TEST

START_TEST(post_sends_its_body)
{
    static const struct mock_step script[] = {CONTINUE, TAKE(0, 1000), CREATED,
                                              END};

    check_reply(ask(script, "POST", "Content-Type: text/xml\n", 1000), 201);
    check_asked(0, "POST /x HTTP/1.1\r\n");
    check_asked(0, "\r\nContent-Type: text/xml\r\n");
    ck_assert_uint_eq(mock_taken(server), 1000);
}
END_TEST

START_TEST(head_says_the_length_and_no_body_is_waited_for)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nETag: \"e\"\r\n"
            "Date: Tue, 15 Nov 1994 08:12:31 GMT\r\n\r\n"),
        END};
    const struct catcher *c = ask(script, "HEAD", NULL, 0);

    check_reply(c, 200);
    ck_assert_uint_eq(c->reply.length, 12345);
    ck_assert_int_eq(c->reply.date, 784887151);
    ck_assert(!c->reply.is_range);
    check_asked(0, "HEAD /x HTTP/1.1\r\n");
    check_reply(ask(script, "HEAD", NULL, 0), 200);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(range_of_the_fields_comes_with_what_the_answer_says_of_it)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 206 P\r\nContent-Range: bytes 100-299/1000\r\n"
            "Content-Length: 200\r\n\r\n"),
        BODY(0, 200), END};
    const struct catcher *c = ask(script, "GET", "Range: bytes=100-299\n", 0);

    check_reply(c, 206);
    ck_assert_uint_eq(c->received, 200);
    ck_assert(c->reply.is_range);
    ck_assert_uint_eq(c->reply.range.begin, 100);
    ck_assert_uint_eq(c->reply.range.end, 300);
    ck_assert_uint_eq(c->reply.length, 1000);
    check_asked(0, "\r\nRange: bytes=100-299\r\n");
}
END_TEST

START_TEST(download_after_it_is_as_any_other)
{
    static const struct mock_step script[] = {
        CONTINUE,
        TAKE(0, 1000),
        CREATED,
        NEXT,
        SAY("HTTP/1.1 206 P\r\nContent-Range: bytes 100-299/1000\r\n"
            "Content-Length: 200\r\n\r\n"),
        BODY(100, 200),
        NEXT,
        NO("200", ""),
        NEXT,
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        BODY(0, 1000),
        END};

    check_reply(ask(script, "PUT", "X-One: 1\n", 1000), 201);
    start(0, range(100, 200));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
    check_asked(1, "GET /x HTTP/1.1\r\n");
    check_asked(1, "Range: bytes=100-299");
    check_not_asked(1, "X-One");
    check_not_asked(1, "Content-Length");
    check_reply(ask(script, "HEAD", NULL, 0), 200);
    start(0, range(0, XD_TO_END));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 1000);
    check_asked(3, "GET /x HTTP/1.1\r\n");
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(other_schemes_are_sent_nothing)
{
    static const char *const urls[] = {"ftp://127.0.0.1:1/x", "http:/x",
                                       "ibp://127.0.0.1:1/a/b/c"};

    for (unsigned i = 0; i < 3; i++) {
        send_to(0, "PUT", NULL, 1000, urls[i]);
        run_to_end(0);
        check_end(&caught[0], XD_VERDICT_GONE, 0);
        ck_assert_uint_eq(caught[0].reads, 0);
        ck_assert_ptr_nonnull(strstr(caught[0].outcome.error.msg, "only"));
    }
}
END_TEST

/* ---- credentials ---- */

static void use_login(const char *hosts)
{
    static char user[] = "ann:secret", list[64];

    snprintf(list, sizeof list, "%s", hosts);
    net.user = user;
    net.auth_hosts = list;
    open_transport(60 * XD_SECOND);
}

#define CHALLENGE(scheme)                                               \
    SAY("HTTP/1.1 401 Who\r\nWWW-Authenticate: " scheme " realm=\"r\"," \
        "nonce=\"n\",qop=\"auth\"\r\nContent-Length: 0\r\n\r\n")

START_TEST(digest_is_answered_and_the_body_sent_then)
{
    static const struct mock_step script[] = {
        CHALLENGE("Digest"), CLOSE,   NEXT, CONTINUE,
        TAKE(0, LARGE),      CREATED, END};

    use_login("127.0.0.1");
    check_reply(ask(script, "PUT", NULL, LARGE), 201);
    check_not_asked(0, "Authorization");
    check_asked(1, "\r\nAuthorization: Digest username=\"ann\"");
    check_not_asked(1, "secret");
    ck_assert_uint_eq(mock_taken(server), LARGE);
}
END_TEST

START_TEST(challenge_in_the_middle_of_the_body_has_it_sent_again)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 1000000), CHALLENGE("Basic"), SLEEP(50), CLOSE,
        NEXT,     CONTINUE,         TAKE(0, LARGE),     CREATED,   END};

    use_login("127.0.0.1");
    check_reply(ask(script, "PUT", NULL, LARGE), 201);
    check_asked(1, "\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n");
    ck_assert_uint_eq(caught[0].rewinds, 1);
    ck_assert_uint_eq(mock_taken(server), 1000000 + LARGE);
}
END_TEST

START_TEST(wrong_credentials_are_an_answer)
{
    static const struct mock_step script[] = {CHALLENGE("Digest"), END};

    use_login("127.0.0.1");
    check_reply(ask(script, "PUT", NULL, LARGE), 401);
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(credentials_stay_from_servers_that_may_not_see_them)
{
    static const struct mock_step script[] = {CHALLENGE("Basic"), END};

    use_login("other.example");
    check_reply(ask(script, "PUT", NULL, LARGE), 401);
    ck_assert_uint_eq(mock_requests(server), 1);
    check_not_asked(0, "Authorization");
}
END_TEST

START_TEST(request_that_does_not_log_in_shows_no_credentials)
{
    static const struct mock_step script[] = {CHALLENGE("Basic"), END};
    static char cookie[] = "Cookie: secret\n";
    struct xd_sending sending = {.method = "DELETE",
                                 .fields = "Authorization: own\n"};

    net.headers = cookie;
    use_login("127.0.0.1");
    server = mock_start(script);
    start(0, (struct xd_request){.sends = &sending});
    run_to_end(0);
    check_reply(&caught[0], 401);
    ck_assert_uint_eq(mock_requests(server), 1);
    check_asked(0, "\r\nAuthorization: own\r\n");
    check_not_asked(0, "Cookie");
    check_not_asked(0, "Basic");
}
END_TEST

/* ---- the answer ---- */

START_TEST(redirect_is_not_followed)
{
    static const struct mock_step script[] = {
        NO("307", "Location: http://@/y\r\n"), END};
    const struct catcher *c = ask(script, "PUT", NULL, LARGE);

    check_reply(c, 307);
    ck_assert_ptr_nonnull(strstr(c->location, "/y"));
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(busy_server_says_how_long_to_wait)
{
    static const struct mock_step script[] = {NO("503", "Retry-After: 7\r\n"),
                                              NEXT, CREATED, END};

    check_reply(ask(script, "PUT", NULL, 0), 503);
    ck_assert_uint_eq(caught[0].reply.retry_after, 7 * XD_SECOND);
    check_reply(ask(script, "PUT", NULL, 0), 201);
    ck_assert_uint_eq(caught[0].reply.retry_after, 0);
}
END_TEST

START_TEST(answer_has_a_body_and_its_bytes_may_be_paused)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n"),
        BODY(0, 500000), END};

    caught[0].pause_every = 2;
    check_reply(ask(script, "POST", NULL, 0), 200);
    ck_assert_uint_eq(caught[0].received, 500000);
}
END_TEST

START_TEST(answer_that_breaks_off_is_none)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"), BODY(0, 100),
        CLOSE, END};

    check_end(ask(script, "POST", NULL, 0), XD_VERDICT_AGAIN, 100);
}
END_TEST

START_TEST(refusal_counts_although_its_body_breaks_off)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 403 No\r\nContent-Length: 500\r\n\r\n"), BODY(0, 100),
        RESET, END};

    check_reply(ask(script, "PUT", NULL, 0), 403);
}
END_TEST

START_TEST(handler_that_refuses_gets_no_more)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n"),
        BODY(0, 500000), END};

    caught[0].head_answer = XD_E_DIFFERENT;
    check_end(ask(script, "POST", NULL, 0), XD_VERDICT_STOPPED, 0);
    ck_assert_uint_eq(caught[0].calls, 0);
    caught[0].head_answer = 0;
    caught[0].bytes_answer = XD_E_IO;
    check_end(ask(script, "POST", NULL, 0), XD_VERDICT_STOPPED, 0);
    ck_assert_uint_eq(caught[0].calls, 1);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_IO);
}
END_TEST

/* ---- answers before the end of the body ---- */

START_TEST(refusal_before_the_body_has_nothing_sent)
{
    static const struct mock_step script[] = {NO("413", ""), END};

    check_reply(ask(script, "PUT", NULL, LARGE), 413);
    ck_assert_uint_eq(caught[0].reads, 0);
}
END_TEST

START_TEST(refusal_in_the_middle_of_the_body_is_noticed)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 100000), NO("507", ""), SLEEP(100), CLOSE, END};
    static const struct mock_step reset[] = {
        CONTINUE,   TAKE(0, 100000), NO("413", "Connection: close\r\n"),
        SLEEP(100), RESET,           END};

    check_reply(ask(script, "PUT", NULL, LARGE), 507);
    ck_assert_uint_lt(caught[0].sent, LARGE);
    stop_server();
    check_reply(ask(reset, "PUT", NULL, LARGE), 413);
}
END_TEST

/* The connection is reset when the next bytes would go. */
START_TEST(refusal_is_noticed_before_the_connection_is_found_closed)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 10000), SLEEP(20), NO("413", ""), RESET, END};

    caught[0].read_most = 5000;
    caught[0].read_ms = 60;
    check_reply(ask(script, "PUT", NULL, LARGE), 413);
}
END_TEST

START_TEST(refusal_is_noticed_while_there_is_nothing_to_send)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 10000), NO("413", "Connection: close\r\n"), STALL,
        END};

    server = mock_start(script);
    caught[0].read_most = 5000;
    caught[0].starve_every = 3;
    send_to(0, "PUT", NULL, LARGE, NULL);
    while (caught[0].ends == 0)
        turn();
    check_reply(&caught[0], 413);
    ck_assert_uint_le(caught[0].reads, 4);
}
END_TEST

START_TEST(refusal_with_silence_behind_it_is_an_answer)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 10000),
        SAY("HTTP/1.1 413 No\r\nContent-Length: 500\r\n\r\n"), STALL, END};

    open_transport(500 * XD_MS);
    check_reply(ask(script, "PUT", NULL, LARGE), 413);
}
END_TEST

START_TEST(success_before_all_is_sent_is_none)
{
    static const struct mock_step script[] = {
        CONTINUE, TAKE(0, 100000), NO("201", "Connection: close\r\n"), STALL,
        END};
    const struct catcher *c = ask(script, "PUT", NULL, LARGE);

    check_end(c, XD_VERDICT_AGAIN, 0);
    ck_assert_ptr_nonnull(strstr(c->outcome.error.msg, "answered 201 after "));
    ck_assert_ptr_nonnull(strstr(c->outcome.error.msg, " of 3000000 bytes"));
    ck_assert_uint_eq(c->heads, 0);
}
END_TEST

START_TEST(server_that_expects_nothing_is_asked_again_without)
{
    static const struct mock_step script[] = {NO("417", ""), NEXT,
                                              TAKE(0, LARGE), CREATED, END};

    check_reply(ask(script, "PUT", NULL, LARGE), 201);
    check_not_asked(1, "Expect:");
    ck_assert_uint_eq(mock_taken(server), LARGE);
}
END_TEST

START_TEST(server_that_does_not_know_expect_gets_the_body)
{
    static const struct mock_step script[] = {TAKE(0, 1000), CREATED, END};

    check_reply(ask(script, "PUT", NULL, 1000), 201);
}
END_TEST

START_TEST(connection_that_breaks_in_the_body_may_pass)
{
    static const struct mock_step closed[] = {CONTINUE, TAKE(0, 100000), CLOSE,
                                              END};
    static const struct mock_step reset[] = {CONTINUE, TAKE(0, 100000), RESET,
                                             END};

    check_end(ask(closed, "PUT", NULL, LARGE), XD_VERDICT_AGAIN, 0);
    ck_assert_uint_eq(caught[0].heads, 0);
    stop_server();
    check_end(ask(reset, "PUT", NULL, LARGE), XD_VERDICT_AGAIN, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_NET);
}
END_TEST

/* ---- time ---- */

START_TEST(body_that_is_not_there_yet_is_asked_for_again)
{
    caught[0].starve_every = 3;
    caught[0].read_most = 100000;
    check_reply(ask(takes_large, "PUT", NULL, LARGE), 201);
    ck_assert_uint_eq(mock_taken(server), LARGE);
    ck_assert_uint_ge(caught[0].reads, 30);
}
END_TEST

START_TEST(request_without_a_body_yet_is_never_silent)
{
    open_transport(200 * XD_MS);
    server = mock_start(takes_large);
    caught[0].starve_every = 1;
    send_to(0, "PUT", NULL, LARGE, NULL);
    while (!caught[0].paused)
        turn();
    for (int i = 0; i < 10; i++)
        turn();
    ck_assert_uint_eq(caught[0].ends, 0);
    ck_assert_uint_eq(caught[0].reads, 1);
    xd_transport_stop(transport, 0);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_STOPPED, 0);
}
END_TEST

START_TEST(body_that_cannot_be_read_ends_the_request)
{
    caught[0].read_answer = XD_E_IO;
    check_end(ask(takes_large, "PUT", NULL, LARGE), XD_VERDICT_STOPPED, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_IO);
    ck_assert_uint_eq(caught[0].reads, 1);
    caught[0].read_answer = 0;
    check_reply(ask(takes_large, "PUT", NULL, LARGE), 201);
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

START_TEST(server_that_stops_reading_is_silent)
{
    static const struct mock_step script[] = {CONTINUE, TAKE(0, 1000), STALL,
                                              END};
    const struct catcher *c;

    send_patience = 60 * XD_SECOND; /* which is for the answer alone */
    open_transport(500 * XD_MS);
    server = mock_start(script);
    mock_narrow(server);
    c = ask(script, "PUT", NULL, 30 * LARGE);
    check_end(c, XD_VERDICT_AGAIN, 0);
    ck_assert_ptr_nonnull(strstr(c->outcome.error.msg, "no bytes for 0.5 s"));
    ck_assert(c->outcome.is_unanswered);
    ck_assert_uint_eq(c->outcome.worked, 0);
    ck_assert_uint_gt(c->sent, 1000);
}
END_TEST

/* Before the answer to a body, and to a request without one. */
START_TEST(server_that_works_on_its_answer_is_waited_for)
{
    static const struct mock_step script[] = {CONTINUE, TAKE(0, 1000),
                                              SLEEP(1500), CREATED, END};
    static const struct mock_step removes[] = {SLEEP(1500), NO("204", ""), END};
    const struct catcher *c;

    send_patience = 60 * XD_SECOND;
    open_transport(500 * XD_MS);
    c = ask(script, "PUT", NULL, 1000);
    check_reply(c, 201);
    ck_assert_uint_ge(c->outcome.worked, 1400 * XD_MS);
    stop_server();
    check_reply(ask(removes, "DELETE", NULL, 0), 204);
}
END_TEST

START_TEST(server_that_says_nothing_to_all_of_the_body_is_given_up)
{
    static const struct mock_step script[] = {CONTINUE, TAKE(0, 1000), STALL,
                                              END};
    const struct catcher *c;

    send_patience = XD_SECOND;
    open_transport(300 * XD_MS);
    c = ask(script, "PUT", NULL, 1000);
    check_end(c, XD_VERDICT_AGAIN, 0);
    ck_assert_ptr_nonnull(strstr(c->outcome.error.msg, "no bytes for 1.0 s"));
    ck_assert_uint_ge(c->outcome.worked, XD_SECOND);
}
END_TEST

/* The system has taken all of it, and it goes on for three times as long as
 * silence may last. */
#define SIP(first) TAKE(first, 20000), SLEEP(300)

START_TEST(slow_line_is_not_silent)
{
    static const struct mock_step script[] = {
        CONTINUE,    SIP(0),      SIP(20000),  SIP(40000),
        SIP(60000),  SIP(80000),  SIP(100000), SIP(120000),
        SIP(140000), SIP(160000), CREATED,     END};
    xd_usec began = xd_now();

    open_transport(900 * XD_MS);
    server = mock_start(script);
    mock_narrow(server);
    check_reply(ask(script, "PUT", NULL, 180000), 201);
    ck_assert_uint_gt(xd_now() - began, 2500 * XD_MS);
}
END_TEST

START_TEST(stop_ends_it_in_the_middle_of_the_body)
{
    static const struct mock_step script[] = {CONTINUE, TAKE(0, 1000), STALL,
                                              END};

    server = mock_start(script);
    send_to(0, "PUT", NULL, 30 * LARGE, NULL);
    while (mock_taken(server) < 1000)
        turn();
    xd_transport_stop(transport, 0);
    xd_transport_poll(transport, XD_NEVER);
    ck_assert_uint_eq(caught[0].ends, 1);
    check_end(&caught[0], XD_VERDICT_STOPPED, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("http_send");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, body_is_sent_and_the_answer_handed_over);
    tcase_add_test(tcase, own_lines_stand_before_those_of_options);
    tcase_add_test(tcase, method_without_a_body_is_sent_as_such);
    tcase_add_test(tcase, empty_body_of_put_and_post_has_a_length);
    tcase_add_test(tcase, post_sends_its_body);
    tcase_add_test(tcase, head_says_the_length_and_no_body_is_waited_for);
    tcase_add_test(tcase,
                   range_of_the_fields_comes_with_what_the_answer_says_of_it);
    tcase_add_test(tcase, download_after_it_is_as_any_other);
    tcase_add_test(tcase, other_schemes_are_sent_nothing);
    tcase_add_test(tcase, digest_is_answered_and_the_body_sent_then);
    tcase_add_test(tcase,
                   challenge_in_the_middle_of_the_body_has_it_sent_again);
    tcase_add_test(tcase, wrong_credentials_are_an_answer);
    tcase_add_test(tcase, credentials_stay_from_servers_that_may_not_see_them);
    tcase_add_test(tcase, request_that_does_not_log_in_shows_no_credentials);
    tcase_add_test(tcase, redirect_is_not_followed);
    tcase_add_test(tcase, busy_server_says_how_long_to_wait);
    tcase_add_test(tcase, answer_has_a_body_and_its_bytes_may_be_paused);
    tcase_add_test(tcase, answer_that_breaks_off_is_none);
    tcase_add_test(tcase, refusal_counts_although_its_body_breaks_off);
    tcase_add_test(tcase, handler_that_refuses_gets_no_more);
    tcase_add_test(tcase, refusal_before_the_body_has_nothing_sent);
    tcase_add_test(tcase, refusal_in_the_middle_of_the_body_is_noticed);
    tcase_add_test(tcase,
                   refusal_is_noticed_before_the_connection_is_found_closed);
    tcase_add_test(tcase, refusal_is_noticed_while_there_is_nothing_to_send);
    tcase_add_test(tcase, refusal_with_silence_behind_it_is_an_answer);
    tcase_add_test(tcase, success_before_all_is_sent_is_none);
    tcase_add_test(tcase, server_that_expects_nothing_is_asked_again_without);
    tcase_add_test(tcase, server_that_does_not_know_expect_gets_the_body);
    tcase_add_test(tcase, connection_that_breaks_in_the_body_may_pass);
    tcase_add_test(tcase, body_that_is_not_there_yet_is_asked_for_again);
    tcase_add_test(tcase, request_without_a_body_yet_is_never_silent);
    tcase_add_test(tcase, body_that_cannot_be_read_ends_the_request);
    tcase_add_test(tcase, server_that_stops_reading_is_silent);
    tcase_add_test(tcase, server_that_works_on_its_answer_is_waited_for);
    tcase_add_test(tcase,
                   server_that_says_nothing_to_all_of_the_body_is_given_up);
    tcase_add_test(tcase, slow_line_is_not_silent);
    tcase_add_test(tcase, stop_ends_it_in_the_middle_of_the_body);
    return run_suite("http_send", tcase);
}
