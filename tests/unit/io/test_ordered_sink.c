#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/sinks/sink.h"
#include "suite.h"

static struct xd_sink *sink;
static struct xd_ordered_sink *self;
static struct xd_error err;
static int fds[2]; /* of the reader, of the sink */

static void block_sigpipe(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void open_on(int fd, uint64_t window)
{
    ck_assert_int_eq(xd_ordered_sink_new(&sink, &self, fd, window, &err), 0);
}

static void set_up(void)
{
    block_sigpipe();
    ck_assert_int_eq(pipe(fds), 0);
}

static void tear_down(void)
{
    xd_sink_free(sink);
    sink = NULL;
    close(fds[0]);
    close(fds[1]);
}

static unsigned char byte_at(uint64_t offset)
{
    return (unsigned char)(offset * 31 + (offset >> 8));
}

static int write_pattern(uint64_t offset, size_t len)
{
    unsigned char bytes[8192];

    ck_assert_uint_le(len, sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = byte_at(offset + i);
    return xd_sink_write(sink, offset, bytes, len, &err);
}

static void check_pattern(const unsigned char *bytes, uint64_t offset,
                          size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != byte_at(offset + i))
            ck_abort_msg("wrong byte at %zu", (size_t)offset + i);
}

static void check_read(int fd, uint64_t offset, size_t len)
{
    unsigned char bytes[100];

    ck_assert_uint_le(len, sizeof bytes);
    ck_assert_int_eq(read(fd, bytes, len), (ssize_t)len);
    check_pattern(bytes, offset, len);
}

START_TEST(bytes_come_out_in_order_whatever_order_they_came_in)
{
    open_on(fds[1], 100);
    ck_assert_int_eq(write_pattern(60, 40), 0);
    ck_assert_int_eq(write_pattern(0, 60), 0);
    ck_assert_uint_eq(xd_ordered_sink_front(self), 0);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 100, &err), 0);
    ck_assert_uint_eq(xd_ordered_sink_front(self), 100);
    ck_assert_int_eq(xd_sink_finish(sink, 100, &err), 0);
    check_read(fds[0], 0, 100);
}
END_TEST

START_TEST(window_goes_round_the_ring)
{
    open_on(fds[1], 100);
    for (uint64_t at = 0; at < 7000; at += 70) {
        ck_assert_int_eq(write_pattern(at, 70), 0);
        ck_assert_int_eq(xd_ordered_sink_drain(self, at + 70, &err), 0);
        check_read(fds[0], at, 70);
    }
}
END_TEST

START_TEST(drain_stops_before_its_end)
{
    open_on(fds[1], 100);
    ck_assert_int_eq(write_pattern(0, 100), 0);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 30, &err), 0);
    ck_assert_uint_eq(xd_ordered_sink_front(self), 30);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 20, &err), 0);
    ck_assert_uint_eq(xd_ordered_sink_front(self), 30);
}
END_TEST

START_TEST(write_outside_of_the_window_is_a_bug)
{
    open_on(fds[1], 100);
    ck_assert_int_eq(write_pattern(0, 101), XD_E_BUG);
    ck_assert_int_eq(write_pattern(99, 2), XD_E_BUG);
    ck_assert_int_eq(write_pattern(UINT64_MAX, 1), XD_E_BUG);
    ck_assert_int_eq(write_pattern(0, 100), 0);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 50, &err), 0);
    ck_assert_int_eq(write_pattern(49, 1), XD_E_BUG);
    ck_assert_int_eq(write_pattern(149, 1), 0);
    ck_assert_int_eq(write_pattern(149, 2), XD_E_BUG);
}
END_TEST

START_TEST(finish_before_all_is_drained_is_a_bug)
{
    open_on(fds[1], 100);
    ck_assert_int_eq(write_pattern(0, 10), 0);
    ck_assert_int_eq(xd_sink_finish(sink, 10, &err), XD_E_BUG);
}
END_TEST

START_TEST(reader_that_goes_away_is_told_as_such)
{
    open_on(fds[1], 100);
    ck_assert_int_eq(write_pattern(0, 100), 0);
    close(fds[0]);
    fds[0] = -1;
    ck_assert_int_eq(xd_ordered_sink_drain(self, 100, &err), XD_E_PIPE);
}
END_TEST

START_TEST(socket_whose_peer_goes_away_is_told_as_such)
{
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    open_on(pair[1], 100);
    ck_assert_int_eq(write_pattern(0, 100), 0);
    close(pair[0]);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 100, &err), XD_E_PIPE);
    close(pair[1]);
}
END_TEST

START_TEST(full_disk_is_an_io_error)
{
    int fd = open("/dev/full", O_WRONLY);

    if (fd < 0)
        return; /* only Linux has it */
    open_on(fd, 100);
    ck_assert_int_eq(write_pattern(0, 100), 0);
    ck_assert_int_eq(xd_ordered_sink_drain(self, 100, &err), XD_E_IO);
    ck_assert_uint_eq(xd_ordered_sink_front(self), 0);
    close(fd);
}
END_TEST

