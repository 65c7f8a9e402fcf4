/* SPDX-License-Identifier: MIT */
/* Where an HTTP answer sends us, and whether we go there. */
#ifndef XD_IO_HTTP_REDIRECT_H
#define XD_IO_HTTP_REDIRECT_H

#include <stdbool.h>
#include <xdownload/error.h>

#include "base/span.h"
#include "base/url.h"

/*
 * The URL to ask next, when `from` was asked, because of `first`, and pointed
 * to `location`.  Where it is of the origin of `first` it has that one's user
 * name and password, and else none, whatever `location` says.
 * Ownership: *out is the caller's, to release with xd_free().
 * Errors:    NET: it is no URL of http or https, or turns from https to http;
 *            NOMEM.  `name` stands for `first` in sentences.
 */
int xd_http_redirect(struct xd_url **out, const struct xd_url *first,
                     const struct xd_url *from, const char *location,
                     const char *name, struct xd_error *err);

/*
 * What a link of `from`, which was asked because of `first`, refers to: a URL of
 * http, https, ftp or ftps, with user name and password as above.
 * Ownership: likewise.
 * Errors:    NET: it is none; NOMEM.
 */
int xd_http_resolve(struct xd_url **out, const struct xd_url *first,
                    const struct xd_url *from, struct xd_span reference);

#endif
