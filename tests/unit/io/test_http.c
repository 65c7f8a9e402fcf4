/* SPDX-License-Identifier: MIT */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "catcher.h"
#include "command/settings.h"
#include "io/net_options.h"
#include "suite.h"
#include "url_of.h"

/* A proxy of the environment is not meant for us. */
static void set_up(void)
{
    struct xd_transport_config config = {.n_slots = SLOTS,
                                         .silence = 60 * XD_SECOND};

    setenv("NO_PROXY", "*", 1);
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
}

/* Play `script` to the request `r`, on slot 0. */
static const struct catcher *fetch(const struct mock_step *script,
                                   struct xd_request r)
{
    if (server == NULL)
        server = mock_start(script);
    start(0, r);
    run_to_end(0);
    return &caught[0];
}

static void check_says(const struct catcher *c, const char *part)
{
    ck_assert_msg(strstr(c->outcome.error.msg, part) != NULL,
                  "no \"%s\" in: %s", part, c->outcome.error.msg);
    ck_assert_msg(strstr(c->outcome.error.msg, "http") == c->outcome.error.msg,
                  "no URL at the front: %s", c->outcome.error.msg);
}

#define PARTIAL(range, length)                                        \
    SAY("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " range \
        "\r\nContent-Length: " length "\r\n\r\n")

static const struct mock_step range_script[] = {PARTIAL("100-299/1000", "200"),
                                                BODY(100, 200), END};

START_TEST(range_is_asked_for_and_brought)
{
    const struct catcher *c = fetch(range_script, range(100, 200));

    check_end(c, XD_VERDICT_OK, 200);
    ck_assert_uint_eq(c->heads, 1);
    ck_assert_uint_eq(c->head.object_size, 1000);
    ck_assert(c->head.is_range);
    ck_assert_str_eq(c->final_url, mock_url(server));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nRange: bytes=100-299\r\n"));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nAccept-Encoding: identity\r\n"));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nUser-Agent: xdownload/"));
    ck_assert_ptr_nonnull(strstr(mock_request(server, 0), " HTTP/1.1\r\n"));
}
END_TEST

START_TEST(user_agent_is_the_one_given)
{
    char user_agent[] = "player/7";
    struct xd_net_options net = XD_NET_OPTIONS_INIT;
    struct xd_transport_config config = {
        .n_slots = 1, .silence = XD_SECOND * 60, .net = &net};

    net.user_agent = user_agent;
    xd_transport_free(transport);
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
    fetch(range_script, range(100, 200));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nUser-Agent: player/7\r\n"));
}
END_TEST

START_TEST(rest_of_an_object_is_asked_for_with_an_open_range)
{
    static const struct mock_step script[] = {PARTIAL("100-999/1000", "900"),
                                              BODY(100, 900), END};

    check_end(fetch(script, range(100, XD_TO_END)), XD_VERDICT_OK, 900);
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nRange: bytes=100-\r\n"));
}
END_TEST

START_TEST(whole_object_is_asked_for_without_a_range)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"e\"\r\n\r\n"),
        BODY(0, 1000), END};
    const struct catcher *c = fetch(script, range(0, XD_TO_END));

    check_end(c, XD_VERDICT_OK, 1000);
    ck_assert_uint_eq(c->head.object_size, 1000);
    ck_assert(!c->head.is_range);
    ck_assert_str_eq(c->validator, "\"e\"");
    ck_assert_ptr_null(strstr(mock_request(server, 0), "Range:"));
}
END_TEST

