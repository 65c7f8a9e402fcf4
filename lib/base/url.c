/* SPDX-License-Identifier: MIT */
#include "base/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xdownload/error.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/string_hash.h"
#include "base/unicode.h"

#define HEX "0123456789abcdefABCDEF"

static const struct scheme {
    const char *name;
    unsigned port; /* default port; 0: the scheme has no ports */
} schemes[] = {
    [XD_SCHEME_HTTP] = {"http", 80}, [XD_SCHEME_HTTPS] = {"https", 443},
    [XD_SCHEME_FTP] = {"ftp", 21},   [XD_SCHEME_FTPS] = {"ftps", 990},
    [XD_SCHEME_FILE] = {"file", 0},  [XD_SCHEME_IBP] = {"ibp", 6714},
    [XD_SCHEME_OTHER] = {"", 0},
};

const char *xd_scheme_name(enum xd_scheme scheme)
{
    return schemes[scheme].name;
}

/* Character classes that do not depend on the locale.  strspn() is not used,
 * because it builds a table on every call, which would dominate the cost of
 * parsing a long manifest. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_of_scheme(char c)
{
    return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

static bool is_of_name(char c)
{
    return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
}

static bool is_of_ipv6(char c)
{
    return is_hex(c) || c == ':' || c == '.';
}

static bool is_of_userinfo(char c)
{
    return is_of_name(c) || (c != '\0' && strchr("~%!$&'()*+,;=:", c) != NULL);
}

/* Returns the number of leading bytes that belong to the class. */
static size_t count_of(const char *s, size_t len, bool (*is_of_class)(char))
{
    size_t n = 0;

    while (n < len && is_of_class(s[n]))
        n++;
    return n;
}

static bool all_of(const char *s, size_t len, bool (*is_of_class)(char))
{
    return count_of(s, len, is_of_class) == len;
}

/* Returns whether the text is free of bytes that some parsers skip, or at which
 * they cut the URL.  Non-ASCII passes, because Metalink allows IRIs.
 * Backslashes pass as well; the part before the path is checked separately. */
static bool has_only_plain_bytes(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c <= ' ' || c == 0x7f)
            return false;
    }
    return true;
}

static enum xd_scheme scheme_of(const char *s, size_t len)
{
    size_t i = 0;

    while (i < XD_SCHEME_OTHER && (strlen(schemes[i].name) != len ||
                                   strncasecmp(schemes[i].name, s, len) != 0))
        i++;
    return (enum xd_scheme)i;
}

/* Returns true for an IPv4 address: four decimal numbers up to 255 without
 * leading zeros. */
static bool is_ipv4(const char *s, size_t len)
{
    const char *end = s + len;

    for (int part = 0; part < 4; part++) {
        size_t n = count_of(s, (size_t)(end - s), is_digit);
        uint64_t value;

        if (!xd_parse_u64(s, n, &value) || value > 255 ||
            (n > 1 && s[0] == '0'))
            return false;
        s += n;
        if (part < 3 && *s++ != '.')
            return false;
    }
    return s == end;
}

/* Returns true if the last label is a number.  "127.1", "0x7f000001" and
 * "0177.0.0.1" are addresses for some resolvers and names for others. */
static bool ends_in_number(const char *s, size_t len)
{
    size_t label = len;

    while (label > 0 && s[label - 1] != '.')
        label--;
    s += label;
    len -= label;
    if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        return all_of(s + 2, len - 2, is_hex);
    return len > 0 && all_of(s, len, is_digit);
}

/* Accepts letters of any script, because libcurl converts them (IDNA). */
static bool is_name(const char *s, size_t len)
{
    while (len > 0) {
        uint32_t c;
        size_t n = xd_utf8_decode(s, len, &c);

        if (n == 0 || (n == 1 && !is_of_name(s[0])) ||
            (n > 1 && xd_is_deceptive(c)))
            return false;
        s += n;
        len -= n;
    }
    return true;
}

/* Returns true for an IPv6 address, optionally with a zone after "%25" (RFC
 * 6874). */
static bool is_ipv6(const char *s, size_t len)
{
    static const char sign[] = "%25";
    const size_t n_sign = strlen(sign);
    const char *zone = memchr(s, '%', len);
    const size_t n = zone != NULL ? (size_t)(zone - s) : len;

    if (zone != NULL && (len - n <= n_sign || memcmp(zone, sign, n_sign) != 0 ||
                         !all_of(zone + n_sign, len - n - n_sign, is_of_name)))
        return false;
    return n > 2 && all_of(s, n, is_of_ipv6) && memchr(s, ':', n) != NULL;
}

