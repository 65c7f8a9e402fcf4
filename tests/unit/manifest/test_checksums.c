/* SPDX-License-Identifier: MIT */
/* Checksums beside a manifest, matched and held against it. */
#include <stdlib.h>
#include <unistd.h>
#include <xdownload/check.h>

#include "command/checks.h"
#include "command/manifests.h"
#include "manifest/signed_texts.h"
#include "reading.h"

#define A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B32 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define A64 A32 A32
#define B64 B32 B32

#define FILE_OF(name, inside)                                                  \
    "<file name=\"" name "\">" inside "<url>http://a.example/p/" name "</url>" \
    "</file>"

static struct xd_checksums *checksums;

static void setup(void)
{
    ck_assert_int_eq(xd_checksums_new(&checksums, NULL), 0);
}

static void teardown(void)
{
    xd_checksums_free(checksums);
    forget_manifest();
}

static void add(const char *value)
{
    int rc = xd_checksums_add(checksums, value, &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static void add_sums(const char *text)
{
    int rc = xd_checksums_parse(checksums, text, strlen(text), "SUMS", &error);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static void take_url(const char *url)
{
    forget_manifest();
    ck_assert_int_eq(
        xd_manifest_from_urls(&manifest, &url, 1, XD_SIZE_UNKNOWN, &error), 0);
}

/* The manifest becomes the one that has the checksums too. */
static int apply_to(size_t file)
{
    struct xd_manifest *made;
    int rc = xd_checksums_apply(&made, checksums, manifest, file, &error);
    ck_assert((rc == 0) == (made != NULL));
    if (rc == 0) {
        forget_manifest();
        manifest = made;
    }
    return rc;
}

static void apply(void)
{
    int rc = apply_to(XD_ALL_FILES);
    ck_assert_msg(rc == 0, "%s", error.msg);
}

static void expect_failure(int code, const char *words)
{
    ck_assert_int_eq(apply_to(XD_ALL_FILES), code);
    ck_assert_int_eq(error.code, code);
    ck_assert_msg(strstr(error.msg, words) != NULL, "\"%s\" lacks \"%s\"",
                  error.msg, words);
}

static void expect_hash(size_t file, size_t i, const char *algorithm,
                        const char *hex, int is_given)
{
    struct xd_hash h = hash_at(file, i);
    ck_assert_str_eq(h.algorithm, algorithm);
    ck_assert_str_eq(h.hex, hex);
    ck_assert_int_eq(h.is_given, is_given);
}

START_TEST(a_value_is_a_hash_of_the_only_file)
{
    take_url("http://a.example/f.iso");
    add("sha256:" A64);
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    expect_hash(0, 0, "sha-256", A64, 1);
    expect_url(0, 0, 0, "http://a.example/f.iso");
    ck_assert_str_eq(xd_manifest_format(manifest), "urls");
}
END_TEST

START_TEST(a_value_is_told_from_the_name_of_a_file)
{
    ck_assert(xd_checksum_is_value("sha-256=x"));
    ck_assert(xd_checksum_is_value("SHA512:"));
    ck_assert(xd_checksum_is_value("md5=" A32));
    ck_assert(!xd_checksum_is_value("SHA256SUMS"));
    ck_assert(!xd_checksum_is_value("./md5=x"));
    ck_assert(!xd_checksum_is_value("md5"));
    ck_assert(!xd_checksum_is_value("=" A32));
    ck_assert(xd_checksum_is_value(A32));
    ck_assert(xd_checksum_is_value(A64));
    ck_assert(!xd_checksum_is_value(A32 "a"));
    ck_assert(!xd_checksum_is_value(""));
    ck_assert(!xd_checksum_is_value("g" A32));
    ck_assert(!xd_checksum_is_value("http://a.example/SHA256SUMS"));
}
END_TEST

START_TEST(a_value_that_is_no_hash_is_refused)
{
    ck_assert_int_eq(xd_checksums_add(checksums, "sha-256=" A32, &error),
                     XD_E_INVAL);
    ck_assert_str_eq(error.msg,
                     "'" A32 "' is no sha-256, which has 64 hex digits");
    ck_assert_int_eq(xd_checksums_add(checksums, "md5=x" A32, &error),
                     XD_E_INVAL);
    ck_assert_int_eq(xd_checksums_add(checksums, "crc32c=00000000", &error),
                     XD_E_INVAL);
    ck_assert_str_eq(error.msg, "crc32c cannot be computed");
    ck_assert_int_eq(xd_checksums_add(checksums, A64 "a", &error), XD_E_INVAL);
    ck_assert_str_eq(error.msg, "invalid checksum '" A64 "a': use TYPE=HEX, "
                                "such as sha-256=3f2a..., or the hex digits "
                                "alone");
    take_url("http://a.example/f.iso");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 0);
}
END_TEST

START_TEST(parse_without_origin_is_refused)
{
    ck_assert_int_eq(xd_checksums_parse(checksums, A64, 64, NULL, &error),
                     XD_E_INVAL);
    ck_assert_int_eq(error.code, XD_E_INVAL);
}
END_TEST

START_TEST(the_number_of_hex_digits_alone_tells_the_algorithm)
{
    ck_assert_int_eq(xd_checksums_add(checksums, A64, &error), 0);
    ck_assert_int_eq(xd_checksums_add(checksums, A32, &error), 0);
    take_url("http://a.example/f.iso");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 2);
}
END_TEST

START_TEST(a_file_is_found_by_its_name_without_folders)
{
    take_url("http://a.example/x/f.iso");
    add_sums(B64 "  g.iso\n" A64 "  ./y/f.iso\n" B64 "  f.iso.torrent\n");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(a_name_is_compared_as_it_is_used)
{
    take_url("http://a.example/f%20%C3%A4.iso");
    add_sums(A64 "  f \xc3\xa4.iso\n");
    apply();
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(a_name_that_is_missing_is_said)
{
    take_url("http://a.example/f.iso");
    add_sums(A64 "  g.iso\n");
    expect_failure(XD_E_MANIFEST, "SUMS: no MD5, SHA-1 or SHA-2 checksum of "
                                  "f.iso stands there");
}
END_TEST

START_TEST(each_text_must_know_the_file)
{
    take_url("http://a.example/f.iso");
    add("sha-256=" A64);
    add_sums(A32 "  g.iso\n");
    expect_failure(XD_E_MANIFEST, "f.iso stands there");
}
END_TEST

START_TEST(a_file_without_a_name_is_not_found)
{
    take_url("http://a.example/");
    add_sums(A64 "  f.iso\n");
    expect_failure(XD_E_MANIFEST, "SUMS: the file has no name");
}
END_TEST

START_TEST(a_hash_without_a_name_in_a_text_is_of_the_only_file)
{
    take_url("http://a.example/");
    ck_assert(!xd_checksums_are_of_one(checksums));
    add_sums(A64 "\n");
    ck_assert(xd_checksums_are_of_one(checksums));
    apply();
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(a_hash_without_a_name_among_others_is_none)
{
    take_url("http://a.example/f");
    add_sums("Fingerprint of the key:\n" A32 "bbbbbbbb\n" A64 "  f\n");
    ck_assert(!xd_checksums_are_of_one(checksums));
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(a_text_without_a_checksum_is_refused)
{
    static const char text[] = "<html>not found</html>";
    ck_assert_int_eq(xd_checksums_parse(checksums, text, strlen(text),
                                        "http://u:secret@a.example/S?key",
                                        &error),
                     XD_E_MANIFEST);
    ck_assert_str_eq(error.msg, "http://a.example/S: no line of it is an MD5, "
                                "SHA-1 or SHA-2 checksum");
    ck_assert_int_eq(xd_checksums_parse(checksums, NULL, 0, "-", &error),
                     XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "standard input: "));
}
END_TEST

START_TEST(different_algorithms_add_up_strongest_first)
{
    parse(METALINK FILE_OF("f", "<hash type=\"sha-1\">" A32 "aaaaaaaa"
                                "</hash>") "</metalink>");
    add("md5=" B32);
    add_sums(A64 "  f\n");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 3);
    expect_hash(0, 0, "sha-256", A64, 1);
    expect_hash(0, 1, "sha-1", A32 "aaaaaaaa", 0);
    expect_hash(0, 2, "md5", B32, 1);
}
END_TEST

START_TEST(the_same_hash_twice_is_one)
{
    parse(METALINK FILE_OF("f", "<hash type=\"sha-256\">" A64
                                "</hash>") "</metalink>");
    add("sha-256=" A64);
    add_sums(A64 "  f\n" A64 " *x/f\n");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(two_that_contradict_each_other_are_refused)
{
    take_url("http://a.example/f");
    add("sha-256=" A64);
    add_sums(B64 "  f\n");
    expect_failure(XD_E_MANIFEST, "f: by SUMS its sha-256 is " B64 ", but by "
                                  "the value given it is " A64);
}
END_TEST

START_TEST(two_values_of_one_algorithm_are_refused)
{
    add("sha-256=" A64);
    add("sha-256=" A64);
    add("md5=" A32);
    ck_assert_int_eq(xd_checksums_add(checksums, "SHA256:" B64, &error),
                     XD_E_MANIFEST);
    ck_assert_ptr_nonnull(strstr(error.msg, "two values of sha-256 are given"));
    take_url("http://a.example/f");
    apply();
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(one_that_contradicts_the_manifest_is_refused)
{
    parse(METALINK FILE_OF("f", "<hash type=\"sha-256\">" A64
                                "</hash>") "</metalink>");
    add("sha-256=" B64);
    expect_failure(XD_E_MANIFEST, "but by the manifest it is " A64);
}
END_TEST

START_TEST(one_that_contradicts_a_piece_that_is_all_of_the_file_is_refused)
{
    parse(METALINK FILE_OF("f",
                           "<size>9</size>"
                           "<pieces type=\"sha-256\" length=\"9\"><hash>" A64
                           "</hash></pieces>") "</metalink>");
    add("sha-256=" B64);
    expect_failure(XD_E_MANIFEST, "but by the manifest it is " A64);
    parse(METALINK FILE_OF(
        "f", "<size>9</size>"
             "<pieces type=\"sha-256\" length=\"8\"><hash>" A64
             "</hash><hash>" A64 "</hash></pieces>") "</metalink>");
    apply();
}
END_TEST

START_TEST(one_that_contradicts_a_mapping_of_all_of_the_file_is_refused)
{
    parse(EXNODE "<e:metadata name=\"filename\" type=\"string\">f"
                 "</e:metadata><e:mapping>"
                 "<e:metadata name=\"exnode_offset\">0</e:metadata>"
                 "<e:metadata name=\"logical_length\">9</e:metadata>"
                 "<e:metadata name=\"sha256\">" A64 "</e:metadata>"
                 "<e:read>http://a.example/f</e:read></e:mapping></exnode>");
    ck_assert_str_eq(extent_at(0, 0).sha256, A64);
    add("sha-256=" B64);
    expect_failure(XD_E_MANIFEST, "but by the manifest it is " A64);
}
END_TEST

START_TEST(folders_decide_between_two_of_one_name)
{
    take_url("http://a.example/images/netboot/gtk/mini.iso?x");
    add_sums(B64 "  ./netboot/mini.iso\n" A64 "  ./netboot/gtk/mini.iso\n");
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 1);
    expect_hash(0, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(two_of_one_name_that_nothing_tells_apart_are_refused)
{
    take_url("http://a.example/mini.iso");
    add_sums(B64 "  ./netboot/mini.iso\n" A64 "  ./netboot/gtk/mini.iso\n");
    expect_failure(XD_E_MANIFEST, "by SUMS");
}
END_TEST

static const char two_files[] =
    METALINK FILE_OF("f", "") FILE_OF("g", "") "</metalink>";

START_TEST(each_of_several_files_has_its_own)
{
    parse(two_files);
    add_sums(A64 "  g\n" B64 "  f\n");
    apply();
    expect_hash(0, 0, "sha-256", B64, 1);
    expect_hash(1, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(all_of_several_files_must_be_known)
{
    parse(two_files);
    add_sums(A64 "  g\n");
    expect_failure(XD_E_MANIFEST, "checksum of f stands there");
    ck_assert_int_eq(apply_to(1), 0);
    ck_assert_uint_eq(file_at(0).n_hashes, 0);
    expect_hash(1, 0, "sha-256", A64, 1);
}
END_TEST

START_TEST(a_value_is_not_of_several_files)
{
    parse(two_files);
    add("md5=" A32);
    expect_failure(XD_E_INVAL, "the manifest describes 2");
    ck_assert_int_eq(apply_to(0), 0);
    expect_hash(0, 0, "md5", A32, 1);
    ck_assert_int_eq(apply_to(2), XD_E_INVAL);
}
END_TEST

START_TEST(the_manifest_stays_as_it_was_and_is_needed_no_longer)
{
    parse(METALINK FILE_OF("f", "<size>x</size><hash type=\"md5\">" A32
                                "</hash>") "</metalink>");
    struct xd_manifest *before = xd_manifest_ref(manifest);
    size_t warnings = n_warnings();
    ck_assert_uint_gt(warnings, 0);
    add("sha-256=" A64);
    apply();
    struct xd_file f = {.struct_size = sizeof f};
    ck_assert_int_eq(xd_manifest_file(before, 0, &f), 0);
    ck_assert_uint_eq(f.n_hashes, 1);
    xd_manifest_unref(before);
    xd_checksums_free(checksums);
    setup();
    ck_assert_uint_eq(n_warnings(), warnings);
    ck_assert_str_eq(file_at(0).name, "f");
    expect_hash(0, 0, "sha-256", A64, 1);
    expect_hash(0, 1, "md5", A32, 0);
}
END_TEST

START_TEST(what_has_them_may_be_given_others)
{
    take_url("http://a.example/f");
    add("md5=" A32);
    apply();
    add("sha-256=" A64);
    apply();
    ck_assert_uint_eq(file_at(0).n_hashes, 2);
    expect_hash(0, 1, "md5", A32, 1);
}
END_TEST

START_TEST(a_file_of_checksums_is_read)
{
    char path[] = "sums-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, A64 "  f\n", 68), 68);
    close(fd);
    ck_assert_int_eq(xd_checksums_read_file(checksums, path, &error), 0);
    unlink(path);
    take_url("http://a.example/f");
    apply();
    expect_hash(0, 0, "sha-256", A64, 1);
    ck_assert_int_eq(xd_checksums_read_file(checksums, path, &error), XD_E_IO);
    ck_assert_ptr_nonnull(strstr(error.msg, path));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("checksums");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_value_is_a_hash_of_the_only_file);
    tcase_add_test(t, a_value_is_told_from_the_name_of_a_file);
    tcase_add_test(t, a_value_that_is_no_hash_is_refused);
    tcase_add_test(t, parse_without_origin_is_refused);
    tcase_add_test(t, the_number_of_hex_digits_alone_tells_the_algorithm);
    tcase_add_test(t, a_file_is_found_by_its_name_without_folders);
    tcase_add_test(t, a_name_is_compared_as_it_is_used);
    tcase_add_test(t, a_name_that_is_missing_is_said);
    tcase_add_test(t, each_text_must_know_the_file);
    tcase_add_test(t, a_file_without_a_name_is_not_found);
    tcase_add_test(t, a_hash_without_a_name_in_a_text_is_of_the_only_file);
    tcase_add_test(t, a_hash_without_a_name_among_others_is_none);
    tcase_add_test(t, a_text_without_a_checksum_is_refused);
    tcase_add_test(t, different_algorithms_add_up_strongest_first);
    tcase_add_test(t, the_same_hash_twice_is_one);
    tcase_add_test(t, two_that_contradict_each_other_are_refused);
    tcase_add_test(t, two_values_of_one_algorithm_are_refused);
    tcase_add_test(t, one_that_contradicts_the_manifest_is_refused);
    tcase_add_test(
        t, one_that_contradicts_a_piece_that_is_all_of_the_file_is_refused);
    tcase_add_test(
        t, one_that_contradicts_a_mapping_of_all_of_the_file_is_refused);
    tcase_add_test(t, folders_decide_between_two_of_one_name);
    tcase_add_test(t, two_of_one_name_that_nothing_tells_apart_are_refused);
    tcase_add_test(t, each_of_several_files_has_its_own);
    tcase_add_test(t, all_of_several_files_must_be_known);
    tcase_add_test(t, a_value_is_not_of_several_files);
    tcase_add_test(t, the_manifest_stays_as_it_was_and_is_needed_no_longer);
    tcase_add_test(t, what_has_them_may_be_given_others);
    tcase_add_test(t, a_file_of_checksums_is_read);
    return run_suite("manifest.checksums", t);
}
