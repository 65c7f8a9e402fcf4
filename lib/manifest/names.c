/* SPDX-License-Identifier: MIT */
#include "manifest/names.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/unicode.h"
#include "base/url.h"

/* Longest extension to keep; real ones are shorter than ".tar.zst.torrent". */
#define MAX_EXTENSION 16

/* Copies at most `max` bytes without cutting a character.  Returns their
 * number. */
static size_t copy_harmless(char *out, size_t max, struct xd_span s)
{
    size_t n = 0;
    while (s.len > 0 && n < max) {
        uint32_t c = 0;
        size_t len = xd_utf8_decode(s.s, s.len, &c);
        if (len == 0 || xd_is_deceptive(c)) {
            out[n++] = '_';
            len = len > 0 ? len : 1;
        } else if (n + len > max) {
            break;
        } else {
            memcpy(out + n, s.s, len);
            n += len;
        }
        s.s += len;
        s.len -= len;
    }
    return n;
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

static struct xd_span last_component(struct xd_span s)
{
    size_t begin = s.len;
    while (begin > 0 && !is_separator(s.s[begin - 1]))
        begin--;
    s = xd_span_trim(xd_span(s.s + begin, s.len - begin));
    while (s.len > 0 && (s.s[s.len - 1] == '.' || xd_is_blank(s.s[s.len - 1])))
        s.len--;
    return s;
}

static size_t extension_length(struct xd_span s)
{
    for (size_t n = 1; n <= MAX_EXTENSION && n < s.len; n++) {
        if (s.s[s.len - n] == '.')
            return n;
    }
    return 0;
}

static bool ends_in(const char *s, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len >= n && strcasecmp(s + len - n, end) == 0;
}

bool xd_name_safe(struct xd_span given, char out[XD_NAME_MAX + 1])
{
    struct xd_span name = last_component(given);
    if (name.len == 0)
        return false;
    size_t max = XD_NAME_MAX;
    size_t extension = extension_length(name);
    struct xd_span stem = xd_span(name.s, name.len - extension);
    size_t n = copy_harmless(out, max - extension, stem);
    n += copy_harmless(out + n, extension,
                       xd_span(name.s + stem.len, extension));
    out[n] = '\0';
    if (out[0] == '-' || out[0] == '~' || out[0] == '.')
        out[0] = '_';
    if (ends_in(out, n, ".part") || ends_in(out, n, ".part.journal")) {
        n -= n == XD_NAME_MAX;
        out[n] = '_';
        out[n + 1] = '\0';
    }
    return true;
}

/* Removes the first component and its separator from the path and returns
 * it. */
static struct xd_span take_component(struct xd_span *path)
{
    size_t len = 0;
    while (len < path->len && !is_separator(path->s[len]))
        len++;
    struct xd_span component = xd_span(path->s, len);
    len += len < path->len;
    *path = xd_span(path->s + len, path->len - len);
    return component;
}

static bool is_absolute(struct xd_span path)
{
    bool has_drive =
        path.len > 2 && path.s[1] == ':' && is_separator(path.s[2]);
    return path.len > 0 && (is_separator(path.s[0]) || has_drive);
}

/* Returns false if the path is absolute, too long, or has a component without a
 * safe name. */
static bool join_safe(struct xd_span given, char out[XD_PATH_MAX + 1])
{
    size_t n = 0;
    bool is_last = false;
    if (is_absolute(given))
        return false;
    while (!is_last) {
        struct xd_span component = take_component(&given);
        is_last = given.len == 0;
        if (!is_last && (component.len == 0 || xd_span_is(component, ".")))
            continue;
        char name[XD_NAME_MAX + 1];
        if (!xd_name_safe(component, name))
            return false;
        size_t len = strlen(name);
        if (n + 1 + len > XD_PATH_MAX)
            return false;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, name, len + 1);
        n += len;
    }
    return true;
}

bool xd_path_safe(struct xd_span given, char out[XD_PATH_MAX + 1])
{
    struct xd_span trimmed = xd_span_trim(given);
    if (last_component(trimmed).len == 0)
        return false;
    return join_safe(trimmed, out) || xd_name_safe(trimmed, out);
}

bool xd_path_inside(struct xd_span given, char out[XD_PATH_MAX + 1])
{
    struct xd_span trimmed = xd_span_trim(given);
    size_t len = trimmed.len;
    while (len > 1 && is_separator(trimmed.s[len - 1]))
        len--;
    trimmed.len = len;
    out[0] = '\0';
    return trimmed.len == 0 || xd_span_is(trimmed, ".") ||
           join_safe(trimmed, out);
}

bool xd_name_from_url(const struct xd_url *url, char out[XD_NAME_MAX + 1])
{
    struct xd_span path = xd_url_path(url);
    size_t begin = path.len;
    while (begin > 0 && path.s[begin - 1] != '/')
        begin--;
    char decoded[XD_URL_MAX];
    size_t n = 0;
    for (size_t i = begin; i < path.len && n < sizeof decoded; n++) {
        int escaped = xd_url_unescape(path.s + i);
        decoded[n] = escaped >= 0 ? (char)escaped : path.s[i];
        i += escaped >= 0 ? 3 : 1;
    }
    return xd_name_safe(xd_span(decoded, n), out);
}

char *xd_origin_name(const char *origin, struct xd_url *out)
{
    xd_url_parse(out, origin);
    if (strcmp(origin, "-") == 0)
        return xd_strdup("standard input");
    return strstr(origin, "://") ? xd_url_public(out) : xd_strdup(origin);
}

const char *xd_quote(struct xd_quoted *out, struct xd_span text)
{
    size_t max = sizeof out->s - sizeof "\"\"...";
    size_t n = copy_harmless(out->s + 1, max, text);
    const char *end = text.len > max ? "\"..." : "\"";
    out->s[0] = '"';
    memcpy(out->s + 1 + n, end, strlen(end) + 1);
    return out->s;
}
