/* SPDX-License-Identifier: MIT */
#include "depot/disk_queue.h"

#include "suite.h"

#define MOST 100

static struct disk_queue queue;
static struct disk_wait waits[MOST];
static unsigned n_waits;

static void setup(void)
{
    queue = (struct disk_queue){0};
    n_waits = 0;
}

static struct disk_wait *put(uint64_t host, uint64_t client)
{
    struct disk_wait *w = &waits[n_waits];

    *w = (struct disk_wait){.client = {host, client}, .at = n_waits++};
    disk_queue_put(&queue, w);
    return w;
}

static struct disk_wait *take(void)
{
    struct disk_wait *w = disk_queue_next(&queue);

    if (w != NULL)
        disk_queue_remove(&queue, w);
    return w;
}

/* Whose turns come, "host.client". */
static void expect(const char *order)
{
    char is[200] = "";
    size_t len = 0;
    struct disk_wait *w;

    while ((w = take()) != NULL)
        len += (size_t)snprintf(is + len, sizeof is - len, "%s%u.%u",
                                len > 0 ? " " : "", (unsigned)w->client.host,
                                (unsigned)w->client.id);
    ck_assert_str_eq(is, order);
}

START_TEST(an_empty_queue_has_none)
{
    ck_assert_ptr_null(disk_queue_next(&queue));
    ck_assert_ptr_null(disk_queue_take_all(&queue));
}
END_TEST

START_TEST(of_one_client_the_first_comes_first)
{
    struct disk_wait *a = put(1, 1), *b = put(1, 1), *c = put(1, 1);

    ck_assert_ptr_eq(disk_queue_next(&queue), a);
    ck_assert_ptr_eq(take(), a);
    ck_assert_ptr_eq(take(), b);
    ck_assert_ptr_eq(take(), c);
}
END_TEST

START_TEST(a_client_with_many_connections_gets_no_more)
{
    for (unsigned i = 0; i < 4; i++)
        put(1, 1);
    put(1, 2);
    put(1, 3);
    put(1, 2);
    expect("1.1 1.2 1.3 1.1 1.2 1.1 1.1");
}
END_TEST

START_TEST(a_host_with_many_clients_gets_no_more)
{
    for (unsigned i = 1; i <= 4; i++)
        put(1, i);
    put(2, 9);
    put(2, 9);
    put(3, 9);
    expect("1.1 2.9 3.9 1.2 2.9 1.3 1.4");
}
END_TEST

START_TEST(in_the_turn_of_a_host_its_clients_have_theirs)
{
    for (unsigned i = 0; i < 3; i++)
        put(1, 1);
    put(1, 2);
    put(2, 9);
    put(2, 9);
    expect("1.1 2.9 1.2 2.9 1.1 1.1");
}
END_TEST

/* As they are after each read. */
START_TEST(one_that_asks_again_comes_after_those_that_wait)
{
    for (unsigned i = 0; i < 10; i++)
        put(1, 1);
    put(1, 2);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_eq(take()->client.id, 1);
        ck_assert_uint_eq(take()->client.id, 2);
        put(1, 2);
    }
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(take()->client.id, 1);
        ck_assert_uint_eq(take()->client.id, 2);
        put(1, 2);
        put(1, 1);
    }
}
END_TEST

START_TEST(ids_that_are_made_up_get_no_more_than_their_host)
{
    for (unsigned i = 0; i < 10; i++)
        put(1, 100 + i);
    put(2, 1);
    for (unsigned i = 0; i < 20; i++) {
        ck_assert_uint_eq(take()->client.host, 1);
        put(1, 200 + i);
        ck_assert_uint_eq(take()->client.host, 2);
        put(2, 1);
    }
}
END_TEST

static struct disk_wait *put_bytes(const struct disk_file *f, uint64_t at)
{
    struct disk_wait *w = put(1, 1);

    w->file = (struct disk_file *)(uintptr_t)f;
    w->at = at;
    return w;
}

START_TEST(those_that_wait_for_the_bytes_are_taken)
{
    const struct disk_file *f = (const void *)&waits[0], *g = (void *)&queue;
    struct disk_wait *early = put_bytes(f, 9), *first = put_bytes(f, 10),
                     *last = put_bytes(f, 19), *late = put_bytes(f, 20),
                     *other = put_bytes(g, 15);
    struct disk_wait *taken = disk_queue_take(&queue, f, 10, 20);

    ck_assert_ptr_eq(taken, last);
    ck_assert_ptr_eq(taken->next, first);
    ck_assert_ptr_null(first->next);
    ck_assert_uint_eq(first->ready, 20);
    ck_assert_uint_eq(last->ready, 20);
    ck_assert_ptr_eq(disk_queue_take_all(&queue), early);
    ck_assert_ptr_eq(early->next, late);
    ck_assert_ptr_eq(late->next, other);
    ck_assert_ptr_null(other->next);
    ck_assert_uint_eq(late->ready, 20);
    ck_assert_uint_eq(other->ready, 15);
    ck_assert_ptr_null(disk_queue_next(&queue));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("depot_queue");

    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, an_empty_queue_has_none);
    tcase_add_test(t, of_one_client_the_first_comes_first);
    tcase_add_test(t, a_client_with_many_connections_gets_no_more);
    tcase_add_test(t, a_host_with_many_clients_gets_no_more);
    tcase_add_test(t, in_the_turn_of_a_host_its_clients_have_theirs);
    tcase_add_test(t, one_that_asks_again_comes_after_those_that_wait);
    tcase_add_test(t, ids_that_are_made_up_get_no_more_than_their_host);
    tcase_add_test(t, those_that_wait_for_the_bytes_are_taken);
    return run_suite("depot_queue", t);
}
