/* SPDX-License-Identifier: MIT */
/* Which pieces are hashed while they come. */
#include "engine/trust/piece_hash.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "suite.h"

#define PIECE ((uint64_t)XD_PIECE_HASH_MOST)
#define SHORT ((uint64_t)1000)
#define HEX "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static unsigned char bytes[3 * XD_PIECE_HASH_MOST];
static struct xd_manifest *manifest;
static struct xd_pieces pieces;
static struct xd_piece_hash hash;

static void setup(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
}

static void teardown(void)
{
    xd_piece_hash_fini(&hash);
    xd_pieces_fini(&pieces);
    xd_manifest_unref(manifest);
}

/* Three pieces of `length`. */
static void describe(uint64_t length)
{
    struct xd_range wanted = {0, 3 * length};
    struct xd_error error;
    char text[1000];
    int n =
        snprintf(text, sizeof text,
                 "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
                 "<file name=\"f\"><size>%llu</size>"
                 "<pieces type=\"sha-256\" length=\"%llu\">"
                 "<hash>" HEX "</hash><hash>" HEX "</hash><hash>" HEX
                 "</hash></pieces><url>http://a.example/f</url>"
                 "</file></metalink>",
                 (unsigned long long)(3 * length), (unsigned long long)length);

    ck_assert_int_eq(
        xd_manifest_parse(&manifest, text, (size_t)n, NULL, &error), 0);
    ck_assert_int_eq(xd_pieces_init(&pieces, manifest, 0, wanted), 0);
}

/* By one who goes on to the end of the file. */
static void add(uint64_t begin, uint64_t end)
{
    struct xd_range range = {begin, end};

    xd_piece_hash_add(&hash, &pieces, begin, range, pieces.size, bytes + begin);
}

static void assert_ended(size_t piece)
{
    struct xd_range r = xd_pieces_range(&pieces, piece);
    char hex[XD_HASH_HEX_MAX + 1];
    struct xd_hasher *hasher;

    ck_assert_int_eq(xd_hasher_new(&hasher, "sha-256", NULL), 0);
    xd_hasher_add(hasher, bytes + r.begin, (size_t)xd_range_length(r));
    xd_hasher_end(hasher, hex);
    xd_hasher_free(hasher);
    ck_assert(hash.has_ended);
    ck_assert_uint_eq(hash.ended_piece, piece);
    ck_assert_str_eq(hash.hex, hex);
}

START_TEST(what_comes_from_end_to_end_is_hashed)
{
    describe(PIECE);
    add(0, 100);
    ck_assert(!hash.has_ended);
    add(100, PIECE);
    assert_ended(0);
    add(PIECE, 2 * PIECE);
    assert_ended(1);
}
END_TEST

START_TEST(the_next_piece_begins_where_one_ends)
{
    describe(PIECE);
    add(0, PIECE - 10);
    add(PIECE - 10, 2 * PIECE - 10);
    assert_ended(0);
    add(2 * PIECE - 10, 3 * PIECE - 10);
    assert_ended(1);
    add(3 * PIECE - 10, 3 * PIECE);
    assert_ended(2);
}
END_TEST

START_TEST(what_begins_inside_of_a_piece_is_left_to_others)
{
    describe(PIECE);
    add(1, PIECE);
    ck_assert(!hash.has_ended);
    add(PIECE, 2 * PIECE);
    assert_ended(1);
}
END_TEST

START_TEST(what_another_wrote_between_is_left_to_others)
{
    describe(PIECE);
    add(0, 1000);
    add(2000, PIECE);
    ck_assert(!hash.has_ended);
    add(PIECE, PIECE + 1000);
    add(2 * PIECE + 1000, 3 * PIECE);
    ck_assert(!hash.has_ended);
}
END_TEST

START_TEST(a_piece_that_was_given_up_is_hashed_when_it_comes_again)
{
    describe(PIECE);
    add(0, 1000);
    add(0, PIECE);
    assert_ended(0);
}
END_TEST

START_TEST(who_will_not_come_to_the_end_does_not_begin)
{
    struct xd_range range = {0, 1000};

    describe(PIECE);
    xd_piece_hash_add(&hash, &pieces, 0, range, PIECE - 1, bytes);
    ck_assert(!hash.is_running);
    xd_piece_hash_add(&hash, &pieces, 0, range, PIECE, bytes);
    ck_assert(hash.is_running);
}
END_TEST

START_TEST(of_short_pieces_that_come_together_only_the_last_is_hashed)
{
    describe(SHORT);
    add(0, 3 * SHORT + 1);
    ck_assert(!hash.has_ended);
    add(0, 3 * SHORT);
    assert_ended(2);
}
END_TEST

START_TEST(the_era_is_that_of_the_first_byte)
{
    describe(PIECE);
    add(PIECE, PIECE + 10);
    add(PIECE + 10, 2 * PIECE);
    ck_assert_uint_eq(hash.ended_era, PIECE);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("piece_hash");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, what_comes_from_end_to_end_is_hashed);
    tcase_add_test(tcase, the_next_piece_begins_where_one_ends);
    tcase_add_test(tcase, what_begins_inside_of_a_piece_is_left_to_others);
    tcase_add_test(tcase, what_another_wrote_between_is_left_to_others);
    tcase_add_test(tcase,
                   a_piece_that_was_given_up_is_hashed_when_it_comes_again);
    tcase_add_test(tcase, who_will_not_come_to_the_end_does_not_begin);
    tcase_add_test(tcase,
                   of_short_pieces_that_come_together_only_the_last_is_hashed);
    tcase_add_test(tcase, the_era_is_that_of_the_first_byte);
    return run_suite("piece_hash", tcase);
}
