/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include "suite.h"

static unsigned char bytes[8];

static bool reads(const char *letters, size_t n)
{
    return xd_base64_read(xd_base64_letters(xd_span_of(letters)), bytes, n);
}

/* The examples of RFC 4648, section 10. */
START_TEST(the_standards_examples_are_read)
{
    static const char *const letters[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

    for (size_t n = 0; n < sizeof letters / sizeof *letters; n++) {
        ck_assert(reads(letters[n], n));
        ck_assert_mem_eq(bytes, "foobar", n);
    }
}
END_TEST

START_TEST(all_letters_have_their_bits)
{
    ck_assert(reads("+/az09AZ", 6));
    ck_assert_mem_eq(bytes, "\xfb\xf6\xb3\xd3\xd0\x19", 6);
}
END_TEST

START_TEST(another_number_of_bytes_is_refused)
{
    ck_assert(!reads("Zm9v", 2));
    ck_assert(!reads("Zm9v", 4));
    ck_assert(!reads("", 1));
}
END_TEST

START_TEST(what_is_no_letter_is_refused)
{
    ck_assert(!reads("Zm9-", 3));
    ck_assert(!reads("Zm 9", 3));
    ck_assert(!reads("=m9v", 3));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("base64");

    tcase_add_test(t, the_standards_examples_are_read);
    tcase_add_test(t, all_letters_have_their_bits);
    tcase_add_test(t, another_number_of_bytes_is_refused);
    tcase_add_test(t, what_is_no_letter_is_refused);
    return run_suite("base64", t);
}