START_TEST(file_takes_more_than_one_chunk)
{
    enum { SIZE = 3000000, STEP = 6000 };
    unsigned char bytes[STEP];
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    open_on(fileno(f), SIZE);
    for (uint64_t at = 0; at < SIZE; at += STEP)
        ck_assert_int_eq(write_pattern(at, STEP), 0);
    ck_assert_int_eq(xd_ordered_sink_drain(self, SIZE, &err), 0);
    rewind(f);
    for (uint64_t at = 0; at < SIZE; at += STEP) {
        ck_assert_uint_eq(fread(bytes, 1, STEP, f), STEP);
        check_pattern(bytes, at, STEP);
    }
    ck_assert_int_eq(fgetc(f), EOF);
    fclose(f);
}
END_TEST

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Not before the pipe is likely to be full, so that drain() waits. */
static void *interrupt_main(void *arg)
{
    while (xd_ordered_sink_front(self) < 4096)
        sleep_us(100);
    sleep_us(50000);
    xd_ordered_sink_interrupt(self);
    return arg;
}

static void fill(uint64_t window)
{
    for (uint64_t at = 0; at < window; at += 8192)
        ck_assert_int_eq(write_pattern(at, 8192), 0);
}

START_TEST(interrupt_ends_a_drain_whose_reader_does_not_read)
{
    enum { WINDOW = 8 << 20 };
    pthread_t thread;

    open_on(fds[1], WINDOW);
    fill(WINDOW);
    pthread_create(&thread, NULL, interrupt_main, NULL);
    ck_assert_int_eq(xd_ordered_sink_drain(self, WINDOW, &err), XD_E_CANCELED);
    pthread_join(thread, NULL);
    ck_assert_uint_lt(xd_ordered_sink_front(self), WINDOW);
    ck_assert_int_eq(xd_ordered_sink_drain(self, WINDOW, &err), XD_E_CANCELED);
}
END_TEST

START_TEST(nonblocking_descriptor_is_waited_for)
{
    enum { WINDOW = 8 << 20 };
    pthread_t thread;

    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    open_on(fds[1], WINDOW);
    fill(WINDOW);
    pthread_create(&thread, NULL, interrupt_main, NULL);
    ck_assert_int_eq(xd_ordered_sink_drain(self, WINDOW, &err), XD_E_CANCELED);
    pthread_join(thread, NULL);
}
END_TEST

enum { TOTAL = 4 << 20, RING = 64 << 10, PIECE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool written[TOTAL / PIECE];

/* Every second piece, as soon as it lies in the window. */
static void *write_main(void *arg)
{
    for (uint64_t at = arg != NULL ? PIECE : 0; at < TOTAL; at += 2 * PIECE) {
        while (at + PIECE > xd_ordered_sink_front(self) + RING)
            sleep_us(10);
        ck_assert_int_eq(write_pattern(at, PIECE), 0);
        pthread_mutex_lock(&lock);
        written[at / PIECE] = true;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *drain_main(void *arg)
{
    for (uint64_t at = 0; at < TOTAL; at += PIECE) {
        pthread_mutex_lock(&lock);
        while (!written[at / PIECE])
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        ck_assert_int_eq(xd_ordered_sink_drain(self, at + PIECE, NULL), 0);
    }
    return arg;
}

START_TEST(many_threads_write_while_one_drains)
{
    pthread_t threads[3];
    unsigned char bytes[PIECE];
    uint64_t at = 0;
    int odd;

    open_on(fds[1], RING);
    pthread_create(&threads[0], NULL, write_main, NULL);
    pthread_create(&threads[1], NULL, write_main, &odd);
    pthread_create(&threads[2], NULL, drain_main, NULL);
    while (at < TOTAL) {
        ssize_t n = read(fds[0], bytes, sizeof bytes);

        ck_assert_int_gt(n, 0);
        check_pattern(bytes, at, (size_t)n);
        at += (uint64_t)n;
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(descriptor_stays_open_and_its_own_are_close_on_exec)
{
    int before, flags;

    before = dup(fds[0]);
    close(before); /* the next free number */
    open_on(fds[1], 100);
    flags = fcntl(before, F_GETFD);
    ck_assert_int_ne(flags, -1);
    ck_assert_int_ne(flags & FD_CLOEXEC, 0);
    xd_sink_free(sink);
    sink = NULL;
    ck_assert_int_eq(fcntl(before, F_GETFD), -1);
    ck_assert_int_ne(fcntl(fds[1], F_GETFD), -1);
}
END_TEST

START_TEST(window_of_nothing_is_refused)
{
    ck_assert_int_eq(xd_ordered_sink_new(&sink, &self, fds[1], 0, &err),
                     XD_E_INVAL);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("ordered_sink");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, bytes_come_out_in_order_whatever_order_they_came_in);
    tcase_add_test(tcase, window_goes_round_the_ring);
    tcase_add_test(tcase, drain_stops_before_its_end);
    tcase_add_test(tcase, write_outside_of_the_window_is_a_bug);
    tcase_add_test(tcase, finish_before_all_is_drained_is_a_bug);
    tcase_add_test(tcase, reader_that_goes_away_is_told_as_such);
    tcase_add_test(tcase, socket_whose_peer_goes_away_is_told_as_such);
    tcase_add_test(tcase, full_disk_is_an_io_error);
    tcase_add_test(tcase, file_takes_more_than_one_chunk);
    tcase_add_test(tcase, interrupt_ends_a_drain_whose_reader_does_not_read);
    tcase_add_test(tcase, nonblocking_descriptor_is_waited_for);
    tcase_add_test(tcase, many_threads_write_while_one_drains);
    tcase_add_test(tcase, descriptor_stays_open_and_its_own_are_close_on_exec);
    tcase_add_test(tcase, window_of_nothing_is_refused);
    return run_suite("ordered_sink", tcase);
}
