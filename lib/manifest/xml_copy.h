/* SPDX-License-Identifier: MIT */
/*
 * Copies of the children of a root element while they are read, so that what
 * the model has no place for can be written again.
 *
 * A copy has all elements, attributes and texts, but no comments and processing
 * instructions.  Prefixes are its own: those of one namespace are `prefix`, and
 * elements of others declare theirs.
 */
#ifndef XD_MANIFEST_XML_COPY_H
#define XD_MANIFEST_XML_COPY_H

#include <libxml/parser.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* What is longer, or has more secrets, is hostile, and is not copied.  A stripe of 255
 * shards has two of each of their replicas. */
#define XD_XML_COPY_MAX ((size_t)256 << 10)
#define XD_XML_SECRETS_MAX 2048

/* Where a secret lies in the text. */
struct xd_xml_secret {
    size_t begin, end;
};

struct xd_xml_copy {
    /* Constant. */
    const char *namespace_uri, *prefix;
    const char *const *secret_names; /* elements of which all content is one, or
                                        that are one as a whole if they have
                                        attributes; then NULL */
    const char *secret_if_named; /* elements that are one as a whole if their
                                    attribute "name" is one of these names */
    int (*other)(void *user);    /* at the end of a child that no rule names; as
                                 xd_xml_end_fn */

    /* The child that was copied last; complete where its rule's text() and
     * end() are called. */
    struct xd_text text;
    size_t n_elements;    /* with itself */
    size_t element_begin; /* in it, of the element that began last */
    struct xd_xml_secret *secrets;
    size_t n_secrets;
    bool is_too_long; /* there is no copy of it */

    /* xml_copy.c's own. */
    size_t depth, secrets_capacity;
    size_t secret_depth,
        secret_content;   /* of the one that has begun, or 0; where its
                                         content begins */
    bool is_whole_secret; /* its element is one, too, */
    bool is_tag_secret;   /* even without a content */
};

/* What libxml2 says of an element and of its text, as to SAX2 handlers. */
void xd_xml_copy_begin(struct xd_xml_copy *c, const char *name, const char *uri,
                       int n_attributes, const xmlChar **attributes);
void xd_xml_copy_text(struct xd_xml_copy *c, const char *s, size_t len);
void xd_xml_copy_end(struct xd_xml_copy *c, const char *name, const char *uri);

void xd_xml_copy_fini(struct xd_xml_copy *c);

#endif
