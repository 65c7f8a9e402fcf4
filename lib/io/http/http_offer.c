/* SPDX-License-Identifier: MIT */
#include "io/http/http_offer.h"

#include <string.h>

#include "io/http/http_digest.h"
#include "io/http/http_link.h"
#include "io/http/http_redirect.h"

static void add_link(struct xd_offer *o, const struct xd_http_link *link,
                     const struct xd_url *first, const struct xd_url *url)
{
    struct xd_offered item = {.kind = link->kind,
                              .priority = link->priority,
                              .is_preferred = link->is_preferred};
    int rc = xd_http_resolve(&item.url, first, url, link->target);

    memcpy(item.location, link->location, sizeof item.location);
    if (rc == 0)
        xd_offer_add(o, item);
    else if (rc == XD_E_NOMEM)
        o->failed = true;
}

static bool add_links(struct xd_offer *o, struct xd_span text,
                      const struct xd_url *first, const struct xd_url *url)
{
    struct xd_http_link link;
    bool any = false;

    for (; xd_http_link_next(&text, &link); any = true)
        add_link(o, &link, first, url);
    return any;
}

static bool add_hashes(struct xd_offer *o, struct xd_span text)
{
    struct xd_offer_hash hash;
    bool any = false;

    for (; xd_http_digest_next(&text, &hash); any = true)
        xd_offer_add_hash(o, &hash);
    return any;
}

bool xd_http_offer_line(struct xd_offer *o, const struct xd_http_answer *answer,
                        const struct xd_url *first, const struct xd_url *url,
                        const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    bool delivers = answer->status / 100 == 2;
    struct xd_span name, value;

    if (!colon || !(delivers || answer->status / 100 == 3) ||
        xd_url_compare_depots(first, url) != 0)
        return false;
    name = xd_span(line, (size_t)(colon - line));
    value = xd_span_trim(xd_span(colon + 1, len - name.len - 1));
    if (xd_span_is_word(name, "Link"))
        return add_links(o, value, first, url);
    return delivers &&
           (xd_span_is_word(name, "Repr-Digest") ||
            xd_span_is_word(name, "Digest")) &&
           add_hashes(o, value);
}
