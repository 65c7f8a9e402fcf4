/* SPDX-License-Identifier: MIT */
/* lib/io/ibp: requests that send, at a depot that does what a script says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catcher.h"
#include "suite.h"
#include "url_of.h"

#define KEYS "0#IBP-key 18446744073709551615"
#define CAPABILITY(right) "/0#IBP-key/18446744073709551615/" right

static void set_up(void)
{
    struct xd_transport_config config = {.n_slots = SLOTS,
                                         .silence = 60 * XD_SECOND};

    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    ck_assert_int_eq(xd_ibp_new(&transport, &config, &handler, &err), 0);
}

/* Begin `method` at the depot of `script`; NULL: at the last one. */
static void begin(const struct mock_step *script, const char *method,
                  const char *right, const char *fields, uint64_t length)
{
    char url[200];

    if (script != NULL) {
        stop_server();
        server = mock_start_lines(script, "ibp", "");
    }
    snprintf(url, sizeof url, "%s%s%s", mock_url(server),
             right[0] ? CAPABILITY("") : "", right);
    send_to(0, method, fields, length, url);
}

static const struct catcher *ask(const struct mock_step *script,
                                 const char *method, const char *right,
                                 const char *fields, uint64_t length)
{
    begin(script, method, right, fields, length);
    run_to_end(0);
    return &caught[0];
}

/* Let it come to where the body was read from so many times. */
static void run_to_read(unsigned n)
{
    while (caught[0].reads < n) {
        ck_assert_uint_eq(caught[0].ends, 0);
        turn();
    }
}

static void check_reply(int64_t code, const char *words)
{
    check_end(&caught[0], XD_VERDICT_OK, 0);
    ck_assert_uint_eq(caught[0].heads, 1);
    ck_assert_int_eq(caught[0].reply.code, code);
    ck_assert_str_eq(caught[0].words, words);
}

/* Ask for a range, which is no command. */
static void start_range(void)
{
    struct xd_request r = range(100, 200);
    char url[200];

    snprintf(url, sizeof url, "%s" CAPABILITY("READ"), mock_url(server));
    r.url = url_of(url);
    start(0, r);
}

/* The depot is named, and no secret. */
static void check_failed(enum xd_verdict verdict, const char *part)
{
    const char *msg = caught[0].outcome.error.msg;

    check_end(&caught[0], verdict, 0);
    ck_assert_msg(strstr(msg, part) != NULL, "no \"%s\" in: %s", part, msg);
    ck_assert_int_eq(strncmp(msg, "ibp://127.0.0.1", 15), 0);
    ck_assert_ptr_null(strstr(msg, "IBP-key"));
    ck_assert_ptr_null(strstr(msg, "1844"));
}

static void check_request(unsigned i, const char *line)
{
    ck_assert_str_eq(mock_request(server, i), line);
}

START_TEST(commands_are_as_the_original_tools_write_them)
{
    static const struct {
        const char *method, *right, *fields, *line;
    } rows[] = {
        {"ALLOCATE", "", "2 1 3600 1000000", "0 1 2 1 3600 1000000 600 \n"},
        {"STATUS", "", NULL, "0 4 1 ibp 600 \n"},
        {"PROBE", "MANAGE", "", "0 9 " KEYS " 40 0 0 0 0 600 \n"},
        {"PROBE", "READ", NULL, "0 9 " KEYS " 40 0 0 0 0 600 \n"},
        {"CHANGE", "MANAGE", "1000000 7200 2",
         "0 9 " KEYS " 43 0 1000000 7200 2 600 \n"},
        {"DECREMENT", "MANAGE", "1", "0 9 " KEYS " 42 1 600 \n"},
        {"LOAD", "READ", "100 0", "0 8 " KEYS " 100 0 600 \n"},
    };
    static const struct mock_step script[] = {SAY("1 0 0 0 0 \n"), END};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(script, rows[i].method, rows[i].right, rows[i].fields, 0);
        check_end(&caught[0], XD_VERDICT_OK, 0);
        ck_assert_uint_eq(caught[0].heads, 1);
        check_request(0, rows[i].line);
    }
}
END_TEST

