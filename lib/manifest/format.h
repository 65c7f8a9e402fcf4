/* SPDX-License-Identifier: MIT */
/* A format of manifests.  Each is implemented in one file. */
#ifndef XD_MANIFEST_FORMAT_H
#define XD_MANIFEST_FORMAT_H

#include "manifest/builder.h"
#include "manifest/xml.h"

struct xd_format {
    const char *name; /* name as returned by xd_manifest_format() */
    bool (*has_root)(const struct xd_xml_root *root);
    /* Passes all files to the builder.  Errors: MANIFEST, IO, NOMEM. */
    int (*read)(struct xd_builder *b, struct xd_input *in,
                const struct xd_xml_root *root);
};

extern const struct xd_format xd_format_exnode;
extern const struct xd_format xd_format_metalink3;
extern const struct xd_format xd_format_metalink4;

/* Lists of URLs are not XML. */
#define XD_FORMAT_URLS "urls"

int xd_urls_read(struct xd_builder *b, struct xd_span text);

/* Adds URLs that arrive one by one: call add for each, then end. */
void xd_urls_add(struct xd_builder *b, struct xd_span url);
int xd_urls_end(struct xd_builder *b);

#endif
