/* SPDX-License-Identifier: MIT */
/* Which hashes of a whole file are compared. */
#include "engine/trust/proof.h"

#include <stdio.h>
#include <string.h>
#include <xdownload/check.h>

#include "command/manifests.h"
#include "suite.h"

/* Of "abc". */
#define MD5 "900150983cd24fb0d6963f7d28e17f72"
#define SHA1 "a9993e364706816aba3e25717850c26c9cd0d89d"
#define SHA256 \
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA512                                                         \
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" \
    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
#define OTHER256 \
    "0000000000000000000000000000000000000000000000000000000000000000"

#define HASH(type, hex) "<hash type=\"" type "\">" hex "</hash>"
#define PIECES                                                        \
    "<pieces type=\"sha-256\" length=\"2\"><hash>" OTHER256 "</hash>" \
    "<hash>" OTHER256 "</hash></pieces>"

#define ZEROS160 "0000000000000000000000000000000000000000"
#define WEAK_PIECES                                                 \
    "<pieces type=\"sha-1\" length=\"2\"><hash>" ZEROS160 "</hash>" \
    "<hash>" ZEROS160 "</hash></pieces>"

static const struct xd_range all = {0, 3};
static struct xd_manifest *manifest;
static struct xd_pieces pieces;
static struct xd_proof *proof;
static struct xd_error error;

/* `inside` is what the manifest says, `given` a value or NULL. */
static void make(const char *inside, const char *given)
{
    struct xd_checksums *checksums;
    struct xd_manifest *bare;
    char text[2000];

    snprintf(text, sizeof text,
             "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
             "<file name=\"f\"><size>3</size>%s<url>http://a.example/f</url>"
             "</file></metalink>",
             inside);
    ck_assert_int_eq(xd_manifest_parse(&bare, text, strlen(text), NULL, &error),
                     0);
    ck_assert_int_eq(xd_checksums_new(&checksums, &error), 0);
    if (given)
        ck_assert_int_eq(xd_checksums_add(checksums, given, &error), 0);
    ck_assert_int_eq(xd_checksums_apply(&manifest, checksums, bare, 0, &error),
                     0);
    xd_checksums_free(checksums);
    xd_manifest_unref(bare);
    ck_assert_int_eq(xd_pieces_init(&pieces, manifest, 0, all), 0);
    ck_assert_int_eq(xd_proof_new(&proof, manifest, 0, &pieces, all, &error),
                     0);
}

static void teardown(void)
{
    xd_proof_free(proof);
    xd_pieces_fini(&pieces);
    xd_manifest_unref(manifest);
    proof = NULL;
    manifest = NULL;
}

/* By which algorithm the bytes are not what they should be, or NULL. */
static const char *fault_of(const char *bytes)
{
    const char *right;
    char hex[XD_HASH_HEX_MAX + 1];

    xd_proof_add(proof, bytes, 1);
    xd_proof_add(proof, bytes + 1, strlen(bytes) - 1);
    return xd_proof_end(proof, &right, hex);
}

static void expect_strongest(const char *algorithm)
{
    const char *strongest = xd_proof_strongest(proof, &pieces, all);

    ck_assert_ptr_nonnull(strongest);
    ck_assert_str_eq(strongest, algorithm);
}

START_TEST(the_strongest_of_the_manifest_is_compared)
{
    make(HASH("md5", "00000000000000000000000000000000")
             HASH("sha-256", SHA256),
         NULL);
    ck_assert_ptr_null(fault_of("abc"));
    ck_assert_str_eq(fault_of("abd"), "sha-256");
    ck_assert_ptr_null(fault_of("abc"));
    expect_strongest("sha-256");
}
END_TEST

START_TEST(without_a_hash_there_is_nothing_to_compare)
{
    make("", NULL);
    ck_assert_ptr_null(proof);
    ck_assert_ptr_null(xd_proof_strongest(proof, &pieces, all));
}
END_TEST

START_TEST(a_hash_that_cannot_be_computed_is_none)
{
    make(HASH("crc32c", "00000000") HASH("whirlpool", "00"), NULL);
    ck_assert_ptr_null(proof);
}
END_TEST

START_TEST(pieces_that_prove_as_much_make_the_manifests_needless)
{
    make(HASH("sha-256", OTHER256) PIECES, NULL);
    ck_assert_ptr_null(proof);
    expect_strongest("sha-256");
}
END_TEST

