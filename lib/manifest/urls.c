/* SPDX-License-Identifier: MIT */
/*
 * Reads lists of URLs that are copies of one file: one URL a line, or several
 * separated by tabs; '#' begins a comment.  The first item must be a URL, so
 * that other text is not taken for a list.
 */
#include "base/alloc.h"
#include "base/typed_url.h"
#include "base/url.h"
#include "manifest/format.h"
#include "manifest/names.h"

/* Returns a copy normalized by xd_typed_url(), unless it contains blanks, which
 * may separate URLs.  NULL if out of memory. */
static char *copy_url(struct xd_span s)
{
    char *copy = xd_strndup(s.s, s.len), *typed;
    if (!copy || memchr(s.s, ' ', s.len))
        return copy;
    typed = xd_typed_url(copy);
    xd_free(copy);
    return typed;
}

static int read_line(struct xd_builder *b, struct xd_span line)
{
    line = xd_span_trim(line);
    while (line.len > 0 && line.s[0] != '#') {
        const char *tab = memchr(line.s, '\t', line.len);
        size_t len = tab ? (size_t)(tab - line.s) : line.len;
        struct xd_span url = xd_span_trim(xd_span(line.s, len));
        bool is_first = b->draft.n_mappings == 0 && b->n_warnings == 0;
        struct xd_url parsed;
        char *copy = copy_url(url);
        if (!copy) {
            b->out_of_memory = true;
            return 0;
        }
        if (!is_first || xd_url_parse(&parsed, copy))
            xd_urls_add(b, xd_span_of(copy));
        xd_free(copy);
        if (is_first && !parsed.is_valid)
            return xd_builder_fail(
                b,
                "this is neither XML nor a URL: a manifest is a Metalink, an "
                "exNode or a list of URLs");
        line = xd_span_trim(xd_span(line.s + len, line.len - len));
    }
    return 0;
}

void xd_urls_add(struct xd_builder *b, struct xd_span url)
{
    xd_builder_source(b, &(struct xd_source){.url = url,
                                             .length = XD_SIZE_UNKNOWN,
                                             .object_size = XD_SIZE_UNKNOWN,
                                             .priority = XD_PRIORITY_NONE});
}

int xd_urls_end(struct xd_builder *b)
{
    char name[XD_NAME_MAX + 1];
    b->number = 0;
    if (b->draft.n_mappings == 0)
        return b->n_warnings > 0 ? xd_builder_end_file(b)
                                 : xd_builder_fail(b, "there is no URL in it");
    if (xd_builder_server_name(b))
        return xd_builder_end_file(b);
    if (xd_name_from_url(&b->draft.mappings[0].url, name))
        xd_builder_name(b, xd_span_of(name));
    else
        xd_builder_warn(b, "the first URL does not name the file");
    return xd_builder_end_file(b);
}

int xd_urls_read(struct xd_builder *b, struct xd_span text)
{
    int rc = 0;
    while (rc == 0 && text.len > 0) {
        const char *end = memchr(text.s, '\n', text.len);
        size_t len = end ? (size_t)(end - text.s) : text.len;
        rc = read_line(b, xd_span(text.s, len));
        b->number++;
        len += end != NULL;
        text = xd_span(text.s + len, text.len - len);
    }
    return rc < 0 ? rc : xd_urls_end(b);
}
