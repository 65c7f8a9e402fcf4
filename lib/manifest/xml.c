/* SPDX-License-Identifier: MIT */
#include "manifest/xml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "manifest/names.h"
#include "manifest/xml_copy.h"
#include "manifest/xml_global.h"

/* libxml2 2.12 added the const. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *error_pointer;
#else
typedef xmlErrorPtr error_pointer;
#endif

struct frame {
    const struct xd_xml_rule *rule;
    size_t text_begin; /* offset of the element's text in xd_xml.text */
    size_t text_most;  /* limit in bytes */
    bool is_bounded;   /* xd_xml_bound_text() was called */
    bool is_too_long;  /* the text is too long, so none of it is kept */
    bool ignores_text; /* xd_xml_ignore_text() was called */
};

/* State of the scan for attributes. */
struct tags {
    unsigned long line;
    unsigned n_attributes; /* attributes of the current tag */
    char last;             /* last non-blank character */
};

struct xd_xml {
    /* constant */
    struct xd_builder *b;
    struct xd_input *in;
    xmlParserCtxtPtr parser;
    unsigned long first_line;
    const char *namespace_uri;
    const struct xd_xml_rule *rules;
    size_t n_rules;
    void *user;
    struct xd_xml_copy *copy; /* receives the children of the root, or NULL */
    struct xd_xml_root *root; /* result, if only the root is read; else NULL */
    /* State of the parser. */
    struct tags tags;
    struct frame frames[XD_XML_DEPTH];
    size_t depth;   /* frames in use */
    size_t skipped; /* number of open elements within a skipped element */
    struct xd_text text;
    const xmlChar **attributes; /* attributes of the current element */
    int n_attributes;
    int rc; /* the first failure; no function is called after it */
};

static void stop(struct xd_xml *x, int rc)
{
    if (x->rc == 0)
        x->rc = rc;
    xmlStopParser(x->parser);
}

static void note_line(struct xd_xml *x)
{
    int line = x->parser->input ? x->parser->input->line : 1;
    x->b->number = x->first_line + (line > 0 ? (unsigned long)line - 1 : 0);
}

/* Returns whether both are the same namespace.  NULL: no namespace. */
static bool is_namespace(const char *uri, const char *wanted)
{
    return uri && wanted ? strcmp(uri, wanted) == 0 : uri == wanted;
}

static const struct xd_xml_rule *find_rule(const struct xd_xml *x,
                                           const char *name, const char *uri)
{
    int within =
        x->depth > 0 ? x->frames[x->depth - 1].rule->state : XD_XML_TOP;
    /* The root's namespace was checked by the caller. */
    if (x->depth > 0 && !is_namespace(uri, x->namespace_uri))
        return NULL;
    for (size_t i = 0; i < x->n_rules; i++) {
        if (x->rules[i].within == within && strcmp(x->rules[i].name, name) == 0)
            return &x->rules[i];
    }
    return NULL;
}

bool xd_xml_attribute(const struct xd_xml *x, const char *namespace_uri,
                      const char *name, struct xd_span *out)
{
    /* libxml2 passes five pointers per attribute: name, prefix, namespace,
     * begin and end of the value. */
    for (int i = 0; i < x->n_attributes; i++) {
        const xmlChar **a = x->attributes + (ptrdiff_t)i * 5;
        if (strcmp((const char *)a[0], name) == 0 &&
            is_namespace((const char *)a[2], namespace_uri)) {
            *out = xd_span((const char *)a[3], (size_t)(a[4] - a[3]));
            return true;
        }
    }
    return false;
}

void xd_xml_attribute_text(const struct xd_xml *x, const char *name, char *out,
                           size_t size)
{
    struct xd_span value;
    out[0] = '\0';
    if (!xd_xml_attribute(x, NULL, name, &value) || value.len >= size)
        return;
    memcpy(out, value.s, value.len);
    out[value.len] = '\0';
}

void xd_xml_skip(struct xd_xml *x)
{
    x->depth--;
    x->skipped++;
}

void xd_xml_bound_text(struct xd_xml *x, size_t most)
{
    x->frames[x->depth - 1].text_most = most;
    x->frames[x->depth - 1].is_bounded = true;
}

void xd_xml_ignore_text(struct xd_xml *x)
{
    x->frames[x->depth - 1].ignores_text = true;
}

