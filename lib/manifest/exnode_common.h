/* SPDX-License-Identifier: MIT */
/* Helpers shared by the readers of mappings and of parity. */
#ifndef XD_MANIFEST_EXNODE_COMMON_H
#define XD_MANIFEST_EXNODE_COMMON_H

#include "manifest/builder.h"
#include "manifest/xml_copy.h"

/* Returns bytes [begin, end) of the copy, to be written back unchanged.  The
 * secrets from number `first_secret` on must lie in these bytes.  NULL if there
 * is no copy, or if out of memory. */
struct xd_exnode_part *xd_exnode_make_part(struct xd_builder *b,
                                           const struct xd_xml_copy *c,
                                           size_t begin, size_t end,
                                           size_t first_secret);

/* Replaces a relative URL in the copy by the absolute one, because the copy may
 * be written to another place.  `url` is the text of the element `name`, which
 * begins at `begin` and has just ended.  Child elements and their secrets are
 * removed. */
void xd_exnode_resolve_in_copy(struct xd_builder *b, struct xd_xml_copy *c,
                               size_t begin, const char *name,
                               struct xd_span url);

/* Returns whether this is an IBP URL that no depot would accept. */
bool xd_exnode_is_broken_capability(const struct xd_url *u);

#endif
