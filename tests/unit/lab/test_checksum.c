/* SPDX-License-Identifier: MIT */
/* lab/checksum.h */
#include "lab/checksum.h"

#include <string.h>

#include "suite.h"

static struct xd_error err;

START_TEST(the_hash_of_bytes_is_computed)
{
    static const struct {
        const char *algorithm, *data, *hex;
    } known[] = {
        {"md5", "", "d41d8cd98f00b204e9800998ecf8427e"},
        {"sha-256", "abc",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"sha-512", "abc",
         "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
         "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"}};
    char hex[XD_CHECKSUM_HEX_SIZE] = "as before";

    ck_assert_int_eq(xd_checksum_compute(hex, "sha-257", "abc", 3, &err),
                     XD_E_INVAL);
    ck_assert(strstr(err.msg, "sha-257") != NULL);
    ck_assert_str_eq(hex, "as before");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_int_eq(xd_checksum_compute(hex, known[i].algorithm,
                                             known[i].data,
                                             strlen(known[i].data), &err),
                         0);
        ck_assert_str_eq(hex, known[i].hex);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("checksum");

    tcase_add_test(t, the_hash_of_bytes_is_computed);
    return run_suite("lab.checksum", t);
}
