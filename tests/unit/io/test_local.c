/* SPDX-License-Identifier: MIT */
/* lib/io/local: files of this machine, through the same door as a depot's. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/transport.h"
#include "suite.h"
#include "url_of.h"

enum { SIZE = 600 * 1000, SLOTS = 2 };

static struct catcher {
    int head_answer, bytes_answer;
    bool pauses; /* refuses the next bytes once */
    unsigned heads, ends;
    uint64_t object_size, received, expected;
    char validator[200];
    struct xd_outcome outcome;
} caught[SLOTS];

static char folder[SUITE_FOLDER];
static char path[64], url[80];
static struct xd_transport *transport;
static struct xd_error err;

static unsigned char byte_at(uint64_t offset)
{
    return (unsigned char)(offset * 31 + (offset >> 8) * 7 + (offset >> 16));
}

static int on_head(void *user, unsigned slot, const struct xd_head *head)
{
    struct catcher *c = (struct catcher *)user + slot;

    c->heads++;
    c->object_size = head->object_size;
    snprintf(c->validator, sizeof c->validator, "%s", head->validator);
    ck_assert_str_eq(xd_url_secret_text(head->final_url), url);
    return c->head_answer;
}

static int on_bytes(void *user, unsigned slot, const void *data, size_t len)
{
    struct catcher *c = (struct catcher *)user + slot;
    const unsigned char *bytes = data;

    if (c->pauses) {
        c->pauses = false;
        return XD_E_AGAIN;
    }
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != byte_at(c->expected + i))
            ck_abort_msg("wrong byte at %zu", (size_t)c->expected + i);
    c->expected += len;
    c->received += len;
    return c->bytes_answer;
}

static void on_end(void *user, unsigned slot, const struct xd_outcome *outcome)
{
    struct catcher *c = (struct catcher *)user + slot;

    c->ends++;
    c->outcome = *outcome;
}

static const struct xd_transport_handler handler = {
    .user = caught, .head = on_head, .bytes = on_bytes, .end = on_end};

static void put_file(uint64_t size)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    for (uint64_t i = 0; i < size; i++)
        fputc(byte_at(i), f);
    ck_assert_int_eq(fclose(f), 0);
}

static void set_up(void)
{
    struct xd_transport_config config = {.n_slots = SLOTS,
                                         .silence = 60 * XD_SECOND};

    suite_folder(folder);
    snprintf(path, sizeof path, "%s/a b", folder);
    snprintf(url, sizeof url, "file://%s/a%%20b", folder);
    put_file(SIZE);
    ck_assert_int_eq(xd_local_new(&transport, &config, &handler, &err), 0);
}

static void tear_down(void)
{
    xd_transport_free(transport);
    unlink(path);
    rmdir(folder);
}

static void start(unsigned slot, struct xd_request r)
{
    caught[slot].expected = r.offset;
    if (r.url == NULL)
        r.url = url_of(url);
    ck_assert_int_eq(xd_transport_start(transport, slot, &r, &err), 0);
}

static struct xd_request range(uint64_t offset, uint64_t length)
{
    return (struct xd_request){
        .offset = offset, .length = length, .object_size = SIZE};
}

static void run_to_end(unsigned slot)
{
    while (caught[slot].ends == 0)
        xd_transport_poll(transport, XD_SECOND);
    xd_transport_poll(transport, 0);
    ck_assert_uint_eq(caught[slot].ends, 1);
}

static void check_end(unsigned slot, enum xd_verdict verdict, uint64_t received)
{
    ck_assert_msg(caught[slot].outcome.verdict == verdict, "verdict %d: %s",
                  (int)caught[slot].outcome.verdict,
                  caught[slot].outcome.error.msg);
    ck_assert_uint_eq(caught[slot].received, received);
}

static void says(unsigned slot, const char *words)
{
    const char *msg = caught[slot].outcome.error.msg;

    ck_assert_msg(strstr(msg, words) != NULL, "\"%s\" lacks \"%s\"", msg,
                  words);
}

START_TEST(range_is_brought)
{
    start(0, range(1000, 300000));
    run_to_end(0);
    check_end(0, XD_VERDICT_OK, 300000);
    ck_assert_uint_eq(caught[0].heads, 1);
    ck_assert_uint_eq(caught[0].object_size, SIZE);
}
END_TEST

