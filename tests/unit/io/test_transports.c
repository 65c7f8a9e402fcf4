/* SPDX-License-Identifier: MIT */
/* What lib/io/transport.h says holds for each transport over a network: its
 * requests, at a server that does what a script says. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catcher.h"
#include "os/clock.h"
#include "suite.h"
#include "url_of.h"

/* How each of them says: here are `length` bytes from `first` on. */
#define HTTP_REPLY(first, last, length)                                        \
    SAY("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " first "-" last \
        "/1000000\r\nContent-Length: " length "\r\n\r\n")
#define IBP_REPLY(first, last, length) SAY("1 " length " \n")

#define CONTINUE SAY("HTTP/1.1 100 Continue\r\n\r\n")

/* The scripts of a transport with such replies. */
#define SCRIPTS(REPLY)                                                 \
    .two_hundred = {REPLY("100", "299", "200"), BODY(100, 200), END},  \
    .large = {REPLY("0", "999999", "1000000"), BODY(0, 1000000), END}, \
    .mute_after_reply = {REPLY("100", "299", "200"), HOLD, END},       \
    .mute_in_the_middle =                                              \
        {REPLY("100", "299", "200"), BODY(100, 50),  HOLD, NEXT,       \
         REPLY("100", "299", "200"), BODY(100, 200), END},             \
    .closed = {REPLY("100", "299", "200"), BODY(100, 50), CLOSE, END}, \
    .slow = {REPLY("100", "299", "200"),                               \
             BODY(100, 100),                                           \
             SLEEP(600),                                               \
             BODY(200, 50),                                            \
             SLEEP(600),                                               \
             BODY(250, 50),                                            \
             END},                                                     \
    .late = {SLEEP(100), REPLY("100", "299", "200"), BODY(100, 200), END}

static const struct kind {
    const char *scheme;
    const char *path; /* of its objects; NULL: the server speaks HTTP */
    int (*new_transport)(struct xd_transport **,
                         const struct xd_transport_config *,
                         const struct xd_transport_handler *,
                         struct xd_error *);
    struct mock_step two_hundred[3], large[3];
    struct mock_step mute_after_reply[3], mute_in_the_middle[7];
    struct mock_step closed[4], slow[7], late[4];
    /* Of a request that sends 1000000 bytes.  NULL: it has none of those yet. */
    const char *method, *fields;
    struct mock_step takes[5], closes[4], stalls[4];
} http = {.scheme = "http",
          .new_transport = xd_http_new,
          SCRIPTS(HTTP_REPLY),
          .method = "PUT",
          .takes = {CONTINUE, TAKE(0, 1000000),
                    SAY("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
                    END},
          .closes = {CONTINUE, TAKE(0, 1000), CLOSE, END},
          .stalls = {CONTINUE, TAKE(0, 1000), STALL, END}},
  ibp = {.scheme = "ibp",
         .path = "/key/7/READ",
         .new_transport = xd_ibp_new,
         SCRIPTS(IBP_REPLY)};

static const struct mock_step mute[] = {HOLD, END};

static const struct kind *kind;

static void open_transport(xd_usec silence)
{
    struct xd_transport_config config = {.n_slots = SLOTS, .silence = silence};

    ck_assert_int_eq(kind->new_transport(&transport, &config, &handler, &err),
                     0);
}

/* No proxy of the environment. */
static void set_up(const struct kind *of)
{
    kind = of;
    setenv("NO_PROXY", "*", 1);
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    open_transport(60 * XD_SECOND);
}

static void set_up_http(void)
{
    set_up(&http);
}

static void set_up_ibp(void)
{
    set_up(&ibp);
}

static void use_silence(xd_usec silence)
{
    xd_transport_free(transport);
    open_transport(silence);
}

static void play(const struct mock_step *script)
{
    stop_server();
    server = kind->path == NULL
                 ? mock_start(script)
                 : mock_start_lines(script, kind->scheme, kind->path);
}

static struct xd_request at_port(unsigned port)
{
    struct xd_request r = range(100, 200);
    static char url[64];

    snprintf(url, sizeof url, "%s://127.0.0.1:%u%s", kind->scheme, port,
             kind->path != NULL ? kind->path : "/x");
    r.url = url_of(url);
    return r;
}

/* Bytes 100 to 299, on slot 0. */
static void ask(void)
{
    start(0, range(100, 200));
}

static void ask_and_end(enum xd_verdict verdict, uint64_t received)
{
    ask();
    run_to_end(0);
    check_end(&caught[0], verdict, received);
}

/* A request that ends too early fails the test, which would wait for ever. */
static void turn_in_request(void)
{
    ck_assert_uint_eq(caught[0].ends, 0);
    turn();
}

static void run_to_requests(unsigned n)
{
    while (mock_requests(server) < n)
        turn_in_request();
}

static void run_to_received(uint64_t n)
{
    while (caught[0].received < n)
        turn_in_request();
}

static void run_to_pause(void)
{
    while (!caught[0].paused)
        turn_in_request();
}

/* ---- what is delivered ---- */

START_TEST(range_comes_behind_one_head)
{
    play(kind->two_hundred);
    ask_and_end(XD_VERDICT_OK, 200);
    ck_assert_uint_eq(caught[0].heads, 1);
    ck_assert(caught[0].head.is_range);
    ck_assert_str_eq(caught[0].final_url, mock_url(server));
}
END_TEST

START_TEST(connection_that_is_closed_early_is_told_with_what_came)
{
    play(kind->closed);
    ask_and_end(XD_VERDICT_AGAIN, 50);
    ck_assert_ptr_nonnull(strstr(caught[0].outcome.error.msg, "closed early"));
}
END_TEST

START_TEST(connection_that_is_closed_without_a_reply_may_pass)
{
    static const struct mock_step script[] = {CLOSE, END};

    play(script);
    ask_and_end(XD_VERDICT_AGAIN, 0);
    ck_assert_uint_eq(caught[0].heads, 0);
}
END_TEST

START_TEST(host_on_which_nothing_listens_is_a_refusal)
{
    start(0, at_port(mock_dead_port()));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_NET);
    ck_assert_int_ne(caught[0].outcome.error.os_errno, 0);
    ck_assert(caught[0].outcome.is_refusal);
}
END_TEST

