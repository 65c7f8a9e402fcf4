/* SPDX-License-Identifier: MIT */
#ifndef XD_MANIFEST_PARSE_H
#define XD_MANIFEST_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

struct xd_input;

/* Limit in bytes; real manifests have a few thousand. */
#define XD_MANIFEST_MAX ((size_t)64 << 20)

/* Returns 1 if the text is the beginning of an exNode or a Metalink, judged by
 * its root element; 0 if not; or NOMEM. */
int xd_manifest_recognise(const void *data, size_t len);

/* Returns whether the text may be the beginning of such a manifest, although
 * its root element is not complete. */
bool xd_manifest_may_begin(const void *data, size_t len);

/* Like xd_manifest_parse(), for an input that was not read yet.  Does not
 * release it.  Errors: also IO. */
int xd_manifest_parse_input(struct xd_manifest **out, struct xd_input *in,
                            const char *origin, struct xd_error *err);

/* Like xd_manifest_from_urls(), but the file is called `server_name`.  If that
 * is NULL or unsafe (names.h), the name comes from the first URL. */
int xd_manifest_of_urls(struct xd_manifest **out, const char *const *urls,
                        size_t n, uint64_t size, const char *server_name,
                        struct xd_error *err);

#endif