START_TEST(slots_take_turns)
{
    start(0, range(0, SIZE));
    start(1, range(1000, SIZE - 1000));
    xd_transport_poll(transport, 0);
    ck_assert_uint_gt(caught[0].received, 0);
    ck_assert_uint_gt(caught[1].received, 0);
    ck_assert_uint_eq(caught[0].ends + caught[1].ends, 0);
    run_to_end(0);
    check_end(0, XD_VERDICT_OK, SIZE);
    check_end(1, XD_VERDICT_OK, SIZE - 1000);
}
END_TEST

START_TEST(object_may_end_before_the_range)
{
    struct xd_request r = range(SIZE - 10, 100);

    r.object_size = XD_SIZE_UNKNOWN;
    start(0, r);
    run_to_end(0);
    check_end(0, XD_VERDICT_OK, 10);
}
END_TEST

START_TEST(empty_file_has_a_head_and_no_bytes)
{
    struct xd_request r = {.length = XD_TO_END, .object_size = XD_SIZE_UNKNOWN};

    put_file(0);
    start(0, r);
    run_to_end(0);
    check_end(0, XD_VERDICT_OK, 0);
    ck_assert_uint_eq(caught[0].heads, 1);
}
END_TEST

START_TEST(file_of_another_size_is_different)
{
    struct xd_request r = range(0, 100);

    r.object_size = SIZE + 1;
    start(0, r);
    run_to_end(0);
    check_end(0, XD_VERDICT_DIFFERENT, 0);
    ck_assert_uint_eq(caught[0].outcome.object_size, SIZE);
    ck_assert_uint_eq(caught[0].heads, 0);
}
END_TEST

START_TEST(first_byte_of_an_empty_file_is_different)
{
    struct xd_request r = {.length = 1, .object_size = XD_SIZE_UNKNOWN};

    put_file(0);
    start(0, r);
    run_to_end(0);
    check_end(0, XD_VERDICT_DIFFERENT, 0);
    ck_assert_uint_eq(caught[0].outcome.object_size, 0);
}
END_TEST

START_TEST(file_that_is_not_there_is_gone)
{
    unlink(path);
    start(0, range(0, 100));
    run_to_end(0);
    check_end(0, XD_VERDICT_GONE, 0);
    says(0, "/a b: No such file or directory");
}
END_TEST

START_TEST(fifo_is_gone_and_not_waited_for)
{
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    start(0, range(0, 100));
    run_to_end(0);
    check_end(0, XD_VERDICT_GONE, 0);
    says(0, "not a regular file");
}
END_TEST

START_TEST(other_urls_are_refused)
{
    static const char *const urls[] = {"http://127.0.0.1/x",
                                       "file://elsewhere/x", "/etc/passwd", ""};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct xd_request r = range(0, 100);

        caught[0].ends = 0;
        r.url = url_of(urls[i]);
        start(0, r);
        run_to_end(0);
        check_end(0, XD_VERDICT_GONE, 0);
    }
}
END_TEST

START_TEST(file_that_becomes_shorter_is_told_with_what_came)
{
    start(0, range(0, SIZE));
    xd_transport_poll(transport, 0);
    put_file(1000);
    run_to_end(0);
    ck_assert_int_eq(caught[0].outcome.verdict, XD_VERDICT_AGAIN);
    says(0, "became shorter");
}
END_TEST

/* Writes to the file in place and sets its time back, until the clock of the disk has
 * moved on. */
static void overwrite_in_secret(void)
{
    struct stat was, now;
    const int fd = open(path, O_WRONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &was), 0);
    do {
        const struct timespec times[2] = {was.st_atim, was.st_mtim};

        ck_assert_int_eq(pwrite(fd, "xyz", 3, SIZE - 3), 3);
        ck_assert_int_eq(futimens(fd, times), 0);
        ck_assert_int_eq(fstat(fd, &now), 0);
    } while (now.st_ctim.tv_sec == was.st_ctim.tv_sec &&
             now.st_ctim.tv_nsec == was.st_ctim.tv_nsec);
    close(fd);
    ck_assert_int_eq(now.st_mtim.tv_nsec, was.st_mtim.tv_nsec);
}

START_TEST(file_that_changes_while_it_is_read_is_asked_again)
{
    start(0, range(0, SIZE));
    xd_transport_poll(transport, 0);
    const uint64_t before = caught[0].received;

    ck_assert_uint_gt(before, 0);
    overwrite_in_secret();
    run_to_end(0);
    check_end(0, XD_VERDICT_AGAIN, before);
    says(0, "was changed while it was read");
}
END_TEST

