/* SPDX-License-Identifier: MIT */
/* Resolves redirects and links, and decides which to follow. */
#ifndef XD_IO_HTTP_REDIRECT_H
#define XD_IO_HTTP_REDIRECT_H

#include <stdbool.h>
#include <xdownload/error.h>

#include "base/span.h"
#include "base/url.h"

/*
 * Returns the URL to request next.  The user requested `first`, which led to
 * `from`, and `from` redirects to `location`.  If the new URL has the origin of
 * `first`, it gets that URL's login; otherwise none.
 * Ownership: release *out with xd_free().
 * Errors: NET (not an http or https URL, or from https to http), NOMEM.  `name`
 * is `first` for messages.
 */
int xd_http_redirect(struct xd_url **out, const struct xd_url *first,
                     const struct xd_url *from, const char *location,
                     const char *name, struct xd_error *err);

/*
 * Resolves a link in the response of `from`, which was requested because of
 * `first`.  It must be an http, https, ftp or ftps URL.  It gets a login as in
 * xd_http_redirect().
 * Ownership: release *out with xd_free().
 * Errors: NET (not such a URL), NOMEM.
 */
int xd_http_resolve(struct xd_url **out, const struct xd_url *first,
                    const struct xd_url *from, struct xd_span reference);

#endif