START_TEST(range_of_one_request_does_not_stick_to_the_next)
{
    static const struct mock_step script[] = {
        PARTIAL("100-299/1000", "200"),
        BODY(100, 200),
        NEXT,
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        BODY(0, 1000),
        END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
    check_end(fetch(script, range(0, XD_TO_END)), XD_VERDICT_OK, 1000);
    ck_assert_ptr_null(strstr(mock_request(server, 1), "Range:"));
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(body_without_a_length_ends_with_the_connection)
{
    static const struct mock_step script[] = {SAY("HTTP/1.1 200 OK\r\n\r\n"),
                                              BODY(0, 5000), CLOSE, END};
    const struct catcher *c = fetch(script, range(0, XD_TO_END));

    check_end(c, XD_VERDICT_OK, 5000);
    ck_assert_uint_eq(c->head.object_size, XD_SIZE_UNKNOWN);
}
END_TEST

START_TEST(empty_object_has_a_head_and_no_bytes)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), END};
    const struct catcher *c = fetch(script, range(0, XD_TO_END));

    check_end(c, XD_VERDICT_OK, 0);
    ck_assert_uint_eq(c->heads, 1);
    ck_assert_uint_eq(c->head.object_size, 0);
}
END_TEST

START_TEST(chunked_range_is_put_together)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
            "100-299/1000\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n"),
        BODY(100, 100),
        SAY("\r\n64\r\n"),
        BODY(200, 100),
        SAY("\r\n0\r\nContent-Range: bytes 0-1/2\r\n\r\n"),
        END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(interim_answers_are_passed_over)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 103 Early Hints\r\nETag: \"early\"\r\n\r\n"),
        PARTIAL("100-299/1000", "200"), BODY(100, 200), END};
    const struct catcher *c = fetch(script, range(100, 200));

    check_end(c, XD_VERDICT_OK, 200);
    ck_assert_str_eq(c->validator, "");
}
END_TEST

/* All that http_answer.c refuses is refused before a byte is handed on. */
START_TEST(refused_answers_hand_on_nothing)
{
    static const struct {
        const char *head;
        enum xd_verdict verdict;
        uint64_t object_size;
    } rows[] = {
        {"HTTP/1.1 206 P\r\nContent-Range: bytes 99-298/1000\r\n",
         XD_VERDICT_NO_RANGES, 1000},
        {"HTTP/1.1 206 P\r\nContent-Range: bytes 100-300/1000\r\n",
         XD_VERDICT_NO_RANGES, 1000},
        {"HTTP/1.1 206 P\r\nContent-Range: bytes 100-299/1001\r\n",
         XD_VERDICT_DIFFERENT, 1001},
        {"HTTP/1.1 206 P\r\n", XD_VERDICT_REFUSED_RANGE, XD_SIZE_UNKNOWN},
        {"HTTP/1.1 206 P\r\nContent-Range: bytes 100-299/*\r\n"
         "Content-Encoding: gzip\r\n",
         XD_VERDICT_GONE, XD_SIZE_UNKNOWN},
        {"HTTP/1.1 206 P\r\nContent-Type: multipart/byteranges; boundary=x\r\n",
         XD_VERDICT_REFUSED_RANGE, XD_SIZE_UNKNOWN},
        {"HTTP/1.1 416 No\r\nContent-Range: bytes */50\r\n",
         XD_VERDICT_DIFFERENT, 50},
        {"HTTP/1.1 404 Not Found\r\n", XD_VERDICT_GONE, XD_SIZE_UNKNOWN},
        {"HTTP/1.1 302 Found\r\n", XD_VERDICT_GONE, XD_SIZE_UNKNOWN},
        {"HTTP/1.1 500 Oh\r\n", XD_VERDICT_AGAIN, XD_SIZE_UNKNOWN}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mock_step script[] = {SAY(rows[i].head),
                                           SAY("Content-Length: 200\r\n\r\n"),
                                           BODY(100, 200), END};
        struct xd_request r = range(100, 200);
        const struct catcher *c;

        r.object_size = 1000;
        c = fetch(script, r);
        check_end(c, rows[i].verdict, 0);
        ck_assert_uint_eq(c->heads, 0);
        ck_assert_uint_eq(c->outcome.object_size, rows[i].object_size);
        ck_assert_int_eq(c->outcome.error.http_status / 100,
                         rows[i].head[9] - '0');
        stop_server();
    }
}
END_TEST

