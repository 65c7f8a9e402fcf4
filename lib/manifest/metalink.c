/* SPDX-License-Identifier: MIT */
#include "manifest/metalink.h"

#include "base/number.h"
#include "manifest/names.h"

/* Limit as for signatures from other sources (io/signature/signature.h).  A
 * longer signature is ignored; it is no reason to reject the manifest. */
#define SIGNATURE_MAX ((size_t)64 << 10)

int xd_metalink_begin_file(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    struct xd_span name;
    if (xd_xml_attribute(x, NULL, "name", &name))
        xd_builder_name(m->b, name);
    else
        xd_builder_warn(m->b, "a <file> without a name");
    return 0;
}

int xd_metalink_end_file(void *user)
{
    struct xd_metalink *m = user;
    return xd_builder_end_file(m->b);
}

int xd_metalink_take_size(void *user, struct xd_span text)
{
    struct xd_metalink *m = user;
    struct xd_quoted q;
    uint64_t size;
    if (xd_parse_u64(text.s, text.len, &size))
        xd_builder_size(m->b, size);
    else
        xd_builder_warn(m->b, "%s is no size", xd_quote(&q, text));
    return 0;
}

int xd_metalink_begin_hash(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    struct xd_span type;
    m->hash_type[0] = '\0';
    if (xd_xml_attribute(x, NULL, "type", &type) &&
        type.len < sizeof m->hash_type) {
        memcpy(m->hash_type, type.s, type.len);
        m->hash_type[type.len] = '\0';
    }
    return 0;
}

int xd_metalink_take_hash(void *user, struct xd_span text)
{
    struct xd_metalink *m = user;
    xd_builder_hash(m->b, xd_span_of(m->hash_type), text);
    return 0;
}

int xd_metalink_begin_pieces(struct xd_xml *x, void *user)
{
    struct xd_metalink *m = user;
    struct xd_span type = {NULL, 0}, length = {NULL, 0};
    uint64_t piece_bytes = 0; /* 0 is reported as an error */
    xd_xml_attribute(x, NULL, "type", &type);
    xd_xml_attribute(x, NULL, "length", &length);
    length = xd_span_trim(length);
    xd_parse_u64(length.s, length.len, &piece_bytes);
    xd_builder_pieces(m->b, type, piece_bytes);
    return 0;
}

int xd_metalink_take_piece(void *user, struct xd_span text)
{
    struct xd_metalink *m = user;
    xd_builder_piece(m->b, text);
    return 0;
}

void xd_metalink_begin_source(const struct xd_xml *x, struct xd_metalink *m)
{
    struct xd_span code;
    m->source = (struct xd_source){.length = XD_SIZE_UNKNOWN,
                                   .object_size = XD_SIZE_UNKNOWN,
                                   .priority = XD_PRIORITY_NONE};
    if (xd_xml_attribute(x, NULL, "location", &code))
        m->source.location = xd_builder_location(m->b, code);
}

unsigned xd_metalink_rank(const struct xd_xml *x, struct xd_metalink *m,
                          const char *name, unsigned least, unsigned most)
{
    struct xd_span text;
    return xd_xml_attribute(x, NULL, name, &text)
               ? xd_builder_rank(m->b, name, text, least, most)
               : 0;
}

unsigned xd_metalink_connections(const struct xd_xml *x, struct xd_metalink *m,
                                 const char *namespace_uri)
{
    struct xd_span text;
    return xd_xml_attribute(x, namespace_uri, "maxconnections", &text)
               ? xd_builder_connections(m->b, text)
               : 0;
}

void xd_metalink_begin_signature(struct xd_xml *x, struct xd_metalink *m,
                                 const char *attribute, const char *openpgp)
{
    struct xd_span type;
    xd_xml_bound_text(x, SIGNATURE_MAX);
    m->is_openpgp = xd_xml_attribute(x, NULL, attribute, &type) &&
                    xd_span_is(xd_span_trim(type), openpgp);
}

int xd_metalink_take_signature(void *user, struct xd_span text)
{
    struct xd_metalink *m = user;
    if (m->is_openpgp)
        xd_builder_signature(m->b, text);
    return 0;
}

int xd_metalink_take_url(void *user, struct xd_span text)
{
    struct xd_metalink *m = user;
    m->source.url = text;
    xd_builder_source(m->b, &m->source);
    return 0;
}
