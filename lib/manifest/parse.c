/* A text in memory: what it is, and who reads it. */
#include "base/error.h"
#include "base/page.h"
#include "manifest/format.h"
#include "manifest/model.h"
#include "manifest/names.h"
#include "manifest/parse.h"

#define MIB ((size_t)1 << 20)

/* Metalink 3 before 4, which takes any that has no namespace. */
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

static int read_xml(struct xd_builder *b, struct xd_span text,
                    const char **out_format)
{
    struct xd_xml_root root;
    int rc = xd_xml_read_root(b, text, &root);
    if (rc < 0)
        return rc;
    const struct xd_format *format = format_of(&root);
    if (format) {
        *out_format = format->name;
        return format->read(b, text, &root);
    }
    struct xd_quoted name, uri;
    return xd_builder_fail(
        b, "the root element %s of namespace %s is that of no manifest",
        xd_quote(&name, xd_span_of(root.name)),
        xd_quote(&uri, xd_span_of(root.namespace_uri)));
}

static int check_text(struct xd_builder *b, struct xd_span text)
{
    if (text.len > XD_MANIFEST_MAX)
        return xd_builder_fail(b, "longer than %zu MiB: no manifest is",
                               XD_MANIFEST_MAX / MIB);
    const char *nul = text.len > 0 ? memchr(text.s, '\0', text.len) : NULL;
    if (nul)
        return xd_builder_fail(b, "byte %zu is zero: this is not UTF-8 text",
                               (size_t)(nul - text.s));
    return 0;
}

/* Passes over a byte order mark and white space, and counts the lines: real
 * Metalinks have a blank before "<?xml", where XML allows none. */
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

static int read_text(struct xd_builder *b, struct xd_span text,
                     const char **out_format)
{
    int rc = check_text(b, text);
    if (rc < 0)
        return rc;
    text = skip_front(b, text);
    bool is_html = xd_is_html(text.s, text.len);
    if (text.len == 0 || is_html) {
        b->number = 0;
        return xd_builder_fail(b, is_html ? "this is an HTML page, not a "
                                            "manifest"
                                          : "it is empty");
    }
    if (text.s[0] == '<')
        return read_xml(b, text, out_format);
    *out_format = XD_FORMAT_URLS;
    return xd_urls_read(b, text);
}

int xd_manifest_recognise(const void *data, size_t len)
{
    struct xd_builder b;
    int rc = xd_builder_init(&b, NULL, NULL);
    if (rc < 0)
        return rc;
    struct xd_span text = skip_front(&b, xd_span(data, len));
    struct xd_xml_root root;
    if (text.len == 0 || text.s[0] != '<')
        rc = XD_E_MANIFEST;
    if (rc == 0)
        rc = check_text(&b, text);
    if (rc == 0)
        rc = xd_xml_read_root(&b, text, &root);
    xd_builder_fini(&b);
    if (rc == XD_E_NOMEM)
        return rc;
    return rc == 0 && format_of(&root) != NULL;
}

bool xd_manifest_may_begin(const void *data, size_t len)
{
    struct xd_builder b = {0};
    struct xd_span text = skip_front(&b, xd_span(data, len));
    return len < 3 || text.len == 0 || text.s[0] == '<';
}

int xd_manifest_parse(struct xd_manifest **out, const void *data, size_t len,
                      const char *origin, struct xd_error *err)
{
    struct xd_builder b;
    const char *format = NULL;
    *out = NULL;
    int rc = xd_builder_init(&b, origin, err);
    if (rc < 0)
        return rc;
    rc = read_text(&b, xd_span(data, len), &format);
    if (rc == 0)
        rc = xd_builder_finish(&b, format, out);
    xd_builder_fini(&b);
    return rc;
}

int xd_manifest_from_urls(struct xd_manifest **out, const char *const *urls,
                          size_t n, uint64_t size, struct xd_error *err)
{
    struct xd_builder b;
    *out = NULL;
    int rc = xd_builder_init(&b, NULL, err);
    if (rc < 0)
        return rc;
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