START_TEST(version_whose_time_was_set_back_has_another_validator)
{
    char first[sizeof caught[0].validator];

    start(0, range(0, 100));
    run_to_end(0);
    memcpy(first, caught[0].validator, sizeof first);
    ck_assert_int_eq(first[0], '"');
    overwrite_in_secret();
    start(1, range(0, 100));
    run_to_end(1);
    ck_assert_str_ne(caught[1].validator, first);
}
END_TEST

START_TEST(paused_bytes_come_again_after_resume_only)
{
    caught[0].pauses = true;
    start(0, range(0, 5000));
    xd_transport_poll(transport, 0);
    xd_transport_poll(transport, 0);
    ck_assert_uint_eq(caught[0].received, 0);
    xd_transport_resume(transport, 0);
    run_to_end(0);
    check_end(0, XD_VERDICT_OK, 5000);
}
END_TEST

START_TEST(stop_ends_a_request_also_a_paused_one)
{
    caught[1].pauses = true;
    start(0, range(0, SIZE));
    start(1, range(0, SIZE));
    xd_transport_poll(transport, 0);
    xd_transport_stop(transport, 0);
    xd_transport_stop(transport, 1);
    run_to_end(0);
    ck_assert_int_eq(caught[0].outcome.verdict, XD_VERDICT_STOPPED);
    check_end(1, XD_VERDICT_STOPPED, 0);
    xd_transport_stop(transport, 0);
    xd_transport_poll(transport, 0);
    ck_assert_uint_eq(caught[0].ends, 1);
}
END_TEST

START_TEST(handler_that_refuses_gets_no_more)
{
    caught[0].head_answer = XD_E_IO;
    caught[1].bytes_answer = XD_E_IO;
    start(0, range(0, SIZE));
    start(1, range(0, SIZE));
    run_to_end(0);
    check_end(0, XD_VERDICT_STOPPED, 0);
    ck_assert_int_eq(caught[1].outcome.verdict, XD_VERDICT_STOPPED);
    ck_assert_int_eq(caught[1].outcome.error.code, XD_E_IO);
    ck_assert_uint_lt(caught[1].received, SIZE);
}
END_TEST

static void *wake_main(void *arg)
{
    xd_transport_wakeup(arg);
    return NULL;
}

START_TEST(wakeup_from_another_thread_ends_poll)
{
    pthread_t t;

    ck_assert_int_eq(pthread_create(&t, NULL, wake_main, transport), 0);
    xd_transport_poll(transport, XD_NEVER);
    pthread_join(t, NULL);
}
END_TEST

START_TEST(poll_of_an_idle_transport_returns_in_time)
{
    xd_transport_poll(transport, 1000);
}
END_TEST

/* A leak of the descriptor is the sanitizer's and this test's to find. */
START_TEST(free_with_requests_in_flight_closes_and_calls_nobody)
{
    int before = dup(0), after;

    close(before);
    start(0, range(0, SIZE));
    xd_transport_poll(transport, 0);
    xd_transport_free(transport);
    transport = NULL;
    ck_assert_uint_eq(caught[0].ends, 0);
    after = dup(0);
    close(after);
    ck_assert_int_eq(before, after);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("local");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, range_is_brought);
    tcase_add_test(t, slots_take_turns);
    tcase_add_test(t, object_may_end_before_the_range);
    tcase_add_test(t, empty_file_has_a_head_and_no_bytes);
    tcase_add_test(t, file_of_another_size_is_different);
    tcase_add_test(t, first_byte_of_an_empty_file_is_different);
    tcase_add_test(t, file_that_is_not_there_is_gone);
    tcase_add_test(t, fifo_is_gone_and_not_waited_for);
    tcase_add_test(t, other_urls_are_refused);
    tcase_add_test(t, file_that_becomes_shorter_is_told_with_what_came);
    tcase_add_test(t, file_that_changes_while_it_is_read_is_asked_again);
    tcase_add_test(t, version_whose_time_was_set_back_has_another_validator);
    tcase_add_test(t, paused_bytes_come_again_after_resume_only);
    tcase_add_test(t, stop_ends_a_request_also_a_paused_one);
    tcase_add_test(t, handler_that_refuses_gets_no_more);
    tcase_add_test(t, wakeup_from_another_thread_ends_poll);
    tcase_add_test(t, poll_of_an_idle_transport_returns_in_time);
    tcase_add_test(t, free_with_requests_in_flight_closes_and_calls_nobody);
    return run_suite("local", t);
}
