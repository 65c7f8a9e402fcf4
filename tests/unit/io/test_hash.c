/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/hex.h"
#include "io/hash.h"
#include "suite.h"

static char hex[XD_HASH_HEX_MAX + 1];

static const char *hash_of(const char *algorithm, const char *text)
{
    struct xd_hasher *h;

    ck_assert_int_eq(xd_hasher_new(&h, algorithm, NULL), 0);
    xd_hasher_add(h, text, strlen(text));
    xd_hasher_end(h, hex);
    xd_hasher_free(h);
    return hex;
}

/* The examples of RFC 1321, A.5, and FIPS 180. */
START_TEST(known_texts_have_their_known_hashes)
{
    ck_assert_str_eq(hash_of("md5", "abc"), "900150983cd24fb0d6963f7d28e17f72");
    ck_assert_str_eq(hash_of("sha-1", "abc"),
                     "a9993e364706816aba3e25717850c26c9cd0d89d");
    ck_assert_str_eq(hash_of("sha-256", "abc"),
                     "ba7816bf8f01cfea414140de5dae2223"
                     "b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(hash_of("sha-512", "abc"),
                     "ddaf35a193617abacc417349ae204131"
                     "12e6fa4e89a97ea20a9eeee64b55d39a"
                     "2192992a274fc1a836ba3c23a3feebbd"
                     "454d4423643ce80e2a9ac94fa54ca49f");
}
END_TEST

START_TEST(it_begins_anew_after_its_end)
{
    struct xd_hasher *h;

    ck_assert_int_eq(xd_hasher_new(&h, "sha-1", NULL), 0);
    xd_hasher_add(h, "x", 1);
    xd_hasher_end(h, hex);
    xd_hasher_add(h, "ab", 2);
    xd_hasher_add(h, "c", 1);
    xd_hasher_end(h, hex);
    ck_assert_str_eq(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    xd_hasher_free(h);
}
END_TEST

START_TEST(it_becomes_one_of_another_algorithm)
{
    struct xd_hasher *h = NULL, *before;

    ck_assert_int_eq(xd_hasher_become(&h, "md5", NULL), 0);
    before = h;
    ck_assert_int_eq(xd_hasher_become(&h, "md5", NULL), 0);
    ck_assert_ptr_eq(h, before);
    ck_assert_int_eq(xd_hasher_become(&h, "sha-1", NULL), 0);
    xd_hasher_add(h, "abc", 3);
    xd_hasher_end(h, hex);
    ck_assert_str_eq(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    ck_assert_int_eq(xd_hasher_become(&h, "crc32c", NULL), XD_E_INVAL);
    ck_assert_ptr_null(h);
}
END_TEST

START_TEST(what_cannot_be_computed_is_known_to_be_so)
{
    struct xd_hasher *h;
    struct xd_error error;

    ck_assert_int_eq(xd_hash_strength("crc32c"), -1);
    ck_assert_int_eq(xd_hasher_new(&h, "crc32c", &error), XD_E_INVAL);
    ck_assert_ptr_null(h);
    ck_assert_ptr_nonnull(strstr(error.msg, "crc32c"));
}
END_TEST

START_TEST(broken_algorithms_are_weaker_than_all_others)
{
    ck_assert_int_eq(xd_hash_strength("md5"), 0);
    ck_assert_int_eq(xd_hash_strength("sha-1"), 0);
    ck_assert_int_gt(xd_hash_strength("sha-224"), 0);
    ck_assert_int_gt(xd_hash_strength("sha-512"), xd_hash_strength("sha-256"));
}
END_TEST

/* The examples of FIPS 180, and RFC 4231, 4.3. */
START_TEST(what_is_in_memory_is_hashed_at_once)
{
    unsigned char bytes[XD_SHA256_BYTES];

    ck_assert_int_eq(xd_sha256_hex(xd_span_of("abc"), hex), 0);
    ck_assert_str_eq(hex, hash_of("sha-256", "abc"));
    ck_assert_int_eq(xd_hmac_sha256(xd_span_of("Jefe"),
                                    xd_span_of("what do ya want for nothing?"),
                                    bytes),
                     0);
    xd_hex_write(hex, bytes, sizeof bytes);
    ck_assert_str_eq(hex, "5bdcc146bf60754e6a042426089575c7"
                          "5a003f089d2739839dec58b964ec3843");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("hash");

    tcase_add_test(tcase, known_texts_have_their_known_hashes);
    tcase_add_test(tcase, it_begins_anew_after_its_end);
    tcase_add_test(tcase, it_becomes_one_of_another_algorithm);
    tcase_add_test(tcase, what_cannot_be_computed_is_known_to_be_so);
    tcase_add_test(tcase, broken_algorithms_are_weaker_than_all_others);
    tcase_add_test(tcase, what_is_in_memory_is_hashed_at_once);
    return run_suite("hash", tcase);
}
