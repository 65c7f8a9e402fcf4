/* SPDX-License-Identifier: MIT */
#include "engine/trust/pieces.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

#define HEX "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HASH "<hash>" HEX "</hash>"
#define META(name, type, value)                                   \
    "<exnode:metadata name=\"" name "\" type=\"" type "\">" value \
    "</exnode:metadata>"
#define MAPPING(offset, length, sha256)                          \
    "<exnode:mapping>" META("exnode_offset", "integer", offset)  \
        META("logical_length", "integer", length) sha256         \
        "<exnode:read>http://a.example/" offset "</exnode:read>" \
        "</exnode:mapping>"
#define SHA META("sha256", "string", HEX)

static struct xd_manifest *manifest;
static struct xd_pieces pieces;

static void teardown(void)
{
    xd_pieces_fini(&pieces);
    xd_manifest_unref(manifest);
}

static void read_text(const char *text, uint64_t begin, uint64_t end)
{
    struct xd_range wanted = {begin, end};
    struct xd_error error;

    ck_assert_msg(
        xd_manifest_parse(&manifest, text, strlen(text), NULL, &error) == 0,
        "%s", error.msg);
    ck_assert_int_eq(xd_pieces_init(&pieces, manifest, 0, wanted), 0);
}

/* 25 bytes in pieces of 10. */
static void read_uniform(uint64_t begin, uint64_t end)
{
    read_text("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
              "<file name=\"f\"><size>25</size>"
              "<pieces type=\"sha-256\" length=\"10\">" HASH HASH HASH
              "</pieces><url>http://a.example/f</url></file></metalink>",
              begin, end);
}

static void assert_range(size_t i, uint64_t begin, uint64_t end)
{
    struct xd_range r = xd_pieces_range(&pieces, i);

    ck_assert_uint_eq(r.begin, begin);
    ck_assert_uint_eq(r.end, end);
}

START_TEST(the_last_piece_is_short)
{
    read_uniform(0, 25);
    ck_assert_uint_eq(pieces.n, 3);
    assert_range(0, 0, 10);
    assert_range(2, 20, 25);
    ck_assert_str_eq(xd_pieces_hex(&pieces, 2), HEX);
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){0, 25}));
}
END_TEST

START_TEST(a_piece_that_reaches_out_of_what_is_wanted_is_none)
{
    read_uniform(5, 24);
    ck_assert_uint_eq(pieces.n, 1);
    assert_range(0, 10, 20);
    ck_assert(!xd_pieces_cover(&pieces, (struct xd_range){5, 24}));
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){12, 20}));
}
END_TEST

START_TEST(a_range_within_one_piece_has_none)
{
    read_uniform(12, 18);
    ck_assert_uint_eq(pieces.n, 0);
    ck_assert_ptr_null(pieces.algorithm);
}
END_TEST

START_TEST(the_piece_behind_a_byte_is_found)
{
    read_uniform(0, 25);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 0), 0);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 9), 0);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 10), 1);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 24), 2);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 25), 3);
}
END_TEST

START_TEST(extents_with_a_hash_are_pieces)
{
    read_text("<exnode xmlns:exnode=\"http://loci.cs.utk.edu/exnode\">" MAPPING(
                  "0", "10", SHA) MAPPING("5", "10", SHA)
                  MAPPING("10", "10", "") MAPPING("20", "5", SHA) "</exnode>",
              0, 25);
    ck_assert_uint_eq(pieces.n, 2);
    assert_range(0, 0, 10);
    assert_range(1, 20, 25);
    ck_assert_str_eq(pieces.algorithm, "sha-256");
    ck_assert(!xd_pieces_cover(&pieces, (struct xd_range){0, 25}));
}
END_TEST

#define EXNODE "<exnode xmlns:exnode=\"http://loci.cs.utk.edu/exnode\">"
#define PIECES_OF_10                                                      \
    META("pieces", "string", "sha-1 10")                                  \
    META("piece.0", "string", "0000000000000000000000000000000000000000") \
    META("piece.1", "string", "1111111111111111111111111111111111111111") \
    META("piece.2", "string", "2222222222222222222222222222222222222222") \
    META("piece.3", "string", "3333333333333333333333333333333333333333") \
    META("piece.4", "string", "4444444444444444444444444444444444444444")

static void assert_algorithm(size_t i, const char *algorithm, char first)
{
    ck_assert_str_eq(xd_pieces_algorithm(&pieces, i), algorithm);
    ck_assert_int_eq(xd_pieces_hex(&pieces, i)[0], first);
}

