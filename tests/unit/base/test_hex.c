/* SPDX-License-Identifier: MIT */
#include "base/hex.h"
#include "suite.h"

START_TEST(bytes_are_two_digits_each)
{
    static const unsigned char bytes[] = {0x00, 0x1f, 0xf1, 0xa9};
    char out[9];

    xd_hex_write(out, bytes, sizeof bytes);
    ck_assert_str_eq(out, "001ff1a9");
    xd_hex_write(out, bytes, 0);
    ck_assert_str_eq(out, "");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("hex");

    tcase_add_test(tcase, bytes_are_two_digits_each);
    return run_suite("base/hex", tcase);
}
