/* SPDX-License-Identifier: MIT */
#include "base/typed_url.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/span.h"
#include "base/text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* Appends `s` and escapes all but alphanumeric characters and those in
 * `plain`. */
static void add_escaped(struct xd_text *to, struct xd_span s, const char *plain)
{
    for (size_t i = 0; i < s.len; i++) {
        if (is_alnum(s.s[i]) || (s.s[i] && strchr(plain, s.s[i])))
            xd_text_add(to, s.s + i, 1);
        else
            xd_text_addf(to, "%%%02X", (unsigned)(unsigned char)s.s[i]);
    }
}

/* Appends `s` and escapes blanks. */
static void add_unblanked(struct xd_text *to, struct xd_span s)
{
    while (s.len > 0) {
        const char *blank = memchr(s.s, ' ', s.len);
        const size_t n = blank ? (size_t)(blank - s.s) : s.len;

        xd_text_add(to, s.s, n);
        if (blank)
            xd_text_add(to, "%20", 3);
        xd_span_skip(&s, n + (blank != NULL));
    }
}

/* Parses a number as in C: decimal, "0x" hexadecimal, or "0" octal. */
static bool read_number(struct xd_span s, uint64_t *out)
{
    unsigned base = 10;
    uint64_t value = 0;

    if (s.len > 1 && s.s[0] == '0') {
        base = s.s[1] == 'x' || s.s[1] == 'X' ? 16 : 8;
        xd_span_skip(&s, base == 16 ? 2 : 1);
    }
    if (s.len == 0)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        static const char digits[] = "0123456789abcdef";
        const char c = s.s[i];
        const char *at =
            c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

        if (!at || (unsigned)(at - digits) >= base)
            return false;
        value = value * base + (uint64_t)(at - digits);
        if (value > UINT32_MAX)
            return false;
    }
    *out = value;
    return true;
}

/* Parses an address like inet_aton(3): one to four numbers, the last of which
 * fills the remaining bytes. */
static bool read_ipv4(struct xd_span host, uint32_t *out)
{
    uint64_t address = 0, number;

    for (int i = 0; i < 4; i++) {
        const char *dot = memchr(host.s, '.', host.len);
        const size_t n = dot ? (size_t)(dot - host.s) : host.len;

        if (!read_number(xd_span(host.s, n), &number) ||
            number > (dot ? 255 : UINT32_MAX >> 8 * i))
            return false;
        if (!dot) {
            *out = (uint32_t)(address | number);
            return true;
        }
        address |= number << 8 * (3 - i);
        xd_span_skip(&host, n + 1);
    }
    return false;
}

/* Appends an IPv6 address like "[fe80::1%eth0]". */
static void add_ipv6(struct xd_text *to, struct xd_span host)
{
    const char *percent = memchr(host.s, '%', host.len);
    const size_t n = percent ? (size_t)(percent - host.s) : host.len;

    xd_text_add(to, host.s, n);
    xd_span_skip(&host, n);
    if (host.len == 0)
        return;
    xd_text_add(to, "%25", 3);
    xd_span_skip(&host, xd_span_begins_with(host, "%25") ? 3 : 1);
    xd_text_add(to, host.s, host.len);
}

static void add_host(struct xd_text *to, struct xd_span host)
{
    uint32_t a;

    if (host.len > 0 && host.s[0] == '[')
        add_ipv6(to, host);
    else if (read_ipv4(host, &a))
        xd_text_addf(to, "%u.%u.%u.%u", (unsigned)(a >> 24),
                     (unsigned)(a >> 16 & 255), (unsigned)(a >> 8 & 255),
                     (unsigned)(a & 255));
    else
        xd_text_add(to, host.s, host.len);
}

/* Appends ":" and `port` without leading zeros. */
static void add_port(struct xd_text *to, struct xd_span port)
{
    xd_text_add(to, ":", 1);
    while (port.len > 1 && port.s[0] == '0')
        xd_span_skip(&port, 1);
    xd_text_add(to, port.s, port.len);
}

/* Appends the authority: [userinfo "@"] host [":" port]. */
static void add_authority(struct xd_text *to, struct xd_span s)
{
    const char *at = memchr(s.s, '@', s.len);
    size_t n = 0;

    if (at) {
        n = (size_t)(at - s.s);
        add_escaped(to, xd_span(s.s, n), "-._~%!$&'()*+,;=:");
        xd_text_add(to, "@", 1);
        xd_span_skip(&s, n + 1);
    }
    if (s.len > 0 && s.s[0] == '[') {
        const char *end = memchr(s.s, ']', s.len);

        n = end ? (size_t)(end - s.s) + 1 : s.len;
    } else {
        const char *colon = memchr(s.s, ':', s.len);

        n = colon ? (size_t)(colon - s.s) : s.len;
    }
    add_host(to, xd_span(s.s, n));
    xd_span_skip(&s, n);
    if (s.len > 1 && s.s[0] == ':')
        add_port(to, xd_span(s.s + 1, s.len - 1));
    else if (s.len > 1)
        xd_text_add(to, s.s, s.len);
}

/* Returns the length of "scheme:" if "//" follows, else 0. */
static size_t scheme_length(struct xd_span s)
{
    size_t n = 0;

    while (n < s.len && (is_alnum(s.s[n]) || strchr("+-.", s.s[n])))
        n++;
    return n > 0 && s.len - n > 2 && memcmp(s.s + n, "://", 3) == 0 ? n + 1 : 0;
}

static bool is_web(struct xd_span scheme)
{
    static const char *const names[] = {"http:", "https:", "ftp:", "ftps:"};

    return xd_span_is_among(scheme, names, sizeof names / sizeof *names);
}

/* Removes all but two slashes at the start.  curl accepts three after a
 * scheme. */
static void skip_slashes(struct xd_span *s)
{
    while (s->len > 2 && s->s[2] == '/')
        xd_span_skip(s, 1);
}

char *xd_typed_url(const char *typed)
{
    struct xd_span s = xd_span_of(typed);
    struct xd_text to = {.s = NULL};
    size_t n;

    while (s.len > 0 && is_blank(s.s[0]))
        xd_span_skip(&s, 1);
    n = scheme_length(s);
    if (n == 0 || !is_web(xd_span(s.s, n)))
        return xd_strdup(typed);
    while (is_blank(s.s[s.len - 1]))
        s.len--;
    xd_text_add(&to, s.s, n);
    xd_span_skip(&s, n);
    skip_slashes(&s);
    xd_text_add(&to, s.s, 2);
    xd_span_skip(&s, 2);
    for (n = 0; n < s.len && !strchr("/?#", s.s[n]);)
        n++;
    add_authority(&to, xd_span(s.s, n));
    xd_span_skip(&s, n);
    if (s.len > 0 && s.s[0] != '/')
        xd_text_add(&to, "/", 1);
    add_unblanked(&to, s);
    if (!to.failed)
        return to.s;
    xd_text_fini(&to);
    return NULL;
}
