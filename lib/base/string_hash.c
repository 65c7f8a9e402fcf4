/* SPDX-License-Identifier: MIT */
#include "base/string_hash.h"

uint64_t xd_string_hash(const char *s, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h;
}
