/* SPDX-License-Identifier: MIT */
#include "common/text.h"

#include <string.h>

#define REPLACEMENT 0xfffd

/* Returns how many bytes follow the first byte of a UTF-8 character.  *least is
 * the smallest code point that needs that many; smaller ones are overlong, and
 * therefore invalid. */
static int follow_of(unsigned char first, uint32_t *least)
{
    if (first >= 0xc2 && first <= 0xdf) {
        *least = 0x80;
        return 1;
    }
    if (first >= 0xe0 && first <= 0xef) {
        *least = 0x800;
        return 2;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        *least = 0x10000;
        return 3;
    }
    return -1;
}

size_t text_rune(const char *s, uint32_t *out_rune)
{
    const unsigned char *p = (const unsigned char *)s;

    *out_rune = *p;
    if (*p < 0x80)
        return *p != 0;
    uint32_t least = 0;
    const int follow = follow_of(*p, &least);
    *out_rune = REPLACEMENT;
    if (follow < 0)
        return 1;
    uint32_t rune = *p & (0x3fu >> follow);
    for (int i = 1; i <= follow; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        rune = rune << 6 | (p[i] & 0x3fu);
    }
    if (rune < least || rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff))
        return 1;
    *out_rune = rune;
    return (size_t)follow + 1;
}

/* Has the same list of characters as xd_is_deceptive() in lib/base/unicode.c,
 * which explains them. */
bool text_is_deceptive(uint32_t rune)
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

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (rune >= ranges[i].first && rune <= ranges[i].last)
            return true;
    return (rune & 0xfffe) == 0xfffe;
}

/* Returns two columns for every character that may be wide.  So a line may
 * become too short, but never too long. */
static unsigned columns_of(uint32_t rune)
{
    return rune < 0x1100 || rune == REPLACEMENT || text_is_deceptive(rune) ? 1
                                                                           : 2;
}

static void put_rune(FILE *to, const char *s, size_t n, uint32_t rune)
{
    if (rune == REPLACEMENT || text_is_deceptive(rune))
        putc('?', to);
    else
        fwrite(s, 1, n, to);
}

void text_put(FILE *to, const char *s)
{
    uint32_t rune;

    for (size_t n; (n = text_rune(s, &rune)) > 0; s += n)
        put_rune(to, s, n, rune);
}

size_t text_login(const char *url, size_t *out_len)
{
    const char *scheme = strstr(url, "://");
    const char *at = scheme != NULL ? scheme + 3 : url;

    *out_len = 0;
    for (size_t i = strcspn(at, "/?#"); i > 0 && *out_len == 0; i--)
        if (at[i - 1] == '@')
            *out_len = i - 1;
    if (scheme == NULL && memchr(at, ':', *out_len) == NULL)
        *out_len = 0;
    return (size_t)(at - url);
}

const char *text_without_password(char out[TEXT_URL_SIZE], const char *url)
{
    size_t len;
    const size_t begin = text_login(url, &len);
    const char *colon = memchr(url + begin, ':', len);
    const size_t keep = colon != NULL ? (size_t)(colon - url) : begin + len;

    snprintf(out, TEXT_URL_SIZE, "%.*s%s", (int)keep, url, url + begin + len);
    return out;
}

const char *text_host(char out[TEXT_URL_SIZE], const char *url)
{
    const char *host = strstr(url, "://");
    size_t login;

    text_login(url, &login);
    host = host == NULL ? url : host + 3;
    host += login > 0 ? login + 1 : 0;
    snprintf(out, TEXT_URL_SIZE, "%.*s", (int)strcspn(host, "/?#"), host);
    return out;
}

unsigned text_columns(const char *s)
{
    unsigned columns = 0;
    uint32_t rune;

    for (size_t n; (n = text_rune(s, &rune)) > 0; s += n)
        columns += columns_of(rune);
    return columns;
}

void text_put_fit(FILE *to, const char *s, unsigned columns, bool pad)
{
    const unsigned all = text_columns(s);
    const bool fits = all <= columns;
    /* "~" replaces the columns from head_end to tail_begin */
    const unsigned room = columns > 0 ? columns - 1 : 0;
    const unsigned head_end = fits ? all : room - room / 2;
    const unsigned tail_begin = fits ? all : all - room / 2;
    unsigned at = 0, put = 0;
    bool cut = fits || columns == 0;
    uint32_t rune;

    for (size_t n; (n = text_rune(s, &rune)) > 0; s += n) {
        const unsigned width = columns_of(rune);
        if (at + width <= head_end || at >= tail_begin) {
            put_rune(to, s, n, rune);
            put += width;
        } else if (!cut) {
            putc('~', to);
            put++;
            cut = true;
        }
        at += width;
    }
    if (pad && put < columns)
        fprintf(to, "%*s", (int)(columns - put), "");
}