START_TEST(handler_that_refuses_the_head_gets_no_bytes)
{
    play(kind->large);
    caught[0].head_answer = XD_E_DIFFERENT;
    start(0, range(0, 1000000));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_STOPPED, 0);
    ck_assert_uint_eq(caught[0].calls, 0);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_DIFFERENT);
}
END_TEST

START_TEST(handler_that_refuses_bytes_gets_no_more)
{
    play(kind->large);
    caught[0].bytes_answer = XD_E_IO;
    start(0, range(0, 1000000));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_STOPPED, 0);
    ck_assert_uint_eq(caught[0].calls, 1);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_IO);
}
END_TEST

/* ---- connections ---- */

START_TEST(connection_is_used_again)
{
    play(kind->two_hundred);
    for (int i = 0; i < 10; i++)
        ask_and_end(XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_requests(server), 10);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(slots_run_side_by_side_and_keep_their_connections)
{
    play(kind->large);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SLOTS; i++)
            start(i, range(0, 1000000));
        for (unsigned i = 0; i < SLOTS; i++) {
            run_to_end(i);
            check_end(&caught[i], XD_VERDICT_OK, 1000000);
        }
    }
    ck_assert_uint_eq(mock_requests(server), 3 * SLOTS);
    ck_assert_uint_le(mock_connections(server), SLOTS);
}
END_TEST

START_TEST(slot_is_connected_once_its_request_can_be_sent)
{
    play(mute);
    ask();
    ck_assert(!xd_transport_is_connected(transport, 0));
    run_to_requests(1);
    ck_assert(xd_transport_is_connected(transport, 0));
    ck_assert(!xd_transport_is_connected(transport, 1));
}
END_TEST

START_TEST(connection_of_a_stopped_request_is_not_used_again)
{
    play(kind->mute_in_the_middle);
    ask();
    run_to_received(50);
    xd_transport_stop(transport, 0);
    run_to_end(0);
    ask_and_end(XD_VERDICT_OK, 200);
    ck_assert_uint_eq(mock_connections(server), 2);
}
END_TEST

START_TEST(limit_may_change_within_an_answer)
{
    play(kind->large);
    xd_transport_limit(transport, 10000000);
    start(0, range(0, 1000000));
    run_to_received(1);
    xd_transport_limit(transport, 0);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 1000000);
}
END_TEST

/* ---- silence ---- */