START_TEST(strong_pieces_prove_what_a_stronger_hash_of_the_manifest_does)
{
    make(HASH("sha-512", SHA512) PIECES, NULL);
    ck_assert_ptr_null(proof);
    expect_strongest("sha-256");
}
END_TEST

START_TEST(weak_pieces_do_not)
{
    make(HASH("sha-256", SHA256) WEAK_PIECES, NULL);
    ck_assert_str_eq(fault_of("abd"), "sha-256");
    expect_strongest("sha-256");
}
END_TEST

START_TEST(stronger_hash_that_was_given_is_computed_beside_strong_pieces)
{
    make(PIECES, "sha-512=" SHA512);
    ck_assert_str_eq(fault_of("abd"), "sha-512");
    expect_strongest("sha-512");
}
END_TEST

START_TEST(pieces_do_not_stand_for_one_that_was_given)
{
    make(PIECES, "md5=" MD5);
    ck_assert_str_eq(fault_of("abd"), "md5");
    ck_assert_ptr_null(fault_of("abc"));
    expect_strongest("sha-256");
}
END_TEST

START_TEST(a_stronger_one_of_the_manifest_does_not_stand_for_it_either)
{
    make(HASH("sha-512", SHA512), "sha-1=" SHA1);
    ck_assert_ptr_null(fault_of("abc"));
    expect_strongest("sha-512");
    teardown();
    make(HASH("sha-512", SHA512),
         "sha-1=0000000000000000000000000000000000000000");
    ck_assert_str_eq(fault_of("abc"), "sha-1");
}
END_TEST

START_TEST(one_that_was_given_stands_for_those_of_its_strength)
{
    make(HASH("sha-256", SHA256)
             HASH("sha-224", "0000000000000000000000000000"
                             "0000000000000000000000000000"),
         "sha-256=" SHA256);
    ck_assert_ptr_null(fault_of("abc"));
    expect_strongest("sha-256");
}
END_TEST

START_TEST(what_is_right_is_told_beside_what_is_wrong)
{
    const char *right = NULL;
    char hex[XD_HASH_HEX_MAX + 1];

    make("", "sha-256=" OTHER256);
    xd_proof_add(proof, "abc", 3);
    ck_assert_str_eq(xd_proof_end(proof, &right, hex), "sha-256");
    ck_assert_str_eq(right, OTHER256);
    ck_assert_str_eq(hex, SHA256);
}
END_TEST

START_TEST(what_was_added_can_be_forgotten)
{
    make(HASH("sha-256", SHA256), "md5=" MD5);
    xd_proof_add(proof, "xyz", 3);
    xd_proof_restart(proof);
    ck_assert_ptr_null(fault_of("abc"));
}
END_TEST

START_TEST(md5_and_sha_1_are_weak)
{
    ck_assert(xd_hash_is_weak("md5"));
    ck_assert(xd_hash_is_weak("sha-1"));
    ck_assert(!xd_hash_is_weak("sha-256"));
    ck_assert(!xd_hash_is_weak("whirlpool"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("proof");

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, the_strongest_of_the_manifest_is_compared);
    tcase_add_test(t, without_a_hash_there_is_nothing_to_compare);
    tcase_add_test(t, a_hash_that_cannot_be_computed_is_none);
    tcase_add_test(t, pieces_that_prove_as_much_make_the_manifests_needless);
    tcase_add_test(
        t, strong_pieces_prove_what_a_stronger_hash_of_the_manifest_does);
    tcase_add_test(t, weak_pieces_do_not);
    tcase_add_test(
        t, stronger_hash_that_was_given_is_computed_beside_strong_pieces);
    tcase_add_test(t, pieces_do_not_stand_for_one_that_was_given);
    tcase_add_test(t,
                   a_stronger_one_of_the_manifest_does_not_stand_for_it_either);
    tcase_add_test(t, one_that_was_given_stands_for_those_of_its_strength);
    tcase_add_test(t, what_is_right_is_told_beside_what_is_wrong);
    tcase_add_test(t, what_was_added_can_be_forgotten);
    tcase_add_test(t, md5_and_sha_1_are_weak);
    return run_suite("engine.proof", t);
}