START_TEST(refusal_with_a_small_body_keeps_the_connection)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 300\r\n\r\n"),
        BODY(0, 300),
        NEXT,
        SAY("HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n"),
        NEXT,
        PARTIAL("100-299/1000", "200"),
        BODY(100, 200),
        END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_GONE, 0);
    check_end(fetch(script, range(100, 200)), XD_VERDICT_REFUSED_RANGE, 0);
    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(range_that_is_cut_says_so)
{
    static const struct mock_step script[] = {PARTIAL("100-149/1000", "50"),
                                              BODY(100, 50), END};
    const struct catcher *c = fetch(script, range(100, 200));

    check_end(c, XD_VERDICT_OK, 50);
    ck_assert(c->outcome.is_cut);
}
END_TEST

START_TEST(whole_object_for_a_range_ends_at_once)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
        BODY(0, 1000), HOLD, END};
    const struct catcher *c = fetch(script, range(100, 200));

    check_end(c, XD_VERDICT_NO_RANGES, 0);
    ck_assert_uint_eq(c->outcome.object_size, 1000000);
    ck_assert_int_eq(c->outcome.error.http_status, 200);
    check_says(c, ": answered 200 with the whole object to a request for "
                  "bytes 100-299");
}
END_TEST

START_TEST(whole_object_is_read_past_to_what_is_wanted)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
        BODY(0, 200000), HOLD, END};
    struct xd_request r = range(100000, 50000);

    r.whole = true;
    check_end(fetch(script, r), XD_VERDICT_OK, 50000);
    ck_assert_ptr_null(strstr(mock_request(server, 0), "Range:"));
}
END_TEST

START_TEST(whole_object_that_ends_before_what_is_wanted_is_different)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), BODY(0, 1000),
        END};
    struct xd_request r = range(1000, 100);

    r.whole = true;
    check_end(fetch(script, r), XD_VERDICT_DIFFERENT, 0);
    ck_assert_uint_eq(caught[0].outcome.object_size, 1000);
}
END_TEST

START_TEST(body_without_a_length_must_reach_what_is_wanted)
{
    static const struct mock_step script[] = {SAY("HTTP/1.1 200 OK\r\n\r\n"),
                                              BODY(0, 1000), CLOSE, END};
    struct xd_request r = range(2000, XD_TO_END);

    r.whole = true;
    check_end(fetch(script, r), XD_VERDICT_AGAIN, 0);
    check_says(&caught[0], "closed early, at offset 1000");
}
END_TEST

START_TEST(more_bytes_than_promised_are_not_handed_on)
{
    static const struct mock_step script[] = {PARTIAL("100-299/1000", "200"),
                                              BODY(100, 5000), HOLD, END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(more_bytes_than_the_range_are_not_handed_on)
{
    static const struct mock_step script[] = {PARTIAL("100-299/1000", "90000"),
                                              BODY(100, 90000), HOLD, END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(length_shorter_than_the_range_is_an_early_end)
{
    static const struct mock_step script[] = {PARTIAL("100-299/1000", "150"),
                                              BODY(100, 150), END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_AGAIN, 150);
}
END_TEST

START_TEST(reset_in_the_body_is_told_with_what_came)
{
    static const struct mock_step script[] = {
        PARTIAL("100-299/1000", "200"), BODY(100, 150), SLEEP(200), RESET, END};
    const struct catcher *c = fetch(script, range(100, 200));

    check_end(c, XD_VERDICT_AGAIN, 150);
    check_says(c, "at offset 250");
}
END_TEST

START_TEST(connection_closed_in_the_header_may_pass)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 206 Partial Content\r\nContent-Ra"), CLOSE, END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_AGAIN, 0);
}
END_TEST

/* All descriptors but `n` are in use. */
static void leave_descriptors(unsigned n)
{
    struct rlimit limit;
    int last = 0;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 200;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int fd; (fd = dup(0)) >= 0;)
        last = fd;
    for (; n > 0; n--)
        close(last--);
}

START_TEST(want_of_descriptors_is_no_failure_of_the_depot)
{
    struct xd_request r = range(0, 100);

    server = mock_start(range_script);
    leave_descriptors(0);
    check_end(fetch(NULL, r), XD_VERDICT_LOCAL, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_IO);
    check_says(&caught[0], "no descriptor is left");
    r.url = url_of("http://a-name.invalid/");
    check_end(fetch(NULL, r), XD_VERDICT_LOCAL, 0);
}
END_TEST

START_TEST(without_descriptors_to_wake_it_by_there_is_no_transport)
{
    struct xd_transport_config config = {.n_slots = 1, .silence = XD_SECOND};
    struct xd_transport *none = NULL;

    leave_descriptors(0);
    ck_assert_int_eq(xd_http_new(&none, &config, &handler, &err), XD_E_IO);
    ck_assert_int_eq(err.os_errno, EMFILE);
    ck_assert_ptr_null(none);
}
END_TEST

/* Such a label fits into no question to a name server: nobody is asked. */
START_TEST(name_that_does_not_resolve_may_pass)
{
    char url[100] = "http://";
    struct xd_request r = range(0, 100);

    memset(url + strlen(url), 'a', 70);
    strcat(url, "/x");
    r.url = url_of(url);
    check_end(fetch(NULL, r), XD_VERDICT_AGAIN, 0);
}
END_TEST

/* The server waits for the end of a header that it takes TLS for. */
START_TEST(tls_that_breaks_off_may_pass)
{
    char url[64];
    struct xd_request r = range(0, 100);

    server = mock_start(range_script);
    snprintf(url, sizeof url, "https%s", mock_url(server) + 4);
    r.url = url_of(url);
    start(0, r);
    while (mock_connections(server) == 0)
        turn();
    stop_server();
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 0);
}
END_TEST

START_TEST(other_schemes_are_refused)
{
    static const char *const urls[] = {
        "tftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/x",
        "ibp://a/b",          "no URL at all",      ""};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct xd_request r = range(0, 100);

        r.url = url_of(urls[i]);
        start(0, r);
        run_to_end(0);
        check_end(&caught[0], XD_VERDICT_GONE, 0);
    }
}
END_TEST

