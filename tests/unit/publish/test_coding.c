/* SPDX-License-Identifier: MIT */
/* How a file is cut into stripes. */
#include "publish/coding.h"

#include <string.h>

#include "base/alloc.h"
#include "suite.h"

#define MIB ((uint64_t)1 << 20)

static struct xd_error err;

START_TEST(a_code_is_two_numbers)
{
    struct xd_coding c = {0, 0};

    ck_assert_int_eq(xd_coding_parse(&c, "4+2", &err), 0);
    ck_assert_uint_eq(c.k, 4);
    ck_assert_uint_eq(c.m, 2);
    ck_assert_int_eq(xd_coding_parse(&c, "1+1", &err), 0);
    ck_assert_int_eq(xd_coding_parse(&c, "254+1", &err), 0);
    ck_assert_int_eq(xd_coding_parse(&c, "1+254", &err), 0);
    ck_assert_uint_eq(c.m, 254);
}
END_TEST

static const struct {
    const char *text, *words;
} bad[] = {{"", "such as 4+2"},
           {"4", "such as 4+2"},
           {"4+", "such as 4+2"},
           {"+2", "such as 4+2"},
           {"4-2", "such as 4+2"},
           {"4+2+1", "such as 4+2"},
           {"-4+2", "such as 4+2"},
           {"4 + 2", "such as 4+2"},
           {"0+2", "at least one shard of data"},
           {"4+0", "at least one shard of data"},
           {"254+2", "at most 255"},
           {"255+1", "at most 255"},
           {"1+255", "at most 255"},
           {"18446744073709551615+2", "at most 255"}};

START_TEST(any_other_is_refused)
{
    struct xd_coding c = {7, 7};

    ck_assert_int_eq(xd_coding_parse(&c, bad[_i].text, &err), XD_E_INVAL);
    ck_assert_msg(strstr(err.msg, bad[_i].words) != NULL, "%s", err.msg);
    ck_assert_uint_eq(c.k, 7);
}
END_TEST

static const struct {
    unsigned k, m;
    uint64_t size, wanted, bytes;
} shards[] = {{4, 2, 1, 0, MIB},
              {4, 2, 4096 * MIB, 0, MIB},
              {4, 2, 4096 * MIB + 1, 0, 2 * MIB},
              {4, 2, 8192 * MIB, 0, 2 * MIB},
              {4, 2, (uint64_t)1 << 50, 0, (32 * MIB) / 6},
              {100, 100, 1, 0, (32 * MIB) / 200},
              {4, 2, 1, 7, 7},
              {4, 4, 1, 4 * MIB, 4 * MIB}};

START_TEST(shards_are_as_long_as_the_file_wants_and_a_stripe_allows)
{
    uint64_t bytes = 0;

    ck_assert_int_eq(xd_coding_shard_bytes(
                         &bytes, (struct xd_coding){shards[_i].k, shards[_i].m},
                         shards[_i].size, shards[_i].wanted, &err),
                     0);
    ck_assert_uint_eq(bytes, shards[_i].bytes);
}
END_TEST

START_TEST(shards_that_nobody_could_decode_are_refused)
{
    uint64_t bytes = 0;

    ck_assert_int_eq(xd_coding_shard_bytes(&bytes, (struct xd_coding){4, 4}, 1,
                                           4 * MIB + 1, &err),
                     XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(err.msg, "at most 4194304 bytes"));
}
END_TEST

static struct xd_model_stripe *list;
static size_t n;

static void cut_between_pieces(unsigned k, uint64_t size, uint64_t shard_bytes,
                               uint64_t piece_bytes)
{
    ck_assert_int_eq(xd_coding_stripes(&list, &n, (struct xd_coding){k, 2},
                                       size, shard_bytes, piece_bytes, &err),
                     0);
}

static void cut(unsigned k, uint64_t size, uint64_t shard_bytes)
{
    cut_between_pieces(k, size, shard_bytes, 1);
}

