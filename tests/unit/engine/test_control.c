/* SPDX-License-Identifier: MIT */
/*
 * A download that is steered while it runs: paused, resumed, limited; and how a
 * program with an event loop of its own hears of what it does.
 */
#include <xdownload/xdownload.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/records.h"
#include "io/mock_server.h"
#include "os/clock.h"
#include "suite.h"

#define SIZE 100
#define LARGE ((uint64_t)1 << 20)

static const struct mock_step halves[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\n"),
    BODY(0, 50),
    HOLD,
    NEXT,
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 50-99/100\r\nContent-Length: 50\r\n\r\n"),
    BODY(50, 50),
    END};
static const struct mock_step slow[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\n"),
    SLEEP(300), BODY(0, 100), END};
static const struct mock_step first_byte[] = {
    SLEEP(300),
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-0/100\r\nContent-Length: 1\r\n\r\n"),
    BODY(0, 1), END};
static const struct mock_step silent[] = {HOLD, END};
static const struct mock_step missing[] = {
    SAY("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), END};
static const struct mock_step stream[] = {
    SAY("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
    BODY(0, LARGE),
    SLEEP(200),
    BODY(LARGE, LARGE),
    CLOSE,
    END};
static const struct mock_step large[] = {
    SAY("HTTP/1.1 206 Partial Content\r\n"
        "Content-Range: bytes 0-1048575/1048576\r\n"
        "Content-Length: 1048576\r\n\r\n"),
    BODY(0, LARGE), END};

static char folder[SUITE_FOLDER];
static char path[64];
static struct mock_server *server;
static struct xd_manifest *manifest;
static struct xd_options *options;
static struct xd_download *download;
static struct xd_source *source;
static struct xd_reader *reader;
static struct xd_error error;

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(xd_options_set(options, name, value, &error), 0);
}

static void setup(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_int_eq(xd_options_new(&options, &error), 0);
    set("spool", folder);
    set("algorithm", "basic"); /* one request for all of a block */
}

static void teardown(void)
{
    char command[100];

    xd_reader_free(reader);
    xd_source_unref(source);
    xd_download_unref(download);
    xd_manifest_unref(manifest);
    xd_options_free(options);
    if (server)
        mock_stop(server);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void describe(const struct mock_step *script, uint64_t size)
{
    const char *urls[1];

    server = mock_start(script);
    urls[0] = mock_url(server);
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 1, size, &error),
                     0);
}

static void start(const struct mock_step *script, uint64_t size)
{
    describe(script, size);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    ck_assert_msg(xd_download_start(download, &error) == 0, "%s", error.msg);
}

static struct xd_progress progress(void)
{
    struct xd_progress p = {.struct_size = sizeof p};

    xd_download_progress(download, &p);
    return p;
}

static void wait_for_requests(unsigned n)
{
    for (int i = 0; i < 500 && mock_requests(server) < n; i++)
        suite_rest_ms(10);
    ck_assert_uint_eq(mock_requests(server), n);
}

/* ---- pauses ---- */

START_TEST(a_pause_ends_requests_and_a_resume_asks_for_the_rest)
{
    start(halves, SIZE);
    wait_for_requests(1);
    suite_rest_ms(100);
    xd_download_pause(download, true);
    xd_download_pause(download, true);
    suite_rest_ms(100);
    ck_assert_uint_eq(progress().bytes_done, 50);
    ck_assert_uint_eq(progress().lanes_busy, 0);
    ck_assert(progress().is_paused);
    ck_assert_int_eq(xd_download_wait(download, 500, &error), XD_E_AGAIN);
    ck_assert_uint_eq(mock_requests(server), 1);
    xd_download_pause(download, false);
    ck_assert(!progress().is_paused);
    ck_assert_int_eq(xd_download_wait(download, 5000, &error), 0);
    ck_assert_uint_eq(mock_requests(server), 2);
    ck_assert_ptr_nonnull(strstr(mock_request(server, 1), "bytes=50-99"));
    ck_assert_uint_eq(progress().bytes_redundant, 0);
}
END_TEST

START_TEST(a_pause_before_the_start_asks_for_nothing)
{
    describe(slow, SIZE);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    xd_download_pause(download, true);
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    ck_assert_int_eq(xd_download_wait(download, 200, &error), XD_E_AGAIN);
    ck_assert_uint_eq(mock_requests(server), 0);
    xd_download_pause(download, false);
    ck_assert_int_eq(xd_download_wait(download, 5000, &error), 0);
}
END_TEST

START_TEST(time_that_is_paused_counts_for_nothing)
{
    set("max-time", "900ms");
    start(slow, SIZE);
    xd_download_pause(download, true);
    suite_rest_ms(1000);
    ck_assert_int_eq(xd_download_wait(download, 0, &error), XD_E_AGAIN);
    xd_download_pause(download, false);
    ck_assert_msg(xd_download_wait(download, 5000, &error) == 0, "%s",
                  error.msg);
}
END_TEST

START_TEST(a_stream_that_cannot_be_continued_is_held_back)
{
    start(stream, XD_SIZE_UNKNOWN);
    for (int i = 0; i < 500 && progress().bytes_done == 0; i++)
        suite_rest_ms(1);
    xd_download_pause(download, true);
    ck_assert_int_eq(xd_download_wait(download, 700, &error), XD_E_AGAIN);
    ck_assert_uint_lt(progress().bytes_done, 2 * LARGE);
    xd_download_pause(download, false);
    ck_assert_msg(xd_download_wait(download, 5000, &error) == 0, "%s",
                  error.msg);
    ck_assert_uint_eq(progress().bytes_done, 2 * LARGE);
    ck_assert_uint_eq(progress().bytes_received, 2 * LARGE);
}
END_TEST

START_TEST(what_is_paused_can_be_canceled)
{
    start(silent, SIZE);
    xd_download_pause(download, true);
    suite_rest_ms(50);
    xd_download_cancel(download);
    ck_assert_int_eq(xd_download_wait(download, 1000, &error), XD_E_CANCELED);
}
END_TEST

/* ---- the limit ---- */

START_TEST(a_limit_that_is_lifted_holds_nothing_up)
{
    set("limit-rate", "1k");
    start(large, LARGE); /* which would take 17 minutes */
    suite_rest_ms(500);
    ck_assert_uint_lt(progress().bytes_received, LARGE / 4);
    xd_download_limit_rate(download, 0);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
}
END_TEST

START_TEST(a_limit_may_be_set_in_the_middle)
{
    xd_usec began = xd_now();

    describe(large, LARGE);
    ck_assert_int_eq(
        xd_download_new(&download, manifest, 0, NULL, path, options, &error),
        0);
    xd_download_limit_rate(download, LARGE / 1024); /* 17 minutes, too */
    ck_assert_int_eq(xd_download_start(download, &error), 0);
    suite_rest_ms(300);
    xd_download_limit_rate(download, LARGE);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert_uint_ge(xd_now() - began, 800 * XD_MS);
}
END_TEST

/* ---- looks ---- */

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, timeout_ms) == 1;
}