static void describe_root(struct xd_xml *x, const char *name, const char *uri)
{
    struct xd_xml_root *root = x->root;
    struct xd_span version = {"", 0};
    xd_xml_attribute(x, NULL, "version", &version);
    snprintf(root->name, sizeof root->name, "%s", name);
    snprintf(root->namespace_uri, sizeof root->namespace_uri, "%s",
             uri ? uri : "");
    snprintf(root->version, sizeof root->version, "%.*s", (int)version.len,
             version.s);
}

static void begin_element(void *user, const xmlChar *name,
                          const xmlChar *prefix, const xmlChar *uri,
                          int n_namespaces, const xmlChar **namespaces,
                          int n_attributes, int n_defaulted,
                          const xmlChar **attributes)
{
    struct xd_xml *x = user;
    (void)prefix, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    if (x->rc < 0)
        return;
    note_line(x);
    x->attributes = attributes;
    x->n_attributes = n_attributes;
    if (x->root) {
        describe_root(x, (const char *)name, (const char *)uri);
        stop(x, XD_E_CANCELED);
        return;
    }
    const struct xd_xml_rule *rule =
        x->skipped ? NULL : find_rule(x, (const char *)name, (const char *)uri);
    if (x->depth + x->skipped == XD_XML_DEPTH) {
        stop(x, xd_builder_fail(x->b, "elements lie more than %d deep",
                                XD_XML_DEPTH));
        return;
    }
    if (x->copy && x->depth > 0)
        xd_xml_copy_begin(x->copy, (const char *)name, (const char *)uri,
                          n_attributes, attributes);
    if (!rule) {
        x->skipped++;
        return;
    }
    x->frames[x->depth++] = (struct frame){
        .rule = rule, .text_begin = x->text.len, .text_most = XD_XML_TEXT_MAX};
    int rc = rule->begin ? rule->begin(x, x->user) : 0;
    x->n_attributes = 0;
    if (rc < 0)
        stop(x, rc);
}

static void end_skipped(struct xd_xml *x)
{
    int rc = 0;
    x->skipped--;
    if (x->copy && x->depth == 1 && x->skipped == 0)
        rc = x->copy->other(x->user);
    if (rc < 0)
        stop(x, rc);
}

static int hand_over_text(struct xd_xml *x, const struct frame *f)
{
    struct xd_span text = {NULL, x->text.len - f->text_begin};
    if (f->is_too_long) {
        xd_builder_warn(x->b,
                        "the text of <%s> is longer than %zu bytes: it is not "
                        "used",
                        f->rule->name, f->text_most);
        return 0;
    }
    if (text.len > 0)
        text.s = x->text.s + f->text_begin;
    return f->rule->text(x->user, xd_span_trim(text));
}

static void end_element(void *user, const xmlChar *name, const xmlChar *prefix,
                        const xmlChar *uri)
{
    struct xd_xml *x = user;
    (void)prefix;
    if (x->rc < 0)
        return;
    note_line(x);
    if (x->copy && x->depth + x->skipped > 1)
        xd_xml_copy_end(x->copy, (const char *)name, (const char *)uri);
    if (x->skipped) {
        end_skipped(x);
        return;
    }
    const struct frame *f = &x->frames[--x->depth];
    int rc = f->rule->text ? hand_over_text(x, f) : 0;
    if (rc == 0 && f->rule->end)
        rc = f->rule->end(x->user);
    x->text.len = f->text_begin;
    if (rc < 0)
        stop(x, rc);
}

static void refuse_text(struct xd_xml *x, struct frame *f)
{
    note_line(x);
    if (f->is_bounded) {
        f->is_too_long = true;
        x->text.len = f->text_begin;
        return;
    }
    stop(x, xd_builder_fail(x->b, "the text of <%s> is longer than %zu bytes",
                            f->rule->name, f->text_most));
}

static void add_text(void *user, const xmlChar *s, int len)
{
    struct xd_xml *x = user;
    if (x->rc < 0)
        return;
    if (x->copy && x->depth + x->skipped > 1)
        xd_xml_copy_text(x->copy, (const char *)s, (size_t)len);
    if (x->skipped || x->depth == 0)
        return;
    struct frame *f = &x->frames[x->depth - 1];
    if (!f->rule->text || f->is_too_long || f->ignores_text)
        return;
    xd_text_add(&x->text, (const char *)s, (size_t)len);
    if (x->text.failed) {
        stop(x, xd_fail_nomem(x->b->err));
    } else if (x->text.len - f->text_begin > f->text_most) {
        refuse_text(x, f);
    }
}

