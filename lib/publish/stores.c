/* SPDX-License-Identifier: MIT */
#include "publish/stores.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "publish/open_store.h"

void xd_stores_fini(struct xd_stores *s)
{
    for (size_t i = 0; i < s->n; i++)
        xd_store_free(s->list[i]);
    xd_free(s->list);
    *s = (struct xd_stores){.n = 0};
}

int xd_stores_add(struct xd_stores *s, const char *text,
                  const struct xd_options *o, struct xd_error *err)
{
    struct xd_store **list =
        xd_grow(s->list, s->n, &s->capacity, sizeof(struct xd_store *));
    struct xd_url url;
    int rc;

    if (!list)
        return xd_fail_nomem(err);
    s->list = list;
    /* xd_open_store() reports a malformed URL */
    (void)xd_url_parse(&url, text);
    rc = xd_open_store(&list[s->n], &url, o, 0, err);
    s->n += rc == 0;
    return rc;
}

const struct xd_store *xd_stores_find(const struct xd_stores *s,
                                      const char *manage)
{
    for (size_t i = 0; i < s->n; i++)
        if (xd_store_has(s->list[i], manage))
            return s->list[i];
    return NULL;
}

/* Returns the number of bytes at the start of an object name that identify the
 * store, or 0 if the name has no such part. */
static size_t store_length(const struct xd_url *u, const char *manage)
{
    const char *end = NULL;

    if (!u->is_valid || xd_url_has_login(u))
        return 0;
    switch (u->scheme) {
    case XD_SCHEME_HTTP:
    case XD_SCHEME_HTTPS:
        end = strrchr(manage, '/');
        return end && end >= manage + u->path ? (size_t)(end - manage) + 1 : 0;
    case XD_SCHEME_IBP:
        return u->path;
    case XD_SCHEME_FTP:
    case XD_SCHEME_FTPS:
    case XD_SCHEME_FILE:
    case XD_SCHEME_OTHER:
        break;
    }
    return 0;
}

int xd_stores_make(const struct xd_store **out, struct xd_stores *s,
                   const char *manage, const struct xd_options *o,
                   struct xd_error *err)
{
    struct xd_url url;
    char *text;
    size_t len;
    int rc;

    *out = xd_stores_find(s, manage);
    if (*out)
        return 0;
    (void)xd_url_parse(&url, manage);
    len = store_length(&url, manage);
    if (len == 0)
        return xd_fail(err, XD_E_INVAL,
                       "%s: no name of an object that can be managed by its "
                       "host alone",
                       xd_url_name(&url).s);
    text = xd_strndup(manage, len);
    rc = text ? xd_stores_add(s, text, o, err) : xd_fail_nomem(err);
    xd_free(text);
    if (rc == 0)
        *out = xd_stores_find(s, manage);
    if (rc == 0 && !*out)
        rc = xd_fail(err, XD_E_INVAL, "%s: no name of an object",
                     xd_url_name(&url).s);
    return rc;
}

/* Parses "SCHEME://HOST:PORT".  The caller releases *out_text with
 * xd_free(). */
static bool parse_host(struct xd_url *out, char **out_text, const char *scheme,
                       const char *host)
{
    struct xd_text t = {.s = NULL};

    *out_text = NULL;
    if (host[0] == '\0' || strpbrk(host, "/?#@\\"))
        return false;
    xd_text_addf(&t, "%s://%s", scheme, host);
    *out_text = t.s;
    return !t.failed && xd_url_parse(out, t.s) && out->host_len > 0;
}

bool xd_is_host(const char *text)
{
    struct xd_url u;
    char *whole;
    const bool is_host = parse_host(&u, &whole, "http", text);

    xd_free(whole);
    return is_host;
}

bool xd_url_is_at(const struct xd_url *u, const char *text)
{
    struct xd_url typed;
    char *whole = NULL;
    const bool is_at =
        u->is_valid && u->host_len > 0 &&
        parse_host(&typed, &whole, xd_scheme_name(u->scheme), text) &&
        xd_url_same_origin(u, &typed);

    xd_free(whole);
    return is_at;
}
