/* SPDX-License-Identifier: MIT */
/* Which bytes of the file some bytes of an object are. */
#include "engine/depot_parts.h"
#include "engine/source.h"
#include "suite.h"
#include "url_of.h"

/* Bytes 1000 to 1500 of the file, which are 200 to 700 of the object. */
static struct xd_added_source *added;

static void set_up(void)
{
    added = xd_added_source_new(
        &(struct xd_new_source){.range = {1000, 1500},
                                .url = *url_of("http://d.example/part"),
                                .object_offset = 200,
                                .object_size = 5000});
    ck_assert_ptr_nonnull(added);
}

static void tear_down(void)
{
    xd_added_source_free(added);
}

static void expect(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
    const struct xd_range part =
        xd_source_part(&added->source, (struct xd_range){from, to});

    ck_assert_uint_eq(part.begin, begin);
    ck_assert_uint_eq(part.end, end);
}

static void expect_none(uint64_t from, uint64_t to)
{
    ck_assert(xd_range_is_empty(
        xd_source_part(&added->source, (struct xd_range){from, to})));
}

START_TEST(bytes_of_the_object_are_bytes_of_the_file)
{
    expect(200, 700, 1000, 1500);
    expect(300, 301, 1100, 1101);
    ck_assert_uint_eq(xd_source_at(&added->source, 1100), 300);
}
END_TEST

START_TEST(others_are_left_out)
{
    expect(199, 201, 1000, 1001);
    expect(699, 701, 1499, 1500);
    expect(0, UINT64_MAX, 1000, 1500);
}
END_TEST

START_TEST(there_may_be_none)
{
    expect_none(0, 200);
    expect_none(700, 5000);
    expect_none(300, 300);
    expect_none(400, 300);
    expect_none(UINT64_MAX - 1, UINT64_MAX);
}
END_TEST

START_TEST(parity_has_none)
{
    added->source.is_parity = true;
    expect_none(200, 700);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("source_part");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, bytes_of_the_object_are_bytes_of_the_file);
    tcase_add_test(t, others_are_left_out);
    tcase_add_test(t, there_may_be_none);
    tcase_add_test(t, parity_has_none);
    return run_suite("source_part", t);
}
