/* SPDX-License-Identifier: MIT */
/* Decides which URLs may be used, and warns about the others. */
#include <libxml/uri.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/string_hash.h"
#include "base/text.h"
#include "manifest/builder.h"
#include "manifest/model.h"
#include "manifest/names.h"

static bool has_scheme(struct xd_span url)
{
    for (size_t i = 0; i < url.len; i++) {
        if (url.s[i] == ':')
            return i > 0;
        if (url.s[i] == '/' || url.s[i] == '?' || url.s[i] == '#')
            return false;
    }
    return false;
}

const char *xd_builder_resolve(struct xd_builder *b, struct xd_span url)
{
    if (url.len == 0 || url.len > XD_URL_MAX)
        return NULL;
    const char *copy = xd_builder_copy(b, url);
    if (!copy || has_scheme(url) || !b->base)
        return copy;
    xmlChar *whole =
        xmlBuildURI((const xmlChar *)copy, (const xmlChar *)b->base);
    if (!whole)
        return NULL;
    copy = xd_builder_copy(b, xd_span_of((const char *)whole));
    xmlFree(whole);
    return copy;
}

/* Returns NULL if bytes may be fetched from this URL, else the reason why
 * not. */
static const char *reject_url(const struct xd_builder *b,
                              const struct xd_url *u)
{
    if (!u->is_valid)
        return "it has no URL that could be used";
    switch (u->scheme) {
    case XD_SCHEME_HTTP:
    case XD_SCHEME_HTTPS:
    case XD_SCHEME_FTP:
    case XD_SCHEME_FTPS:
    case XD_SCHEME_IBP:
        return NULL;
    case XD_SCHEME_FILE:
        if (!b->origin_is_path)
            return "it is a file: URL, which only a manifest that is itself a "
                   "file may name";
        return xd_url_is_local(u)
                   ? NULL
                   : "it is a file: URL that names no path on this machine";
    case XD_SCHEME_OTHER:
        return "its URL has a scheme other than http, https, ftp and ibp";
    }
    return NULL;
}

const char *xd_builder_url(struct xd_builder *b, struct xd_span text,
                           struct xd_url *out)
{
    const char *url = xd_builder_resolve(b, text);
    xd_url_parse(out, url ? url : "");
    return reject_url(b, out);
}

void xd_builder_drop_source(struct xd_builder *b, const char *why)
{
    xd_builder_warn(b, "a source is not used: %s", why);
    if (b->first_dropped_source == 0)
        b->first_dropped_source = b->manifest->n_warnings;
}

void xd_builder_source(struct xd_builder *b, const struct xd_source *s)
{
    struct xd_draft *d = &b->draft;
    const char *url = xd_builder_resolve(b, s->url);
    struct xd_url parsed;
    xd_url_parse(&parsed, url ? url : "");
    const char *why_not = reject_url(b, &parsed);
    if (b->out_of_memory)
        return;
    if (why_not && s->length != XD_SIZE_UNKNOWN) {
        xd_builder_loss(b, s->offset, s->length, "%s", why_not);
        return;
    }
    if (why_not) {
        xd_builder_drop_source(b, why_not);
        return;
    }
    struct xd_mapping *more = xd_grow(d->mappings, d->n_mappings,
                                      &d->mappings_capacity, sizeof *more);
    if (!more) {
        b->out_of_memory = true;
        return;
    }
    d->mappings = more;
    d->mappings[d->n_mappings] =
        (struct xd_mapping){.offset = s->offset,
                            .length = s->length,
                            .url_hash = xd_string_hash(url, strlen(url)),
                            .order = d->n_mappings,
                            .row = {.struct_size = sizeof(struct xd_replica),
                                    .url = url,
                                    .offset = s->object_offset,
                                    .object_size = s->object_size,
                                    .priority = s->priority,
                                    .location = s->location,
                                    .max_connections = s->max_connections,
                                    .framing = s->framing,
                                    .rights = s->rights | XD_MAY_READ,
                                    .expires_at = s->expires_at,
                                    .expires = s->expires,
                                    .functions = s->functions},
                            .url = parsed,
                            .part = s->part,
                            .reach = s->reach,
                            .sha256 = s->sha256};
    d->n_mappings++;
}

