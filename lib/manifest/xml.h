/* SPDX-License-Identifier: MIT */
/*
 * XML as a stream of events, for texts that may be hostile.
 *
 * A format is a table of rules: which element may stand within which other,
 * and what to call at its begin and end.  What no rule names is passed over
 * with all that it holds.  Elements are known by namespace and local name,
 * never by prefix.
 *
 * Never opens anything.  A document type declaration is refused, so that there
 * are no entities but the five of XML itself.  Bounded are nesting, the length
 * of a text that is wanted, and the attributes of a tag, which libxml2
 * compares each with each.
 */
#ifndef XD_MANIFEST_XML_H
#define XD_MANIFEST_XML_H

#include "manifest/builder.h"
#include "manifest/input.h"

#define XD_XML_DEPTH 32
#define XD_XML_ATTRIBUTES_MAX 32
#define XD_XML_TEXT_MAX ((size_t)16 << 10)

struct xd_xml;
struct xd_xml_copy;

/* Each returns 0, or what ended the parse after xd_builder_fail(). */
typedef int xd_xml_begin_fn(struct xd_xml *x, void *user);
typedef int xd_xml_end_fn(void *user);
typedef int xd_xml_text_fn(void *user, struct xd_span text);

struct xd_xml_rule {
    int within; /* state of the element around it; XD_XML_TOP: none */
    const char *name;
    int state;              /* its own */
    xd_xml_begin_fn *begin; /* or NULL */
    xd_xml_end_fn *end;     /* or NULL */
    xd_xml_text_fn *text;   /* or NULL; at its end, with its own text trimmed */
};

#define XD_XML_TOP 0

struct xd_xml_root {
    char name[32];
    char namespace_uri[128]; /* "" if it has none */
    char version[8];         /* the attribute, or "" */
};

/* What the outermost element is; b->number is as before then.  Errors:
 * MANIFEST, IO, NOMEM. */
int xd_xml_read_root(struct xd_builder *b, struct xd_input *in,
                     struct xd_xml_root *out);

/*
 * `namespace_uri` is that of all elements but the root; NULL: none.
 * b->number is kept at the current line, counted on from its value.
 * `copy` has the child of the root that is being read; NULL: none is wanted.
 * Errors: MANIFEST, IO, NOMEM, and what the functions of `rules` return.
 */
int xd_xml_parse(struct xd_builder *b, struct xd_input *in,
                 const char *namespace_uri, const struct xd_xml_rule *rules,
                 size_t n_rules, struct xd_xml_copy *copy, void *user);

/* An attribute of the element that begins, in this namespace (NULL: in none).
 * False if it has none of this name. */
bool xd_xml_attribute(const struct xd_xml *x, const char *namespace_uri,
                      const char *name, struct xd_span *out);

/* The same, in no namespace, as a string: "" if it is absent or too long. */
void xd_xml_attribute_text(const struct xd_xml *x, const char *name, char *out,
                           size_t size);

/* For a rule's begin(): the element is passed over with all that it holds, as if
 * no rule named it. */
void xd_xml_skip(struct xd_xml *x);

/* The text of the element that begins may have `most` bytes, and is passed over,
 * with a warning, if it has more: it would be an error. */
void xd_xml_bound_text(struct xd_xml *x, size_t most);

/* The text of the element that begins is of no use, however long: it is not kept, and
 * empty where it is handed over. */
void xd_xml_ignore_text(struct xd_xml *x);

#endif
