/* SPDX-License-Identifier: MIT */
/* Detects the format of a text and calls its reader. */
#include "base/error.h"
#include "base/page.h"
#include "manifest/format.h"
#include "manifest/input.h"
#include "manifest/model.h"
#include "manifest/names.h"
#include "manifest/parse.h"

/* Read at least this much before deciding on the format. */
#define FRONT ((size_t)16384)

/* Metalink 3 first, because 4 accepts any root without a namespace. */
static const struct xd_format *const formats[] = {
    &xd_format_exnode, &xd_format_metalink3, &xd_format_metalink4};

static const struct xd_format *format_of(const struct xd_xml_root *root)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i]->has_root(root))
            return formats[i];
    }
    return NULL;
}

/* Reads XML that begins at offset `at`. */
static int read_xml(struct xd_builder *b, struct xd_input *in, size_t at,
                    const char **out_format)
{
    struct xd_xml_root root;
    xd_input_rewind(in, at, false);
    int rc = xd_xml_read_root(b, in, &root);
    if (rc < 0)
        return rc;
    const struct xd_format *format = format_of(&root);
    if (format) {
        *out_format = format->name;
        xd_input_rewind(in, at, true);
        return format->read(b, in, &root);
    }
    struct xd_quoted name, uri;
    return xd_builder_fail(
        b, "the root element %s of namespace %s is that of no manifest",
        xd_quote(&name, xd_span_of(root.name)),
        xd_quote(&uri, xd_span_of(root.namespace_uri)));
}

/* Skips a byte order mark and white space and counts lines.  Some Metalinks
 * have a blank before "<?xml", which XML does not allow. */
static struct xd_span skip_front(struct xd_builder *b, struct xd_span text)
{
    if (text.len >= 3 && memcmp(text.s, "\xef\xbb\xbf", 3) == 0)
        text = xd_span(text.s + 3, text.len - 3);
    b->number = 1;
    while (text.len > 0 && xd_is_blank(text.s[0])) {
        b->number += text.s[0] == '\n';
        text = xd_span(text.s + 1, text.len - 1);
    }
    return text;
}

/* Finds the beginning of the text after white space.  Reads as much of the
 * input as that needs. */
static int find_begin(struct xd_builder *b, struct xd_input *in,
                      struct xd_span *out)
{
    int rc;
    size_t least = FRONT;
    do {
        rc = xd_input_fill(in, least, b->err);
        *out = skip_front(b, in->front);
        least = in->front.len + FRONT;
    } while (rc == 0 && out->len < XD_PAGE_LOOK && !in->is_at_end);
    return rc;
}

static int read_text(struct xd_builder *b, struct xd_input *in,
                     const char **out_format)
{
    struct xd_span text;
    int rc = find_begin(b, in, &text);
    if (rc == 0)
        rc = xd_input_check(in, b);
    if (rc < 0)
        return rc;
    bool is_html = xd_is_html(text.s, text.len);
    if (text.len == 0 || is_html) {
        b->number = 0;
        return xd_builder_fail(b, is_html ? "this is an HTML page, not a "
                                            "manifest: fetch that which it "
                                            "links to"
                                          : "it is empty");
    }
    if (text.s[0] == '<')
        return read_xml(b, in, in->front.len - text.len, out_format);
    rc = xd_input_fill_all(in, b->err);
    if (rc == 0)
        rc = xd_input_check(in, b);
    if (rc < 0)
        return rc;
    *out_format = XD_FORMAT_URLS;
    return xd_urls_read(b, skip_front(b, in->front));
}

/* Finds the format by the root element; NULL if unknown.
 * Errors: MANIFEST (no root element), NOMEM. */
static int find_format(struct xd_span text, const struct xd_format **out)
{
    struct xd_builder b;
    struct xd_xml_root root;
    struct xd_input in;
    int rc = xd_builder_init(&b, NULL, NULL);
    if (rc < 0)
        return rc;
    xd_input_init(&in, text);
    const struct xd_span rest = skip_front(&b, text);
    rc = rest.len > 0 && rest.s[0] == '<' ? xd_input_check(&in, &b)
                                          : XD_E_MANIFEST;
    xd_input_rewind(&in, text.len - rest.len, false);
    if (rc == 0)
        rc = xd_xml_read_root(&b, &in, &root);
    if (rc == 0)
        *out = format_of(&root);
    xd_builder_fini(&b);
    return rc;
}

int xd_manifest_recognise(const void *data, size_t len)
{
    const struct xd_format *format;
    int rc = find_format(xd_span(data, len), &format);
    if (rc == XD_E_NOMEM)
        return rc;
    return rc == 0 && format != NULL;
}

/* Cuts off an incomplete tag, which libxml2 would accept. */
static struct xd_span whole_tags(struct xd_span text)
{
    while (text.len > 0 && text.s[text.len - 1] != '>')
        text.len--;
    return text;
}

bool xd_manifest_may_begin(const void *data, size_t len)
{
    struct xd_builder b = {0};
    struct xd_span text = skip_front(&b, xd_span(data, len));
    const struct xd_format *format;
    if (len < 3 || text.len == 0)
        return true;
    return text.s[0] == '<' && !xd_is_html(text.s, text.len) &&
           (find_format(whole_tags(xd_span(data, len)), &format) != 0 ||
            format != NULL);
}

int xd_manifest_parse_input(struct xd_manifest **out, struct xd_input *in,
                            const char *origin, struct xd_error *err)
{
    struct xd_builder b;
    const char *format = NULL;
    *out = NULL;
    int rc = xd_builder_init(&b, origin, err);
    if (rc < 0)
        return rc;
    rc = read_text(&b, in, &format);
    if (rc == 0)
        rc = xd_builder_finish(&b, format, out);
    xd_builder_fini(&b);
    return rc;
}

int xd_manifest_parse(struct xd_manifest **out, const void *data, size_t len,
                      const char *origin, struct xd_error *err)
{
    struct xd_input in;
    xd_input_init(&in, xd_span(data, len));
    return xd_manifest_parse_input(out, &in, origin, err);
}

int xd_manifest_of_urls(struct xd_manifest **out, const char *const *urls,
                        size_t n, uint64_t size, const char *server_name,
                        struct xd_error *err)
{
    struct xd_builder b;
    *out = NULL;
    int rc = xd_builder_init(&b, NULL, err);
    if (rc < 0)
        return rc;
    b.server_name = server_name;
    b.unit = "URL";
    for (b.number = 1; b.number <= n; b.number++)
        xd_urls_add(&b, xd_span_trim(xd_span_of(urls[b.number - 1])));
    if (size != XD_SIZE_UNKNOWN)
        xd_builder_size(&b, size);
    rc = xd_urls_end(&b);
    if (rc == 0)
        rc = xd_builder_finish(&b, XD_FORMAT_URLS, out);
    xd_builder_fini(&b);
    return rc;
}

int xd_manifest_from_urls(struct xd_manifest **out, const char *const *urls,
                          size_t n, uint64_t size, struct xd_error *err)
{
    return xd_manifest_of_urls(out, urls, n, size, NULL, err);
}
