/* SPDX-License-Identifier: MIT */
/* Where shards stand in the line of an upload. */
#include "publish/upload_line.h"

#include <string.h>

#include "manifest/builder.h"
#include "suite.h"

/* Of a file of 40 bytes, of which some have no parity. */
static const struct xd_model_stripe stripes[] = {
    {.offset = 3, .length = 14, .shard_bytes = 5, .k = 3, .n = 5},
    {.offset = 17, .length = 1, .shard_bytes = 1, .k = 3, .n = 4},
    {.offset = 30, .length = 10, .shard_bytes = 10, .k = 1, .n = 3}};

static struct xd_upload_line line;
static struct xd_error err;

static void setup(void)
{
    ck_assert_int_eq(xd_upload_line_init(&line, 40, stripes, 3, &err), 0);
}

static void teardown(void)
{
    xd_upload_line_fini(&line);
}

static void assert_at(uint64_t position, size_t stripe, unsigned number,
                      uint64_t at)
{
    struct xd_upload_place place;

    ck_assert(xd_upload_line_find(&line, position, &place));
    ck_assert_uint_eq(place.stripe, stripe);
    ck_assert_uint_eq(place.number, number);
    ck_assert_uint_eq(place.at, at);
}

static void assert_shard(size_t stripe, unsigned number, uint64_t begin,
                         uint64_t end)
{
    const struct xd_range r = xd_upload_line_shard(&line, stripe, number);

    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

START_TEST(parity_stands_behind_the_file)
{
    struct xd_upload_place place;

    ck_assert(!xd_upload_line_find(&line, 0, &place));
    ck_assert(!xd_upload_line_find(&line, 39, &place));
    assert_at(40, 0, 3, 0);
    assert_at(44, 0, 3, 4);
    assert_at(45, 0, 4, 0);
    assert_at(50, 1, 3, 0);
    assert_at(51, 2, 1, 0);
    assert_at(70, 2, 2, 9);
    ck_assert(!xd_upload_line_find(&line, 71, &place));
}
END_TEST

START_TEST(a_shard_has_a_range)
{
    assert_shard(0, 0, 3, 8);
    assert_shard(0, 2, 13, 17);
    assert_shard(1, 0, 17, 18);
    assert_shard(1, 1, 18, 18);
    assert_shard(2, 0, 30, 40);
    assert_shard(0, 4, 45, 50);
    assert_shard(2, 2, 61, 71);
}
END_TEST

START_TEST(a_byte_of_the_file_has_a_stripe_or_one_follows)
{
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 0), 0);
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 16), 0);
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 17), 1);
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 18), 2);
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 39), 2);
    ck_assert_uint_eq(xd_upload_line_stripe_from(&line, 40), 3);
}
END_TEST

START_TEST(a_line_without_stripes_is_the_file)
{
    struct xd_upload_line none;
    struct xd_upload_place place;

    ck_assert_int_eq(xd_upload_line_init(&none, 40, NULL, 0, &err), 0);
    ck_assert(!xd_upload_line_find(&none, 40, &place));
    ck_assert_uint_eq(xd_upload_line_stripe_from(&none, 0), 0);
    xd_upload_line_fini(&none);
    memset(&none, 0, sizeof none);
    ck_assert(!xd_upload_line_find(&none, 0, &place));
}
END_TEST

START_TEST(more_parity_than_can_be_counted_has_no_place)
{
    /* As many bytes as can be, and two more. */
    const struct xd_model_stripe all[] = {
        {.length = 1, .shard_bytes = 1, .k = 1, .n = 2},
        {.length = 1, .shard_bytes = XD_FILE_MAX / 2 - 19, .k = 1, .n = 3}};
    const struct xd_model_stripe more[] = {
        {.length = 1, .shard_bytes = 1, .k = 1, .n = 2},
        {.length = 1, .shard_bytes = XD_FILE_MAX / 2 - 18, .k = 1, .n = 3}};
    struct xd_upload_line l;

    ck_assert_int_eq(xd_upload_line_init(&l, 37, all, 2, &err), 0);
    ck_assert_uint_eq(l.n, 2);
    xd_upload_line_fini(&l);
    ck_assert_int_eq(xd_upload_line_init(&l, 37, more, 2, &err), 0);
    ck_assert_uint_eq(l.n, 1);
    xd_upload_line_fini(&l);
    ck_assert_int_eq(xd_upload_line_init(&l, XD_SIZE_UNKNOWN, all, 2, &err), 0);
    ck_assert_uint_eq(l.n, 0);
    xd_upload_line_fini(&l);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("upload_line");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, parity_stands_behind_the_file);
    tcase_add_test(tcase, a_shard_has_a_range);
    tcase_add_test(tcase, a_byte_of_the_file_has_a_stripe_or_one_follows);
    tcase_add_test(tcase, a_line_without_stripes_is_the_file);
    tcase_add_test(tcase, more_parity_than_can_be_counted_has_no_place);
    return run_suite("upload_line", tcase);
}