/* 50 bytes: extents end at 10, 25, 30 and 50, so that one piece spans two of them. */
START_TEST(extents_with_a_hash_replace_a_piece_that_spans_them)
{
    read_text(EXNODE PIECES_OF_10 MAPPING("0", "10", SHA)
                  MAPPING("10", "15", SHA) MAPPING("25", "5", SHA)
                      MAPPING("30", "20", SHA) "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 5);
    assert_range(0, 0, 10);
    assert_range(1, 10, 25);
    assert_range(2, 25, 30);
    assert_range(3, 30, 40);
    assert_range(4, 40, 50);
    assert_algorithm(0, "sha-1", '0');
    assert_algorithm(1, "sha-256", 'e');
    assert_algorithm(2, "sha-256", 'e');
    assert_algorithm(3, "sha-1", '3');
    assert_algorithm(4, "sha-1", '4');
    ck_assert_str_eq(pieces.algorithm, "sha-1"); /* the weakest */
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){0, 50}));
}
END_TEST

START_TEST(extents_that_cross_pieces_to_the_end_replace_all_of_them)
{
    read_text(EXNODE PIECES_OF_10 MAPPING("0", "12", SHA)
                  MAPPING("12", "12", SHA) MAPPING("24", "26", SHA) "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 3);
    assert_range(0, 0, 12);
    assert_range(2, 24, 50);
}
END_TEST

START_TEST(a_piece_that_spans_an_extent_without_a_hash_stays)
{
    read_text(EXNODE PIECES_OF_10 MAPPING("0", "12", SHA)
                  MAPPING("12", "12", "") MAPPING("24", "26", SHA) "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 5);
    assert_range(1, 10, 20);
    assert_algorithm(1, "sha-1", '1');
}
END_TEST

START_TEST(pieces_within_extents_stay)
{
    read_text(EXNODE PIECES_OF_10 MAPPING("0", "20", SHA)
                  MAPPING("20", "30", SHA) "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 5);
    ck_assert_uint_eq(pieces.piece_bytes, 10);
}
END_TEST

START_TEST(a_piece_stays_where_an_extent_reaches_out_of_what_is_wanted)
{
    read_text(EXNODE PIECES_OF_10 MAPPING("0", "15", SHA)
                  MAPPING("15", "15", SHA) MAPPING("30", "20", SHA) "</exnode>",
              10, 50);
    ck_assert_uint_eq(pieces.n, 4);
    assert_range(0, 10, 20);
}
END_TEST

#define STRIPE_OF_2(sha)                                                      \
    META("parity", "meta",                                                    \
         META("stripe.0", "meta",                                             \
              META("code", "string", "reed-solomon")                          \
                  META("polynomial", "string", "0x11d")                       \
                      META("matrix", "string", "cauchy")                      \
                          META("k", "integer", "2") META("n", "integer", "3") \
                              META("shard_length", "integer", "25")           \
                                  META("exnode_offset", "integer", "0")       \
                                      META("logical_length", "integer", "50") \
                                          META("shard.0", "meta", sha)        \
                                              META("shard.1", "meta", sha)))

START_TEST(shards_of_data_with_a_hash_are_as_extents_with_one)
{
    read_text(EXNODE PIECES_OF_10 STRIPE_OF_2(SHA) MAPPING("0", "25", "")
                  MAPPING("25", "25", "") "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 2);
    assert_range(0, 0, 25);
    assert_range(1, 25, 50);
}
END_TEST

START_TEST(shards_of_data_with_a_hash_are_pieces)
{
    read_text(EXNODE STRIPE_OF_2(SHA) MAPPING("0", "25", "")
                  MAPPING("25", "25", "") "</exnode>",
              0, 50);
    ck_assert_uint_eq(pieces.n, 2);
    ck_assert(xd_pieces_cover(&pieces, (struct xd_range){0, 50}));
}
END_TEST

START_TEST(without_hashes_there_are_none)
{
    read_text("http://a.example/f\n", 0, XD_SIZE_UNKNOWN);
    ck_assert_uint_eq(pieces.n, 0);
    ck_assert_uint_eq(xd_pieces_find(&pieces, 0), 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("pieces");

    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, the_last_piece_is_short);
    tcase_add_test(tcase, a_piece_that_reaches_out_of_what_is_wanted_is_none);
    tcase_add_test(tcase, a_range_within_one_piece_has_none);
    tcase_add_test(tcase, the_piece_behind_a_byte_is_found);
    tcase_add_test(tcase, extents_with_a_hash_are_pieces);
    tcase_add_test(tcase, extents_with_a_hash_replace_a_piece_that_spans_them);
    tcase_add_test(tcase,
                   extents_that_cross_pieces_to_the_end_replace_all_of_them);
    tcase_add_test(tcase, a_piece_that_spans_an_extent_without_a_hash_stays);
    tcase_add_test(tcase, pieces_within_extents_stay);
    tcase_add_test(tcase,
                   a_piece_stays_where_an_extent_reaches_out_of_what_is_wanted);
    tcase_add_test(tcase, shards_of_data_with_a_hash_are_as_extents_with_one);
    tcase_add_test(tcase, shards_of_data_with_a_hash_are_pieces);
    tcase_add_test(tcase, without_hashes_there_are_none);
    return run_suite("pieces", tcase);
}