static bool is_host(const char *s, size_t len)
{
    size_t name_len;

    if (len > 0 && s[0] == '[')
        return len > 2 && s[len - 1] == ']' && is_ipv6(s + 1, len - 2);
    if (!is_name(s, len))
        return false;
    name_len = len > 1 && s[len - 1] == '.' ? len - 1 : len;
    return !ends_in_number(s, name_len) || is_ipv4(s, len);
}

static const char *host_of(const struct xd_url *u)
{
    return u->secret_text + u->host;
}

static const char *path_of(const struct xd_url *u)
{
    return u->secret_text + u->path;
}

static bool parse_port(const char *s, size_t len, struct xd_url *u)
{
    unsigned own = schemes[u->scheme].port;
    uint64_t port;

    if (len > 5 || !xd_parse_u64(s, len, &port) || port > 65535)
        return false;
    if (port == 0 && u->scheme == XD_SCHEME_IBP)
        port = own; /* IBP writes 0 for the default port */
    if (port == 0)
        return false;
    if (u->scheme == XD_SCHEME_FILE)
        return false;
    u->port = (uint16_t)port;
    u->port_is_default = port == own;
    return true;
}

/* Returns the last ':' before `end`, or `end`. */
static const char *last_colon(const char *s, const char *end)
{
    for (const char *at = end; at > s; at--)
        if (at[-1] == ':')
            return at - 1;
    return end;
}

/* Returns true for an IPv6 address without brackets.  IBP clients write
 * addresses in this way, but always with a port. */
static bool has_bare_ipv6(const struct xd_url *u)
{
    const char *host = host_of(u), *end = path_of(u);

    return u->scheme == XD_SCHEME_IBP &&
           all_of(host, (size_t)(end - host), is_of_ipv6) &&
           memchr(host, ':', (size_t)(last_colon(host, end) - host));
}

/* Parses [userinfo "@"] host [":" port]. */
static bool parse_authority(struct xd_url *u)
{
    size_t begin = u->host, len = u->path - begin;
    const char *end = path_of(u), *at = memchr(host_of(u), '@', len), *host_end;

    if (at != NULL) {
        u->userinfo = u->host;
        u->host = (uint16_t)(at + 1 - u->secret_text);
        if (!all_of(u->secret_text + begin, u->host - begin - 1,
                    is_of_userinfo))
            return false;
    }
    host_end = host_of(u);
    if (host_end < end && *host_end == '[')
        while (host_end < end && *host_end != ']')
            host_end++;
    while (host_end < end && *host_end != ':')
        host_end++;
    if (has_bare_ipv6(u))
        host_end = last_colon(host_of(u), end);
    u->host_len = (uint16_t)(host_end - host_of(u));

    u->port = (uint16_t)schemes[u->scheme].port;
    u->port_is_default = true;
    if (host_end < end &&
        !parse_port(host_end + 1, (size_t)(end - host_end - 1), u))
        return false;
    if (u->host_len == 0)
        return len == 0 &&
               (u->scheme == XD_SCHEME_FILE || u->scheme == XD_SCHEME_OTHER);
    return is_host(host_of(u), u->host_len) || has_bare_ipv6(u);
}

bool xd_url_parse(struct xd_url *out, const char *s)
{
    size_t len = strnlen(s, XD_URL_MAX + 1);
    size_t scheme_len = count_of(s, len, is_of_scheme);
    struct xd_url u = {.secret_text = s};
    const char *path;

    *out = (struct xd_url){.secret_text = s, .scheme = XD_SCHEME_OTHER};
    if (len > XD_URL_MAX || !has_only_plain_bytes(s, len))
        return false;
    if (!is_alpha(s[0]) || strncmp(s + scheme_len, "://", 3) != 0)
        return false;
    u.scheme = scheme_of(s, scheme_len);
    u.host = (uint16_t)(scheme_len + 3);
    u.path = (uint16_t)(u.host + strcspn(s + u.host, "/?#"));
    if (!parse_authority(&u))
        return false;
    /* Parsers that only look for '/' would take the text after '@' for the
     * host. */
    path = path_of(&u);
    if (*path != '/' && strchr(path, '@') != NULL)
        return false;
    /* IBP capabilities have no query and no fragment: "/0#IBP-key/123/READ". */
    u.path_len = (uint16_t)(u.scheme == XD_SCHEME_IBP ? strlen(path)
                                                      : strcspn(path, "?#"));
    u.is_valid = true;
    *out = u;
    return true;
}

