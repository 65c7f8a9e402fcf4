/* SPDX-License-Identifier: MIT */
#include "io/http/http_digest.h"

#include <string.h>

#include "base/base64.h"
#include "base/hex.h"

#define MOST_BYTES 64 /* bytes of SHA-512 */

static const struct {
    const char *name;
    size_t bytes;
} algorithms[] = {{"sha-256", 32}, {"sha-512", 64}};

/* Removes quotes, colons and padding. */
static struct xd_span letters_of(struct xd_span s)
{
    while (s.len > 0 && strchr(":\"' ", s.s[0])) {
        s.s++;
        s.len--;
    }
    while (s.len > 0 && strchr(":\"'= ", s.s[s.len - 1]))
        s.len--;
    return s;
}

/* Parses "name=value". */
static bool read_one(struct xd_span s, struct xd_offer_hash *out)
{
    const char *sign = s.len > 0 ? memchr(s.s, '=', s.len) : NULL;
    unsigned char bytes[MOST_BYTES];
    struct xd_span name, value;

    if (!sign)
        return false;
    name = xd_span_trim(xd_span(s.s, (size_t)(sign - s.s)));
    value = xd_span_trim(xd_span(sign + 1, s.len - (size_t)(sign - s.s) - 1));
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (!xd_span_is_word(name, algorithms[i].name))
            continue;
        if (!xd_base64_read(letters_of(value), bytes, algorithms[i].bytes))
            return false;
        out->algorithm = algorithms[i].name;
        xd_hex_write(out->hex, bytes, algorithms[i].bytes);
        return true;
    }
    return false;
}

bool xd_http_digest_next(struct xd_span *rest, struct xd_offer_hash *out)
{
    while (rest->len > 0) {
        const char *comma = memchr(rest->s, ',', rest->len);
        size_t len = comma ? (size_t)(comma - rest->s) : rest->len;
        struct xd_span one = xd_span(rest->s, len);

        len += comma != NULL;
        *rest = xd_span(rest->s + len, rest->len - len);
        if (read_one(xd_span_trim(one), out))
            return true;
    }
    return false;
}