static atomic_uint n_calls;

static void count_call(void *user)
{
    ck_assert_ptr_eq(user, &n_calls);
    atomic_fetch_add(&n_calls, 1);
}

START_TEST(the_descriptor_of_a_download_tells_of_its_end)
{
    int fd;

    start(slow, SIZE);
    fd = xd_download_descriptor(download, &error);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(xd_download_descriptor(download, &error), fd);
    while (xd_download_wait(download, 0, &error) == XD_E_AGAIN)
        ck_assert(is_readable(fd, 5000));
    ck_assert_int_eq(xd_download_wait(download, 0, &error), 0);
    ck_assert(is_readable(fd, 0)); /* for good */
}
END_TEST

START_TEST(nothing_new_is_nothing_to_look_at)
{
    int fd, n = 0;

    start(silent, SIZE);
    wait_for_requests(1);
    fd = xd_download_descriptor(download, &error);
    while (is_readable(fd, 300) && n++ < 10)
        ck_assert_int_eq(xd_download_wait(download, 0, &error), XD_E_AGAIN);
    ck_assert_int_le(n, 2);
}
END_TEST

START_TEST(a_depot_that_fails_and_a_record_are_news)
{
    struct xd_depot_stats depot = {.struct_size = sizeof depot};
    struct xd_fetch_record record = {.struct_size = sizeof record};
    bool was_told = false;

    set("records", "yes");
    start(missing, SIZE);
    while (xd_download_wait(download, 0, &error) == XD_E_AGAIN) {
        int fd = xd_download_descriptor(download, &error);

        ck_assert(is_readable(fd, 5000));
        was_told |= xd_download_next_record(download, &record, NULL);
    }
    ck_assert_int_eq(xd_download_depot(download, 0, &depot), 0);
    ck_assert_int_eq(depot.last_error.http_status, 404);
    ck_assert(was_told || xd_download_next_record(download, &record, NULL));
}
END_TEST

