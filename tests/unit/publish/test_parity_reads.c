/* SPDX-License-Identifier: MIT */
/* Parity that is computed as it is read, against a code that multiplies bit by bit. */
#include "publish/parity_reads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/shards.h"
#include "suite.h"

#define SIZE 700001u

static char dir[SUITE_FOLDER], path[64];
static uint8_t file[SIZE];
static struct xd_origin *origin;
static struct xd_upload_line line;
static struct xd_parity_reads *reads;
static struct xd_error err;

/* Slices of several lengths; the last stripe has data of two of five shards. */
static const struct xd_model_stripe stripes[] = {
    {.offset = 0, .length = 400000, .shard_bytes = 100000, .k = 4, .n = 7},
    {.offset = 400000,
     .length = 299999,
     .shard_bytes = 1200,
     .k = 250,
     .n = 255},
    {.offset = 699999, .length = 2, .shard_bytes = 1, .k = 5, .n = 6}};

static void setup(void)
{
    uint32_t seed = 1;
    FILE *f;

    suite_folder(dir);
    snprintf(path, sizeof path, "%s/f", dir);
    for (size_t i = 0; i < SIZE; i++) {
        seed = seed * 1664525u + 1013904223u;
        file[i] = (uint8_t)(seed >> 24);
    }
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(file, 1, SIZE, f), SIZE);
    fclose(f);
    ck_assert_int_eq(xd_origin_open(&origin, path, &err), 0);
    ck_assert_int_eq(xd_upload_line_init(&line, SIZE, stripes, 3, &err), 0);
    ck_assert_int_eq(xd_parity_reads_new(&reads, origin, 0, &line, &err), 0);
}

static void teardown(void)
{
    xd_parity_reads_free(reads);
    xd_upload_line_fini(&line);
    xd_origin_free(origin);
    unlink(path);
    ck_assert_int_eq(rmdir(dir), 0);
}

static uint8_t product(uint8_t a, uint8_t b)
{
    unsigned out = 0, x = a;

    for (; b > 0; b >>= 1) {
        if (b & 1)
            out ^= x;
        x = x << 1 ^ (x & 0x80 ? 0x11du : 0);
    }
    return (uint8_t)out;
}

static uint8_t inverse(uint8_t a)
{
    unsigned b = 1;

    while (product(a, (uint8_t)b) != 1)
        b++;
    return (uint8_t)b;
}

/* Of byte `at` of a shard of parity. */
static uint8_t expected(const struct xd_model_stripe *s, unsigned number,
                        uint64_t at)
{
    uint8_t sum = 0;

    for (unsigned j = 0; j < s->k; j++) {
        const uint64_t place = j * s->shard_bytes + at;
        const uint8_t byte = place < s->length ? file[s->offset + place] : 0;

        sum ^= product(inverse((uint8_t)(number ^ j)), byte);
    }
    return sum;
}

static void assert_bytes(const uint8_t *bytes, size_t stripe, unsigned number,
                         uint64_t at, size_t n)
{
    for (size_t i = 0; i < n; i += 1 + n / 50)
        ck_assert_uint_eq(bytes[i], expected(&stripes[stripe], number, at + i));
}

static void check(size_t stripe, unsigned number, uint64_t at, size_t n)
{
    static uint8_t bytes[100000];
    const struct xd_range r = xd_upload_line_shard(&line, stripe, number);

    ck_assert_int_eq(xd_parity_read(reads, r.begin + at, bytes, n, &err), 0);
    assert_bytes(bytes, stripe, number, at, n);
}

START_TEST(a_shard_of_parity_is_read_anywhere)
{
    check(0, 4, 0, 100000);
    check(0, 6, 99999, 1);
    check(0, 5, 65530, 20);
    check(1, 250, 0, 1200);
    check(1, 254, 1199, 1);
    check(0, 4, 7, 8);
    check(2, 5, 0, 1);
}
END_TEST

START_TEST(all_shards_of_a_stripe_are_read_at_once)
{
    for (size_t stripe = 0; stripe < 3; stripe++) {
        const struct xd_model_stripe *s = &stripes[stripe];
        const size_t slice = xd_parity_slice(s->n);
        const uint8_t *const *parity;

        for (uint64_t at = 0; at < s->shard_bytes; at += slice) {
            const uint64_t left = s->shard_bytes - at;
            const size_t n = left < slice ? (size_t)left : slice;

            ck_assert_int_eq(
                xd_parity_read_all(reads, stripe, at, n, &parity, &err), 0);
            for (unsigned i = s->k; i < s->n; i++)
                assert_bytes(parity[i - s->k], stripe, i, at, n);
        }
    }
}
END_TEST

START_TEST(slices_of_many_shards_are_short)
{
    ck_assert_uint_eq(xd_parity_slice(2), 65536);
    ck_assert_uint_eq(xd_parity_slice(17), (1 << 20) / 17);
    ck_assert_uint_eq(xd_parity_slice(XD_SHARDS_MAX), (1 << 20) / 255);
}
END_TEST

START_TEST(what_is_no_parity_is_not_read)
{
    uint8_t byte;

    ck_assert_int_eq(xd_parity_read(reads, SIZE - 1, &byte, 1, &err), XD_E_BUG);
}
END_TEST

START_TEST(a_file_that_is_cut_is_noticed)
{
    uint8_t byte;

    ck_assert_int_eq(truncate(path, 300000), 0);
    ck_assert_int_eq(xd_parity_read(reads, SIZE, &byte, 1, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "shorter"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("parity_reads");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_shard_of_parity_is_read_anywhere);
    tcase_add_test(tcase, all_shards_of_a_stripe_are_read_at_once);
    tcase_add_test(tcase, slices_of_many_shards_are_short);
    tcase_add_test(tcase, what_is_no_parity_is_not_read);
    tcase_add_test(tcase, a_file_that_is_cut_is_noticed);
    return run_suite("parity_reads", tcase);
}
