#include "base/url.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/text.h"
#include "base/unicode.h"

#define HEX "0123456789abcdefABCDEF"

static const struct scheme {
    const char *name;
    unsigned port; /* 0: knows no ports */
} schemes[] = {
    [XD_SCHEME_HTTP] = {"http", 80}, [XD_SCHEME_HTTPS] = {"https", 443},
    [XD_SCHEME_FTP] = {"ftp", 21},   [XD_SCHEME_FTPS] = {"ftps", 990},
    [XD_SCHEME_FILE] = {"file", 0},  [XD_SCHEME_IBP] = {"ibp", 6714},
    [XD_SCHEME_OTHER] = {"", 0},
};

/* Classes of characters, whatever the locale.  strspn() would build a table of
 * its set at each call, which in a long manifest costs more than all else. */
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

/* How many of the `len` bytes at s, from the first one on, are of a class. */
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

/* No byte that some parsers skip, cut at or turn into another.  Those beyond
 * ASCII pass here, for Metalink has IRIs. */
static bool has_only_plain_bytes(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c <= ' ' || c == 0x7f || c == '\\')
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

/* Four decimal numbers of one byte each, without leading zeros. */
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

/* "127.1", "0x7f000001" and "0177.0.0.1" are addresses for some resolvers and
 * names for others. */
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

/* Letters of any script: libcurl turns them into ASCII (IDNA). */
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

static bool is_host(const char *s, size_t len)
{
    size_t name_len;

    if (len > 0 && s[0] == '[')
        return len > 4 && s[len - 1] == ']' &&
               all_of(s + 1, len - 2, is_of_ipv6) &&
               memchr(s, ':', len) != NULL;
    if (!is_name(s, len))
        return false;
    name_len = len > 1 && s[len - 1] == '.' ? len - 1 : len;
    return !ends_in_number(s, name_len) || is_ipv4(s, len);
}

static bool split_port(const char *s, size_t len, struct xd_url *u)
{
    unsigned own = schemes[u->scheme].port;
    uint64_t port;

    if (len > 5 || !xd_parse_u64(s, len, &port) || port > 65535)
        return false;
    if (port == 0 && u->scheme == XD_SCHEME_IBP)
        port = own; /* as IBP has it */
    if (port == 0)
        return false;
    if (u->scheme == XD_SCHEME_FILE)
        return false;
    u->port = (unsigned)port;
    u->port_is_default = u->port == own;
    return true;
}

/* The last ':' before `end`, or `end`. */
static const char *last_colon(const char *s, const char *end)
{
    for (const char *at = end; at > s; at--)
        if (at[-1] == ':')
            return at - 1;
    return end;
}

/* IBP's own clients write IPv6 addresses without brackets, and always a port:
 * it stands behind the last colon. */
static bool has_bare_ipv6(const struct xd_url *u, const char *end)
{
    size_t len = (size_t)(end - u->host);

    return u->scheme == XD_SCHEME_IBP && all_of(u->host, len, is_of_ipv6) &&
           memchr(u->host, ':', (size_t)(last_colon(u->host, end) - u->host));
}

/* [userinfo "@"] host [":" port] */
static bool split_authority(const char *s, size_t len, struct xd_url *u)
{
    const char *at = memchr(s, '@', len), *end = s + len, *host_end;

    u->host = s;
    if (at != NULL) {
        u->userinfo = s;
        u->userinfo_len = (size_t)(at - s);
        if (!all_of(s, u->userinfo_len, is_of_userinfo))
            return false;
        u->host = at + 1;
    }
    host_end = u->host;
    if (host_end < end && *host_end == '[')
        while (host_end < end && *host_end != ']')
            host_end++;
    while (host_end < end && *host_end != ':')
        host_end++;
    if (has_bare_ipv6(u, end))
        host_end = last_colon(u->host, end);
    u->host_len = (size_t)(host_end - u->host);

    u->port = schemes[u->scheme].port;
    u->port_is_default = true;
    if (host_end < end &&
        !split_port(host_end + 1, (size_t)(end - host_end - 1), u))
        return false;
    if (u->host_len == 0)
        return len == 0 &&
               (u->scheme == XD_SCHEME_FILE || u->scheme == XD_SCHEME_OTHER);
    return is_host(u->host, u->host_len) || has_bare_ipv6(u, end);
}

