/* SPDX-License-Identifier: MIT */
#include "io/net_texts.h"

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "base/url.h"

#define TOKEN                    \
    "0123456789"                 \
    "abcdefghijklmnopqrstuvwxyz" \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
    "!#$%&'*+-.^_`|~" /* RFC 9110 section 5.6.2 */

bool xd_is_plain_text(const char *s)
{
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

/* Returns whether the transport sets this field itself. */
static bool is_reserved(const char *name, size_t len)
{
    static const char *const names[] = {"Accept-Encoding", "Content-Length",
                                        "If-Range", "Range",
                                        "Transfer-Encoding"};

    return xd_span_is_among(xd_span(name, len), names,
                            sizeof names / sizeof *names);
}

bool xd_is_header(const char *s)
{
    size_t len = strspn(s, TOKEN);

    if (len == 0 || !xd_is_plain_text(s) || is_reserved(s, len))
        return false;
    return s[len] == ':' || strcmp(s + len, ";") == 0;
}

bool xd_header_is_secret(const char *s)
{
    static const char *const names[] = {"Authorization", "Cookie",
                                        "Proxy-Authorization"};

    return xd_span_is_among(xd_span(s, strcspn(s, ":;")), names,
                            sizeof names / sizeof *names);
}

bool xd_is_login(const char *s)
{
    return strchr(s, ':') != NULL && xd_is_plain_text(s);
}

bool xd_is_proxy(const char *s)
{
    static const char *const schemes[] = {"http",    "https",  "socks4",
                                          "socks4a", "socks5", "socks5h"};
    const char *rest = strstr(s, "://");
    char url[XD_URL_MAX + 8];
    struct xd_url u;

    if (*s == '\0')
        return true;
    if (rest && !xd_span_is_among(xd_span(s, (size_t)(rest - s)), schemes,
                                  sizeof schemes / sizeof *schemes))
        return false;
    snprintf(url, sizeof url, "http://%s", rest != NULL ? rest + 3 : s);
    return xd_url_parse(&u, url) &&
           (url[u.path] == '\0' || strcmp(url + u.path, "/") == 0);
}