/* Of .2 s from here on, however long it took to get here. */
static void check_silence(uint64_t received, const char *offset)
{
    xd_transport_set_silence(transport, 200 * XD_MS, 0);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, received);
    ck_assert(caught[0].outcome.is_unanswered);
    ck_assert_ptr_nonnull(strstr(caught[0].outcome.error.msg, offset));
}

START_TEST(silence_before_the_reply_ends_the_request)
{
    xd_usec began;

    play(mute);
    ask();
    run_to_requests(1);
    began = xd_now();
    check_silence(0, ": no bytes for 0.2 s at offset 100");
    ck_assert_uint_lt(xd_now() - began, 60 * XD_SECOND);
}
END_TEST

START_TEST(silence_after_the_reply_ends_the_request)
{
    play(kind->mute_after_reply);
    ask();
    run_to_requests(1);
    check_silence(0, ": no bytes for 0.2 s at offset 100");
}
END_TEST

START_TEST(silence_after_some_bytes_ends_the_request)
{
    play(kind->mute_in_the_middle);
    ask();
    run_to_received(50);
    check_silence(50, ": no bytes for 0.2 s at offset 150");
}
END_TEST

START_TEST(unanswered_connect_is_silence)
{
    int hold[3];

    use_silence(200 * XD_MS);
    start(0, at_port(mock_mute_port(hold)));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 0);
    ck_assert_ptr_nonnull(
        strstr(caught[0].outcome.error.msg, ": no bytes for 0.2 s"));
    for (int i = 0; i < 3; i++)
        close(hold[i]);
}
END_TEST

START_TEST(poll_waits_no_longer_than_until_the_next_silence)
{
    use_silence(300 * XD_MS); /* libcurl itself wakes up after 200 */
    play(mute);
    ask();
    while (caught[0].ends == 0)
        xd_transport_poll(transport, XD_NEVER);
}
END_TEST

START_TEST(slow_but_steady_bytes_are_no_silence)
{
    use_silence(1500 * XD_MS);
    play(kind->slow);
    ask_and_end(XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(idle_time_before_a_request_is_no_silence)
{
    use_silence(1000 * XD_MS);
    play(kind->late);
    for (xd_usec until = xd_now() + 1500 * XD_MS; xd_now() < until;)
        turn();
    ask_and_end(XD_VERDICT_OK, 200);
}
END_TEST

/* The process was stopped, or its owner busy: the depot cannot help it. */
START_TEST(time_in_which_nobody_polls_is_no_silence)
{
    use_silence(1000 * XD_MS);
    play(kind->slow);
    ask();
    run_to_received(100);
    suite_rest_ms(1100);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(server_that_has_the_request_may_answer_later)
{
    play(mute);
    ask();
    run_to_requests(1);
    xd_transport_set_silence(transport, 50 * XD_MS, 60 * XD_SECOND);
    for (xd_usec began = xd_now(); xd_now() < began + 300 * XD_MS;)
        turn();
    ck_assert_uint_eq(caught[0].ends, 0);
    check_silence(0, "at offset 100");
    ck_assert_uint_eq(mock_requests(server), 1);
}
END_TEST

START_TEST(silence_after_the_head_does_not_wait_for_a_first_byte)
{
    play(kind->mute_in_the_middle);
    ask();
    run_to_received(50);
    xd_transport_set_silence(transport, 200 * XD_MS, 60 * XD_SECOND);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 50);
}
END_TEST

/* ---- pauses ---- */

START_TEST(paused_bytes_come_again_exactly_once)
{
    play(kind->large);
    caught[0].pause_every = 2;
    start(0, range(0, 1000000));
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 1000000);
}
END_TEST

START_TEST(paused_request_is_never_silent)
{
    play(kind->two_hundred);
    caught[0].pause_every = 1;
    ask();
    run_to_pause();
    xd_transport_set_silence(transport, 50 * XD_MS, 0);
    for (int i = 0; i < 4; i++)
        turn();
    ck_assert_uint_eq(caught[0].ends, 0);
    ck_assert_uint_eq(caught[0].calls, 1);
    caught[0].pause_every = 0;
    xd_transport_set_silence(transport, 60 * XD_SECOND, 0);
    xd_transport_resume(transport, 0);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_OK, 200);
}
END_TEST

