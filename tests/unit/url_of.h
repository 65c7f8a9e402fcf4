/* SPDX-License-Identifier: MIT */
/* URLs as values, for tests. */
#ifndef XD_TESTS_URL_OF_H
#define XD_TESTS_URL_OF_H

#include "base/url.h"

/* `s`, which may be no URL, parsed.  It lives until 1024 others were made, and no
 * longer than `s`. */
static inline const struct xd_url *url_of(const char *s)
{
    static struct xd_url ring[1024];
    static unsigned n;
    struct xd_url *u = &ring[n++ % 1024];

    xd_url_parse(u, s);
    return u;
}

#endif
