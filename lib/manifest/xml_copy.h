/* SPDX-License-Identifier: MIT */
/*
 * Keeps children of the root as text, so that what the model cannot represent
 * can be written back.
 *
 * A copy contains elements, attributes and text, but no comments and processing
 * instructions.  Elements of `namespace_uri` get the prefix `prefix`; others
 * declare their own.
 */
#ifndef XD_MANIFEST_XML_COPY_H
#define XD_MANIFEST_XML_COPY_H

#include <libxml/parser.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Limits; longer children are not copied.  A stripe of 255 shards has two
 * secrets for each replica. */
#define XD_XML_COPY_MAX ((size_t)256 << 10)
#define XD_XML_SECRETS_MAX 2048

/* Position of a secret in the text. */
struct xd_xml_secret {
    size_t begin, end;
};

struct xd_xml_copy {
    /* Constant. */
    const char *namespace_uri, *prefix;
    /* NULL-terminated names of elements with secret content; if they have
     * attributes, the whole element is secret */
    const char *const *secret_names;
    /* elements that are secret as a whole if their attribute "name" is one
     * of these names */
    const char *secret_if_named;
    /* called at the end of a child without a rule, like xd_xml_end_fn */
    int (*other)(void *user);

    /* The child that was copied last.  It is complete when text() and end() of
     * its rule are called. */
    struct xd_text text;
    size_t n_elements;    /* number of its elements, including itself */
    size_t element_begin; /* offset of the last element that began */
    struct xd_xml_secret *secrets;
    size_t n_secrets;
    bool is_too_long; /* the child was too long, so there is no copy */

    /* Private to xml_copy.c. */
    size_t depth, secrets_capacity;
    size_t secret_depth,
        /* depth of the current secret, or 0; offset of the secret's content */
        secret_content;
    bool is_whole_secret; /* the whole element is secret */
    bool is_tag_secret;   /* the attributes of the element are secret */
};

/* Call from the SAX2 handlers of libxml2. */
void xd_xml_copy_begin(struct xd_xml_copy *c, const char *name, const char *uri,
                       int n_attributes, const xmlChar **attributes);
void xd_xml_copy_text(struct xd_xml_copy *c, const char *s, size_t len);
void xd_xml_copy_end(struct xd_xml_copy *c, const char *name, const char *uri);

void xd_xml_copy_fini(struct xd_xml_copy *c);

#endif