struct xd_url *xd_url_copy(const struct xd_url *u)
{
    size_t bytes = strlen(u->secret_text) + 1;
    struct xd_url *copy = xd_alloc(1, sizeof *copy + bytes);

    if (copy == NULL)
        return NULL;
    *copy = *u;
    copy->secret_text = memcpy(copy + 1, u->secret_text, bytes);
    return copy;
}

struct xd_span xd_url_host(const struct xd_url *u)
{
    return xd_span(host_of(u), u->host_len);
}

struct xd_span xd_url_path(const struct xd_url *u)
{
    return xd_span(path_of(u), u->scheme == XD_SCHEME_IBP ? 0 : u->path_len);
}

int xd_url_compare(const struct xd_url *a, const struct xd_url *b)
{
    return a->secret_text == b->secret_text
               ? 0
               : strcmp(a->secret_text, b->secret_text);
}

/* Like tolower(), but independent of the program's locale. */
static char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Returns the length of the host without a trailing dot, because "name." and
 * "name" are the same host.  The local disk has no host. */
static size_t depot_host_len(const struct xd_url *u)
{
    bool dot = u->host_len > 1 && host_of(u)[u->host_len - 1] == '.';

    return u->scheme == XD_SCHEME_FILE ? 0 : (size_t)u->host_len - dot;
}

/* Returns the port in the depot name, or 0 if the name has no port. */
static unsigned depot_port(const struct xd_url *u)
{
    return u->port_is_default && u->scheme != XD_SCHEME_IBP ? 0 : u->port;
}

/* Writes the depot name, truncated to `size`.  Returns the full length, like
 * snprintf(). */
static int show_depot(char *out, size_t size, const struct xd_url *u)
{
    int n, len = (int)depot_host_len(u);

    if (u->scheme == XD_SCHEME_FILE)
        return snprintf(out, size, "file:");
    if (depot_port(u) == 0)
        n = snprintf(out, size, "%.*s", len, host_of(u));
    else
        n = snprintf(out, size, "%.*s:%u", len, host_of(u), depot_port(u));
    for (size_t i = 0; i < size && out[i] != '\0'; i++)
        out[i] = ascii_lower(out[i]);
    return n;
}

int xd_url_compare_depots(const struct xd_url *a, const struct xd_url *b)
{
    size_t n = depot_host_len(a), m = depot_host_len(b);
    const char *x = host_of(a), *y = host_of(b);
    int c = (n > m) - (n < m);

    /* only "file" is the local disk; other schemes may have no host */
    if (c == 0 && n == 0)
        return (a->scheme == XD_SCHEME_FILE) - (b->scheme == XD_SCHEME_FILE);
    if (c == 0 && memcmp(x, y, n) != 0)
        for (size_t i = 0; c == 0 && i < n; i++)
            c = ascii_lower(x[i]) - ascii_lower(y[i]);
    return c != 0 ? c : (int)depot_port(a) - (int)depot_port(b);
}

uint64_t xd_url_hash_depot(const struct xd_url *u)
{
    char name[512];
    const int n = show_depot(name, sizeof name, u);
    const size_t len = n < 0                     ? 0
                       : (size_t)n < sizeof name ? (size_t)n
                                                 : sizeof name - 1;

    return xd_string_hash(name, len);
}

uint64_t xd_url_hash(const struct xd_url *u)
{
    return xd_string_hash(u->secret_text, strlen(u->secret_text));
}

/* Returns the text after the last '/' of the path, without the fragment. */
static struct xd_span last_name(const char *url)
{
    size_t path = strcspn(url, "?#"), end = strcspn(url, "#");

    while (path > 0 && url[path - 1] != '/')
        path--;
    return xd_span(url + path, end - path);
}

bool xd_url_same_name(const struct xd_url *a, const struct xd_url *b)
{
    struct xd_span x = last_name(a->secret_text), y = last_name(b->secret_text);

    return x.len == y.len && memcmp(x.s, y.s, x.len) == 0;
}

bool xd_url_same_origin(const struct xd_url *a, const struct xd_url *b)
{
    return a->is_valid && b->is_valid && a->scheme == b->scheme &&
           a->port == b->port && a->host_len == b->host_len &&
           strncasecmp(host_of(a), host_of(b), a->host_len) == 0;
}

