/* SPDX-License-Identifier: MIT */
#include "manifest/xml_copy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/span.h"

static bool is_ours(const struct xd_xml_copy *c, const char *uri)
{
    return uri && strcmp(uri, c->namespace_uri) == 0;
}

static bool is_secret(const struct xd_xml_copy *c, struct xd_span name)
{
    for (size_t i = 0; c->secret_names[i]; i++) {
        if (xd_span_is(name, c->secret_names[i]))
            return true;
    }
    return false;
}

/* Returns whether the attribute "name" makes the element a secret.  If several
 * attributes have that name, the one without a namespace decides, as in
 * xd_xml_attribute(), so that reader and copy agree.  If all of them have a
 * namespace, any of them counts. */
static bool is_secret_by_name(const struct xd_xml_copy *c, const char *name,
                              int n_attributes, const xmlChar **attributes)
{
    bool is_one = false;

    if (!c->secret_if_named || strcmp(name, c->secret_if_named) != 0)
        return false;
    for (int i = 0; i < n_attributes; i++) {
        const xmlChar **a = attributes + (ptrdiff_t)i * 5;
        const char *value = (const char *)a[3];
        bool is_secret_name;

        if (strcmp((const char *)a[0], "name") != 0)
            continue;
        is_secret_name =
            is_secret(c, xd_span(value, (size_t)((const char *)a[4] - value)));
        if (!a[2])
            return is_secret_name;
        is_one |= is_secret_name;
    }
    return is_one;
}

/* Returns whether there are attributes besides "name" and "type"; any could be
 * the secret. */
static bool says_more(int n_attributes, const xmlChar **attributes)
{
    for (int i = 0; i < n_attributes; i++) {
        const xmlChar **a = attributes + (ptrdiff_t)i * 5;
        const char *name = (const char *)a[0];

        if (a[2] || (strcmp(name, "name") != 0 && strcmp(name, "type") != 0))
            return true;
    }
    return false;
}

/* Escapes bytes that a parser would normalize or take for markup. */
static void add_escaped(struct xd_text *to, const char *s, size_t len,
                        bool in_attribute)
{
    const char *special = in_attribute ? "&<>\"\t\n\r" : "&<>\r";

    for (size_t i = 0, plain; i < len; i++) {
        for (plain = i; plain < len && !strchr(special, s[plain]); plain++)
            ;
        xd_text_add(to, s + i, plain - i);
        i = plain;
        if (i < len)
            xd_text_addf(to, "&#%d;", s[i]);
    }
}

static void add_attribute(struct xd_xml_copy *c, const xmlChar **a)
{
    const char *name = (const char *)a[0], *prefix = (const char *)a[1];
    const char *uri = (const char *)a[2], *value = (const char *)a[3];

    if (uri && prefix && strcmp(prefix, "xml") != 0) {
        xd_text_addf(&c->text, " xmlns:%s=\"", prefix);
        add_escaped(&c->text, uri, strlen(uri), true);
        xd_text_addf(&c->text, "\"");
    }
    xd_text_addf(&c->text, " %s%s%s=\"", prefix ? prefix : "",
                 prefix ? ":" : "", name);
    add_escaped(&c->text, value, (size_t)((const char *)a[4] - value), true);
    xd_text_addf(&c->text, "\"");
}

static void begin_child(struct xd_xml_copy *c)
{
    xd_text_clear(&c->text);
    c->n_elements = c->n_secrets = c->secret_depth = 0;
    c->is_too_long = false;
}

/* Drops a copy that is too long. */
static void check_length(struct xd_xml_copy *c)
{
    if (c->text.len <= XD_XML_COPY_MAX)
        return;
    c->is_too_long = true;
    xd_text_clear(&c->text);
}

/* Begins a secret.  `is_whole`: the secret includes the tags of the element. */
static void begin_secret(struct xd_xml_copy *c, bool is_whole)
{
    struct xd_xml_secret *more;

    if (c->n_secrets == XD_XML_SECRETS_MAX) {
        c->is_too_long = true;
        return;
    }
    more =
        xd_grow(c->secrets, c->n_secrets, &c->secrets_capacity, sizeof *more);
    if (!more) {
        c->text.failed = true;
        return;
    }
    c->secrets = more;
    c->secret_depth = c->depth;
    c->secret_content = c->text.len;
    c->is_whole_secret = is_whole;
    more[c->n_secrets].begin = is_whole ? c->element_begin : c->text.len;
}

/* Checks whether the new element, or its content, is secret. */
static void find_secret(struct xd_xml_copy *c, const char *name,
                        int n_attributes, const xmlChar **attributes)
{
    const bool is_content = is_secret(c, xd_span_of(name));

    if (!is_content && !is_secret_by_name(c, name, n_attributes, attributes))
        return;
    c->is_tag_secret = says_more(n_attributes, attributes);
    begin_secret(c, !is_content || c->is_tag_secret);
}

void xd_xml_copy_begin(struct xd_xml_copy *c, const char *name, const char *uri,
                       int n_attributes, const xmlChar **attributes)
{
    if (c->depth++ == 0)
        begin_child(c);
    c->n_elements++;
    if (c->is_too_long)
        return;
    c->element_begin = c->text.len;
    if (is_ours(c, uri)) {
        xd_text_addf(&c->text, "<%s:%s", c->prefix, name);
    } else {
        xd_text_addf(&c->text, "<%s xmlns=\"", name);
        add_escaped(&c->text, uri ? uri : "", uri ? strlen(uri) : 0, true);
        xd_text_addf(&c->text, "\"");
    }
    for (int i = 0; i < n_attributes; i++)
        add_attribute(c, attributes + (ptrdiff_t)i * 5);
    xd_text_addf(&c->text, ">");
    if (c->secret_depth == 0)
        find_secret(c, name, n_attributes, attributes);
    check_length(c);
}

void xd_xml_copy_text(struct xd_xml_copy *c, const char *s, size_t len)
{
    if (c->is_too_long)
        return;
    if (len > XD_XML_COPY_MAX)
        /* still long enough to be dropped as too long */
        len = XD_XML_COPY_MAX + 1;
    add_escaped(&c->text, s, len, false);
    check_length(c);
}

static bool is_blank(const char *s, size_t len)
{
    return strspn(s, " \t\n\r") >= len;
}

/* Returns whether the element has a secret.  An empty element has none, unless
 * it is in the attributes. */
static bool keeps_secret(const struct xd_xml_copy *c)
{
    return !c->is_too_long && c->text.s &&
           (c->is_tag_secret || !is_blank(c->text.s + c->secret_content,
                                          c->text.len - c->secret_content));
}

void xd_xml_copy_end(struct xd_xml_copy *c, const char *name, const char *uri)
{
    const bool ends_secret = c->secret_depth == c->depth;
    const bool is_kept = ends_secret && keeps_secret(c);

    if (is_kept)
        c->secrets[c->n_secrets].end = c->text.len;
    if (ends_secret)
        c->secret_depth = 0;
    c->depth--;
    if (c->is_too_long)
        return;
    if (is_ours(c, uri))
        xd_text_addf(&c->text, "</%s:%s>", c->prefix, name);
    else
        xd_text_addf(&c->text, "</%s>", name);
    if (is_kept && c->is_whole_secret)
        c->secrets[c->n_secrets].end = c->text.len;
    c->n_secrets += is_kept;
    check_length(c);
}

void xd_xml_copy_fini(struct xd_xml_copy *c)
{
    xd_text_fini(&c->text);
    xd_free(c->secrets);
    c->secrets = NULL;
}
