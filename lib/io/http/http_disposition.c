/* SPDX-License-Identifier: MIT */
#include "io/http/http_disposition.h"

#include <string.h>

#include "base/unicode.h"
#include "base/url.h"

struct name {
    char s[XD_HTTP_FILE_NAME_MAX + 1];
    size_t len;
    bool is_bad; /* too long, or contains a NUL */
};

struct parameters {
    struct name plain, extended;
    bool has_plain, has_extended;
};

static bool take(struct xd_span *s, char c)
{
    const bool is_there = s->len > 0 && s->s[0] == c;

    if (is_there)
        xd_span_skip(s, 1);
    return is_there;
}

static bool is_token_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Parses a token (RFC 9110 section 5.6.2).  Returns an empty span if there is
 * none. */
static struct xd_span take_token(struct xd_span *s)
{
    size_t n = 0;

    while (n < s->len && is_token_character(s->s[n]))
        n++;
    const struct xd_span token = xd_span(s->s, n);
    xd_span_skip(s, n);
    return token;
}

static void add(struct name *name, char c)
{
    if (c == '\0' || name->len == XD_HTTP_FILE_NAME_MAX)
        name->is_bad = true;
    else
        name->s[name->len++] = c;
}

/* Parses a quoted string (RFC 9110 section 5.6.4).  Returns false if the
 * closing quote is missing. */
static bool take_quoted(struct xd_span *s, struct name *out)
{
    while (s->len > 0 && s->s[0] != '"') {
        if (s->s[0] == '\\' && s->len > 1)
            xd_span_skip(s, 1);
        add(out, s->s[0]);
        xd_span_skip(s, 1);
    }
    return take(s, '"');
}

static bool take_value(struct xd_span *s, struct name *out)
{
    if (take(s, '"'))
        return take_quoted(s, out);
    const struct xd_span token = take_token(s);
    for (size_t i = 0; i < token.len; i++)
        add(out, token.s[i]);
    return token.len > 0;
}

static bool is_utf8(const struct name *name)
{
    uint32_t c;
    size_t len;

    for (size_t i = 0; i < name->len; i += len) {
        len = xd_utf8_decode(name->s + i, name->len - i, &c);
        if (len == 0)
            return false;
    }
    return true;
}

/* Appends a character of ISO-8859-1. */
static void add_latin1(struct name *name, unsigned char c)
{
    if (c >= 0x80) {
        add(name, (char)(0xc0 | c >> 6));
        c = 0x80 | (c & 0x3f);
    }
    add(name, (char)c);
}

/* Decodes "UTF-8'en'caf%C3%A9" (RFC 8187).  Returns false if it is invalid. */
static bool decode(struct xd_span text, struct name *out)
{
    const char *quote = memchr(text.s, '\'', text.len);
    if (quote == NULL)
        return false;
    const struct xd_span charset = xd_span(text.s, (size_t)(quote - text.s));
    const bool is_latin1 = xd_span_is_word(charset, "ISO-8859-1");
    xd_span_skip(&text, charset.len + 1);
    quote = memchr(text.s, '\'', text.len);
    if (quote == NULL || (!is_latin1 && !xd_span_is_word(charset, "UTF-8")))
        return false;
    xd_span_skip(&text, (size_t)(quote - text.s) + 1);
    while (text.len > 0) {
        /* xd_url_unescape() reads three bytes, so check the length. */
        const int escaped =
            text.s[0] == '%' && text.len > 2 ? xd_url_unescape(text.s) : -1;
        if (text.s[0] == '%' && escaped < 0)
            return false;
        const unsigned char c =
            (unsigned char)(escaped < 0 ? text.s[0] : (char)escaped);
        if (is_latin1)
            add_latin1(out, c);
        else
            add(out, (char)c);
        xd_span_skip(&text, escaped < 0 ? 1 : 3);
    }
    return is_utf8(out);
}

/* Returns false if the parameter is malformed or occurs twice. */
static bool take_parameter(struct xd_span *s, struct parameters *p)
{
    const struct xd_span key = take_token(s);
    struct name value = {.len = 0};

    xd_span_skip_blanks(s);
    if (key.len == 0 || !take(s, '='))
        return false;
    xd_span_skip_blanks(s);
    const struct xd_span rest = *s;
    if (!take_value(s, &value))
        return false;
    if (xd_span_is_word(key, "filename")) {
        const bool is_first = !p->has_plain;
        p->has_plain = true;
        p->plain = value;
        return is_first;
    }
    if (xd_span_is_word(key, "filename*")) {
        const bool is_first = !p->has_extended;
        p->has_extended = true;
        p->extended.is_bad =
            !decode(xd_span(rest.s, rest.len - s->len), &p->extended) ||
            p->extended.is_bad;
        return is_first;
    }
    return true;
}

/* Parses the disposition type, which does not matter here, and the
 * parameters. */
static bool read_field(struct xd_span s, struct parameters *p)
{
    if (take_token(&s).len == 0)
        return false;
    xd_span_skip_blanks(&s);
    while (take(&s, ';')) {
        xd_span_skip_blanks(&s);
        if (s.len > 0 && s.s[0] != ';' && !take_parameter(&s, p))
            return false;
        xd_span_skip_blanks(&s);
    }
    return s.len == 0;
}

bool xd_http_disposition(struct xd_span field,
                         char out[XD_HTTP_FILE_NAME_MAX + 1])
{
    struct parameters p = {.has_plain = false};
    const struct name *name = &p.plain;

    out[0] = '\0';
    if (!read_field(field, &p))
        return false;
    if (p.has_extended && !p.extended.is_bad && p.extended.len > 0)
        name = &p.extended;
    if (name->is_bad || name->len == 0)
        return false;
    memcpy(out, name->s, name->len);
    out[name->len] = '\0';
    return true;
}
