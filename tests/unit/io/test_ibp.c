/* SPDX-License-Identifier: MIT */
/* lib/io/ibp: requests at a depot that does what a script says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catcher.h"
#include "io/net_options.h"
#include "suite.h"
#include "url_of.h"

#define KEY "0#IBP-key"
#define TYPE_KEY "18446744073709551615"
#define CAPABILITY "/" KEY "/" TYPE_KEY "/READ"
#define LOAD "0 8 " KEY " " TYPE_KEY " "
#define PROBE "0 9 " KEY " " TYPE_KEY " 40 0 0 0 0 "

/* What a depot says of an allocation with room for 5000 bytes. */
#define WRITTEN(n) SAY("1 1 1 " n " 5000 3592 2 1 \n")

static void open_transport(const struct xd_net_options *net)
{
    struct xd_transport_config config = {
        .n_slots = SLOTS, .silence = 60 * XD_SECOND, .net = net};

    ck_assert_int_eq(xd_ibp_new(&transport, &config, &handler, &err), 0);
}

/* No proxy of the environment. */
static void set_up(void)
{
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    open_transport(NULL);
}

static void start_depot(const struct mock_step *script)
{
    server = mock_start_lines(script, "ibp", CAPABILITY);
}

/* Play `script` to the request `r`, on slot 0. */
static const struct catcher *fetch(const struct mock_step *script,
                                   struct xd_request r)
{
    if (server == NULL)
        start_depot(script);
    start(0, r);
    run_to_end(0);
    return &caught[0];
}

/* Of a script of its own. */
static const struct catcher *fetch_anew(const struct mock_step *script,
                                        struct xd_request r)
{
    stop_server();
    return fetch(script, r);
}

/* It names the depot, and no secret. */
static void check_says(const struct catcher *c, const char *part)
{
    ck_assert_msg(strstr(c->outcome.error.msg, part) != NULL,
                  "no \"%s\" in: %s", part, c->outcome.error.msg);
    ck_assert_msg(strncmp(c->outcome.error.msg, "ibp://", 6) == 0,
                  "no URL at the front: %s", c->outcome.error.msg);
    ck_assert_ptr_null(strstr(c->outcome.error.msg, KEY));
    ck_assert_ptr_null(strstr(c->outcome.error.msg, TYPE_KEY));
}

/* The i-th request is `words` and a time-out, which is never 0. */
static void check_request(unsigned i, const char *words)
{
    const char *line = mock_request(server, i);
    size_t len = strlen(words);
    char *end;

    ck_assert_msg(strncmp(line, words, len) == 0, "request %u: %s", i, line);
    ck_assert_int_gt(strtol(line + len, &end, 10), 0);
    ck_assert_str_eq(end, " \n");
}

/* Let it come to where `n` requests were sent. */
static void run_to_request(unsigned n)
{
    while (mock_requests(server) < n) {
        ck_assert_uint_eq(caught[0].ends, 0);
        turn();
    }
}

/* ---- what is asked for ---- */

static const struct mock_step range_script[] = {SAY("1 200 \n"), BODY(100, 200),
                                                END};

START_TEST(range_is_asked_for_and_received)
{
    const struct catcher *c = fetch(range_script, range(100, 200));

    check_end(c, XD_VERDICT_OK, 200);
    check_request(0, LOAD "100 200 ");
    ck_assert_uint_eq(mock_requests(server), 1);
    ck_assert_uint_eq(c->heads, 1);
    ck_assert(c->head.is_range);
    ck_assert_uint_eq(c->head.object_size, XD_SIZE_UNKNOWN);
    ck_assert_str_eq(c->final_url, mock_url(server));
}
END_TEST