START_TEST(answer_without_a_header_is_refused)
{
    static const struct mock_step script[] = {BODY(0, 200), CLOSE, END};

    check_end(fetch(script, range(0, 200)), XD_VERDICT_GONE, 0);
}
END_TEST

static char line[9002];

static void fill_line(void)
{
    memset(line, 'h', sizeof line - 1);
    memcpy(line + 1, ": ", 2);
    memcpy(line + sizeof line - 3, "\r\n", 2);
}

#define FIVE_LINES SAY(line), SAY(line), SAY(line), SAY(line), SAY(line)

START_TEST(header_without_an_end_is_refused)
{
    static const struct mock_step script[] = {SAY("HTTP/1.1 200 OK\r\n"),
                                              FIVE_LINES,
                                              FIVE_LINES,
                                              FIVE_LINES,
                                              FIVE_LINES,
                                              FIVE_LINES,
                                              FIVE_LINES,
                                              HOLD,
                                              END};

    fill_line();
    check_end(fetch(script, range(0, 200)), XD_VERDICT_GONE, 0);
    check_says(&caught[0], "the header is longer than 262144 bytes");
}
END_TEST

/* libcurl reports it as a lack of memory, which would end the download. */
START_TEST(line_of_a_header_that_is_too_long_is_the_depots_failure)
{
    static char long_line[150 << 10];
    struct mock_step script[] = {SAY("HTTP/1.1 200 OK\r\n"), SAY(long_line),
                                 CLOSE, END};

    memset(long_line, 'h', sizeof long_line - 1);
    memcpy(long_line + 1, ": ", 2);
    memcpy(long_line + sizeof long_line - 3, "\r\n", 2);
    check_end(fetch(script, range(0, 200)), XD_VERDICT_GONE, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_NET);
    stop_server();
    check_end(fetch(script + 1, range(0, 200)), XD_VERDICT_GONE, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_NET);
}
END_TEST

START_TEST(headers_of_several_requests_are_not_summed_up)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 206 Partial Content\r\n"),
        FIVE_LINES,
        FIVE_LINES,
        FIVE_LINES,
        SAY("Content-Length: 100\r\n"),
        SAY("Content-Range: bytes 0-99/1000\r\n\r\n"),
        BODY(0, 100),
        END};

    fill_line();
    for (int i = 0; i < 3; i++)
        check_end(fetch(script, range(0, 100)), XD_VERDICT_OK, 100);
}
END_TEST

