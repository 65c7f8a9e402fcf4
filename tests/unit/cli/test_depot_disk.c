/* SPDX-License-Identifier: MIT */
#include "depot/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include "depot/disk_queue.h"

#include "suite.h"

#define N_RECENT 8
#define CHUNKS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct disks *disks;
static struct disk_file one, two;

/* Guarded by lock. */
static uint64_t order[100];  /* chunks, in the order in which they were there */
static uint64_t of_one[100]; /* bytes that were read of it by then */
static unsigned n_resumed;
static bool is_held; /* the reader, in the next resume */

static void make_file(struct disk_file *f, uint64_t size)
{
    char name[] = "/tmp/xd-test-XXXXXX";

    *f = (struct disk_file){.fd = mkstemp(name), .size = size};
    ck_assert_int_ge(f->fd, 0);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(ftruncate(f->fd, (off_t)size), 0);
    pthread_mutex_lock(&lock);
    ck_assert(disk_enter_locked(disks, f, 1));
    pthread_mutex_unlock(&lock);
}

static void setup(void)
{
    disks = disks_new(&lock, N_RECENT);
    ck_assert_ptr_nonnull(disks);
    make_file(&one, CHUNKS * DISK_CHUNK);
    make_file(&two, CHUNKS * DISK_CHUNK - 5);
    n_resumed = 0;
    is_held = false;
}

static void teardown(void)
{
    disks_end(disks);
    pthread_mutex_lock(&lock);
    disk_leave_locked(&one);
    disk_leave_locked(&two);
    pthread_mutex_unlock(&lock);
    close(one.fd);
    close(two.fd);
    disks_free(disks);
}