START_TEST(the_last_stripe_is_as_short_as_it_can_be)
{
    cut(3, 31, 5);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(list[1].offset, 15);
    ck_assert_uint_eq(list[1].length, 15);
    ck_assert_uint_eq(list[1].shard_bytes, 5);
    ck_assert_uint_eq(list[1].k, 3);
    ck_assert_uint_eq(list[1].n, 5);
    ck_assert(list[1].is_used);
    ck_assert_uint_eq(list[2].number, 2);
    ck_assert_uint_eq(list[2].offset, 30);
    ck_assert_uint_eq(list[2].length, 1);
    ck_assert_uint_eq(list[2].shard_bytes, 1);
    xd_free(list);
}
END_TEST

START_TEST(a_small_file_is_one_stripe_of_equal_shards)
{
    cut(4, 4001, MIB);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(list[0].shard_bytes, 1001);
    xd_free(list);
}
END_TEST

START_TEST(a_whole_number_of_stripes_has_no_short_one)
{
    cut(3, 30, 5);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(list[1].length, 15);
    xd_free(list);
}
END_TEST

START_TEST(no_piece_spans_two_shards_of_the_last_stripe)
{
    cut_between_pieces(3, 60 + 31, 20, 10);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(list[0].shard_bytes, 20);
    ck_assert_uint_eq(list[1].length, 31);
    ck_assert_uint_eq(list[1].shard_bytes, 20); /* 20, 11 and none */
    xd_free(list);
}
END_TEST

START_TEST(a_shard_that_has_all_of_its_stripe_is_no_longer_than_that)
{
    cut_between_pieces(3, 60 + 7, 20, 10);
    ck_assert_uint_eq(list[1].shard_bytes, 7);
    xd_free(list);
}
END_TEST

static const struct {
    uint64_t size, shard, most_piece, even;
} even[] = {{4001, 5000, 2000, 1001}, /* each shard is one piece */
            {4001, 5000, 300, 1004},  /* four pieces */
            {4001, 500, 2000, 334},   /* three stripes */
            {4000, 500, 100, 500},    {4000, 501, 100, 500},
            {4001, 1000, 1000, 501},  {0, 5000, 300, 5000}};

START_TEST(stripes_are_equally_long_and_shards_whole_pieces)
{
    ck_assert_uint_eq(xd_coding_even((struct xd_coding){4, 2}, even[_i].size,
                                     even[_i].shard, even[_i].most_piece),
                      even[_i].even);
}
END_TEST

START_TEST(an_empty_file_has_none)
{
    cut(3, 0, 5);
    ck_assert_uint_eq(n, 0);
    xd_free(list);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("coding");

    tcase_add_test(tcase, a_code_is_two_numbers);
    tcase_add_loop_test(tcase, any_other_is_refused, 0,
                        sizeof bad / sizeof *bad);
    tcase_add_loop_test(
        tcase, shards_are_as_long_as_the_file_wants_and_a_stripe_allows, 0,
        sizeof shards / sizeof *shards);
    tcase_add_test(tcase, shards_that_nobody_could_decode_are_refused);
    tcase_add_test(tcase, the_last_stripe_is_as_short_as_it_can_be);
    tcase_add_test(tcase, a_small_file_is_one_stripe_of_equal_shards);
    tcase_add_test(tcase, a_whole_number_of_stripes_has_no_short_one);
    tcase_add_test(tcase, no_piece_spans_two_shards_of_the_last_stripe);
    tcase_add_test(tcase,
                   a_shard_that_has_all_of_its_stripe_is_no_longer_than_that);
    tcase_add_loop_test(tcase, stripes_are_equally_long_and_shards_whole_pieces,
                        0, sizeof even / sizeof *even);
    tcase_add_test(tcase, an_empty_file_has_none);
    return run_suite("coding", tcase);
}