START_TEST(what_is_no_command_is_not_asked_for)
{
    static const struct {
        const char *method, *right, *fields;
    } rows[] = {
        {"PUT", "WRITE", NULL},
        {"ALLOCATE", "", "2 1 3600"},
        {"ALLOCATE", "", "2 1 3600 1 \n0 4 1"},
        {"ALLOCATE", "", NULL},
        {"DECREMENT", "MANAGE", "1 2"},
        {"DECREMENT", "READ", "1"},
        {"CHANGE", "", "1 2 3"},
        {"STORE", "READ", NULL},
        {"LOAD", "WRITE", "0 10"},
        {"PROBE", "", NULL},
    };
    static const struct mock_step script[] = {SAY("1 \n"), END};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(script, rows[i].method, rows[i].right, rows[i].fields, 0);
        ck_assert_uint_eq(mock_connections(server), 0);
        ck_assert_uint_eq(caught[0].heads, 0);
        check_failed(XD_VERDICT_GONE, i == 0 || i > 4 ? "" : "no such command");
    }
}
END_TEST

START_TEST(what_follows_the_code_is_handed_over)
{
    static const struct {
        const char *line, *words;
        int64_t code;
    } rows[] = {
        {"1 ibp://h:1/k/1/READ ibp://h:1/k/2/WRITE ibp://h:1/k/3/MANAGE \n",
         "ibp://h:1/k/1/READ ibp://h:1/k/2/WRITE ibp://h:1/k/3/MANAGE", 1},
        {"  1   a  b \r\n", "a  b", 1},
        {"1\n", "", 1},
        {" -38 \n", "", -38},
        {"-28 0.0839\n", "0.0839", -28},
        {"-9999 \n", "", -9999},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mock_step script[] = {{MOCK_SAY, rows[i].line, 0, 0}, END};

        ask(script, "ALLOCATE", "", "2 1 60 10", 0);
        check_reply(rows[i].code, rows[i].words);
        stop_server();
    }
}
END_TEST

/* Its reply begins with a number that is no code. */
START_TEST(status_is_handed_over_as_it_is)
{
    static const struct mock_step good[] = {SAY("200 0 200 0 864000 \n"), END},
                                  bad[] = {SAY(" -29 \n"), END};

    ask(good, "STATUS", "", NULL, 0);
    check_reply(1, "200 0 200 0 864000");
    ask(bad, "STATUS", "", NULL, 0);
    check_reply(-29, "");
}
END_TEST

