/* SPDX-License-Identifier: MIT */
/*
 * Decides which files a mesh may serve, and makes their URLs.
 *
 * A node forwards path and query unchanged, but nginx also looks at a decoded
 * form.  So paths that could be interpreted in two ways are excluded here and
 * in the nodes' configuration.
 */
#include "mesh/mesh_url.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/scatter.h"
#include "base/string_hash.h"
#include "base/text.h"
#include "mesh/mesh.h"

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool xd_mesh_is_server(const struct xd_url *u)
{
    struct xd_span host = xd_url_host(u);

    if (!u->is_valid || xd_url_has_login(u) || host.len == 0 ||
        (u->scheme != XD_SCHEME_HTTP && u->scheme != XD_SCHEME_HTTPS) ||
        host.s[host.len - 1] == '.')
        return false;
    for (size_t i = 0; i < host.len; i++)
        if (!is_alnum(host.s[i]) && strchr("-._:[]", host.s[i]) == NULL)
            return false;
    return true;
}

/* Characters of a path or query (RFC 3986).  Escapes are checked separately. */
static bool is_plain_byte(char c)
{
    return is_alnum(c) ||
           (c != '\0' && strchr("-._~!$&'()*+,;=:@/%", c) != NULL);
}

/* Returns false for escapes of characters that have a meaning for servers or
 * terminals. */
static bool is_harmless_escape(const char *s)
{
    int byte = xd_url_unescape(s);

    return byte >= ' ' && byte != 0x7f && byte != '/' && byte != '\\' &&
           byte != '.';
}

static bool has_plain_bytes(struct xd_span s, bool is_query)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_plain_byte(s.s[i]) && !(is_query && s.s[i] == '?'))
            return false;
        if (s.s[i] == '%' && (s.len - i < 3 || !is_harmless_escape(s.s + i)))
            return false;
    }
    return true;
}

/* Rejects "." and "..", and empty segments except for the last. */
static bool has_plain_segments(struct xd_span path)
{
    while (path.len > 0) {
        struct xd_span segment;
        const char *slash;

        xd_span_skip(&path, 1); /* the '/' */
        slash = path.len > 0 ? memchr(path.s, '/', path.len) : NULL;
        segment = xd_span(path.s, slash ? (size_t)(slash - path.s) : path.len);
        if ((slash && segment.len == 0) || xd_span_is(segment, ".") ||
            xd_span_is(segment, ".."))
            return false;
        xd_span_skip(&path, segment.len);
    }
    return true;
}

/* Returns the query with its '?' and without the fragment. */
static struct xd_span query_of(const struct xd_url *u)
{
    const char *s = xd_url_secret_text(u) + u->path + u->path_len;

    return xd_span(s, strcspn(s, "#"));
}

bool xd_mesh_path_is_plain(const struct xd_url *u)
{
    struct xd_span path = xd_url_path(u), query = query_of(u);

    return has_plain_segments(path) && has_plain_bytes(path, false) &&
           has_plain_bytes(query, true);
}

static bool contains(struct xd_span s, const char *word)
{
    for (; s.len > 0; xd_span_skip(&s, 1))
        if (xd_span_begins_with(s, word))
            return true;
    return false;
}

/* Returns whether a query parameter grants access, judging by its name.  The
 * lists cover S3, Google and Azure. */
static bool is_key(struct xd_span name)
{
    static const char *const words[] = {"sig",    "se",   "sp",  "key", "hdnea",
                                        "policy", "pass", "pwd", "jwt"};
    static const char *const parts[] = {
        "signature", "token",     "credential", "secret", "passw",
        "auth",      "hmac",      "key-pair",   "apikey", "api_key",
        "api-key",   "accesskey", "session",    "expires"};

    if (xd_span_is_among(name, words, sizeof words / sizeof *words))
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (contains(name, parts[i]))
            return true;
    return false;
}

static bool has_key(struct xd_span query)
{
    while (query.len > 0) {
        size_t len = 0, name = 0;

        xd_span_skip(&query, 1); /* the '?', '&' or ';' */
        while (len < query.len && query.s[len] != '&' && query.s[len] != ';')
            len++;
        while (name < len && query.s[name] != '=')
            name++;
        if (is_key(xd_span(query.s, name)))
            return true;
        xd_span_skip(&query, len);
    }
    return false;
}

void xd_mesh_write_server(struct xd_text *t, const struct xd_url *u,
                          const char *between)
{
    struct xd_span host = xd_url_host(u);

    xd_text_addf(t, "%s%s", xd_scheme_name(u->scheme), between);
    for (size_t i = 0; i < host.len; i++) {
        char c = lower(host.s[i]);

        xd_text_add(t, &c, 1);
    }
    if (!u->port_is_default)
        xd_text_addf(t, ":%u", u->port);
}

static void write_normal(struct xd_text *t, const struct xd_url *u,
                         const char *between)
{
    struct xd_span path = xd_url_path(u), query = query_of(u);

    xd_mesh_write_server(t, u, between);
    xd_text_addf(t, "%s", path.len == 0 ? "/" : "");
    xd_text_add(t, path.s, path.len);
    xd_text_add(t, query.s, query.len);
}

/* Returns whether the URL begins with the URL of the origin, after
 * normalization. */
static bool is_at(const struct xd_url *u, const char *origin)
{
    struct xd_span path = xd_url_path(u);
    struct xd_url o;

    if (!xd_url_parse(&o, origin) || !xd_url_same_origin(u, &o))
        return false;
    if (path.len == 0)
        return o.path_len == 1; /* same as "/" */
    return path.len >= o.path_len &&
           memcmp(path.s, xd_url_path(&o).s, o.path_len) == 0;
}

bool xd_mesh_takes(const struct xd_mesh *m, const struct xd_url *u)
{
    if (!xd_mesh_is_server(u) || !xd_mesh_path_is_plain(u) ||
        has_key(query_of(u)))
        return false;
    for (size_t i = 0; i < m->n_origins; i++)
        if (is_at(u, m->origins[i]))
            return true;
    return false;
}

char *xd_mesh_url(const struct xd_mesh *m, size_t node, size_t address,
                  const struct xd_url *u)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s/", m->nodes[node].addresses[address]);
    write_normal(&t, u, "/");
    if (t.failed)
        xd_text_fini(&t);
    return t.s;
}

/* Hashes the parts of the URL one by one, which needs no memory and so cannot
 * fail. */
uint64_t xd_mesh_file_key(const struct xd_url *u)
{
    struct xd_span host = xd_url_host(u), path = xd_url_path(u);
    struct xd_span query = query_of(u);
    const char *scheme = xd_scheme_name(u->scheme);
    uint64_t h = xd_string_hash(scheme, strlen(scheme));
    char port[8];

    h = xd_string_hash_more(h, "://", 3);
    for (size_t i = 0; i < host.len; i++) {
        char c = lower(host.s[i]);

        h = xd_string_hash_more(h, &c, 1);
    }
    if (!u->port_is_default) {
        snprintf(port, sizeof port, ":%u", u->port);
        h = xd_string_hash_more(h, port, strlen(port));
    }
    if (path.len == 0)
        h = xd_string_hash_more(h, "/", 1);
    h = xd_string_hash_more(h, path.s, path.len);
    return xd_scatter(xd_string_hash_more(h, query.s, query.len));
}
