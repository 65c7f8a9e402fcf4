/* SPDX-License-Identifier: MIT */
#include "base/string_hash.h"

uint64_t xd_string_hash_more(uint64_t h, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h;
}

uint64_t xd_string_hash(const char *s, size_t len)
{
    return xd_string_hash_more(UINT64_C(0xcbf29ce484222325), s, len);
}