static int hex_digit(char c)
{
    const char *at = c != '\0' ? strchr(HEX, c) : NULL;

    if (at == NULL)
        return -1;
    return at - HEX < 16 ? (int)(at - HEX) : (int)(at - HEX) - 6;
}

int xd_url_unescape(const char *s)
{
    int high = s[0] == '%' ? hex_digit(s[1]) : -1;
    int low = high >= 0 ? hex_digit(s[2]) : -1;

    return low >= 0 ? high * 16 + low : -1;
}

bool xd_url_is_local(const struct xd_url *u)
{
    bool is_here =
        u->host_len == 0 ||
        (u->host_len == 9 && strncasecmp(host_of(u), "localhost", 9) == 0);
    const char *path = path_of(u);

    if (u->scheme != XD_SCHEME_FILE || !is_here || xd_url_has_login(u) ||
        path[0] != '/' || path[u->path_len] != '\0')
        return false;
    for (const char *s = path; *s != '\0'; s++)
        if (*s == '%' && xd_url_unescape(s) <= 0)
            return false; /* an invalid escape, or an escaped NUL */
    return true;
}

char *xd_url_local_path(const struct xd_url *u)
{
    char *path = xd_strndup(path_of(u), u->path_len), *out = path;

    if (path == NULL)
        return NULL;
    for (const char *in = path; *in != '\0'; in++) {
        int escaped = xd_url_unescape(in);

        *out++ = escaped >= 0 ? (char)escaped : *in;
        in += escaped >= 0 ? 2 : 0;
    }
    *out = '\0';
    return path;
}

static bool ends_like_compressed(const char *s, size_t len)
{
    static const char *const endings[] = {
        ".gz",   ".tgz",  ".bz2", ".tbz",  ".tbz2", ".xz",  ".txz", ".zst",
        ".br",   ".tzst", ".lz",  ".lzma", ".lz4",  ".lzo", ".Z",   ".taz",
        ".svgz", ".emz",  ".wmz", ".vgz",  ".cpgz", ".adz", ".dz",  ".zz"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);

        if (len > n && strncasecmp(s + len - n, endings[i], n) == 0)
            return true;
    }
    return false;
}

bool xd_name_is_compressed(const char *name)
{
    return ends_like_compressed(name, strcspn(name, "?#")) ||
           ends_like_compressed(name, strlen(name));
}

bool xd_url_names_compressed(const struct xd_url *u)
{
    return xd_name_is_compressed(u->secret_text);
}

/* Returns the text for display.  An invalid URL may contain a secret anywhere,
 * most likely next to one of these characters. */
static const char *show_invalid(const char *s)
{
    bool may_show = strpbrk(s, "@?#") == NULL && strncasecmp(s, "ibp:", 4) != 0;

    return may_show ? s : "(not a URL)";
}

static int show_url(char *out, size_t size, const struct xd_url *u)
{
    const char *s = u->secret_text;
    bool is_secret = u->scheme == XD_SCHEME_IBP;

    if (!u->is_valid)
        return snprintf(out, size, "%s", show_invalid(s));
    return snprintf(out, size, "%.*s%.*s%.*s",
                    xd_url_has_login(u) ? u->userinfo : u->host, s,
                    u->path - u->host, host_of(u), is_secret ? 4 : u->path_len,
                    is_secret ? "/..." : path_of(u));
}

/* Returns the complete output of `show` in new memory.  NULL if out of
 * memory. */
static char *allocate(int (*show)(char *, size_t, const struct xd_url *),
                      const struct xd_url *u)
{
    size_t size = (size_t)show(NULL, 0, u) + 1;
    char *s = xd_alloc(size, 1);

    if (s != NULL)
        show(s, size, u);
    return s;
}

char *xd_url_depot(const struct xd_url *u)
{
    return allocate(show_depot, u);
}

char *xd_url_public(const struct xd_url *u)
{
    return allocate(show_url, u);
}

struct xd_url_name xd_url_name(const struct xd_url *u)
{
    struct xd_url_name name;

    if (show_url(name.s, sizeof name.s, u) >= (int)sizeof name.s)
        memcpy(name.s + sizeof name.s - 4, "...", 4);
    return name;
}

void xd_url_locate(struct xd_error *err, const struct xd_url *depot,
                   const struct xd_url *url)
{
    if (err != NULL && depot != NULL && depot->is_valid)
        show_depot(err->depot, sizeof err->depot, depot);
    if (err != NULL)
        show_url(err->url, sizeof err->url, url);
}