START_TEST(redirect_is_followed)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 302 Found\r\nLocation: http://@/y?key=1\r\n"
            "ETag: \"redirect\"\r\nContent-Length: 50\r\n\r\n"),
        BODY(0, 50),
        NEXT,
        PARTIAL("100-299/1000", "200"),
        BODY(100, 200),
        END};
    const struct catcher *c = fetch(script, range(100, 200));

    check_end(c, XD_VERDICT_OK, 200);
    ck_assert_ptr_nonnull(strstr(c->final_url, "/y?key=1"));
    ck_assert_str_eq(c->validator, "");
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 1), "\r\nRange: bytes=100-299\r\n"));
}
END_TEST

static struct xd_request range_of(const char *validator)
{
    struct xd_request r = range(100, 200);

    r.if_range = validator;
    return r;
}

static bool asks_if(unsigned i)
{
    return strstr(mock_request(server, i), "\r\nIf-Range: \"e\"\r\n") != NULL;
}

START_TEST(validator_goes_with_a_range_and_with_no_other_request)
{
    static const struct mock_step script[] = {
        PARTIAL("100-299/1000", "200"),
        BODY(100, 200),
        NEXT,
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        BODY(0, 1000),
        NEXT,
        PARTIAL("100-299/1000", "200"),
        BODY(100, 200),
        END};
    struct xd_request whole = {.length = XD_TO_END,
                               .object_size = XD_SIZE_UNKNOWN,
                               .if_range = "\"e\""};

    check_end(fetch(script, range_of("\"e\"")), XD_VERDICT_OK, 200);
    check_end(fetch(NULL, whole), XD_VERDICT_OK, 1000);
    check_end(fetch(NULL, range(100, 200)), XD_VERDICT_OK, 200);
    ck_assert(asks_if(0) && !asks_if(1) && !asks_if(2));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nAccept-Encoding: identity\r\n"));
}
END_TEST

START_TEST(changed_object_brings_no_byte)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"f\"\r\n\r\n"),
        BODY(0, 1000), END};

    check_end(fetch(script, range_of("\"e\"")), XD_VERDICT_CHANGED, 0);
    check_says(&caught[0], "has changed");
}
END_TEST

START_TEST(validator_of_one_server_does_not_go_to_another)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 302 Found\r\nLocation: http://@/y\r\n"
            "Content-Length: 0\r\n\r\n"),
        NEXT,
        SAY("HTTP/1.1 206 Partial Content\r\nETag: \"f\"\r\n"
            "Content-Range: bytes 100-299/1000\r\n"
            "Content-Length: 200\r\n\r\n"),
        BODY(100, 200), END};
    struct xd_request r = range_of("\"e\"");
    char url[64];

    server = mock_start(script);
    snprintf(url, sizeof url, "http://localhost:%u/x", mock_port(server));
    r.url = url_of(url);
    check_end(fetch(NULL, r), XD_VERDICT_OK, 200);
    ck_assert(asks_if(0) && !asks_if(1));
}
END_TEST

START_TEST(answer_that_ends_one_byte_early_in_good_order_means_no_ranges)
{
    static const struct mock_step chunked[] = {
        SAY("HTTP/1.1 206 Part\r\nContent-Range: bytes 100-299/1000\r\n"
            "Transfer-Encoding: chunked\r\n\r\nc7\r\n"),
        BODY(100, 199), SAY("\r\n0\r\n\r\n"), END};
    const struct catcher *c = fetch(chunked, range(100, 200));

    check_end(c, XD_VERDICT_NO_RANGES, 199);
    ck_assert(c->outcome.is_wrong_range);
    check_says(c, "one byte before the range");
}
END_TEST