START_TEST(what_is_no_reply_fails)
{
    static const struct mock_step scripts[][2] = {
        {SAY("220 mail.example ESMTP\r\n"), END},
        {SAY("\n"), END},
        {SAY("0 \n"), END},
        {SAY("2 \n"), END},
        {SAY("one \n"), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ask(scripts[i], "PROBE", "MANAGE", NULL, 0);
        check_failed(XD_VERDICT_GONE, "is not a reply of IBP");
    }
}
END_TEST

START_TEST(reply_without_an_end_is_none)
{
    static char blanks[9000];
    static struct mock_step script[] = {SAY(blanks), STALL, END};

    memset(blanks, ' ', sizeof blanks - 1);
    ask(script, "ALLOCATE", "", "2 1 60 10", 0);
    check_failed(XD_VERDICT_GONE, "is not a reply of IBP");
}
END_TEST

START_TEST(reply_that_is_too_long_is_none)
{
    static char line[9000];
    static struct mock_step script[] = {SAY(line), STALL, END};

    memset(line, ' ', sizeof line - 1);
    memcpy(line + sizeof line - 4, "1 \n", 4);
    ask(script, "ALLOCATE", "", "2 1 60 10", 0);
    check_failed(XD_VERDICT_GONE, "is not a reply of IBP");
}
END_TEST

START_TEST(connection_is_used_again)
{
    static const struct mock_step script[] = {SAY("1 \n"),
                                              NEXT,
                                              SAY("1 \n"),
                                              TAKE(0, 1000),
                                              SAY("1 1000 \n"),
                                              NEXT,
                                              SAY("1 200 \n"),
                                              BODY(100, 200),
                                              END};

    ask(script, "PROBE", "MANAGE", NULL, 0);
    check_reply(1, "");
    ask(NULL, "STORE", "WRITE", NULL, 1000);
    check_reply(1, "1000");
    start_range();
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(kept_connection_that_was_closed_is_made_anew)
{
    static const struct mock_step script[] = {
        SAY("1 \n"),      CLOSE, NEXT, SAY("1 \n"), TAKE(0, 1000),
        SAY("1 1000 \n"), END};

    ask(script, "PROBE", "MANAGE", NULL, 0);
    ask(NULL, "STORE", "WRITE", NULL, 1000);
    check_reply(1, "1000");
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

/* After an error, and where something was left on it. */
START_TEST(connection_of_which_nobody_knows_where_it_stands_is_closed)
{
    static const struct mock_step scripts[][8] = {
        {SAY("-4 \n"), NEXT, SAY("1 \n"), END},
        {SAY("1 \nmore"), NEXT, SAY("1 \n"), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ask(scripts[i], "PROBE", "MANAGE", NULL, 0);
        check_end(&caught[0], XD_VERDICT_OK, 0);
        ask(NULL, "PROBE", "MANAGE", NULL, 0);
        check_reply(1, "");
        ck_assert_uint_eq(mock_connections(server), 2);
    }
}
END_TEST

/* ---- LOAD ---- */

START_TEST(range_is_loaded_behind_its_reply)
{
    static const struct mock_step script[] = {SAY("1 200 \n"), BODY(100, 200),
                                              END};

    begin(script, "LOAD", "READ", "100 200", 0);
    caught[0].expected = 100;
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
    ck_assert_int_eq(caught[0].reply.code, 1);
    ck_assert(caught[0].reply.is_range);
    ck_assert_uint_eq(caught[0].reply.range.begin, 100);
    ck_assert_uint_eq(caught[0].reply.range.end, 300);
    check_request(0, "0 8 " KEYS " 100 200 600 \n");
}
END_TEST

START_TEST(no_more_is_loaded_than_was_asked_for)
{
    static const struct mock_step scripts[][3] = {
        {SAY("1 201 \n"), BODY(100, 201), END},
        {SAY("1 -1 \n"), END},
        {SAY("1 \n"), END},
        {SAY("1 x \n"), END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ask(scripts[i], "LOAD", "READ", "100 200", 0);
        check_failed(XD_VERDICT_GONE, "is not a reply of IBP");
        ck_assert_uint_eq(caught[0].heads, 0);
    }
}
END_TEST

/* After silence a depot is asked what it has, but by a range alone. */
START_TEST(command_is_asked_for_as_it_is)
{
    static const struct mock_step script[] = {HOLD,
                                              NEXT,
                                              SAY("1 200 \n"),
                                              BODY(100, 200),
                                              NEXT,
                                              SAY("1 1 1 100 5000 3592 2 1 \n"),
                                              END};

    server = mock_start_lines(script, "ibp", "");
    start_range();
    while (mock_requests(server) < 1)
        turn();
    xd_transport_set_silence(transport, 200 * XD_MS, 0);
    run_to_end(0);
    check_failed(XD_VERDICT_AGAIN, "no bytes");
    xd_transport_set_silence(transport, 60 * XD_SECOND, 0);
    begin(NULL, "LOAD", "READ", "100 200", 0);
    caught[0].expected = 100;
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
    check_request(1, "0 8 " KEYS " 100 200 600 \n");
    ck_assert_uint_eq(mock_requests(server), 2);
    start_range();
    run_to_end(0);
    check_request(2, "0 9 " KEYS " 40 0 0 0 0 600 \n");
}
END_TEST

/* ---- STORE ---- */

START_TEST(body_follows_the_go_ahead)
{
    static const struct mock_step script[] = {
        SAY("1 "),   SLEEP(20), SAY("\n"),      TAKE(0, 2000000),
        SAY("1 20"), SLEEP(20), SAY("00000\n"), END};

    ask(script, "STORE", "WRITE", NULL, 2000000);
    check_reply(1, "2000000");
    check_request(0, "0 2 " KEYS " 2000000 86400 \n");
}
END_TEST

START_TEST(body_is_sent_as_it_can_be_read)
{
    static const struct mock_step script[] = {SAY("1 \n"), TAKE(0, 300000),
                                              SAY("1 300000 \n"), END};

    caught[0].read_most = 1000;
    caught[0].starve_every = 3;
    ask(script, "STORE", "WRITE", NULL, 300000);
    check_reply(1, "300000");
    ck_assert_uint_ge(caught[0].reads, 300);
}
END_TEST

START_TEST(body_that_cannot_be_read_ends_the_request)
{
    static const struct mock_step script[] = {SAY("1 \n"), TAKE(0, 300000),
                                              SAY("1 300000 \n"), END};

    caught[0].read_answer = XD_E_CORRUPT;
    ask(script, "STORE", "WRITE", NULL, 300000);
    check_failed(XD_VERDICT_STOPPED, "refused");
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_CORRUPT);
    ck_assert_uint_eq(caught[0].heads, 0);
}
END_TEST

START_TEST(refused_body_is_not_sent)
{
    static const struct mock_step scripts[][2] = {
        {SAY(" -19 \n"), END}, {SAY("-19 \n"), END}, {SAY("-8 \n"), END}};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ask(scripts[i], "STORE", "WRITE", NULL, 1000);
        check_reply(i < 2 ? -19 : -8, "");
        ck_assert_uint_eq(caught[0].reads, 0);
    }
}
END_TEST

/* Of what was not sent yet nothing is, on this connection or another. */
START_TEST(depot_may_have_its_last_word_in_the_middle)
{
    static const struct {
        struct mock_step script[6];
        int64_t code;
        const char *words;
    } rows[] = {
        {{SAY("1 \n"), TAKE(0, 1000), SAY("-16 \n"), STALL, END}, -16, ""},
        {{SAY("1 \n"), TAKE(0, 1000), SAY("1 1000 \n"), STALL, END}, 1, "1000"},
        {{SAY("1 \n-16 \n"), STALL, END}, -16, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(rows[i].script, "STORE", "WRITE", NULL, UINT64_C(1) << 40);
        check_reply(rows[i].code, rows[i].words);
        stop_server();
    }
}
END_TEST

START_TEST(connection_on_which_a_body_was_cut_is_not_used_again)
{
    static const struct mock_step script[] = {
        SAY("1 \n"), TAKE(0, 1000), SAY("1 1000 \n"), STALL, NEXT, SAY("1 \n"),
        END};

    ask(script, "STORE", "WRITE", NULL, UINT64_C(1) << 40);
    check_reply(1, "1000");
    ask(NULL, "PROBE", "MANAGE", NULL, 0);
    check_reply(1, "");
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

START_TEST(connection_that_breaks_within_a_body_fails)
{
    static const struct mock_step scripts[][6] = {
        {SAY("1 \n"), TAKE(0, 1000), CLOSE, END},
        {SAY("1 \n"), TAKE(0, 1000), RESET, END},
        {SAY("1 \n"), TAKE(0, 3000000), CLOSE, END},
        {SAY("1 \n"), TAKE(0, 3000000), SAY("1 30"), CLOSE, END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ask(scripts[i], "STORE", "WRITE", NULL, 3000000);
        check_failed(XD_VERDICT_AGAIN, "at offset ");
        ck_assert_uint_eq(caught[0].heads, 0);
    }
}
END_TEST

/* Once the body was asked for, nothing shows how much of it is written. */
START_TEST(body_is_not_sent_again_over_a_new_connection)
{
    static const struct mock_step script[] = {SAY("1 \n"),   NEXT,  SAY("1 \n"),
                                              TAKE(0, 1000), CLOSE, END};

    ask(script, "PROBE", "MANAGE", NULL, 0);
    ask(NULL, "STORE", "WRITE", NULL, 3000000);
    check_failed(XD_VERDICT_AGAIN, "at offset ");
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(handler_may_refuse_a_reply)
{
    static const struct mock_step script[] = {SAY("1 \n"), END};

    caught[0].head_answer = XD_E_NOMEM;
    ask(script, "PROBE", "MANAGE", NULL, 0);
    check_failed(XD_VERDICT_STOPPED, "refused");
}
END_TEST

START_TEST(request_can_be_stopped_within_its_body)
{
    static const struct mock_step script[] = {SAY("1 \n"), STALL, END};

    begin(script, "STORE", "WRITE", NULL, UINT64_C(1) << 40);
    run_to_read(2);
    xd_transport_stop(transport, 0);
    run_to_end(0);
    check_failed(XD_VERDICT_STOPPED, "stopped at offset ");
}
END_TEST

/* ---- silence ---- */

START_TEST(depot_that_takes_no_more_is_silent)
{
    static const struct mock_step scripts[][4] = {
        {SAY("1 \n"), STALL, END},
        {SAY("1 \n"), TAKE(0, 1000000), STALL, END},
    };

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        begin(scripts[i], "STORE", "WRITE", NULL,
              i == 0 ? UINT64_C(1) << 40 : 1000000);
        run_to_read(2);
        xd_transport_set_silence(transport, 200 * XD_MS, 0);
        run_to_end(0);
        check_failed(XD_VERDICT_AGAIN, "no bytes for 0.2 s at offset ");
        ck_assert(caught[0].outcome.is_unanswered);
        xd_transport_set_silence(transport, 60 * XD_SECOND, 0);
    }
}
END_TEST

/* All of it is soon in the kernel, which needs longer than the silence to be rid
 * of it. */
START_TEST(depot_that_takes_a_body_slowly_is_not_silent)
{
    enum { PART = 100000, PARTS = 6 };
    static const struct mock_step script[] = {
        SAY("1 \n"),          SLEEP(300),           TAKE(0, PART),
        SLEEP(300),           TAKE(PART, PART),     SLEEP(300),
        TAKE(2 * PART, PART), SLEEP(300),           TAKE(3 * PART, PART),
        SLEEP(300),           TAKE(4 * PART, PART), SLEEP(300),
        TAKE(5 * PART, PART), SAY("1 600000 \n"),   END};

    server = mock_start_lines(script, "ibp", "");
    mock_narrow(server);
    xd_transport_set_silence(transport, 800 * XD_MS, 0);
    ask(NULL, "STORE", "WRITE", NULL, (uint64_t)PARTS * PART);
    check_reply(1, "600000");
}
END_TEST

START_TEST(depot_that_has_not_taken_all_yet_is_not_silent)
{
    enum { PART = 4 << 20, PARTS = 8 };
    static const struct mock_step script[] = {SAY("1 \n"),
                                              SLEEP(200),
                                              TAKE(0, PART),
                                              SLEEP(200),
                                              TAKE(PART, PART),
                                              SLEEP(200),
                                              TAKE(2 * PART, PART),
                                              SLEEP(200),
                                              TAKE(3 * PART, PART),
                                              SLEEP(200),
                                              TAKE(4 * PART, PART),
                                              SLEEP(200),
                                              TAKE(5 * PART, PART),
                                              TAKE(6 * PART, PART),
                                              TAKE(7 * PART, PART),
                                              SAY("1 33554432 \n"),
                                              END};

    xd_transport_set_silence(transport, 600 * XD_MS, 0);
    ask(script, "STORE", "WRITE", NULL, (uint64_t)PARTS * PART);
    check_reply(1, "33554432");
}
END_TEST

/* What it has to wait for is on our side. */
START_TEST(body_that_is_waited_for_is_no_silence)
{
    static const struct mock_step script[] = {SAY("1 \n"), TAKE(0, 1000),
                                              SAY("1 1000 \n"), END};

    caught[0].starve_every = 2;
    caught[0].read_most = 500;
    begin(script, "STORE", "WRITE", NULL, 1000);
    run_to_read(2);
    xd_transport_set_silence(transport, 100 * XD_MS, 0);
    for (int i = 0; i < 5; i++)
        turn();
    ck_assert_uint_eq(caught[0].ends, 0);
    xd_transport_set_silence(transport, 60 * XD_SECOND, 0);
    run_to_end(0);
    check_reply(1, "1000");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("ibp_send");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, commands_are_as_the_original_tools_write_them);
    tcase_add_test(t, what_is_no_command_is_not_asked_for);
    tcase_add_test(t, what_follows_the_code_is_handed_over);
    tcase_add_test(t, status_is_handed_over_as_it_is);
    tcase_add_test(t, what_is_no_reply_fails);
    tcase_add_test(t, reply_without_an_end_is_none);
    tcase_add_test(t, reply_that_is_too_long_is_none);
    tcase_add_test(t, connection_is_used_again);
    tcase_add_test(t, kept_connection_that_was_closed_is_made_anew);
    tcase_add_test(t,
                   connection_of_which_nobody_knows_where_it_stands_is_closed);
    tcase_add_test(t, range_is_loaded_behind_its_reply);
    tcase_add_test(t, no_more_is_loaded_than_was_asked_for);
    tcase_add_test(t, command_is_asked_for_as_it_is);
    tcase_add_test(t, body_follows_the_go_ahead);
    tcase_add_test(t, body_is_sent_as_it_can_be_read);
    tcase_add_test(t, body_that_cannot_be_read_ends_the_request);
    tcase_add_test(t, refused_body_is_not_sent);
    tcase_add_test(t, depot_may_have_its_last_word_in_the_middle);
    tcase_add_test(t, connection_on_which_a_body_was_cut_is_not_used_again);
    tcase_add_test(t, connection_that_breaks_within_a_body_fails);
    tcase_add_test(t, body_is_not_sent_again_over_a_new_connection);
    tcase_add_test(t, handler_may_refuse_a_reply);
    tcase_add_test(t, request_can_be_stopped_within_its_body);
    tcase_add_test(t, depot_that_takes_no_more_is_silent);
    tcase_add_test(t, depot_that_takes_a_body_slowly_is_not_silent);
    tcase_add_test(t, depot_that_has_not_taken_all_yet_is_not_silent);
    tcase_add_test(t, body_that_is_waited_for_is_no_silence);
    return run_suite("ibp_send", t);
}
