/* SPDX-License-Identifier: MIT */
/*
 * What the answers to one request offer (base/offer.h).
 *
 * Only the host that was asked has a say, not one that it redirects to.  What
 * its redirects link to counts too, but not what they hash to, which is a
 * redirect's own few bytes.
 */
#ifndef XD_IO_HTTP_OFFER_H
#define XD_IO_HTTP_OFFER_H

#include "base/offer.h"
#include "io/http/http_answer.h"

/* One line of the header of `answer`, which has read it already; `url` is what
 * was asked, and `first` what was asked at first.  Returns whether it offers
 * anything. */
bool xd_http_offer_line(struct xd_offer *o, const struct xd_http_answer *answer,
                        const struct xd_url *first, const struct xd_url *url,
                        const char *line, size_t len);

#endif