static void refuse_doctype(void *user, const xmlChar *name,
                           const xmlChar *external, const xmlChar *system)
{
    struct xd_xml *x = user;
    struct xd_quoted q;
    (void)external, (void)system;
    if (x->rc < 0)
        return;
    note_line(x);
    stop(x, xd_builder_fail(x->b,
                            "a document type declaration (%s) is not allowed",
                            xd_quote(&q, xd_span_of((const char *)name))));
}

/* Records a fatal error.  Other errors are ignored: an undeclared prefix or an
 * odd namespace name only means that the element is not recognized. */
static void note_error(void *user, error_pointer e)
{
    struct xd_xml *x = user;
    if (x->rc < 0 || !e || e->level != XML_ERR_FATAL)
        return;
    if (e->code == XML_ERR_NO_MEMORY) {
        stop(x, xd_fail_nomem(x->b->err));
        return;
    }
    note_line(x);
    const char *message = e->message ? e->message : "";
    int len = (int)strcspn(message, "\r\n");
    stop(x, xd_builder_fail(x->b, "the XML is broken: %.*s", len, message));
}

/* Counts what looks like attributes, because libxml2 reports a tag only after
 * it has read all of it.  '<' resets the count; within a tag it is an error
 * anyway. */
static int check_tags(struct xd_xml *x, const char *s, size_t len)
{
    struct tags t = x->tags;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '<') {
            t.n_attributes = 0;
        } else if (s[i] == '\n') {
            t.line++;
        } else if ((s[i] == '"' || s[i] == '\'') && t.last == '=' &&
                   ++t.n_attributes > XD_XML_ATTRIBUTES_MAX) {
            x->b->number = t.line;
            return xd_builder_fail(x->b, "a tag has more than %d attributes",
                                   XD_XML_ATTRIBUTES_MAX);
        }
        if (!xd_is_blank(s[i]))
            t.last = s[i];
    }
    x->tags = t;
    return 0;
}

/* Reads input for libxml2.  The parser cannot be stopped from within this
 * callback. */
static int read_text(void *user, char *out, int room)
{
    struct xd_xml *x = user;
    size_t n = 0;
    int rc = x->rc;
    if (rc == 0)
        rc = xd_input_read(x->in, x->b, out, (size_t)room, &n);
    if (rc == 0)
        rc = check_tags(x, out, n);
    if (x->rc == 0)
        x->rc = rc;
    return rc < 0 ? -1 : (int)n;
}

static int run(struct xd_xml *x)
{
    xd_xml_global_init();
    x->first_line = x->b->number > 0 ? x->b->number : 1;
    x->tags.line = x->first_line;
    x->parser = xmlCreateIOParserCtxt(NULL, NULL, read_text, NULL, x,
                                      XML_CHAR_ENCODING_NONE);
    if (!x->parser)
        return xd_fail_nomem(x->b->err);
    *x->parser->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC,
                                      .internalSubset = refuse_doctype,
                                      .startElementNs = begin_element,
                                      .endElementNs = end_element,
                                      .characters = add_text,
                                      .ignorableWhitespace = add_text,
                                      .cdataBlock = add_text,
                                      .serror = note_error};
    x->parser->userData = x;
    /* NOENT: otherwise "&amp;" in an attribute arrives as "&#38;".  There are
     * no other entities.  IGNORE_ENC: only UTF-8 is accepted; other encodings
     * would make iconv open its tables. */
    xmlCtxtUseOptions(x->parser,
                      XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_IGNORE_ENC);
    xmlParseDocument(x->parser);
    int rc = x->rc;
    if (rc == 0 && !x->parser->wellFormed)
        rc = xd_builder_fail(x->b, "the XML is broken");
    xmlFreeParserCtxt(x->parser);
    xd_text_fini(&x->text);
    return rc;
}

int xd_xml_read_root(struct xd_builder *b, struct xd_input *in,
                     struct xd_xml_root *out)
{
    unsigned long first_line = b->number;
    struct xd_xml x = {.b = b, .in = in, .root = out};
    int rc = run(&x);
    if (rc != XD_E_CANCELED)
        return rc;
    b->number = first_line;
    return 0;
}

int xd_xml_parse(struct xd_builder *b, struct xd_input *in,
                 const char *namespace_uri, const struct xd_xml_rule *rules,
                 size_t n_rules, struct xd_xml_copy *copy, void *user)
{
    struct xd_xml x = {.b = b,
                       .in = in,
                       .namespace_uri = namespace_uri,
                       .rules = rules,
                       .n_rules = n_rules,
                       .copy = copy,
                       .user = user};
    return run(&x);
}