START_TEST(answer_that_breaks_off_is_asked_for_again)
{
    static const struct mock_step chunked[] = {
        SAY("HTTP/1.1 206 Part\r\nContent-Range: bytes 100-299/1000\r\n"
            "Transfer-Encoding: chunked\r\n\r\n64\r\n"),
        BODY(100, 100), SAY("\r\n0\r\n\r\n"), END};

    check_end(fetch(chunked, range(100, 200)), XD_VERDICT_AGAIN, 100);
}
END_TEST

START_TEST(redirect_loop_is_refused)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
        END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_GONE, 0);
    ck_assert_uint_eq(mock_requests(server), 21);
    check_says(&caught[0], "redirects");
}
END_TEST

START_TEST(redirect_to_another_scheme_is_refused)
{
    static const char *const targets[] = {"file:///etc/passwd",
                                          "ftp://127.0.0.1/x"};

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const struct mock_step script[] = {
            SAY("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "),
            SAY(targets[i]), SAY("\r\n\r\n"), END};

        check_end(fetch(script, range(0, 100)), XD_VERDICT_GONE, 0);
        ck_assert_uint_eq(caught[0].heads, 0);
        stop_server();
    }
}
END_TEST

START_TEST(busy_server_tells_how_long_to_wait)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n"
            "Content-Length: 0\r\n\r\n"),
        NEXT,
        SAY("HTTP/1.1 429 Slower\r\nRetry-After: 9999999\r\n"
            "Content-Length: 0\r\n\r\n"),
        NEXT,
        SAY("HTTP/1.1 503 Busy\r\nRetry-After: Fri, 01 Jan 2100 00:00:00 GMT"
            "\r\nContent-Length: 0\r\n\r\n"),
        NEXT,
        SAY("HTTP/1.1 404 Gone\r\nRetry-After: 7\r\n"
            "Content-Length: 0\r\n\r\n"),
        END};
    /* libcurl may shorten what is longer than six hours. */
    static const struct {
        xd_usec least, most;
    } pauses[] = {{7 * XD_SECOND, 7 * XD_SECOND},
                  {21600 * XD_SECOND, 9999999 * XD_SECOND},
                  {21600 * XD_SECOND, 31536000 * XD_SECOND},
                  {0, 0}};

    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        fetch(script, range(0, 100));
        ck_assert_uint_ge(caught[0].outcome.retry_after, pauses[i].least);
        ck_assert_uint_le(caught[0].outcome.retry_after, pauses[i].most);
    }
}
END_TEST

START_TEST(refusal_is_told_although_its_body_breaks_off)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n"
            "Content-Length: 100\r\n\r\n"),
        CLOSE, END};

    check_end(fetch(script, range(0, 100)), XD_VERDICT_AGAIN, 0);
    ck_assert_int_eq(caught[0].outcome.error.http_status, 503);
    ck_assert_uint_eq(caught[0].outcome.retry_after, 7 * XD_SECOND);
}
END_TEST

START_TEST(connecting_that_takes_too_long_fails)
{
    struct xd_net_options net = XD_NET_OPTIONS_INIT;
    struct xd_transport_config config = {
        .n_slots = 1, .silence = XD_SECOND * 60, .net = &net};
    struct xd_request r = range(0, 100);
    int hold[3];
    char url[50];

    net.connect_timeout = 200 * XD_MS;
    xd_transport_free(transport);
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/x", mock_mute_port(hold));
    r.url = url_of(url);
    check_end(fetch(NULL, r), XD_VERDICT_AGAIN, 0);
    /* libcurl says "Failed to connect" or "Connection timeout", depending on
     * which of its clocks sees it first. */
    check_says(&caught[0], "onnect");
    for (int i = 0; i < 3; i++)
        close(hold[i]);
}
END_TEST

START_TEST(paused_bytes_come_again_behind_what_is_read_past)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
        BODY(0, 1000000), END};
    struct xd_request r = range(70001, 400003);

    r.whole = true;
    caught[0].pause_every = 2;
    check_end(fetch(script, r), XD_VERDICT_OK, 400003);
}
END_TEST

