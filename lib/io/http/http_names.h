/* SPDX-License-Identifier: MIT */
/*
 * A cache of resolved host names, shared by transports of one download.
 *
 * Threads: any.
 */
#ifndef XD_IO_HTTP_NAMES_H
#define XD_IO_HTTP_NAMES_H

#include <stdbool.h>

#include <curl/curl.h>
#include <xdownload/error.h>

struct xd_http_names;

/*
 * Creates an empty cache.
 * Ownership: release *out with xd_http_names_free() after the last transport
 *            that uses it.
 * Errors: NOMEM.
 */
int xd_http_names_new(struct xd_http_names **out, struct xd_error *err);
void xd_http_names_free(struct xd_http_names *n); /* NULL: does nothing */

/* Makes a handle use the cache; NULL: its own cache.  Returns false if out of
 * memory. */
bool xd_http_names_share(struct xd_http_names *n, CURL *e);

#endif
