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
    tcase_add_test(tcase, without_hashes_there_are_none);
    return run_suite("pieces", tcase);
}
