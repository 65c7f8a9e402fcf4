/* SPDX-License-Identifier: MIT */
/* lib/os/thread and clock: hand-over, waiting by the clock, signals, misuse. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "os/thread.h"
#include "suite.h"

#define ROUNDS 1000

/* What two threads share in these tests. */
static struct xd_mutex lock;
static struct xd_cond changed;

/* Guarded by lock. */
static int turn;
static int counter;

static void setup(void)
{
    turn = counter = 0;
    ck_assert_int_eq(xd_mutex_init(&lock), 0);
    ck_assert_int_eq(xd_cond_init(&changed), 0);
}

static void teardown(void)
{
    xd_cond_fini(&changed);
    xd_mutex_fini(&lock);
}

START_TEST(the_clock_never_runs_back)
{
    xd_usec last = xd_now();

    for (int i = 0; i < 10000; i++) {
        xd_usec now = xd_now();

        ck_assert_uint_ge(now, last);
        last = now;
    }
}
END_TEST

START_TEST(the_clock_counts_microseconds)
{
    struct timespec pause = {.tv_nsec = 20000000}, start, end;
    xd_usec before, after, outside;

    clock_gettime(CLOCK_MONOTONIC, &start);
    before = xd_now();
    nanosleep(&pause, NULL);
    after = xd_now();
    clock_gettime(CLOCK_MONOTONIC, &end);
    outside = (xd_usec)((end.tv_sec - start.tv_sec) * 1000000 +
                        (end.tv_nsec - start.tv_nsec) / 1000 + 1);
    ck_assert_uint_ge(after - before, 20000);
    ck_assert_uint_le(after - before, outside);
}
END_TEST

static void *count_up(void *arg)
{
    int *private_counter = arg;

    for (int i = 0; i < ROUNDS; i++) {
        xd_mutex_lock(&lock);
        counter++;
        xd_mutex_unlock(&lock);
        (*private_counter)++;
    }
    return NULL;
}

START_TEST(a_lock_lets_one_in_at_a_time)
{
    struct xd_thread threads[4];
    int private_counters[4] = {0};

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(
            xd_thread_start(&threads[i], count_up, &private_counters[i]), 0);
    for (int i = 0; i < 4; i++) {
        xd_thread_join(&threads[i]);
        ck_assert_int_eq(private_counters[i], ROUNDS);
    }
    ck_assert_int_eq(counter, 4 * ROUNDS);
}
END_TEST

static void take_turns_locked(int mine)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (turn != mine)
            xd_cond_wait(&changed, &lock);
        turn = !mine;
        counter++;
        xd_cond_signal(&changed);
    }
}

static void *take_turns(void *arg)
{
    (void)arg;
    xd_mutex_lock(&lock);
    take_turns_locked(1);
    xd_mutex_unlock(&lock);
    return NULL;
}

START_TEST(a_signalled_waiter_goes_on)
{
    struct xd_thread thread;

    ck_assert_int_eq(xd_thread_start(&thread, take_turns, NULL), 0);
    xd_mutex_lock(&lock);
    take_turns_locked(0);
    xd_mutex_unlock(&lock);
    xd_thread_join(&thread);
    ck_assert_int_eq(counter, 2 * ROUNDS);
}
END_TEST

static void *wait_for_turn(void *arg)
{
    xd_usec until = *(const xd_usec *)arg;
    bool in_time = true;

    xd_mutex_lock(&lock);
    counter++;
    xd_cond_broadcast(&changed);
    while (turn == 0 && in_time)
        in_time = xd_cond_wait_until(&changed, &lock, until);
    if (in_time)
        counter += 100;
    xd_mutex_unlock(&lock);
    return NULL;
}

START_TEST(a_broadcast_reaches_every_waiter)
{
    struct xd_thread threads[3];
    xd_usec untils[3] = {XD_NEVER, XD_NEVER - 1, xd_now() + 3600 * XD_SECOND};

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(
            xd_thread_start(&threads[i], wait_for_turn, &untils[i]), 0);
    xd_mutex_lock(&lock);
    while (counter < 3)
        xd_cond_wait(&changed, &lock);
    turn = 1;
    xd_cond_broadcast(&changed);
    xd_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        xd_thread_join(&threads[i]);
    ck_assert_int_eq(counter, 303);
}
END_TEST

