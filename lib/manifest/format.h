/* SPDX-License-Identifier: MIT */
/* A format is one file that offers one of these. */
#ifndef XD_MANIFEST_FORMAT_H
#define XD_MANIFEST_FORMAT_H

#include "manifest/builder.h"
#include "manifest/xml.h"

struct xd_format {
    const char *name; /* as xd_manifest_format() says it */
    bool (*has_root)(const struct xd_xml_root *root);
    /* Hands all files to the builder.  Errors: MANIFEST, IO, NOMEM. */
    int (*read)(struct xd_builder *b, struct xd_input *in,
                const struct xd_xml_root *root);
};

extern const struct xd_format xd_format_exnode;
extern const struct xd_format xd_format_metalink3;
extern const struct xd_format xd_format_metalink4;

/* Lists of URLs have no root. */
#define XD_FORMAT_URLS "urls"

int xd_urls_read(struct xd_builder *b, struct xd_span text);

/* The same for URLs that come one by one: each, then the end. */
void xd_urls_add(struct xd_builder *b, struct xd_span url);
int xd_urls_end(struct xd_builder *b);

#endif
