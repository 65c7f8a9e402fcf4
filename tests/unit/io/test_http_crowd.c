/* SPDX-License-Identifier: MIT */
/* What a client and a depot that serves many say to each other: which download a
 * request is of, and which bytes are best asked for next; and what the requests of
 * a download share. */
#include <stdio.h>
#include <string.h>

#include "catcher.h"
#include "io/http/http_answer.h"
#include "io/http/http_options.h"
#include "io/net_context.h"
#include "io/net_options.h"
#include "suite.h"
#include "url_of.h"

#define NAME "\r\nXd-Client: "
#define DIGITS 16

static struct xd_net_context *context;

static void set_up(void)
{
    setenv("NO_PROXY", "*", 1);
    ck_assert_int_eq(xd_net_context_new(&context, &err), 0);
}

static void tear_down_all(void)
{
    tear_down();
    xd_net_context_free(context);
}

static void open_with(const struct xd_net_options *net)
{
    struct xd_transport_config config = {.n_slots = SLOTS,
                                         .silence = 60 * XD_SECOND,
                                         .net = net,
                                         .context = context};

    xd_transport_free(transport);
    ck_assert_int_eq(xd_http_new(&transport, &config, &handler, &err), 0);
}

#define PARTIAL(more)                                                       \
    SAY("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 100-299/1000" \
        "\r\nContent-Length: 200\r\n" more "\r\n"),                         \
        BODY(100, 200)

static const struct mock_step plain[] = {PARTIAL(""), END};

/* What the n-th request said; NULL: nothing. */
static const char *said(unsigned n)
{
    const char *at = strstr(mock_request(server, n), NAME);

    return at ? at + strlen(NAME) : NULL;
}

static void ask(struct xd_request r)
{
    if (!server)
        server = mock_start(plain);
    start(0, r);
    run_to_end(0);
}

/* ---- which download it is ---- */

START_TEST(all_requests_of_a_download_say_the_same)
{
    static const char digits[] = "0123456789abcdef";

    open_with(NULL);
    ask(range(100, 200));
    open_with(NULL);
    ask(range(100, 200));
    ck_assert_ptr_nonnull(said(0));
    ck_assert_uint_eq(strspn(said(0), digits), DIGITS);
    ck_assert(strncmp(said(0) + DIGITS, "\r\n", 2) == 0);
    ck_assert(strncmp(said(0), said(1), DIGITS) == 0);
}
END_TEST

/* By two names, as if it were two. */
START_TEST(another_depot_is_told_something_else)
{
    struct xd_request r = range(100, 200);
    char text[100];

    open_with(NULL);
    ask(range(100, 200));
    snprintf(text, sizeof text, "http://localhost:%u/x", mock_port(server));
    r.url = url_of(text);
    ask(r);
    ask(range(100, 200));
    ck_assert(strncmp(said(0), said(1), DIGITS) != 0);
    ck_assert(strncmp(said(0), said(2), DIGITS) == 0);
    ck_assert_uint_eq(strspn(said(1), "0123456789abcdef"), DIGITS);
}
END_TEST

START_TEST(another_download_says_something_else)
{
    open_with(NULL);
    ask(range(100, 200));
    xd_transport_free(transport);
    transport = NULL;
    xd_net_context_free(context);
    ck_assert_int_eq(xd_net_context_new(&context, &err), 0);
    open_with(NULL);
    ask(range(100, 200));
    ck_assert(strncmp(said(0), said(1), DIGITS) != 0);
}
END_TEST

START_TEST(one_that_is_not_to_say_it_does_not)
{
    struct xd_net_options net = XD_NET_OPTIONS_INIT;

    net.no_client_id = 1;
    open_with(&net);
    ask(range(100, 200));
    ck_assert_ptr_null(said(0));
}
END_TEST

START_TEST(a_node_of_a_mesh_is_not_told)
{
    struct xd_request r = range(100, 200);

    r.is_plain = true;
    open_with(NULL);
    ask(r);
    ck_assert_ptr_null(said(0));
}
END_TEST

static const struct mock_step removed[] = {
    SAY("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), END};

START_TEST(nor_is_a_store)
{
    struct xd_sending sending = {.method = "DELETE", .fields = ""};

    open_with(NULL);
    server = mock_start(removed);
    ask((struct xd_request){.sends = &sending});
    ck_assert_ptr_null(said(0));
}
END_TEST

START_TEST(names_are_shared_but_with_an_address_to_send_from)
{
    struct xd_net_options net = XD_NET_OPTIONS_INIT;
    struct xd_http_options o;
    char address[] = "127.0.0.2";

    ck_assert_int_eq(xd_http_options_init(&o, &net, context, &err), 0);
    ck_assert_ptr_nonnull(o.names);
    xd_http_options_fini(&o);
    net.interface = address;
    ck_assert_int_eq(xd_http_options_init(&o, &net, context, &err), 0);
    ck_assert_ptr_null(o.names);
    xd_http_options_fini(&o);
}
END_TEST

START_TEST(it_stands_beside_other_lines)
{
    struct xd_request r = range(100, 200);

    r.wants_offer = true;
    r.if_range = "\"e\"";
    open_with(NULL);
    ask(r);
    ck_assert_ptr_nonnull(said(0));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nIf-Range: \"e\"\r\n"));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nWant-Digest: SHA-256"));
    ck_assert_ptr_nonnull(
        strstr(mock_request(server, 0), "\r\nAccept-Encoding: identity\r\n"));
}
END_TEST

