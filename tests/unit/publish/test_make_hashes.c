/* SPDX-License-Identifier: MIT */
#include "publish/make_hashes.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "suite.h"

#define K UINT64_C(1024)
#define M (K * K)

/* Of "abcdefghij", and of its pieces of 4 bytes, by sha256sum. */
#define WHOLE "72399361da6a7754fec986dca5b7cbaf1c810a28ded4abaf56b2106d06cb78b0"
#define ABCD "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589"

static const struct {
    uint64_t size, piece;
} sizes[] = {
    {0, 256 * K},
    {1, 256 * K},
    {256 * M, 256 * K},
    {256 * M + 1, 512 * K},
    {512 * M, 512 * K},
    {1024 * M, M},
    {UINT64_C(1) << 60, UINT64_C(1) << 50},
};

START_TEST(there_are_at_most_1024_pieces)
{
    ck_assert_uint_eq(xd_make_piece_bytes(sizes[_i].size), sizes[_i].piece);
}
END_TEST

static const struct {
    uint64_t size, wanted, extent, piece;
} fitting[] = {
    {M, 2 * M, 2 * M, 256 * K}, /* one extent */
    {10 * M, M, M, 256 * K},    /* four pieces each */
    {10 * M, 1000 * K, 1000 * K, 250 * K},
    {10 * M, M + 1, M - 1, 209715},
    {10 * M, 100000, 100000, 100000}, /* one piece each */
    {1024 * M, 1536 * K, 1536 * K, 768 * K},
};

START_TEST(no_piece_spans_two_extents)
{
    uint64_t extent = fitting[_i].wanted;

    ck_assert_uint_eq(xd_make_fitting_piece_bytes(fitting[_i].size, &extent),
                      fitting[_i].piece);
    ck_assert_uint_eq(extent, fitting[_i].extent);
}
END_TEST

static char folder[SUITE_FOLDER], path[SUITE_FOLDER + 10];
static struct xd_options options;
static struct xd_make_hashes hashes;

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static int read_file(uint64_t piece_bytes, struct xd_error *err)
{
    return xd_make_hashes_read(&hashes, path, piece_bytes, &options, err);
}

static void begin(void)
{
    suite_folder(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    xd_options_init(&options);
}

static void end(void)
{
    xd_make_hashes_fini(&hashes);
    unlink(path);
    rmdir(folder);
}

START_TEST(each_piece_and_the_whole_have_a_hash)
{
    write_file("abcdefghij");
    ck_assert_int_eq(read_file(4, NULL), 0);
    ck_assert_uint_eq(hashes.size, 10);
    ck_assert_uint_eq(hashes.n, 3);
    ck_assert_str_eq(hashes.whole, WHOLE);
    ck_assert_str_eq(hashes.pieces[0], ABCD);
    ck_assert_uint_eq(strlen(hashes.pieces[2]), XD_MAKE_HEX);
    ck_assert_str_ne(hashes.pieces[2], hashes.pieces[1]);
}
END_TEST

START_TEST(one_piece_needs_no_hash_of_its_own)
{
    write_file("abcdefghij");
    ck_assert_int_eq(read_file(0, NULL), 0);
    ck_assert_uint_eq(hashes.n, 0);
    ck_assert_str_eq(hashes.whole, WHOLE);
    xd_make_hashes_fini(&hashes);
    ck_assert_int_eq(read_file(5, NULL), 0);
    ck_assert_uint_eq(hashes.n, 2);
}
END_TEST

START_TEST(an_empty_file_has_a_hash)
{
    write_file("");
    ck_assert_int_eq(read_file(0, NULL), 0);
    ck_assert_str_eq(
        hashes.whole,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
    struct xd_error err;

    ck_assert_int_eq(read_file(0, &err), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, path));
}
END_TEST

START_TEST(more_pieces_than_a_manifest_has_are_refused)
{
    struct xd_error err;

    ck_assert_int_eq(
        xd_make_hashes_init(&hashes, 500000 * 16 * K + 1, 16 * K, &err),
        XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(err.msg, "500001 pieces"));
    ck_assert_int_eq(
        xd_make_hashes_init(&hashes, 500000 * 16 * K, 16 * K, &err), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("make_hashes");

    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, no_piece_spans_two_extents, 0,
                        sizeof fitting / sizeof *fitting);
    tcase_add_loop_test(t, there_are_at_most_1024_pieces, 0,
                        sizeof sizes / sizeof *sizes);
    tcase_add_test(t, each_piece_and_the_whole_have_a_hash);
    tcase_add_test(t, one_piece_needs_no_hash_of_its_own);
    tcase_add_test(t, an_empty_file_has_a_hash);
    tcase_add_test(t, a_file_that_is_not_there_is_named);
    tcase_add_test(t, more_pieces_than_a_manifest_has_are_refused);
    return run_suite("make_hashes", t);
}
