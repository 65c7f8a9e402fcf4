/* SPDX-License-Identifier: MIT */
#include "base/unicode.h"

size_t xd_utf8_decode(const char *s, size_t len, uint32_t *out_character)
{
    const unsigned char *b = (const unsigned char *)s;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = 4;
    uint32_t c;

    if (b[0] < 0x80)
        n = 1;
    else if (b[0] < 0xe0)
        n = 2;
    else if (b[0] < 0xf0)
        n = 3;
    if (n > len || (b[0] >= 0x80 && b[0] < 0xc2) || b[0] > 0xf4)
        return 0;
    c = n == 1 ? b[0] : b[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (b[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *out_character = c;
    return n;
}

bool xd_is_deceptive(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},
        {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
        {0xfff0, 0xfffb},   {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };

    if (c >= ' ' && c < 0x7f)
        return false; /* fast path for printable ASCII */
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    }
    return (c & 0xfffe) == 0xfffe;
}