START_TEST(a_function_is_called_once_for_each_look)
{
    start(slow, SIZE);
    xd_download_set_wakeup(download, count_call, &n_calls);
    ck_assert_uint_ge(n_calls, 1); /* nobody has looked yet */
    for (int i = 0; i < 500; i++) {
        unsigned before = n_calls;

        if (xd_download_wait(download, 0, &error) == 0)
            break;
        ck_assert_uint_le(n_calls, before + 1);
        while (n_calls == before && i++ < 500)
            suite_rest_ms(10);
    }
    ck_assert_int_eq(xd_download_wait(download, 0, &error), 0);
    xd_download_set_wakeup(download, NULL, NULL);
}
END_TEST

static atomic_int code_of_wait;

static void wait_and_cancel(void *user)
{
    code_of_wait = xd_download_wait(user, -1, NULL);
    xd_download_cancel(user);
}

START_TEST(a_wakeup_that_waits_gets_state_and_may_cancel)
{
    start(silent, SIZE);
    xd_download_set_wakeup(download, wait_and_cancel, download);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), XD_E_CANCELED);
    ck_assert_int_eq(code_of_wait, XD_E_STATE);
}
END_TEST

static void misuse_download(void *user)
{
    xd_download_set_wakeup(user, NULL, NULL);
    xd_download_unref(user);
    n_calls++;
}

START_TEST(a_wakeup_that_releases_its_download_changes_nothing)
{
    start(slow, SIZE);
    xd_download_set_wakeup(download, misuse_download, download);
    ck_assert_int_eq(xd_download_wait(download, -1, &error), 0);
    ck_assert_uint_ge(n_calls, 1);
}
END_TEST

static void misuse_reader(void *user)
{
    char byte;

    code_of_wait = xd_reader_size(user, -1) == XD_E_STATE
                       ? (int)xd_reader_read(user, &byte, 1, -1)
                       : 0;
    xd_reader_set_wakeup(user, NULL, NULL);
    xd_reader_free(user);
}

static void open_source(const struct mock_step *script, uint64_t size)
{
    describe(script, size);
    ck_assert_int_eq(xd_source_new(&source, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
}

START_TEST(a_wakeup_that_reads_gets_state)
{
    unsigned char buffer[SIZE];

    open_source(slow, SIZE);
    xd_reader_set_wakeup(reader, misuse_reader, reader);
    ck_assert_int_gt(xd_reader_read(reader, buffer, sizeof buffer, -1), 0);
    ck_assert_int_eq(code_of_wait, XD_E_STATE);
}
END_TEST

START_TEST(a_reader_is_read_in_a_loop_that_polls)
{
    unsigned char buffer[SIZE];
    size_t done = 0;
    int64_t n;
    int fd, n_polls = 0;

    open_source(slow, SIZE);
    fd = xd_reader_descriptor(reader, &error);
    ck_assert(is_readable(fd, 0)); /* nobody has read yet */
    while ((n = xd_reader_read(reader, buffer + done, SIZE - done + 1, 0)) !=
           0) {
        if (n == XD_E_AGAIN) {
            n_polls++;
            ck_assert(!is_readable(fd, 0));
            ck_assert(is_readable(fd, 5000));
            continue;
        }
        ck_assert_int_gt(n, 0);
        done += (size_t)n;
        if (done == SIZE)
            break;
    }
    ck_assert_uint_eq(done, SIZE);
    ck_assert_int_ge(n_polls, 1);
    ck_assert_int_le(n_polls, 3);
    for (size_t i = 0; i < SIZE; i++)
        ck_assert_uint_eq(buffer[i], mock_byte(i));
}
END_TEST

START_TEST(a_size_that_comes_is_told)
{
    int fd;

    open_source(first_byte, XD_SIZE_UNKNOWN);
    fd = xd_reader_descriptor(reader, &error);
    ck_assert_int_eq(xd_reader_size(reader, 0), XD_E_AGAIN);
    ck_assert(!is_readable(fd, 0));
    ck_assert(is_readable(fd, 5000));
    ck_assert_int_eq(xd_reader_size(reader, 0), SIZE);
}
END_TEST

START_TEST(a_reader_hears_of_an_interrupt_a_seek_and_a_failure)
{
    unsigned char byte;
    int fd;

    open_source(missing, SIZE);
    fd = xd_reader_descriptor(reader, &error);
    xd_download_pause(xd_source_download(source), true);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_AGAIN);
    ck_assert(!is_readable(fd, 0));
    xd_reader_interrupt(reader, 1);
    ck_assert(is_readable(fd, 0));
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_CANCELED);
    xd_reader_interrupt(reader, 0);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_AGAIN);
    ck_assert(!is_readable(fd, 0));
    ck_assert_int_eq(xd_reader_seek(reader, SIZE), SIZE);
    ck_assert(is_readable(fd, 0)); /* the end */
    ck_assert_int_eq(xd_reader_seek(reader, 0), 0);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_AGAIN);
    xd_download_pause(xd_source_download(source), false);
    ck_assert(is_readable(fd, 5000));
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_NOREPLICA);
}
END_TEST

