/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

/* Returns the six bits of a base64 character, or -1 for any other character. */
static int bits_of(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = memchr(letters, c, sizeof letters - 1);

    return at ? (int)(at - letters) : -1;
}

bool xd_base64_read(struct xd_span letters, unsigned char *out, size_t n)
{
    unsigned pending = 0, n_bits = 0;
    size_t done = 0;

    if (letters.len != (n * 8 + 5) / 6)
        return false;
    for (size_t i = 0; i < letters.len; i++) {
        int bits = bits_of(letters.s[i]);

        if (bits < 0)
            return false;
        pending = (pending << 6 | (unsigned)bits) & 0xfff;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[done++] = (unsigned char)(pending >> n_bits);
        }
    }
    return done == n;
}

struct xd_span xd_base64_letters(struct xd_span s)
{
    while (s.len > 0 && s.s[s.len - 1] == '=')
        s.len--;
    return s;
}
