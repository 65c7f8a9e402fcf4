#ifndef XD_MANIFEST_PARSE_H
#define XD_MANIFEST_PARSE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of text; real manifests have a few thousand. */
#define XD_MANIFEST_MAX ((size_t)64 << 20)

/* Whether the text of which these are the first bytes is an exNode or a
 * Metalink, by its root element: 1, 0 or NOMEM. */
int xd_manifest_recognise(const void *data, size_t len);

/* Whether it could be, when more of it comes. */
bool xd_manifest_may_begin(const void *data, size_t len);

#endif
