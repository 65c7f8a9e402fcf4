/* SPDX-License-Identifier: MIT */
/* The lines of files of checksums, in the shapes that programs and
 * distributions give them. */
#include "manifest/sums.h"

#include "suite.h"

#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define SHA256 \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SHA512                                                         \
    "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce" \
    "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"

static struct xd_sums sums;
static struct xd_sum sum;

static void begin(const char *text)
{
    xd_sums_init(&sums, xd_span_of(text));
}

static void expect(const char *algorithm, const char *hex, const char *path)
{
    char name[200];
    ck_assert(xd_sums_next(&sums, &sum));
    ck_assert_str_eq(sum.algorithm->name, algorithm);
    ck_assert_str_eq(sum.hex, hex);
    ck_assert_uint_lt(sum.path.len, sizeof name);
    name[xd_sum_path(&sum, name)] = '\0';
    ck_assert_str_eq(name, path);
}

static void expect_end(void)
{
    ck_assert(!xd_sums_next(&sums, &sum));
}

/* The text has one checksum. */
static void one(const char *text, const char *algorithm, const char *hex,
                const char *path)
{
    begin(text);
    expect(algorithm, hex, path);
    expect_end();
}

static void none(const char *text)
{
    begin(text);
    expect_end();
}

START_TEST(the_number_of_digits_tells_the_algorithm)
{
    begin(MD5 "  a\n" SHA1 "  b\n" SHA256 "  c\n" SHA512 "  d\n");
    expect("md5", MD5, "a");
    expect("sha-1", SHA1, "b");
    expect("sha-256", SHA256, "c");
    expect("sha-512", SHA512, "d");
    expect_end();
}
END_TEST

START_TEST(text_and_binary_lines_name_the_same_file)
{
    one(SHA256 "  a b.iso\n", "sha-256", SHA256, "a b.iso");
    one(SHA256 " *a b.iso\n", "sha-256", SHA256, "a b.iso");
    one(SHA256 " a.iso", "sha-256", SHA256, "a.iso");
    one(SHA256 "\ta.iso", "sha-256", SHA256, "a.iso");
}
END_TEST

START_TEST(bsd_and_openssl_lines_name_the_algorithm)
{
    one("SHA256 (a (1).iso) = " SHA256 "\n", "sha-256", SHA256, "a (1).iso");
    one("SHA2-256(a.iso)= " SHA256 "\n", "sha-256", SHA256, "a.iso");
    one("SHA2-512(a.iso)= " SHA512 "\n", "sha-512", SHA512, "a.iso");
    one("MD5(a.iso)= " MD5 "\n", "md5", MD5, "a.iso");
    one("SHA1 (a.iso) = " SHA1 "\n", "sha-1", SHA1, "a.iso");
}
END_TEST

START_TEST(a_hash_may_stand_alone)
{
    one(SHA256 "\n", "sha-256", SHA256, "");
    one("  " SHA256 "  ", "sha-256", SHA256, "");
}
END_TEST

START_TEST(digits_come_out_in_lower_case)
{
    one("D41D8CD98F00B204E9800998ECF8427E  a", "md5", MD5, "a");
}
END_TEST

START_TEST(a_carriage_return_before_the_newline_is_no_part_of_the_name)
{
    begin(SHA256 "  a.iso\r\n" SHA256 " *b.iso\r\n");
    expect("sha-256", SHA256, "a.iso");
    expect("sha-256", SHA256, "b.iso");
    expect_end();
}
END_TEST

START_TEST(a_byte_order_mark_is_passed_over)
{
    one("\xef\xbb\xbf" SHA256 "  a.iso\n", "sha-256", SHA256, "a.iso");
}
END_TEST

START_TEST(a_backslash_in_front_says_that_the_name_is_escaped)
{
    one("\\" SHA256 "  a\\\\b\\nc\\rd\n", "sha-256", SHA256, "a\\b\nc\rd");
    one("\\SHA256 (a\\\\b) = " SHA256, "sha-256", SHA256, "a\\b");
    one("\\" SHA256 "  a\\", "sha-256", SHA256, "a\\");
    one(SHA256 "  a\\nb\n", "sha-256", SHA256, "a\\nb");
}
END_TEST

START_TEST(what_pgp_puts_around_a_text_is_passed_over)
{
    begin("-----BEGIN PGP SIGNED MESSAGE-----\n"
          "Hash: SHA256\n" MD5 "  in-the-head\n\n"
          "# Fedora-Live-40.iso: 2295853056 bytes\n"
          "SHA256 (Fedora-Live-40.iso) = " SHA256 "\n"
          "- " SHA1 "  dashed\n"
          "-----BEGIN PGP SIGNATURE-----\n\n" MD5 "\n" MD5 "  inside\n"
          "-----END PGP SIGNATURE-----\n" MD5 "  behind\n");
    expect("sha-256", SHA256, "Fedora-Live-40.iso");
    expect("sha-1", SHA1, "dashed");
    expect("md5", MD5, "behind");
    expect_end();
}
END_TEST

START_TEST(other_lines_are_passed_over)
{
    none("");
    none("\n\n");
    none("<html><body>404</body></html>\n");
    none("# " SHA256 "  a.iso\n");
    none("untrusted comment: verify with openbsd-75-base.pub\n"
         "RWRGj1pRpprAfgcb1WV8AkB5iZc1UVVQ==\n");
    none(SHA256 "a  b\n");
    none(SHA256 "x  b\n");
    none(SHA256 " *\n");
    none("SHA256 () = " SHA256 "\n");
    none("SHA256 (a) " SHA256 "\n");
    none("SHA256 (a = " SHA256 "\n");
    none("SHA256 a) = " SHA256 "\n");
    none("SHA256 )a( = " SHA256 "\n");
}
END_TEST

START_TEST(a_hash_of_the_wrong_length_is_none)
{
    none("SHA256 (a) = " MD5 "\n");
    none("d41d8cd98f00b204e9800998ecf8427  a\n");
    none("00000000  a\n");
}
END_TEST

START_TEST(algorithms_that_cannot_be_computed_are_passed_over)
{
    none("BLAKE2b (a) = " SHA512 "\n");
    none("SHA3-256 (a) = " SHA256 "\n");
    none("SHA2-512/256(a)= " SHA256 "\n");
    none("CRC32C (a) = 00000000\n");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sums");
    tcase_add_test(t, the_number_of_digits_tells_the_algorithm);
    tcase_add_test(t, text_and_binary_lines_name_the_same_file);
    tcase_add_test(t, bsd_and_openssl_lines_name_the_algorithm);
    tcase_add_test(t, a_hash_may_stand_alone);
    tcase_add_test(t, digits_come_out_in_lower_case);
    tcase_add_test(t,
                   a_carriage_return_before_the_newline_is_no_part_of_the_name);
    tcase_add_test(t, a_byte_order_mark_is_passed_over);
    tcase_add_test(t, a_backslash_in_front_says_that_the_name_is_escaped);
    tcase_add_test(t, what_pgp_puts_around_a_text_is_passed_over);
    tcase_add_test(t, other_lines_are_passed_over);
    tcase_add_test(t, a_hash_of_the_wrong_length_is_none);
    tcase_add_test(t, algorithms_that_cannot_be_computed_are_passed_over);
    return run_suite("manifest.sums", t);
}