START_TEST(a_wait_ends_at_its_moment_and_not_before)
{
    xd_usec until = xd_now() + 30 * XD_MS;

    xd_mutex_lock(&lock);
    while (xd_cond_wait_until(&changed, &lock, until))
        ;
    xd_mutex_unlock(&lock);
    ck_assert_uint_ge(xd_now(), until);
}
END_TEST

START_TEST(a_moment_that_has_passed_is_not_waited_for)
{
    const xd_usec past[] = {0, 1, xd_now()};

    xd_mutex_lock(&lock);
    for (int i = 0; i < 3; i++)
        ck_assert(!xd_cond_wait_until(&changed, &lock, past[i]));
    xd_mutex_unlock(&lock);
}
END_TEST

static void *read_mask(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return NULL;
}

START_TEST(no_handler_of_the_host_runs_on_a_new_thread)
{
    const int foreign[] = {SIGINT,  SIGTERM, SIGHUP,  SIGPIPE, SIGALRM, SIGUSR1,
                           SIGUSR2, SIGCHLD, SIGQUIT, SIGPROF, SIGXFSZ};
    struct xd_thread thread;
    sigset_t mask;

    ck_assert_int_eq(xd_thread_start(&thread, read_mask, &mask), 0);
    xd_thread_join(&thread);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        ck_assert_msg(sigismember(&mask, foreign[i]) == 1,
                      "signal %d is not blocked", foreign[i]);
    ck_assert_int_eq(sigismember(&mask, SIGSEGV), 0);
}
END_TEST

START_TEST(the_creator_keeps_its_own_signals)
{
    struct xd_thread thread;
    sigset_t mine, mask;

    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
    ck_assert_int_eq(xd_thread_start(&thread, read_mask, &mask), 0);
    xd_thread_join(&thread);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert_int_eq(sigismember(&mask, SIGUSR2), 1);
    ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
    ck_assert_int_eq(sigismember(&mask, SIGINT), 0);
}
END_TEST

/* Deeper than a name look-up and a TLS handshake go. */
static void *use_stack(void *arg)
{
    volatile char space[256 * 1024];

    for (size_t i = 0; i < sizeof space; i += 1024)
        space[i] = 1;
    *(int *)arg = space[1024];
    return NULL;
}

START_TEST(a_thread_has_room_for_a_transport)
{
    struct xd_thread thread;
    int done = 0;

    ck_assert_int_eq(xd_thread_start(&thread, use_stack, &done), 0);
    xd_thread_join(&thread);
    ck_assert_int_eq(done, 1);
}
END_TEST

START_TEST(locking_twice_aborts)
{
    /* Not `lock`: teardown() would abort when it finds that one locked. */
    struct xd_mutex own;

    ck_assert_int_eq(xd_mutex_init(&own), 0);
    xd_mutex_lock(&own);
    xd_mutex_lock(&own);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("thread");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_clock_never_runs_back);
    tcase_add_test(t, the_clock_counts_microseconds);
    tcase_add_test(t, a_lock_lets_one_in_at_a_time);
    tcase_add_test(t, a_signalled_waiter_goes_on);
    tcase_add_test(t, a_broadcast_reaches_every_waiter);
    tcase_add_test(t, a_wait_ends_at_its_moment_and_not_before);
    tcase_add_test(t, a_moment_that_has_passed_is_not_waited_for);
    tcase_add_test(t, no_handler_of_the_host_runs_on_a_new_thread);
    tcase_add_test(t, the_creator_keeps_its_own_signals);
    tcase_add_test(t, a_thread_has_room_for_a_transport);
    tcase_add_test_raise_signal(t, locking_twice_aborts, SIGABRT);
    return run_suite("os.thread", t);
}