START_TEST(paused_request_can_be_stopped)
{
    play(kind->large);
    caught[0].pause_every = 1;
    start(0, range(0, 1000000));
    run_to_pause();
    xd_transport_stop(transport, 0);
    turn();
    ck_assert_uint_eq(caught[0].ends, 1);
    check_end(&caught[0], XD_VERDICT_STOPPED, 0);
}
END_TEST

/* ---- stop, wake-up, the end ---- */

static void check_stopped(uint64_t received)
{
    xd_transport_stop(transport, 0);
    ck_assert_uint_eq(caught[0].ends, 0);
    xd_transport_poll(transport, XD_NEVER);
    ck_assert_uint_eq(caught[0].ends, 1);
    check_end(&caught[0], XD_VERDICT_STOPPED, received);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_CANCELED);
}

START_TEST(stop_ends_a_request_in_the_next_poll)
{
    play(mute);
    ask();
    check_stopped(0); /* before it was ever polled */
    ask();
    run_to_requests(1);
    check_stopped(0); /* while it waits for the reply */
    play(kind->mute_in_the_middle);
    ask();
    run_to_received(50);
    check_stopped(50);
}
END_TEST

START_TEST(stop_and_resume_of_a_free_slot_do_nothing)
{
    xd_transport_stop(transport, 0);
    xd_transport_resume(transport, 0);
    turn();
    ck_assert_uint_eq(caught[0].ends, 0);
}
END_TEST

static void *wake_up(void *arg)
{
    suite_rest_ms(100);
    xd_transport_wakeup(arg);
    return NULL;
}

START_TEST(wakeup_from_another_thread_ends_poll)
{
    pthread_t thread;

    play(mute);
    ask();
    run_to_requests(1);
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_up, transport), 0);
    xd_transport_poll(transport, XD_NEVER); /* or ctest ends us */
    pthread_join(thread, NULL);
    ck_assert_uint_eq(caught[0].ends, 0);
}
END_TEST

START_TEST(wakeup_before_poll_is_not_lost)
{
    xd_transport_wakeup(transport);
    xd_transport_poll(transport, XD_NEVER);
}
END_TEST

START_TEST(poll_of_an_idle_transport_returns_in_time)
{
    xd_transport_poll(transport, 10 * XD_MS);
    xd_transport_poll(transport, 0);
}
END_TEST

/* One that connects, one in the middle of an answer, one never polled. */
START_TEST(free_with_requests_in_flight_calls_nobody)
{
    int hold[3];

    play(kind->mute_in_the_middle);
    ask();
    start(1, at_port(mock_mute_port(hold)));
    run_to_received(50);
    start(2, range(100, 200));
    xd_transport_free(transport);
    transport = NULL;
    for (int i = 0; i < SLOTS; i++)
        ck_assert_uint_eq(caught[i].ends, 0);
    for (int i = 0; i < 3; i++)
        close(hold[i]);
}
END_TEST

/* ---- requests that send ---- */

static void send_and_end(enum xd_verdict verdict)
{
    send_to(0, kind->method, kind->fields, 1000000, NULL);
    run_to_end(0);
    check_end(&caught[0], verdict, 0);
}

START_TEST(body_is_sent_and_answered)
{
    play(kind->takes);
    for (int i = 0; i < 3; i++) {
        send_and_end(XD_VERDICT_OK);
        ck_assert_uint_eq(caught[0].heads, 1);
        ck_assert_int_ne(caught[0].reply.code, 0);
        ck_assert_uint_eq(caught[0].sent, 1000000);
    }
    ck_assert_uint_eq(mock_taken(server), 3000000);
    ck_assert_uint_eq(mock_connections(server), 1);
}
END_TEST

START_TEST(body_that_has_no_bytes_yet_is_asked_for_again)
{
    play(kind->takes);
    caught[0].starve_every = 2;
    send_and_end(XD_VERDICT_OK);
    ck_assert_uint_eq(mock_taken(server), 1000000);
}
END_TEST

START_TEST(body_that_fails_ends_its_request)
{
    play(kind->takes);
    caught[0].read_answer = XD_E_IO;
    send_and_end(XD_VERDICT_STOPPED);
    ck_assert_int_eq(caught[0].outcome.error.code, XD_E_IO);
    ck_assert_uint_eq(caught[0].heads, 0);
}
END_TEST

START_TEST(connection_that_is_closed_in_the_body_may_pass)
{
    play(kind->closes);
    send_and_end(XD_VERDICT_AGAIN);
    ck_assert_uint_eq(caught[0].heads, 0);
}
END_TEST

