/* SPDX-License-Identifier: MIT */
/* What the readers of mappings and of parity share. */
#ifndef XD_MANIFEST_EXNODE_COMMON_H
#define XD_MANIFEST_EXNODE_COMMON_H

#include "manifest/builder.h"
#include "manifest/xml_copy.h"

/* Bytes [begin, end) of the copy, with those of its secrets from `first_secret`
 * on, which lie in them, to be written again as they are.  NULL: there is no
 * copy, or no memory. */
struct xd_exnode_part *xd_exnode_make_part(struct xd_builder *b,
                                           const struct xd_xml_copy *c,
                                           size_t begin, size_t end,
                                           size_t first_secret);

/* In the copy a relative URL is made absolute, for that may be written elsewhere.
 * It is the text of the element `name`, which begins at `begin` and has just
 * ended; elements in it, and their secrets, are gone then. */
void xd_exnode_resolve_in_copy(struct xd_builder *b, struct xd_xml_copy *c,
                               size_t begin, const char *name,
                               struct xd_span url);

/* Whether it is one of IBP, but none that a depot would take. */
bool xd_exnode_is_broken_capability(const struct xd_url *u);

#endif