START_TEST(reply_may_have_blanks_and_come_in_pieces)
{
    static const struct mock_step scripts[][7] = {
        {SAY("1 200\n"), BODY(100, 200), END},
        {SAY("  1   200  \n"), BODY(100, 200), END},
        {SAY("1 200 \r\n"), BODY(100, 200), END},
        {SAY("1 200 7 8 \n"), BODY(100, 200), END},
        {SAY("1 2"), SLEEP(20), SAY("00 "), SLEEP(20), SAY("\n"),
         BODY(100, 200), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        check_end(fetch_anew(scripts[i], range(100, 200)), XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(size_is_asked_for_where_it_is_wanted)
{
    static const struct mock_step script[] = {
        WRITTEN("1000"), NEXT, SAY("1 200 \n"), BODY(100, 200), END};
    struct xd_request r = range(100, 200);

    r.wants_size = true;
    check_end(fetch(script, r), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(caught[0].head.object_size, 1000);
    check_request(0, PROBE);
    check_request(1, LOAD "100 200 ");
}
END_TEST

/* Some depots would wait for what is not there. */
START_TEST(rest_of_an_object_is_asked_for_as_far_as_it_is_written)
{
    static const struct mock_step script[] = {
        WRITTEN("300"), NEXT, SAY("1 200 \n"), BODY(100, 200), END};

    check_end(fetch(script, range(100, XD_TO_END)), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(caught[0].head.object_size, 300);
    check_request(1, LOAD "100 200 ");
    ck_assert_uint_eq(mock_requests(server), 2);
}
END_TEST

START_TEST(empty_object_has_a_head_and_no_bytes)
{
    static const struct mock_step script[] = {WRITTEN("0"), END};

    check_end(fetch(script, range(0, XD_TO_END)), XD_VERDICT_OK, 0);
    ck_assert_uint_eq(caught[0].heads, 1);
    ck_assert_uint_eq(caught[0].head.object_size, 0);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(object_that_is_known_is_not_read_past_its_end)
{
    static const struct mock_step script[] = {SAY("1 100 \n"), BODY(900, 100),
                                              END};
    struct xd_request r = range(900, XD_TO_END);

    r.object_size = 1000;
    check_end(fetch(script, r), XD_VERDICT_OK, 100);
    check_request(0, LOAD "900 100 ");
    r.offset = 1000;
    start(0, r);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_DIFFERENT, 0);
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

/* ---- short answers ---- */

START_TEST(short_answer_is_continued)
{
    static const struct mock_step script[] = {SAY("1 150 \n"),
                                              BODY(100, 150),
                                              NEXT,
                                              WRITTEN("1000"),
                                              NEXT,
                                              SAY("1 40 \n"),
                                              BODY(250, 40),
                                              NEXT,
                                              SAY("1 10 \n"),
                                              BODY(290, 10),
                                              END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
    check_request(0, LOAD "100 200 ");
    check_request(1, PROBE);
    check_request(2, LOAD "250 50 ");
    check_request(3, LOAD "290 10 ");
    ck_assert_uint_eq(mock_requests(server), 4);
    ck_assert_uint_eq(mock_connections(server), 1);
    ck_assert_uint_eq(caught[0].heads, 1);
}
END_TEST

START_TEST(after_a_short_answer_only_what_is_written_is_asked_for)
{
    static const struct mock_step script[] = {
        SAY("1 400 \n"), BODY(0, 400),   NEXT, WRITTEN("700"), NEXT,
        SAY("1 300 \n"), BODY(400, 300), END};

    check_end(fetch(script, range(0, 1000)), XD_VERDICT_OK, 700);
    check_request(2, LOAD "400 300 ");
    ck_assert_uint_eq(mock_requests(server), 3);
}
END_TEST

START_TEST(object_that_lost_its_end_is_another)
{
    static const struct mock_step script[] = {SAY("1 400 \n"), BODY(0, 400),
                                              NEXT, WRITTEN("700"), END};
    struct xd_request r = range(0, 1000);

    r.object_size = 1000;
    check_end(fetch(script, r), XD_VERDICT_DIFFERENT, 400);
    ck_assert_uint_eq(caught[0].outcome.object_size, 700);
    check_says(&caught[0], "700");
}
END_TEST

START_TEST(object_of_which_more_came_than_is_written_is_another)
{
    static const struct mock_step script[] = {SAY("1 400 \n"), BODY(0, 400),
                                              NEXT, WRITTEN("300"), END};

    check_end(fetch(script, range(0, 1000)), XD_VERDICT_DIFFERENT, 400);
    check_says(&caught[0], "300");
}
END_TEST

/* However a depot says that it has no such bytes, it is asked what it has. */
START_TEST(depot_that_has_no_bytes_is_asked_how_many_there_are)
{
    static const struct mock_step scripts[][4] = {
        {SAY("-19 \n"), NEXT, WRITTEN("100"), END},
        {SAY(" -46 \n"), NEXT, WRITTEN("100"), END},
        {SAY("1 0 \n"), NEXT, WRITTEN("100"), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        check_end(fetch_anew(scripts[i], range(100, 200)), XD_VERDICT_DIFFERENT,
                  0);
        check_request(1, PROBE);
        ck_assert_uint_eq(mock_requests(server), 2);
    }
}
END_TEST

START_TEST(depot_that_keeps_back_what_is_written_fails)
{
    static const struct mock_step script[] = {
        SAY(" -46 \n"), NEXT, WRITTEN("1000"), NEXT, SAY(" -46 \n"), END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_AGAIN, 0);
    check_says(&caught[0], "server timed out (-46)");
    ck_assert_uint_eq(mock_requests(server), 3);
}
END_TEST

/* Some want the manage capability for that, and close the connection. */
START_TEST(depot_that_does_not_answer_probe_is_read_over_a_new_connection)
{
    static const struct mock_step scripts[][6] = {
        {SAY("-4 \n"), NEXT, SAY("1 200 \n"), BODY(100, 200), END},
        {SAY("-4 \n"), CLOSE, NEXT, SAY("1 200 \n"), BODY(100, 200), END},
        {SAY("1 \n"), NEXT, SAY("1 200 \n"), BODY(100, 200), END},
    };
    struct xd_request r = range(100, 200);

    r.wants_size = true;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        check_end(fetch_anew(scripts[i], r), XD_VERDICT_OK, 200);
        ck_assert_uint_eq(caught[0].head.object_size, XD_SIZE_UNKNOWN);
        check_request(0, PROBE);
        check_request(1, LOAD "100 200 ");
        ck_assert_uint_eq(mock_requests(server), 2);
        ck_assert_uint_eq(mock_connections(server), 2);
    }
}
END_TEST

START_TEST(size_that_no_depot_says_is_an_error_where_it_is_needed)
{
    static const struct mock_step script[] = {SAY("-4 \n"), END};

    check_end(fetch(script, range(100, XD_TO_END)), XD_VERDICT_GONE, 0);
    check_says(&caught[0], "capability not found (-4)");
}
END_TEST

/* ---- errors ---- */

START_TEST(error_is_told_in_words_and_by_its_code)
{
    static const struct {
        struct mock_step script[2];
        const char *words;
        enum xd_verdict verdict;
    } rows[] = {
        {{SAY("-4 \n"), END}, "capability not found (-4)", XD_VERDICT_GONE},
        {{SAY(" -4 \n"), END}, "capability not found (-4)", XD_VERDICT_GONE},
        {{SAY("-4\n"), END}, "capability not found (-4)", XD_VERDICT_GONE},
        {{SAY(" -9 \n"), END}, "invalid read capability (-9)", XD_VERDICT_GONE},
        {{SAY("-27 \n"), END},
         "protocol version not supported (-27)",
         XD_VERDICT_GONE},
        {{SAY(" -24 \n"), END}, "internal error (-24)", XD_VERDICT_AGAIN},
        {{SAY("-53 \n"), END},
         "the depot's queue is full (-53)",
         XD_VERDICT_AGAIN},
        {{SAY("-66 0.083984\n"), END},
         "out of sockets (-66)",
         XD_VERDICT_AGAIN},
        {{SAY("-9999 \n"), END}, "unknown error (-9999)", XD_VERDICT_AGAIN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_end(fetch_anew(rows[i].script, range(100, 200)), rows[i].verdict,
                  0);
        check_says(&caught[0], rows[i].words);
        ck_assert_uint_eq(caught[0].heads, 0);
        ck_assert_int_eq(caught[0].outcome.is_refusal,
                         rows[i].verdict == XD_VERDICT_AGAIN);
    }
}
END_TEST

START_TEST(what_is_no_reply_hands_on_nothing)
{
    static const struct mock_step scripts[][2] = {
        {SAY("220 mail.example ESMTP\r\n"), END},
        {SAY("\n"), END},
        {SAY("0 200 \n"), END},
        {SAY("1 \n"), END},
        {SAY("1 -200 \n"), END},
        {SAY("1 99999999999999999999 \n"), END},
        {SAY("1 0x10 \n"), END},
        {SAY("1 1 1 1 1 1 1 1 1 1 \n"), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        check_end(fetch_anew(scripts[i], range(100, 200)), XD_VERDICT_GONE, 0);
        check_says(&caught[0], "is not a reply of IBP");
        ck_assert_uint_eq(caught[0].heads, 0);
    }
}
END_TEST

START_TEST(reply_without_an_end_is_none)
{
    static char blanks[2000];
    static struct mock_step script[] = {SAY(blanks), HOLD, END};

    memset(blanks, ' ', sizeof blanks - 1);
    check_end(fetch(script, range(100, 200)), XD_VERDICT_GONE, 0);
    check_says(&caught[0], "is not a reply of IBP");
}
END_TEST

START_TEST(more_than_was_asked_for_is_refused)
{
    static const struct mock_step script[] = {SAY("1 201 \n"), BODY(100, 201),
                                              END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_GONE, 0);
    check_says(&caught[0], "answers with 201 bytes instead of 200");
}
END_TEST

START_TEST(connection_that_is_closed_early_fails)
{
    static const struct {
        struct mock_step script[4];
        uint64_t received;
        bool is_refusal;
    } rows[] = {
        {{CLOSE, END}, 0, true},
        {{SAY("1 20"), CLOSE, END}, 0, true},
        {{SAY("1 200 \n"), CLOSE, END}, 0, false},
        {{SAY("1 200 \n"), BODY(100, 50), CLOSE, END}, 50, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_end(fetch_anew(rows[i].script, range(100, 200)), XD_VERDICT_AGAIN,
                  rows[i].received);
        check_says(&caught[0], "closed early");
        ck_assert_int_eq(caught[0].outcome.is_refusal, rows[i].is_refusal);
    }
}
END_TEST

START_TEST(what_is_no_capability_to_read_is_not_asked_for)
{
    static const char *const paths[] = {
        "/k/1/WRITE", "/k/1/MANAGE", "/k/1", "/k//READ",
        "//1/READ",   "/k/1/READ/",  "/",
    };

    start_depot(range_script);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct xd_request r = range(100, 200);
        char url[64];

        snprintf(url, sizeof url, "ibp://127.0.0.1:%u%s", mock_port(server),
                 paths[i]);
        r.url = url_of(url);
        start(0, r);
        run_to_end(0);
        check_end(&caught[0], XD_VERDICT_GONE, 0);
        check_says(&caught[0], "is not a read capability of IBP");
    }
    ck_assert_uint_eq(mock_connections(server), 0);
}
END_TEST

/* ---- where the depot is ---- */

/* A proxy is told. */
START_TEST(host_and_port_are_those_of_the_capability)
{
    static const struct {
        const char *url, *host;
    } rows[] = {
        {"ibp://d.example:7000" CAPABILITY, "d.example:7000"},
        {"ibp://d.example:0" CAPABILITY, "d.example:6714"},
        {"ibp://d.example" CAPABILITY, "d.example:6714"},
        {"IBP://d.example:0" CAPABILITY, "d.example:6714"},
        {"ibp://[2001:db8::7]:7000" CAPABILITY, "[2001:db8::7]:7000"},
        {"ibp://2001:db8::7:7000" CAPABILITY, "[2001:db8::7]:7000"},
        {"ibp://[2001:db8::7]:0" CAPABILITY, "[2001:db8::7]:6714"},
    };
    static const struct mock_step script[] = {
        SAY("HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n"), CLOSE, END};
    struct xd_net_options net = XD_NET_OPTIONS_INIT;
    char proxy[64], connect[64];

    server = mock_start(script);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", mock_port(server));
    net.proxy = proxy;
    xd_transport_free(transport);
    open_transport(&net);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xd_request r = range(100, 200);

        r.url = url_of(rows[i].url);
        start(0, r);
        run_to_end(0);
        check_end(&caught[0], XD_VERDICT_AGAIN, 0);
        snprintf(connect, sizeof connect, "CONNECT %s HTTP/1.1\r\n",
                 rows[i].host);
        ck_assert_ptr_nonnull(strstr(mock_request(server, i), connect));
        ck_assert_ptr_null(strstr(mock_request(server, i), KEY));
    }
}
END_TEST

/* ---- connections ---- */

/* Whether its end is noticed before the request or after it. */
START_TEST(kept_connection_that_was_closed_is_made_anew)
{
    static const struct mock_step scripts[][5] = {
        {SAY("1 200 \n"), BODY(100, 200), CLOSE, END},
        {SAY("1 200 \n"), BODY(100, 200), RESET, END},
        {SAY("1 200 \n"), BODY(100, 200), SAY("-66 0.083984\n"), CLOSE, END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        check_end(fetch_anew(scripts[i], range(100, 200)), XD_VERDICT_OK, 200);
        check_end(fetch(NULL, range(100, 200)), XD_VERDICT_OK, 200);
        ck_assert_uint_eq(mock_connections(server), 2);
    }
}
END_TEST

START_TEST(kept_connection_with_something_left_on_it_is_made_anew)
{
    static const struct mock_step script[] = {SAY("1 200 \n"), BODY(100, 200),
                                              SAY("surplus!\n"), END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
    check_end(fetch(NULL, range(100, 200)), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

START_TEST(kept_connection_that_breaks_within_an_answer_fails)
{
    static const struct mock_step script[] = {
        SAY("1 200 \n"), BODY(100, 200), NEXT, SAY("1 200 \n"),
        BODY(100, 50),   CLOSE,          END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_OK, 200);
    check_end(fetch(NULL, range(100, 200)), XD_VERDICT_AGAIN, 50);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(connection_of_a_failure_is_not_used_again)
{
    static const struct mock_step script[] = {
        SAY(" -53 \n"), NEXT, SAY("1 200 \n"), BODY(100, 200), END};

    check_end(fetch(script, range(100, 200)), XD_VERDICT_AGAIN, 0);
    check_end(fetch(NULL, range(100, 200)), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

START_TEST(connection_of_before_an_outage_is_not_used_again)
{
    struct xd_request r = range(100, 200);

    check_end(fetch(range_script, r), XD_VERDICT_OK, 200);
    r.outages = 1;
    check_end(fetch(NULL, r), XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

/* ---- silence ---- */

/* From here on the depot is silent, however long it took to get here. */
static void check_silence(void)
{
    xd_transport_set_silence(transport, 200 * XD_MS, 0);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 0);
    ck_assert(caught[0].outcome.is_unanswered);
    check_says(&caught[0], "no bytes for 0.2 s at offset 100");
}

START_TEST(silence_within_the_reply_ends_the_request)
{
    static const struct mock_step script[] = {SAY("1 20"), HOLD, END};

    start_depot(script);
    start(0, range(100, 200));
    run_to_request(1);
    check_silence();
}
END_TEST

START_TEST(after_silence_a_depot_is_asked_what_it_has)
{
    static const struct mock_step script[] = {HOLD, NEXT, WRITTEN("100"), END};

    start_depot(script);
    start(0, range(100, 200));
    run_to_request(1);
    check_silence();
    xd_transport_set_silence(transport, 60 * XD_SECOND, 0);
    check_end(fetch(NULL, range(100, 200)), XD_VERDICT_DIFFERENT, 0);
    check_request(1, PROBE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("ibp");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, range_is_asked_for_and_received);
    tcase_add_test(tcase, reply_may_have_blanks_and_come_in_pieces);
    tcase_add_test(tcase, size_is_asked_for_where_it_is_wanted);
    tcase_add_test(tcase,
                   rest_of_an_object_is_asked_for_as_far_as_it_is_written);
    tcase_add_test(tcase, empty_object_has_a_head_and_no_bytes);
    tcase_add_test(tcase, object_that_is_known_is_not_read_past_its_end);
    tcase_add_test(tcase, short_answer_is_continued);
    tcase_add_test(tcase,
                   after_a_short_answer_only_what_is_written_is_asked_for);
    tcase_add_test(tcase, object_that_lost_its_end_is_another);
    tcase_add_test(tcase, object_of_which_more_came_than_is_written_is_another);
    tcase_add_test(tcase, depot_that_has_no_bytes_is_asked_how_many_there_are);
    tcase_add_test(tcase, depot_that_keeps_back_what_is_written_fails);
    tcase_add_test(
        tcase, depot_that_does_not_answer_probe_is_read_over_a_new_connection);
    tcase_add_test(tcase,
                   size_that_no_depot_says_is_an_error_where_it_is_needed);
    tcase_add_test(tcase, error_is_told_in_words_and_by_its_code);
    tcase_add_test(tcase, what_is_no_reply_hands_on_nothing);
    tcase_add_test(tcase, reply_without_an_end_is_none);
    tcase_add_test(tcase, more_than_was_asked_for_is_refused);
    tcase_add_test(tcase, connection_that_is_closed_early_fails);
    tcase_add_test(tcase, what_is_no_capability_to_read_is_not_asked_for);
    tcase_add_test(tcase, host_and_port_are_those_of_the_capability);
    tcase_add_test(tcase, kept_connection_that_was_closed_is_made_anew);
    tcase_add_test(tcase,
                   kept_connection_with_something_left_on_it_is_made_anew);
    tcase_add_test(tcase, kept_connection_that_breaks_within_an_answer_fails);
    tcase_add_test(tcase, connection_of_a_failure_is_not_used_again);
    tcase_add_test(tcase, connection_of_before_an_outage_is_not_used_again);
    tcase_add_test(tcase, silence_within_the_reply_ends_the_request);
    tcase_add_test(tcase, after_silence_a_depot_is_asked_what_it_has);
    return run_suite("ibp", tcase);
}