bool xd_url_split(const char *s, struct xd_url *out)
{
    size_t len = strnlen(s, XD_URL_MAX + 1);
    size_t scheme_len = count_of(s, len, is_of_scheme);
    struct xd_url u = {.userinfo = NULL};
    const char *authority;

    if (len > XD_URL_MAX || !has_only_plain_bytes(s, len))
        return false;
    if (!is_alpha(s[0]) || strncmp(s + scheme_len, "://", 3) != 0)
        return false;
    u.scheme = scheme_of(s, scheme_len);
    authority = s + scheme_len + 3;
    u.path = authority + strcspn(authority, "/?#");
    if (!split_authority(authority, (size_t)(u.path - authority), &u))
        return false;
    /* Parsers that look for the '/' only would find a host behind the '@'. */
    if (*u.path != '/' && strchr(u.path, '@') != NULL)
        return false;
    /* A capability has no query and no fragment: "/0#IBP-key/123/READ". */
    u.path_len =
        u.scheme == XD_SCHEME_IBP ? strlen(u.path) : strcspn(u.path, "?#");
    *out = u;
    return true;
}

/* Not tolower(): the host's locale has no say in this. */
static char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* "name." and "name" are one host. */
static size_t depot_host_len(const struct xd_url *u)
{
    bool dot = u->host_len > 1 && u->host[u->host_len - 1] == '.';

    return dot ? u->host_len - 1 : u->host_len;
}

char *xd_url_depot(const struct xd_url *u)
{
    struct xd_text t = {.s = NULL};

    if (u->scheme == XD_SCHEME_FILE)
        return xd_strdup("file:");
    xd_text_add(&t, u->host, depot_host_len(u));
    if (!u->port_is_default || u->scheme == XD_SCHEME_IBP)
        xd_text_addf(&t, ":%u", u->port);
    if (t.failed) {
        xd_text_fini(&t);
        return NULL;
    }
    for (size_t i = 0; i < t.len; i++)
        t.s[i] = ascii_lower(t.s[i]);
    return t.s;
}

bool xd_url_same_origin(const char *a, const char *b)
{
    struct xd_url x, y;

    return xd_url_split(a, &x) && xd_url_split(b, &y) && x.scheme == y.scheme &&
           x.port == y.port && x.host_len == y.host_len &&
           strncasecmp(x.host, y.host, x.host_len) == 0;
}

static int hex_digit(char c)
{
    const char *at = c != '\0' ? strchr(HEX, c) : NULL;

    if (at == NULL)
        return -1;
    return at - HEX < 16 ? (int)(at - HEX) : (int)(at - HEX) - 6;
}

/* The byte that the escape at `s` ("%2F") stands for; -1 if it is none, or
 * stands for the end of a string. */
static int unescape(const char *s)
{
    int high = hex_digit(s[1]), low = high >= 0 ? hex_digit(s[2]) : -1;

    return low >= 0 && high + low > 0 ? high * 16 + low : -1;
}

bool xd_url_is_local(const struct xd_url *u)
{
    bool is_here =
        u->host_len == 0 ||
        (u->host_len == 9 && strncasecmp(u->host, "localhost", 9) == 0);

    if (u->scheme != XD_SCHEME_FILE || !is_here || u->userinfo != NULL ||
        u->path[0] != '/' || u->path[u->path_len] != '\0')
        return false;
    for (const char *s = u->path; *s != '\0'; s++)
        if (*s == '%' && unescape(s) < 0)
            return false;
    return true;
}

char *xd_url_local_path(const struct xd_url *u)
{
    char *path = xd_strndup(u->path, u->path_len), *out = path;

    if (path == NULL)
        return NULL;
    for (const char *in = path; *in != '\0'; in++) {
        int escaped = *in == '%' ? unescape(in) : -1;

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

bool xd_url_names_compressed(const char *s)
{
    return ends_like_compressed(s, strcspn(s, "?#")) ||
           ends_like_compressed(s, strlen(s));
}

char *xd_url_public(const char *s)
{
    struct xd_url u;
    struct xd_text t = {.s = NULL};

    /* What cannot be split may hold a secret anywhere; what follows one of
     * these bytes, or goes before them, is the likely one. */
    if (!xd_url_split(s, &u)) {
        bool may_tell =
            strpbrk(s, "@?#") == NULL && strncasecmp(s, "ibp:", 4) != 0;

        return xd_strdup(may_tell ? s : "(not a URL)");
    }
    xd_text_add(&t, s,
                (size_t)((u.userinfo != NULL ? u.userinfo : u.host) - s));
    xd_text_add(&t, u.host, (size_t)(u.path - u.host));
    if (u.scheme == XD_SCHEME_IBP)
        xd_text_add(&t, "/...", 4);
    else
        xd_text_add(&t, u.path, u.path_len);
    if (t.failed) {
        xd_text_fini(&t);
        return NULL;
    }
    return t.s;
}
