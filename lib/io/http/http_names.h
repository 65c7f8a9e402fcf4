/* SPDX-License-Identifier: MIT */
/*
 * The addresses of names, as libcurl has looked them up, shared by transports.
 *
 * Threads: any; each transport of one download uses it.
 */
#ifndef XD_IO_HTTP_NAMES_H
#define XD_IO_HTTP_NAMES_H

#include <stdbool.h>

#include <curl/curl.h>
#include <xdownload/error.h>

struct xd_http_names;

/*
 * Ownership: *out is the caller's, to release with xd_http_names_free() after
 *            the last transport that uses it.
 * Errors:    NOMEM.
 */
int xd_http_names_new(struct xd_http_names **out, struct xd_error *err);
void xd_http_names_free(struct xd_http_names *n); /* NULL does nothing */

/* Let a handle use it; NULL: the handle has its own.  False: no memory. */
bool xd_http_names_share(struct xd_http_names *n, CURL *e);

#endif
