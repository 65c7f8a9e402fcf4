/* SPDX-License-Identifier: MIT */
#include "manifest/exnode_common.h"

#include <string.h>

#include "manifest/model.h"
#include "manifest/write.h"

/* Longest capability: MAX_CAP_LEN of IBP. */
#define MAX_CAPABILITY 2048

static void *allocate(struct xd_builder *b, size_t n, size_t size)
{
    void *p =
        b->out_of_memory ? NULL : xd_pool_array(&b->manifest->pool, n, size);

    b->out_of_memory |= p == NULL;
    return p;
}

/* Copies secrets.  Their positions become relative to `begin`. */
static const struct xd_xml_secret *copy_secrets(struct xd_builder *b,
                                                const struct xd_xml_copy *c,
                                                size_t begin, size_t first)
{
    struct xd_xml_secret *to =
        c->n_secrets > first ? allocate(b, c->n_secrets - first, sizeof *to)
                             : NULL;

    for (size_t i = first; to && i < c->n_secrets; i++) {
        to[i - first].begin = c->secrets[i].begin - begin;
        to[i - first].end = c->secrets[i].end - begin;
    }
    return to;
}

struct xd_exnode_part *xd_exnode_make_part(struct xd_builder *b,
                                           const struct xd_xml_copy *c,
                                           size_t begin, size_t end,
                                           size_t first_secret)
{
    struct xd_exnode_part *part = NULL;

    if (!c->is_too_long && !c->text.failed)
        part = allocate(b, 1, sizeof *part);
    if (!part)
        return NULL;
    part->xml = xd_builder_copy(b, xd_span(c->text.s + begin, end - begin));
    part->secrets = copy_secrets(b, c, begin, first_secret);
    part->n_secrets = part->secrets ? c->n_secrets - first_secret : 0;
    return part;
}

void xd_exnode_resolve_in_copy(struct xd_builder *b, struct xd_xml_copy *c,
                               size_t begin, const char *name,
                               struct xd_span url)
{
    const char *whole = xd_builder_resolve(b, url);

    if (!whole || c->is_too_long || c->text.failed || xd_span_is(url, whole))
        return;
    c->text.len = begin;
    while (c->n_secrets > 0 && c->secrets[c->n_secrets - 1].begin >= begin)
        c->n_secrets--;
    xd_write_escaped(&c->text, whole);
    xd_text_addf(&c->text, "</%s:%s>", c->prefix, name);
}

/* Returns false for ibp://HOST:PORT/KEY/TYPEKEY/READ up to the length that
 * depots accept, and for URLs that are not IBP. */
bool xd_exnode_is_broken_capability(const struct xd_url *u)
{
    const char *url = xd_url_secret_text(u);

    if (u->scheme != XD_SCHEME_IBP)
        return false;
    unsigned slashes = 0;
    for (const char *s = url + u->path; *s; s++)
        slashes += *s == '/';
    const char *last = strrchr(url, '/');
    return slashes != 3 || strcmp(last, "/READ") != 0 ||
           strlen(url) > MAX_CAPABILITY;
}