static void note(void *user)
{
    const struct disk_wait *w = user;

    pthread_mutex_lock(&lock);
    of_one[n_resumed] = one.bytes;
    order[n_resumed++] = w->at / DISK_CHUNK + (w->file == &two ? 100 : 0);
    pthread_cond_broadcast(&changed);
    while (is_held)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* All of a chunk. */
static void want(struct disk_wait *w, struct disk_file *f, uint64_t chunk)
{
    *w = (struct disk_wait){.file = f,
                            .at = chunk * DISK_CHUNK,
                            .end = (chunk + 1) * DISK_CHUNK,
                            .resume = note,
                            .user = w};
    disk_want(disks, w);
}

static void want_bytes(struct disk_wait *w, struct disk_file *f, uint64_t at,
                       uint64_t end, bool is_whole)
{
    *w = (struct disk_wait){.file = f,
                            .at = at,
                            .end = end,
                            .is_whole = is_whole,
                            .resume = note,
                            .user = w};
    disk_want(disks, w);
}

static void hold(bool held)
{
    pthread_mutex_lock(&lock);
    is_held = held;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(unsigned n)
{
    pthread_mutex_lock(&lock);
    while (n_resumed < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void ahead(struct disk_file *f, uint64_t chunk, uint64_t n)
{
    pthread_mutex_lock(&lock);
    disk_read_ahead_locked(f, chunk, n);
    pthread_mutex_unlock(&lock);
}

static bool has(struct disk_file *f, uint64_t chunk)
{
    pthread_mutex_lock(&lock);
    const bool is_there = disk_has_locked(f, chunk);
    pthread_mutex_unlock(&lock);
    return is_there;
}

static uint64_t bytes(const struct disk_file *f)
{
    pthread_mutex_lock(&lock);
    const uint64_t n = f->bytes;
    pthread_mutex_unlock(&lock);
    return n;
}

static void wait_for_bytes(const struct disk_file *f, uint64_t n)
{
    while (bytes(f) < n)
        suite_rest_ms(1);
}

START_TEST(a_chunk_is_there_when_it_was_waited_for)
{
    struct disk_wait w;

    ck_assert(!has(&one, 3));
    want(&w, &one, 3);
    wait_for(1);
    ck_assert(has(&one, 3));
    ck_assert(!has(&one, 2) && !has(&one, 4) && !has(&two, 3));
    ck_assert_uint_eq(bytes(&one), DISK_CHUNK);
    want(&w, &one, 3);
    wait_for(2);
    ck_assert_uint_eq(bytes(&one), DISK_CHUNK);
    want(&w, &two, CHUNKS - 1);
    wait_for(3);
    ck_assert_uint_eq(bytes(&two), DISK_CHUNK - 5);
}
END_TEST

#define PAGE UINT64_C(4096)

START_TEST(of_few_bytes_their_pages_are_read)
{
    const uint64_t at = 3 * DISK_CHUNK + 5 * PAGE;
    struct disk_wait w;

    want_bytes(&w, &one, at + 7, at + 8, false);
    wait_for(1);
    ck_assert_uint_eq(bytes(&one), PAGE);
    ck_assert_uint_eq(w.ready, at + PAGE);
    ck_assert(!has(&one, 3));
    want_bytes(&w, &one, at, at + PAGE, false);
    wait_for(2);
    ck_assert_uint_eq(bytes(&one), 2 * PAGE);
    want_bytes(&w, &one, at, at + PAGE + 1, false);
    wait_for(3);
    ck_assert_uint_eq(bytes(&one), 4 * PAGE);
    /* The last ones end with the file. */
    want_bytes(&w, &two, CHUNKS * DISK_CHUNK - 6, CHUNKS * DISK_CHUNK - 5,
               false);
    wait_for(4);
    ck_assert_uint_eq(bytes(&two), PAGE - 5);
    ck_assert_uint_eq(w.ready, CHUNKS * DISK_CHUNK - 5);
}
END_TEST

START_TEST(with_the_rest_of_the_chunk_all_of_it_is_there)
{
    const uint64_t at = 3 * DISK_CHUNK + 5 * PAGE;
    struct disk_wait w;

    want_bytes(&w, &one, at, at + 1, true);
    wait_for(1);
    ck_assert_uint_eq(bytes(&one), DISK_CHUNK);
    ck_assert_uint_eq(w.ready, 4 * DISK_CHUNK);
    ck_assert(has(&one, 3));
    want_bytes(&w, &one, at, at + 1, false);
    wait_for(2);
    ck_assert_uint_eq(bytes(&one), DISK_CHUNK);
    ck_assert_uint_eq(w.ready, 4 * DISK_CHUNK);
}
END_TEST

START_TEST(what_is_forgotten_is_read_again)
{
    struct disk_wait w;

    want(&w, &one, 3);
    wait_for(1);
    want(&w, &one, 4);
    wait_for(2);
    pthread_mutex_lock(&lock);
    disk_forget_locked(&one, 3);
    disk_forget_locked(&one, 9);
    pthread_mutex_unlock(&lock);
    ck_assert(!has(&one, 3) && has(&one, 4));
    want(&w, &one, 3);
    wait_for(3);
    ck_assert(has(&one, 3));
    ck_assert_uint_eq(bytes(&one), 3 * DISK_CHUNK);
}
END_TEST

static void wait_until_nothing_is_ahead(const struct disk_file *f)
{
    uint64_t n;

    do {
        suite_rest_ms(1);
        pthread_mutex_lock(&lock);
        n = f->n_ahead;
        pthread_mutex_unlock(&lock);
    } while (n > 0);
}

/* Its descriptor is one that cannot be read. */
START_TEST(what_cannot_be_read_is_not_in_memory)
{
    struct disk_wait w;
    const int fd = one.fd;

    one.fd = open("/dev/null", O_WRONLY);
    ck_assert_int_ge(one.fd, 0);
    want(&w, &one, 3);
    wait_for(1);
    ck_assert_uint_eq(w.ready, w.at);
    ck_assert(!has(&one, 3));
    /* Nor is it tried for ever. */
    ahead(&one, 4, 3);
    wait_until_nothing_is_ahead(&one);
    close(one.fd);
    one.fd = fd;
    want(&w, &two, 1);
    wait_for(2);
    ck_assert(!has(&one, 4));
    ck_assert_uint_eq(bytes(&one), 0);
}
END_TEST

/* Behind the middle of a chunk it ends too early, as one with a bad block would. */
START_TEST(of_a_chunk_what_can_be_read_is_sent)
{
    const uint64_t middle = 3 * DISK_CHUNK + DISK_CHUNK / 2;
    struct disk_wait first, w[3];

    ck_assert_int_eq(ftruncate(one.fd, (off_t)middle), 0);
    hold(true);
    want(&first, &two, 0);
    wait_for(1);
    want_bytes(&w[0], &one, middle, middle + 1, true);
    want_bytes(&w[1], &one, middle - 1, middle + 1, true);
    want_bytes(&w[2], &one, middle - PAGE, middle, false);
    hold(false);
    wait_for(4);
    ck_assert_uint_eq(w[0].ready, middle);
    ck_assert_uint_eq(w[1].ready, middle);
    ck_assert_uint_eq(w[2].ready, middle);
    ck_assert_uint_eq(w[2].at, middle - PAGE);
    ck_assert(!has(&one, 3));
}
END_TEST

START_TEST(what_was_not_used_for_longest_gives_way)
{
    struct disk_wait w;

    for (unsigned i = 0; i < N_RECENT; i++) {
        want(&w, &one, i);
        wait_for(i + 1);
    }
    ck_assert(has(&one, 0));
    want(&w, &two, 0);
    wait_for(N_RECENT + 1);
    ck_assert(has(&one, 0) && has(&two, 0));
    ck_assert(!has(&one, 1));
    for (unsigned i = 2; i < N_RECENT; i++)
        ck_assert(has(&one, i));
}
END_TEST

START_TEST(all_that_wait_for_a_chunk_are_resumed_by_one_read)
{
    struct disk_wait first, w[5];

    hold(true);
    want(&first, &two, 0);
    wait_for(1);
    for (unsigned i = 0; i < 5; i++)
        want(&w[i], &one, i == 2 ? 9 : 7);
    hold(false);
    wait_for(6);
    for (unsigned i = 1; i < 5; i++)
        ck_assert_uint_eq(order[i], 7);
    ck_assert_uint_eq(order[5], 9);
    ck_assert_uint_eq(bytes(&one), 2 * DISK_CHUNK);
}
END_TEST

START_TEST(what_is_read_ahead_is_as_much_as_is_said)
{
    struct disk_wait w;

    ahead(&one, 4, 3);
    wait_for_bytes(&one, 3 * DISK_CHUNK);
    want(&w, &two, 0);
    wait_for(1);
    ck_assert_uint_eq(bytes(&one), 3 * DISK_CHUNK);
    ck_assert(has(&one, 4) && has(&one, 5) && has(&one, 6));
    /* Not again before the last of it. */
    ahead(&one, 5, 3);
    want(&w, &two, 1);
    wait_for(2);
    ck_assert_uint_eq(bytes(&one), 3 * DISK_CHUNK);
    ahead(&one, 6, 3);
    wait_for_bytes(&one, 5 * DISK_CHUNK);
}
END_TEST

START_TEST(nothing_is_read_ahead_behind_the_end)
{
    struct disk_wait w;

    ahead(&one, CHUNKS - 1, 4);
    ahead(&two, CHUNKS - 2, 4);
    wait_for_bytes(&two, 2 * DISK_CHUNK - 5);
    want(&w, &two, 0);
    wait_for(1);
    ck_assert_uint_eq(bytes(&one), 0);
    ck_assert_uint_eq(bytes(&two), 3 * DISK_CHUNK - 5);
    ck_assert(!has(&one, CHUNKS) && !has(&two, CHUNKS));
}
END_TEST

START_TEST(what_is_read_ahead_of_a_chunk_is_read_with_it)
{
    struct disk_wait first, w[2];

    hold(true);
    want(&first, &two, 0);
    wait_for(1);
    ahead(&one, 3, 4);
    want(&w[0], &one, 3);
    want(&w[1], &two, 5);
    hold(false);
    wait_for(3);
    ck_assert_uint_eq(order[1], 3);
    ck_assert_uint_eq(of_one[1], DISK_CHUNK);
    ck_assert_uint_eq(order[2], 105);
    ck_assert_uint_eq(of_one[2], 4 * DISK_CHUNK);
}
END_TEST

START_TEST(a_chunk_of_one_file_is_none_of_another)
{
    struct disk_wait first, w[2];

    hold(true);
    want(&first, &two, 0);
    wait_for(1);
    want(&w[0], &one, 7);
    want(&w[1], &two, 7);
    hold(false);
    wait_for(3);
    ck_assert(has(&one, 7) && has(&two, 7));
    ck_assert_uint_eq(bytes(&two), 2 * DISK_CHUNK);
}
END_TEST

START_TEST(what_waits_comes_before_what_is_read_ahead)
{
    struct disk_wait first, w;

    hold(true);
    want(&first, &one, 0);
    wait_for(1);
    ahead(&one, 10, 4);
    want(&w, &two, 5);
    hold(false);
    wait_for(2);
    ck_assert_uint_le(of_one[1], 2 * DISK_CHUNK);
}
END_TEST

/* A client at the front that has the next chunks read whenever it gets one. */
static struct disk_wait front[CHUNKS];

static void go_on(void *user)
{
    struct disk_wait *w = user;
    struct disk_wait *next = w + 1;

    note(w);
    if (next == front + CHUNKS)
        return;
    *next = (struct disk_wait){.file = &one,
                               .at = w->end,
                               .end = w->end + DISK_CHUNK,
                               .resume = go_on,
                               .user = next};
    ahead(&one, next->at / DISK_CHUNK, 4);
    disk_want(disks, next);
}

START_TEST(a_fast_client_at_the_front_lets_others_be_read)
{
    struct disk_wait w;

    hold(true);
    front[0] = (struct disk_wait){
        .file = &one, .end = DISK_CHUNK, .resume = go_on, .user = front};
    ahead(&one, 0, 4);
    disk_want(disks, front);
    wait_for(1);
    want(&w, &two, 7);
    hold(false);
    wait_for(CHUNKS + 1);
    unsigned i = 0;
    while (order[i] != 107)
        i++;
    ck_assert_uint_le(i, 4);
    ck_assert_uint_eq(bytes(&one), CHUNKS * DISK_CHUNK);
}
END_TEST

START_TEST(at_the_end_all_that_waits_is_resumed)
{
    struct disk_wait first, w, late;

    hold(true);
    want(&first, &one, 0);
    wait_for(1);
    want(&w, &one, 1);
    hold(false);
    disks_end(disks);
    wait_for(2);
    want(&late, &one, 2);
    ck_assert_uint_eq(n_resumed, 3);
    ck_assert_uint_eq(late.ready, late.at);
    ck_assert(!has(&one, 2));
    pthread_mutex_lock(&lock);
    struct disk_file more = {.fd = one.fd, .size = 1};
    ck_assert(!disk_enter_locked(disks, &more, 1));
    disk_leave_locked(&one);
    disk_leave_locked(&two);
    pthread_mutex_unlock(&lock);
    disks_free(disks);
    setup();
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("disk");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_chunk_is_there_when_it_was_waited_for);
    tcase_add_test(t, of_few_bytes_their_pages_are_read);
    tcase_add_test(t, with_the_rest_of_the_chunk_all_of_it_is_there);
    tcase_add_test(t, what_is_forgotten_is_read_again);
    tcase_add_test(t, what_cannot_be_read_is_not_in_memory);
    tcase_add_test(t, of_a_chunk_what_can_be_read_is_sent);
    tcase_add_test(t, what_was_not_used_for_longest_gives_way);
    tcase_add_test(t, all_that_wait_for_a_chunk_are_resumed_by_one_read);
    tcase_add_test(t, what_is_read_ahead_is_as_much_as_is_said);
    tcase_add_test(t, nothing_is_read_ahead_behind_the_end);
    tcase_add_test(t, what_is_read_ahead_of_a_chunk_is_read_with_it);
    tcase_add_test(t, a_chunk_of_one_file_is_none_of_another);
    tcase_add_test(t, what_waits_comes_before_what_is_read_ahead);
    tcase_add_test(t, a_fast_client_at_the_front_lets_others_be_read);
    tcase_add_test(t, at_the_end_all_that_waits_is_resumed);
    return run_suite("disk", t);
}
