/* SPDX-License-Identifier: MIT */
#include "manifest/sums.h"

static bool begins(struct xd_span s, const char *with)
{
    size_t len = strlen(with);
    return s.len >= len && memcmp(s.s, with, len) == 0;
}

static struct xd_span skip(struct xd_span s, size_t n)
{
    return xd_span(s.s + n, s.len - n);
}

static struct xd_span skip_blanks(struct xd_span s)
{
    while (s.len > 0 && xd_is_blank(s.s[0]))
        s = skip(s, 1);
    return s;
}

void xd_sums_init(struct xd_sums *s, struct xd_span text)
{
    if (begins(text, "\xef\xbb\xbf"))
        text = skip(text, 3);
    *s = (struct xd_sums){.rest = text, .part = XD_SUMS_TEXT};
}

/* Returns the next line without blanks around it. */
static bool next_line(struct xd_sums *s, struct xd_span *out)
{
    if (s->rest.len == 0)
        return false;
    const char *end = memchr(s->rest.s, '\n', s->rest.len);
    size_t len = end ? (size_t)(end - s->rest.s) : s->rest.len;
    *out = xd_span_trim(xd_span(s->rest.s, len));
    s->rest = skip(s->rest, len + (end != NULL));
    return true;
}

/* Returns whether the line belongs to OpenPGP armor around the text (RFC 9580
 * section 7). */
static bool is_armor(struct xd_sums *s, struct xd_span line)
{
    if (begins(line, "-----BEGIN PGP SIGNED MESSAGE-----"))
        s->part = XD_SUMS_ARMOR_HEAD;
    else if (begins(line, "-----BEGIN PGP "))
        s->part = XD_SUMS_SIGNATURE;
    else if (begins(line, "-----END PGP ") ||
             (s->part == XD_SUMS_ARMOR_HEAD && line.len == 0))
        s->part = XD_SUMS_TEXT;
    else
        return s->part != XD_SUMS_TEXT;
    return true;
}

static size_t hex_digits(struct xd_span s)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    size_t n = 0;
    while (n < s.len && memchr(digits, s.s[n], sizeof digits - 1))
        n++;
    return n;
}

/* Parses "HEX  name", "HEX *name" or "HEX". */
static bool read_plain(struct xd_span line, struct xd_sum *out)
{
    size_t len = hex_digits(line);
    out->algorithm = xd_algorithm_of_length(len);
    if (!out->algorithm ||
        !xd_hash_read(out->algorithm, xd_span(line.s, len), out->hex))
        return false;
    out->path = skip(line, len);
    if (out->path.len == 0)
        return true;
    if (!xd_is_blank(out->path.s[0]))
        return false;
    out->path = skip_blanks(out->path);
    if (out->path.s[0] == '*')
        out->path = skip(out->path, 1);
    return out->path.len > 0;
}

/* Finds the algorithm of a tag.  BSD writes SHA256, OpenSSL 3 SHA2-256. */
static const struct xd_algorithm *find_tag(struct xd_span tag)
{
    char name[16] = "sha-";
    if (tag.len < sizeof name && begins(tag, "SHA2-")) {
        memcpy(name + 4, tag.s + 5, tag.len - 5);
        tag = xd_span(name, tag.len - 1);
    }
    const struct xd_algorithm *found = xd_algorithm_find(tag);
    return found && found->checks_pieces ? found : NULL;
}

/* Parses "SHA256 (name) = HEX" or "SHA256(name)= HEX". */
static bool read_tagged(struct xd_span line, struct xd_sum *out)
{
    const char *open = memchr(line.s, '(', line.len);
    size_t close = line.len;
    if (!open)
        return false;
    while (close > 0 && line.s[close - 1] != ')')
        close--;
    struct xd_span tag = xd_span(line.s, (size_t)(open - line.s));
    size_t begin = tag.len + 1;
    if (close <= begin)
        return false;
    struct xd_span rest = skip_blanks(skip(line, close));
    out->path = xd_span(line.s + begin, close - 1 - begin);
    out->algorithm = find_tag(xd_span_trim(tag));
    return begins(rest, "=") && out->algorithm && out->path.len > 0 &&
           xd_hash_read(out->algorithm, skip_blanks(skip(rest, 1)), out->hex);
}

static bool read_line(struct xd_span line, struct xd_sum *out)
{
    if (begins(line, "- ")) /* OpenPGP escapes a leading dash by "- " */
        line = skip(line, 2);
    out->is_escaped = begins(line, "\\");
    if (out->is_escaped)
        line = skip(line, 1);
    return line.len > 0 && (read_plain(line, out) || read_tagged(line, out));
}

bool xd_sums_next(struct xd_sums *s, struct xd_sum *out)
{
    struct xd_span line;
    while (next_line(s, &line)) {
        if (!is_armor(s, line) && read_line(line, out))
            return true;
    }
    return false;
}

size_t xd_sum_path(const struct xd_sum *sum, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < sum->path.len; i++) {
        char c = sum->path.s[i];
        if (c == '\\' && sum->is_escaped && i + 1 < sum->path.len) {
            c = sum->path.s[++i];
            c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c);
        }
        out[n++] = c;
    }
    return n;
}
