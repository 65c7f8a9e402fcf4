/* SPDX-License-Identifier: MIT */
/*
 * A list of URLs, each a copy of one file: one a line, or several with tabs
 * between them; '#' begins a comment.  The first thing in it must be a URL:
 * any other text is not taken for a manifest.
 */
#include "base/url.h"
#include "manifest/format.h"
#include "manifest/names.h"

static bool is_url(struct xd_span s)
{
    char copy[XD_URL_MAX + 1];
    struct xd_url parts;
    if (s.len >= sizeof copy)
        return false;
    memcpy(copy, s.s, s.len);
    copy[s.len] = '\0';
    return xd_url_parse(&parts, copy);
}

static int read_line(struct xd_builder *b, struct xd_span line)
{
    line = xd_span_trim(line);
    while (line.len > 0 && line.s[0] != '#') {
        const char *tab = memchr(line.s, '\t', line.len);
        size_t len = tab ? (size_t)(tab - line.s) : line.len;
        struct xd_span url = xd_span_trim(xd_span(line.s, len));
        bool is_first = b->draft.n_mappings == 0 && b->n_warnings == 0;
        if (is_first && !is_url(url))
            return xd_builder_fail(
                b,
                "this is neither XML nor a URL: a manifest is a Metalink, an "
                "exNode or a list of URLs");
        xd_urls_add(b, url);
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
