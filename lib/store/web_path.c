/* SPDX-License-Identifier: MIT */
#include "store/web_path.h"

#include <string.h>

static bool is_dots(struct xd_span part)
{
    return xd_span_is(part, ".") || xd_span_is(part, "..");
}

bool xd_web_name_is_good(const char *name)
{
    for (;;) {
        const size_t len = strcspn(name, "/");

        if (len == 0 || is_dots(xd_span(name, len)))
            return false;
        if (name[len] == '\0')
            return true;
        name += len + 1;
    }
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~/", c));
}

void xd_web_add_name(struct xd_text *to, const char *name)
{
    for (; *name != '\0'; name++) {
        if (is_unreserved(*name))
            xd_text_add(to, name, 1);
        else
            xd_text_addf(to, "%%%02X", (unsigned)(unsigned char)*name);
    }
}

/* Returns whether the byte begins an overlong UTF-8 form of an ASCII
 * character. */
static bool is_overlong(int c)
{
    return c == 0xc0 || c == 0xc1;
}

/* Returns whether servers read a path component literally.  Some servers ignore
 * everything after a semicolon, so only the text before it counts as "." or
 * "..". */
static bool part_is_plain(const char *s, size_t len)
{
    size_t n_dots = 0, n = 0;
    bool is_ignored = false;

    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)s[i];

        if (c == '%') {
            c = len - i > 2 ? xd_url_unescape(s + i) : -1;
            if (c < ' ' || c == '/' || c == 0x7f)
                return false;
            i += 2;
        }
        if (is_overlong(c) || c == '\\')
            return false;
        is_ignored = is_ignored || c == ';';
        n_dots += !is_ignored && c == '.';
        n += !is_ignored;
    }
    return n == 0 || n > 2 || n_dots < n;
}

bool xd_web_path_is_plain(struct xd_span path)
{
    while (path.len > 0) {
        const char *slash = memchr(path.s, '/', path.len);
        const size_t len = slash ? (size_t)(slash - path.s) : path.len;

        if (!part_is_plain(path.s, len))
            return false;
        xd_span_skip(&path, slash ? len + 1 : len);
    }
    return true;
}

bool xd_web_is_below(const struct xd_url *folder, const struct xd_url *u)
{
    const struct xd_span above = xd_url_path(folder), path = xd_url_path(u);

    return xd_url_same_origin(folder, u) && !xd_url_has_login(u) &&
           path.s[path.len] == '\0' && path.len > above.len &&
           memcmp(path.s, above.s, above.len) == 0 &&
           path.s[path.len - 1] != '/' && xd_web_path_is_plain(path);
}