/* ---- what is best asked for next ---- */

START_TEST(a_head_has_what_the_depot_would_be_asked_for)
{
    static const struct mock_step script[] = {
        PARTIAL("Xd-Next: bytes=500-599\r\n"), END};

    open_with(NULL);
    server = mock_start(script);
    ask(range(100, 200));
    check_end(&caught[0], XD_VERDICT_OK, 200);
    ck_assert_uint_eq(caught[0].head.next.begin, 500);
    ck_assert_uint_eq(caught[0].head.next.end, 600);
}
END_TEST

START_TEST(without_it_there_is_none)
{
    open_with(NULL);
    ask(range(100, 200));
    ck_assert(xd_range_is_empty(caught[0].head.next));
}
END_TEST

/* What is made of these lines. */
static struct xd_range next_in(const char *lines)
{
    struct xd_http_answer a = {.status = 0};

    for (const char *end; *lines; lines = end) {
        end = strchr(lines, '\n') + 1;
        xd_http_answer_line(&a, lines, (size_t)(end - lines));
    }
    return a.next;
}

static void expect_next(const char *lines, uint64_t begin, uint64_t end)
{
    struct xd_range next = next_in(lines);

    ck_assert_msg(next.begin == begin && next.end == end, "%s", lines);
}

START_TEST(one_byte_is_a_range_and_the_last_number_is_not)
{
    expect_next("Xd-Next: bytes=0-0\r\n", 0, 1);
    expect_next("xd-next:BYTES=7-7 \r\n", 7, 8);
    expect_next("Xd-Next: bytes=5-18446744073709551614\r\n", 5, UINT64_MAX);
    expect_next("Xd-Next: bytes=5-18446744073709551615\r\n", 0, 0);
}
END_TEST

START_TEST(anything_else_says_nothing)
{
    static const char *const odd[] = {
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=-5",
        "bytes=5-",
        "bytes=5",
        "bytes=6-5",
        "bytes=*",
        "bytes=1-2,4-5",
        "bytes 1-2",
        "bytes=1 - 2",
        "bytes= 1-2",
        "bytes=1-2/9",
        "bytes=+1-2",
        "bytes=0x1-2",
        "1-2",
        "bytes=-1-2",
        "lines=1-2",
        "bytes=1--2",
        "bytes=18446744073709551616-18446744073709551617",
        "bytes=1-99999999999999999999999999999999999999999999999999999999"};

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char line[200];

        snprintf(line, sizeof line, "Xd-Next: %s\r\n", odd[i]);
        expect_next(line, 0, 0);
    }
}
END_TEST

START_TEST(said_more_than_once_it_says_nothing)
{
    expect_next("Xd-Next: bytes=1-2\r\nXd-Next: bytes=1-2\r\n", 0, 0);
    expect_next("Xd-Next: bytes=1-2\r\nXd-Next: x\r\nXd-Next: bytes=1-2\r\n", 0,
                0);
    expect_next("Xd-Next: bytes=1-2\r\nHTTP/1.1 206\r\nXd-Next: bytes=3-4\r\n",
                3, 5);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("http_crowd");

    tcase_add_checked_fixture(t, set_up, tear_down_all);
    tcase_add_test(t, all_requests_of_a_download_say_the_same);
    tcase_add_test(t, another_depot_is_told_something_else);
    tcase_add_test(t, another_download_says_something_else);
    tcase_add_test(t, one_that_is_not_to_say_it_does_not);
    tcase_add_test(t, a_node_of_a_mesh_is_not_told);
    tcase_add_test(t, names_are_shared_but_with_an_address_to_send_from);
    tcase_add_test(t, nor_is_a_store);
    tcase_add_test(t, it_stands_beside_other_lines);
    tcase_add_test(t, a_head_has_what_the_depot_would_be_asked_for);
    tcase_add_test(t, without_it_there_is_none);
    tcase_add_test(t, one_byte_is_a_range_and_the_last_number_is_not);
    tcase_add_test(t, anything_else_says_nothing);
    tcase_add_test(t, said_more_than_once_it_says_nothing);
    return run_suite("http_crowd", t);
}