START_TEST(secrets_of_a_url_are_not_told)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), END};
    char url[100];
    struct xd_request r = range(0, 100);

    server = mock_start(script);
    snprintf(url, sizeof url, "http://user:secret@%s?key=secret",
             mock_url(server) + 7);
    r.url = url_of(url);
    check_end(fetch(script, r), XD_VERDICT_GONE, 0);
    ck_assert_ptr_null(strstr(caught[0].outcome.error.msg, "secret"));
    check_says(&caught[0], mock_url(server));
}
END_TEST

START_TEST(long_url_leaves_room_for_the_reason)
{
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), END};
    static char url[2000];
    struct xd_request r = range(0, 100);

    server = mock_start(script);
    strcpy(url, mock_url(server));
    memset(url + strlen(url), 'x', 1000);
    r.url = url_of(url);
    check_end(fetch(script, r), XD_VERDICT_GONE, 0);
    check_says(&caught[0], "xxx...: answered 404");
}
END_TEST

/* libcurl's own are not ours to open: see the sockets that lead to depots. */
START_TEST(sockets_to_depots_are_close_on_exec)
{
    static const struct mock_step script[] = {PARTIAL("0-999/1000", "1000"),
                                              BODY(0, 100), HOLD, END};
    int fd, sockets = 0;

    server = mock_start(script);
    start(0, range(0, 1000));
    while (caught[0].received == 0)
        turn();
    for (fd = 0; fd < 100; fd++) {
        struct sockaddr_in a;
        socklen_t len = sizeof a;
        unsigned port = 0;

        if (getpeername(fd, (struct sockaddr *)&a, &len) == 0 &&
            a.sin_family == AF_INET)
            port = ntohs(a.sin_port);
        if (port != 0 && port == mock_port(server)) {
            sockets++;
            ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
        }
    }
    ck_assert_int_eq(sockets, 1);
}
END_TEST

/* ---- stopping ---- */

/* Begins a request to a server of the test's own, which then sends `answer`: it is
 * in the socket when this returns, and nothing has read it. */