void xd_builder_loss(struct xd_builder *b, uint64_t offset, uint64_t length,
                     const char *format, ...)
{
    struct xd_draft *d = &b->draft;
    char reason[200];
    va_list args;
    va_start(args, format);
    xd_format_line(reason, sizeof reason, format, args);
    va_end(args);
    xd_builder_warn(b, "the mapping of bytes %llu-%llu is not used: %s",
                    (unsigned long long)offset,
                    (unsigned long long)(offset + length - 1), reason);
    struct xd_loss *more =
        xd_grow(d->losses, d->n_losses, &d->losses_capacity, sizeof *more);
    const char *copy = xd_builder_copy(b, xd_span_of(reason));
    if (more)
        d->losses = more;
    if (!more || !copy)
        b->out_of_memory = true;
    else
        d->losses[d->n_losses++] = (struct xd_loss){offset, length, copy};
}

void xd_builder_torrent(struct xd_builder *b)
{
    b->draft.n_torrents++;
}

static struct xd_metaurl *new_metaurl(struct xd_builder *b)
{
    struct xd_metaurl *m =
        b->out_of_memory ? NULL : xd_pool_alloc(&b->manifest->pool, sizeof *m);
    b->out_of_memory |= m == NULL;
    return m;
}

void xd_builder_metaurl(struct xd_builder *b, struct xd_span url,
                        struct xd_span name, enum xd_reach reach)
{
    struct xd_draft *d = &b->draft;
    const char *text = xd_builder_resolve(b, url);
    struct xd_url parsed;
    xd_url_parse(&parsed, text ? text : "");
    if (b->out_of_memory || d->n_metaurls == XD_METAURLS_MAX)
        return;
    if (!parsed.is_valid || !xd_scheme_is_web(parsed.scheme)) {
        xd_builder_warn(b, "a metaurl is not used: it is not an http, https or "
                           "ftp URL");
        return;
    }
    struct xd_metaurl *m = new_metaurl(b);
    if (m == NULL)
        return;
    *m =
        (struct xd_metaurl){.url = parsed, .reach = reach, .next = d->metaurls};
    if (name.len > 0)
        m->name = xd_builder_copy(b, name);
    d->metaurls = m;
    d->n_metaurls++;
}

unsigned xd_builder_rank(struct xd_builder *b, const char *name,
                         struct xd_span text, unsigned least, unsigned most)
{
    uint64_t rank;
    text = xd_span_trim(text);
    if (xd_parse_u64(text.s, text.len, &rank) && rank >= least && rank <= most)
        return (unsigned)rank;
    xd_builder_warn(b, "a %s is not between %u and %u", name, least, most);
    return 0;
}

unsigned xd_builder_connections(struct xd_builder *b, struct xd_span text)
{
    struct xd_quoted q;
    uint64_t n;
    text = xd_span_trim(text);
    if (xd_parse_u64(text.s, text.len, &n) && n >= 1 && n <= UINT_MAX)
        return (unsigned)n;
    xd_builder_warn(b, "%s is no number of connections", xd_quote(&q, text));
    return 0;
}

const char *xd_builder_location(struct xd_builder *b, struct xd_span code)
{
    char lower[2];
    if (code.len != sizeof lower)
        return NULL;
    for (size_t i = 0; i < sizeof lower; i++) {
        lower[i] = (char)(code.s[i] | 0x20); /* to lower case */
        if (lower[i] < 'a' || lower[i] > 'z')
            return NULL;
    }
    return xd_builder_copy(b, xd_span(lower, sizeof lower));
}
