/* SPDX-License-Identifier: MIT */
/*
 * Collects the offer (base/offer.h) from the responses to one request.
 *
 * Only the requested host is trusted, not the target of its redirects.  Links
 * in the headers of its redirects count.  Digests there do not, because they
 * describe the body of the redirect.
 */
#ifndef XD_IO_HTTP_OFFER_H
#define XD_IO_HTTP_OFFER_H

#include "base/offer.h"
#include "io/http/http_answer.h"

/* Handles one header line, which `answer` has already parsed.  `url` was
 * requested because `first` redirected to it.  Returns whether the line offered
 * anything. */
bool xd_http_offer_line(struct xd_offer *o, const struct xd_http_answer *answer,
                        const struct xd_url *first, const struct xd_url *url,
                        const char *line, size_t len);

#endif
