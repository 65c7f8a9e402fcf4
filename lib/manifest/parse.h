/* SPDX-License-Identifier: MIT */
#ifndef XD_MANIFEST_PARSE_H
#define XD_MANIFEST_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <xdownload/manifest.h>

struct xd_input;

/* Bytes of text; real manifests have a few thousand. */
#define XD_MANIFEST_MAX ((size_t)64 << 20)

/* Whether the text of which these are the first bytes is an exNode or a
 * Metalink, by its root element: 1, 0 or NOMEM. */
int xd_manifest_recognise(const void *data, size_t len);

/* Whether it could be, when more of it comes. */
bool xd_manifest_may_begin(const void *data, size_t len);

/* As xd_manifest_parse(), of an input that has not been read yet and is not
 * released.  Errors: also IO. */
int xd_manifest_parse_input(struct xd_manifest **out, struct xd_input *in,
                            const char *origin, struct xd_error *err);

/* As xd_manifest_from_urls().  The file is called `server_name`, not as the
 * first URL says, unless that is NULL or not safe (names.h) as it stands. */
int xd_manifest_of_urls(struct xd_manifest **out, const char *const *urls,
                        size_t n, uint64_t size, const char *server_name,
                        struct xd_error *err);

#endif
