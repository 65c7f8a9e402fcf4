/* SPDX-License-Identifier: MIT */
/* lib/base/string_hash: the vectors of its authors. */
#include "base/string_hash.h"

#include <string.h>

#include "suite.h"

static const struct {
    const char *text;
    uint64_t hash;
} vectors[] = {
    {"", UINT64_C(0xcbf29ce484222325)},
    {"a", UINT64_C(0xaf63dc4c8601ec8c)},
    {"foobar", UINT64_C(0x85944171f73967e8)},
};

START_TEST(hashes_are_those_of_fnv_1a)
{
    const char *text = vectors[_i].text;

    ck_assert_uint_eq(xd_string_hash(text, strlen(text)), vectors[_i].hash);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("string_hash");

    tcase_add_loop_test(t, hashes_are_those_of_fnv_1a, 0,
                        sizeof vectors / sizeof *vectors);
    return run_suite("base.string_hash", t);
}
