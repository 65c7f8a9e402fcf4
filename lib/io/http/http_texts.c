/* SPDX-License-Identifier: MIT */
#include "io/net_texts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/url.h"

#define TOKEN                    \
    "0123456789"                 \
    "abcdefghijklmnopqrstuvwxyz" \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
    "!#$%&'*+-.^_`|~" /* RFC 9110, 5.6.2 */

bool xd_is_plain_text(const char *s)
{
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

/* What the transport says itself. */
static bool is_reserved(const char *name, size_t len)
{
    static const char *const names[] = {"Accept-Encoding", "Content-Length",
                                        "If-Range", "Range",
                                        "Transfer-Encoding"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
            return true;
    return false;
}

bool xd_is_header(const char *s)
{
    size_t len = strspn(s, TOKEN);

    if (len == 0 || !xd_is_plain_text(s) || is_reserved(s, len))
        return false;
    return s[len] == ':' || strcmp(s + len, ";") == 0;
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
    bool is_known = rest == NULL;
    char url[XD_URL_MAX + 8];
    struct xd_url u;

    if (*s == '\0')
        return true;
    for (size_t i = 0; !is_known && i < sizeof schemes / sizeof *schemes; i++)
        is_known = strlen(schemes[i]) == (size_t)(rest - s) &&
                   strncasecmp(schemes[i], s, (size_t)(rest - s)) == 0;
    snprintf(url, sizeof url, "http://%s", rest != NULL ? rest + 3 : s);
    return is_known && xd_url_parse(&u, url) &&
           (url[u.path] == '\0' || strcmp(url + u.path, "/") == 0);
}