START_TEST(depot_that_takes_no_more_is_silent)
{
    use_silence(300 * XD_MS);
    play(kind->stalls);
    mock_narrow(server);
    send_to(0, kind->method, kind->fields, 100000000, NULL);
    run_to_end(0);
    check_end(&caught[0], XD_VERDICT_AGAIN, 0);
    ck_assert(caught[0].outcome.is_unanswered);
}
END_TEST

START_TEST(stop_ends_a_body_in_the_next_poll)
{
    play(kind->stalls);
    send_to(0, kind->method, kind->fields, 100000000, NULL);
    while (mock_taken(server) < 1000)
        turn_in_request();
    check_stopped(0);
}
END_TEST

static void add_sending(TCase *tcase)
{
    tcase_add_test(tcase, body_is_sent_and_answered);
    tcase_add_test(tcase, body_that_has_no_bytes_yet_is_asked_for_again);
    tcase_add_test(tcase, body_that_fails_ends_its_request);
    tcase_add_test(tcase, connection_that_is_closed_in_the_body_may_pass);
    tcase_add_test(tcase, depot_that_takes_no_more_is_silent);
    tcase_add_test(tcase, stop_ends_a_body_in_the_next_poll);
}

static TCase *cases_of(const struct kind *of, void (*set_up_it)(void))
{
    TCase *tcase = tcase_create(of->scheme);

    tcase_add_checked_fixture(tcase, set_up_it, tear_down);
    tcase_add_test(tcase, range_comes_behind_one_head);
    tcase_add_test(tcase,
                   connection_that_is_closed_early_is_told_with_what_came);
    tcase_add_test(tcase, connection_that_is_closed_without_a_reply_may_pass);
    tcase_add_test(tcase, host_on_which_nothing_listens_is_a_refusal);
    tcase_add_test(tcase, handler_that_refuses_the_head_gets_no_bytes);
    tcase_add_test(tcase, handler_that_refuses_bytes_gets_no_more);
    tcase_add_test(tcase, connection_is_used_again);
    tcase_add_test(tcase, slots_run_side_by_side_and_keep_their_connections);
    tcase_add_test(tcase, slot_is_connected_once_its_request_can_be_sent);
    tcase_add_test(tcase, connection_of_a_stopped_request_is_not_used_again);
    tcase_add_test(tcase, limit_may_change_within_an_answer);
    tcase_add_test(tcase, silence_before_the_reply_ends_the_request);
    tcase_add_test(tcase, silence_after_the_reply_ends_the_request);
    tcase_add_test(tcase, silence_after_some_bytes_ends_the_request);
    tcase_add_test(tcase, unanswered_connect_is_silence);
    tcase_add_test(tcase, poll_waits_no_longer_than_until_the_next_silence);
    tcase_add_test(tcase, slow_but_steady_bytes_are_no_silence);
    tcase_add_test(tcase, idle_time_before_a_request_is_no_silence);
    tcase_add_test(tcase, time_in_which_nobody_polls_is_no_silence);
    if (of == &http) {
        tcase_add_test(tcase, server_that_has_the_request_may_answer_later);
        tcase_add_test(tcase,
                       silence_after_the_head_does_not_wait_for_a_first_byte);
    }
    tcase_add_test(tcase, paused_bytes_come_again_exactly_once);
    tcase_add_test(tcase, paused_request_is_never_silent);
    tcase_add_test(tcase, paused_request_can_be_stopped);
    tcase_add_test(tcase, stop_ends_a_request_in_the_next_poll);
    tcase_add_test(tcase, stop_and_resume_of_a_free_slot_do_nothing);
    tcase_add_test(tcase, wakeup_from_another_thread_ends_poll);
    tcase_add_test(tcase, wakeup_before_poll_is_not_lost);
    tcase_add_test(tcase, poll_of_an_idle_transport_returns_in_time);
    tcase_add_test(tcase, free_with_requests_in_flight_calls_nobody);
    if (of->method != NULL)
        add_sending(tcase);
    return tcase;
}

int main(void)
{
    TCase *tcases[] = {cases_of(&http, set_up_http),
                       cases_of(&ibp, set_up_ibp)};

    return run_suite_of("transports", sizeof tcases / sizeof *tcases, tcases);
}
