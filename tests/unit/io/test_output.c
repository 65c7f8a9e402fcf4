/* SPDX-License-Identifier: MIT */
/* A descriptor that takes a stream. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/output.h"
#include "suite.h"

#define SIZE ((size_t)8 << 20) /* more than any pipe holds */

static unsigned char bytes[SIZE];
static struct xd_output output;
static struct xd_error err;
static int reader, writer; /* the two ends */
static int stop[2], wakeup[2];

static void block_sigpipe(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void open_on(int fd)
{
    xd_output_init(&output, fd, stop[0]);
}

static void set_up(void)
{
    int fds[2];

    block_sigpipe();
    ck_assert_int_eq(pipe(fds), 0);
    reader = fds[0];
    writer = fds[1];
    ck_assert_int_eq(pipe(stop), 0);
    ck_assert_int_eq(pipe(wakeup), 0);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 31 + (i >> 8));
    open_on(writer);
}

static void hang_up(void)
{
    close(reader);
    reader = -1;
}

static void tear_down(void)
{
    if (reader >= 0)
        close(reader);
    close(writer);
    for (int i = 0; i < 2; i++) {
        close(stop[i]);
        close(wakeup[i]);
    }
}

static void make_readable(int fd)
{
    ck_assert_int_eq(write(fd, "", 1), 1);
}

/* Takes all that comes, and sees that it is right. */
static void *read_main(void *unused)
{
    static unsigned char got[100000];
    size_t at = 0;
    ssize_t n;

    while (at < SIZE && (n = read(reader, got, sizeof got)) > 0) {
        ck_assert_mem_eq(got, bytes + at, (size_t)n);
        at += (size_t)n;
    }
    ck_assert_uint_eq(at, SIZE);
    return unused;
}

static void write_all(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, read_main, NULL);
    ck_assert_int_eq(xd_output_write(&output, bytes, SIZE, &err), 0);
    pthread_join(thread, NULL);
}

START_TEST(a_reader_gets_all_in_order)
{
    write_all();
}
END_TEST

START_TEST(a_descriptor_that_does_not_block_is_waited_for)
{
    fcntl(writer, F_SETFL, O_NONBLOCK);
    write_all();
}
END_TEST

START_TEST(a_file_takes_more_than_one_chunk)
{
    static unsigned char got[SIZE];
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    open_on(fileno(f));
    ck_assert_int_eq(xd_output_write(&output, bytes, SIZE, &err), 0);
    rewind(f);
    ck_assert_uint_eq(fread(got, 1, SIZE, f), SIZE);
    ck_assert_mem_eq(got, bytes, SIZE);
    ck_assert_int_eq(fgetc(f), EOF);
    fclose(f);
}
END_TEST

START_TEST(a_reader_that_goes_away_is_told_as_such)
{
    hang_up();
    ck_assert_int_eq(xd_output_write(&output, bytes, 100, &err), XD_E_PIPE);
}
END_TEST

START_TEST(a_socket_whose_peer_goes_away_is_told_as_such)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    open_on(pair[1]);
    close(pair[0]);
    ck_assert_int_eq(xd_output_write(&output, bytes, 100, &err), XD_E_PIPE);
    ck_assert_int_eq(xd_output_wait(&output, wakeup[0], &err), XD_E_PIPE);
    close(pair[1]);
}
END_TEST

START_TEST(a_full_disk_is_an_io_error)
{
    int fd = open("/dev/full", O_WRONLY);

    if (fd < 0)
        return; /* only Linux has it */
    open_on(fd);
    ck_assert_int_eq(xd_output_write(&output, bytes, 100, &err), XD_E_IO);
    close(fd);
}
END_TEST

/* Not before the pipe is likely to be full, so that the write waits. */
static void *stop_main(void *unused)
{
    suite_rest_ms(50);
    make_readable(stop[1]);
    return unused;
}

static void *hang_up_main(void *unused)
{
    suite_rest_ms(50);
    hang_up();
    return unused;
}

START_TEST(a_stop_ends_a_write_whose_reader_does_not_read)
{
    pthread_t thread;

    pthread_create(&thread, NULL, stop_main, NULL);
    ck_assert_int_eq(xd_output_write(&output, bytes, SIZE, &err),
                     XD_E_CANCELED);
    pthread_join(thread, NULL);
    ck_assert_int_eq(xd_output_write(&output, bytes, 1, &err), XD_E_CANCELED);
    ck_assert_int_eq(xd_output_wait(&output, wakeup[0], &err), XD_E_CANCELED);
}
END_TEST

START_TEST(a_reader_that_goes_away_ends_a_write_that_waits)
{
    pthread_t thread;

    pthread_create(&thread, NULL, hang_up_main, NULL);
    ck_assert_int_eq(xd_output_write(&output, bytes, SIZE, &err), XD_E_PIPE);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_reader_that_goes_away_is_noticed_while_nothing_is_written)
{
    pthread_t thread;

    pthread_create(&thread, NULL, hang_up_main, NULL);
    ck_assert_int_eq(xd_output_wait(&output, wakeup[0], &err), XD_E_PIPE);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_wait_ends_when_there_is_more_to_write)
{
    make_readable(wakeup[1]);
    ck_assert_int_eq(xd_output_wait(&output, wakeup[0], &err), 0);
}
END_TEST

START_TEST(a_descriptor_that_was_closed_is_an_io_error)
{
    int closed = dup(writer);

    close(closed);
    open_on(closed);
    ck_assert_int_eq(xd_output_write(&output, bytes, 1, &err), XD_E_IO);
    ck_assert_int_eq(xd_output_wait(&output, wakeup[0], &err), XD_E_IO);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("output");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_reader_gets_all_in_order);
    tcase_add_test(tcase, a_descriptor_that_does_not_block_is_waited_for);
    tcase_add_test(tcase, a_file_takes_more_than_one_chunk);
    tcase_add_test(tcase, a_reader_that_goes_away_is_told_as_such);
    tcase_add_test(tcase, a_socket_whose_peer_goes_away_is_told_as_such);
    tcase_add_test(tcase, a_full_disk_is_an_io_error);
    tcase_add_test(tcase, a_stop_ends_a_write_whose_reader_does_not_read);
    tcase_add_test(tcase, a_reader_that_goes_away_ends_a_write_that_waits);
    tcase_add_test(tcase,
                   a_reader_that_goes_away_is_noticed_while_nothing_is_written);
    tcase_add_test(tcase, a_wait_ends_when_there_is_more_to_write);
    tcase_add_test(tcase, a_descriptor_that_was_closed_is_an_io_error);
    return run_suite("output", tcase);
}