static void start_and_answer(const char *answer, int fds[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof a;
    char url[60], head[2000];

    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fds[0], (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(fds[0], 1), 0);
    ck_assert_int_eq(getsockname(fds[0], (struct sockaddr *)&a, &len), 0);
    ck_assert_int_eq(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/f", ntohs(a.sin_port));
    struct xd_request r = range(0, 100);
    r.url = url_of(url);
    start(0, r);
    while ((fds[1] = accept(fds[0], NULL, NULL)) < 0)
        turn();
    ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    while (recv(fds[1], head, sizeof head, 0) <= 0)
        turn();
    ck_assert_int_eq(send(fds[1], answer, strlen(answer), 0),
                     (int)strlen(answer));
}

static void check_stop(const char *answer, enum xd_verdict verdict, int status)
{
    int fds[2];

    start_and_answer(answer, fds);
    xd_transport_stop(transport, 0);
    run_to_end(0);
    check_end(&caught[0], verdict, 0);
    ck_assert_uint_eq(caught[0].heads, 0);
    ck_assert_int_eq(caught[0].outcome.error.http_status, status);
    close(fds[0]);
    close(fds[1]);
}

START_TEST(stopped_request_tells_a_refusal_that_has_come)
{
    check_stop("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
               XD_VERDICT_GONE, 404);
}
END_TEST

START_TEST(stopped_request_tells_a_refusal_whose_body_has_not_come)
{
    check_stop("HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\nx",
               XD_VERDICT_AGAIN, 500);
}
END_TEST

START_TEST(stopped_request_hands_on_nothing_that_has_come)
{
    check_stop("HTTP/1.1 206 Partial Content\r\n"
               "Content-Range: bytes 0-99/100\r\n"
               "Content-Length: 100\r\n\r\nxxxx",
               XD_VERDICT_STOPPED, 0);
}
END_TEST

START_TEST(stopped_request_does_not_wait_for_an_answer)
{
    check_stop("", XD_VERDICT_STOPPED, 0);
    check_stop("HTTP/1.1 404 Not", XD_VERDICT_STOPPED, 0);
}
END_TEST

START_TEST(version_of_libcurl_is_told)
{
    ck_assert_str_eq(xd_version_libcurl(), curl_version());
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("http");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, range_is_asked_for_and_brought);
    tcase_add_test(tcase, user_agent_is_the_one_given);
    tcase_add_test(tcase, rest_of_an_object_is_asked_for_with_an_open_range);
    tcase_add_test(tcase, whole_object_is_asked_for_without_a_range);
    tcase_add_test(tcase, range_of_one_request_does_not_stick_to_the_next);
    tcase_add_test(tcase, body_without_a_length_ends_with_the_connection);
    tcase_add_test(tcase, empty_object_has_a_head_and_no_bytes);
    tcase_add_test(tcase, chunked_range_is_put_together);
    tcase_add_test(tcase, interim_answers_are_passed_over);
    tcase_add_test(tcase, refused_answers_hand_on_nothing);
    tcase_add_test(tcase, refusal_with_a_small_body_keeps_the_connection);
    tcase_add_test(tcase, range_that_is_cut_says_so);
    tcase_add_test(tcase, whole_object_for_a_range_ends_at_once);
    tcase_add_test(tcase, whole_object_is_read_past_to_what_is_wanted);
    tcase_add_test(tcase,
                   whole_object_that_ends_before_what_is_wanted_is_different);
    tcase_add_test(tcase, body_without_a_length_must_reach_what_is_wanted);
    tcase_add_test(tcase, more_bytes_than_promised_are_not_handed_on);
    tcase_add_test(tcase, more_bytes_than_the_range_are_not_handed_on);
    tcase_add_test(tcase, length_shorter_than_the_range_is_an_early_end);
    tcase_add_test(tcase, reset_in_the_body_is_told_with_what_came);
    tcase_add_test(tcase, connection_closed_in_the_header_may_pass);
    tcase_add_test(tcase, want_of_descriptors_is_no_failure_of_the_depot);
    tcase_add_test(tcase,
                   without_descriptors_to_wake_it_by_there_is_no_transport);
    tcase_add_test(tcase, name_that_does_not_resolve_may_pass);
    tcase_add_test(tcase, tls_that_breaks_off_may_pass);
    tcase_add_test(tcase, other_schemes_are_refused);
    tcase_add_test(tcase, answer_without_a_header_is_refused);
    tcase_add_test(tcase, header_without_an_end_is_refused);
    tcase_add_test(tcase,
                   line_of_a_header_that_is_too_long_is_the_depots_failure);
    tcase_add_test(tcase, headers_of_several_requests_are_not_summed_up);
    tcase_add_test(tcase, redirect_is_followed);
    tcase_add_test(tcase,
                   validator_goes_with_a_range_and_with_no_other_request);
    tcase_add_test(tcase, changed_object_brings_no_byte);
    tcase_add_test(tcase, validator_of_one_server_does_not_go_to_another);
    tcase_add_test(
        tcase, answer_that_ends_one_byte_early_in_good_order_means_no_ranges);
    tcase_add_test(tcase, answer_that_breaks_off_is_asked_for_again);
    tcase_add_test(tcase, redirect_loop_is_refused);
    tcase_add_test(tcase, redirect_to_another_scheme_is_refused);
    tcase_add_test(tcase, busy_server_tells_how_long_to_wait);
    tcase_add_test(tcase, refusal_is_told_although_its_body_breaks_off);
    tcase_add_test(tcase, connecting_that_takes_too_long_fails);
    tcase_add_test(tcase, paused_bytes_come_again_behind_what_is_read_past);
    tcase_add_test(tcase, secrets_of_a_url_are_not_told);
    tcase_add_test(tcase, long_url_leaves_room_for_the_reason);
    tcase_add_test(tcase, sockets_to_depots_are_close_on_exec);
    tcase_add_test(tcase, stopped_request_tells_a_refusal_that_has_come);
    tcase_add_test(tcase,
                   stopped_request_tells_a_refusal_whose_body_has_not_come);
    tcase_add_test(tcase, stopped_request_hands_on_nothing_that_has_come);
    tcase_add_test(tcase, stopped_request_does_not_wait_for_an_answer);
    tcase_add_test(tcase, version_of_libcurl_is_told);
    return run_suite("http", tcase);
}
