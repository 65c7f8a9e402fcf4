/* SPDX-License-Identifier: MIT */
/*
 * Parses XML that may be hostile as a stream of events.
 *
 * A format is a table of rules: which element may occur in which other, and
 * what to call at its begin and end.  Elements without a rule are skipped with
 * their content.  Elements are identified by namespace and local name, never by
 * prefix.
 *
 * The parser opens no files or URLs.  A document type declaration is refused,
 * so there are no entities besides the predefined ones.  Nesting, text length
 * and the number of attributes are limited; libxml2 compares each attribute
 * with every other.
 */
#ifndef XD_MANIFEST_XML_H
#define XD_MANIFEST_XML_H

#include "manifest/builder.h"
#include "manifest/input.h"

#define XD_XML_DEPTH 32
#define XD_XML_ATTRIBUTES_MAX 32
#define XD_XML_TEXT_MAX ((size_t)64 << 10)

struct xd_xml;
struct xd_xml_copy;

/* Functions of a rule.  Each returns 0, or the result of xd_builder_fail() to
 * stop. */
typedef int xd_xml_begin_fn(struct xd_xml *x, void *user);
typedef int xd_xml_end_fn(void *user);
typedef int xd_xml_text_fn(void *user, struct xd_span text);

struct xd_xml_rule {
    int within; /* state of the parent element; XD_XML_TOP for the root */
    const char *name;
    int state;              /* state of this element */
    xd_xml_begin_fn *begin; /* called at the begin of the element; or NULL */
    xd_xml_end_fn *end;     /* called at its end; or NULL */
    /* called at the end, with the trimmed text of the element itself; or
     * NULL */
    xd_xml_text_fn *text;
};

#define XD_XML_TOP 0

struct xd_xml_root {
    char name[32];
    char namespace_uri[128]; /* "" if none */
    char version[8];         /* value of the attribute, or "" */
};

/* Reads the root element.  b->number is unchanged.  Errors: MANIFEST, IO,
 * NOMEM. */
int xd_xml_read_root(struct xd_builder *b, struct xd_input *in,
                     struct xd_xml_root *out);

/*
 * Parses the text.  `namespace_uri` is the namespace of all elements but the
 * root; NULL: none.  b->number is updated to the current line, counting from
 * its value.  `copy` receives each child of the root as text; may be NULL.
 * Errors: MANIFEST, IO, NOMEM, and those of the functions in `rules`.
 */
int xd_xml_parse(struct xd_builder *b, struct xd_input *in,
                 const char *namespace_uri, const struct xd_xml_rule *rules,
                 size_t n_rules, struct xd_xml_copy *copy, void *user);

/* Returns an attribute of the current element in this namespace (NULL: none).
 * False if it is absent. */
bool xd_xml_attribute(const struct xd_xml *x, const char *namespace_uri,
                      const char *name, struct xd_span *out);

/* Copies an attribute without namespace; "" if it is absent or too long. */
void xd_xml_attribute_text(const struct xd_xml *x, const char *name, char *out,
                           size_t size);

/* Call from begin().  Skips the element and its content. */
void xd_xml_skip(struct xd_xml *x);

/* Call from begin().  If the element's text is longer than `most`, it is then
 * skipped with a warning instead of an error. */
void xd_xml_bound_text(struct xd_xml *x, size_t most);

/* Call from begin().  Ignores the element's text, whatever its length; text()
 * gets an empty text. */
void xd_xml_ignore_text(struct xd_xml *x);

#endif
