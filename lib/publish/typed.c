/* SPDX-License-Identifier: MIT */
#include "publish/typed.h"

#include <string.h>

#include "base/error.h"

int xd_typed_take(struct xd_typed *out, const char *text,
                  struct xd_stores *stores, const struct xd_options *o,
                  struct xd_error *err)
{
    int rc;

    *out = (struct xd_typed){.text = text};
    if (!text || text[0] == '\0')
        return xd_fail(err, XD_E_INVAL,
                       "no host or store is given to drop from");
    if (!strstr(text, "://")) {
        out->is_host = true;
        return xd_is_host(text)
                   ? 0
                   : xd_fail(err, XD_E_INVAL,
                             "%s: neither a host, as HOST or HOST:PORT, nor "
                             "the URL of a store",
                             text);
    }
    (void)xd_url_parse(&out->url, text);
    rc = xd_stores_add(stores, text, o, err);
    if (rc == 0)
        out->store = stores->list[0];
    return rc;
}

struct xd_url_name xd_typed_name(const struct xd_typed *t)
{
    struct xd_url_name name;

    if (!t->is_host)
        return xd_url_name(&t->url);
    strncpy(name.s, t->text, sizeof name.s - 1);
    name.s[sizeof name.s - 1] = '\0';
    return name;
}

bool xd_typed_manages(const struct xd_typed *t, const char *manage)
{
    struct xd_url url;

    if (!manage)
        return false;
    if (!t->is_host)
        return xd_store_has(t->store, manage);
    return xd_url_parse(&url, manage) && xd_url_is_at(&url, t->text);
}

bool xd_typed_has(const struct xd_typed *t, const struct xd_url *url,
                  const char *read, const char *manage)
{
    if (t->is_host)
        return xd_url_is_at(url, t->text);
    if (xd_typed_manages(t, manage))
        return true;
    return url->is_valid && url->scheme == XD_SCHEME_IBP
               ? xd_url_same_origin(url, &t->url)
               : xd_store_has(t->store, read);
}
