/* SPDX-License-Identifier: MIT */
#include "base/idn.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/unicode.h"

/* Punycode parameters (RFC 3492 section 5). */
enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700 };
#define FIRST_BIAS 72u
#define FIRST_CHARACTER 128u

/* Longest label in bytes (RFC 1035), so also in characters. */
#define MAX_LABEL 63

struct label {
    uint32_t characters[MAX_LABEL];
    unsigned n;
};

static uint32_t lower(uint32_t c)
{
    bool is_latin = c >= 0xc0 && c <= 0xde && c != 0xd7;
    bool is_greek = c >= 0x391 && c <= 0x3a9;
    bool is_cyrillic = c >= 0x410 && c <= 0x42f;

    if ((c >= 'A' && c <= 'Z') || is_latin || is_greek || is_cyrillic)
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if ((c >= 0x100 && c <= 0x136) || (c >= 0x14a && c <= 0x176))
        return c | 1; /* each upper-case letter is followed by its lower case */
    return c;
}

static void add_character(struct xd_text *out, uint32_t c)
{
    char s[4];
    size_t n = 0;

    if (c < 0x80) {
        s[n++] = (char)c;
    } else if (c < 0x800) {
        s[n++] = (char)(0xc0 | c >> 6);
        s[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        s[n++] = (char)(0xe0 | c >> 12);
        s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        s[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        s[n++] = (char)(0xf0 | c >> 18);
        s[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        s[n++] = (char)(0x80 | (c & 0x3f));
    }
    xd_text_add(out, s, n);
}

static uint32_t adapt(uint32_t delta, uint32_t n_points, bool is_first)
{
    uint32_t k = 0;

    delta /= is_first ? DAMP : 2;
    delta += delta / n_points;
    for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

/* Returns the value of a Punycode digit, or BASE for any other character. */
static uint32_t digit_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a');
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    return c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 26 : BASE;
}

/* Reads a variable-length integer at *s and adds it to *i (RFC 3492 section
 * 3.3).  Returns false if it is invalid. */
static bool read_delta(const char **s, const char *end, uint32_t bias,
                       uint32_t *i)
{
    uint32_t weight = 1;

    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
        uint32_t digit = *s < end ? digit_of(*(*s)++) : BASE;

        if (digit == BASE || digit > (UINT32_MAX - *i) / weight)
            return false;
        *i += digit * weight;
        if (digit < t)
            return true;
        if (weight > UINT32_MAX / (BASE - t))
            return false;
        weight *= BASE - t;
    }
}

static bool insert(struct label *l, uint32_t at, uint32_t c)
{
    if (l->n == MAX_LABEL || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ||
        xd_is_deceptive(c))
        return false;
    memmove(&l->characters[at + 1], &l->characters[at],
            (l->n - at) * sizeof *l->characters);
    l->characters[at] = c;
    l->n++;
    return true;
}

/* Decodes the part after "xn--".  Upper-case letters, which no registry allows,
 * are kept; so two labels never decode to the same text. */
static bool decode(struct label *l, const char *s, size_t len)
{
    const char *begin = s, *end = s + len, *basic = end;
    uint32_t c = FIRST_CHARACTER, bias = FIRST_BIAS, i = 0;
    bool is_first = true;

    l->n = 0;
    while (basic > begin && basic[-1] != '-')
        basic--; /* skips to the position after the last hyphen */
    for (; s + 1 < basic; s++)
        if ((unsigned char)*s >= FIRST_CHARACTER ||
            !insert(l, l->n, lower((unsigned char)*s)))
            return false;
    if (basic > begin + 1)
        s = basic;
    while (s < end) {
        uint32_t before = i;

        if (!read_delta(&s, end, bias, &i))
            return false;
        bias = adapt(i - before, l->n + 1, is_first);
        is_first = false;
        if (i / (l->n + 1) > UINT32_MAX - c)
            return false;
        c += i / (l->n + 1);
        i %= l->n + 1;
        if (!insert(l, i++, c))
            return false;
    }
    /* reject a label that is pure ASCII: it must not be encoded */
    return !is_first;
}

static void add_label(struct xd_text *out, const char *s, size_t len)
{
    struct label l;

    if (len > 4 && len <= MAX_LABEL && strncasecmp(s, "xn--", 4) == 0 &&
        decode(&l, s + 4, len - 4)) {
        for (unsigned i = 0; i < l.n; i++)
            add_character(out, l.characters[i]);
        return;
    }
    while (len > 0) {
        uint32_t c;
        size_t n = xd_utf8_decode(s, len, &c);

        if (n == 0)
            xd_text_add(out, s, n = 1);
        else
            add_character(out, lower(c));
        s += n;
        len -= n;
    }
}

char *xd_idn_letters(const char *host)
{
    struct xd_text out = {.s = NULL};

    xd_text_add(&out, "", 0);
    for (;;) {
        size_t len = strcspn(host, ".:");

        add_label(&out, host, len);
        host += len;
        if (*host == '\0')
            break;
        xd_text_add(&out, host++, 1);
    }
    if (!out.failed)
        return out.s;
    xd_text_fini(&out);
    return NULL;
}