/* It runs on any thread, and not after another was set. */
START_TEST(a_function_of_a_reader_is_called_for_each_wait)
{
    unsigned char byte;

    open_source(slow, SIZE);
    xd_reader_set_wakeup(reader, count_call, &n_calls);
    ck_assert_uint_eq(n_calls, 1);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), XD_E_AGAIN);
    for (int i = 0; i < 500 && n_calls == 1; i++)
        suite_rest_ms(10);
    ck_assert_uint_eq(n_calls, 2);
    ck_assert_int_eq(xd_reader_read(reader, &byte, 1, 0), 1);
    ck_assert_uint_eq(n_calls, 2);
}
END_TEST

/* Without a hash the end waits for samples that may not come: for two seconds,
 * also of a reader that polls, and in a pause. */
START_TEST(a_reader_that_polls_hears_of_the_end_in_time)
{
    struct mock_server *other = mock_start(silent);
    unsigned char buffer[65536];
    struct pollfd fd;
    const char *urls[2];
    uint64_t done = 0;
    xd_usec began;
    int64_t n;

    server = mock_start(large);
    urls[0] = mock_url(server);
    urls[1] = mock_url(other);
    set("block-size", "1m");
    set("silence", "20s");
    ck_assert_int_eq(xd_manifest_from_urls(&manifest, urls, 2, LARGE, &error),
                     0);
    ck_assert_int_eq(xd_source_new(&source, manifest, 0, options, &error), 0);
    ck_assert_int_eq(xd_reader_new(&reader, source, &error), 0);
    download = xd_download_ref(xd_source_download(source));
    ck_assert_int_eq(xd_reader_read(reader, buffer, 1, 5000), 1);
    for (int i = 0; i < 500 && progress().bytes_done < LARGE; i++)
        suite_rest_ms(1);
    xd_download_pause(download, true);
    for (done = 1; done < LARGE; done += (uint64_t)n) {
        n = xd_reader_read(reader, buffer, sizeof buffer, 1000);
        ck_assert_int_gt(n, 0);
    }
    began = xd_now();
    ck_assert_int_eq(xd_reader_read(reader, buffer, 1, 0), XD_E_AGAIN);
    fd = (struct pollfd){.fd = xd_reader_descriptor(reader, &error),
                         .events = POLLIN};
    ck_assert_int_eq(poll(&fd, 1, 6000), 1);
    ck_assert_uint_ge(xd_now() - began, 1500 * XD_MS);
    ck_assert_int_eq(xd_reader_read(reader, buffer, 1, 0), 0);
    mock_stop(other);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("control");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_pause_ends_requests_and_a_resume_asks_for_the_rest);
    tcase_add_test(t, a_pause_before_the_start_asks_for_nothing);
    tcase_add_test(t, time_that_is_paused_counts_for_nothing);
    tcase_add_test(t, a_stream_that_cannot_be_continued_is_held_back);
    tcase_add_test(t, what_is_paused_can_be_canceled);
    tcase_add_test(t, a_limit_that_is_lifted_holds_nothing_up);
    tcase_add_test(t, a_limit_may_be_set_in_the_middle);
    tcase_add_test(t, the_descriptor_of_a_download_tells_of_its_end);
    tcase_add_test(t, nothing_new_is_nothing_to_look_at);
    tcase_add_test(t, a_depot_that_fails_and_a_record_are_news);
    tcase_add_test(t, a_function_is_called_once_for_each_look);
    tcase_add_test(t, a_wakeup_that_waits_gets_state_and_may_cancel);
    tcase_add_test(t, a_wakeup_that_releases_its_download_changes_nothing);
    tcase_add_test(t, a_wakeup_that_reads_gets_state);
    tcase_add_test(t, a_reader_is_read_in_a_loop_that_polls);
    tcase_add_test(t, a_size_that_comes_is_told);
    tcase_add_test(t, a_reader_hears_of_an_interrupt_a_seek_and_a_failure);
    tcase_add_test(t, a_function_of_a_reader_is_called_for_each_wait);
    tcase_add_test(t, a_reader_that_polls_hears_of_the_end_in_time);
    return run_suite("control", t);
}
