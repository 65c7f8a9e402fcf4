/* SPDX-License-Identifier: MIT */
/* What is in a struct xd_net_context. */
#ifndef XD_IO_HTTP_CONTEXT_H
#define XD_IO_HTTP_CONTEXT_H

#include <stdbool.h>

#include "base/url.h"
#include "io/net_context.h"

/* "Xd-Client: " and 16 digits: xdownload-depot(1). */
#define XD_HTTP_CLIENT_LINE 32

#define XD_HTTP_SECRET_BYTES 16

struct xd_net_context {
    struct xd_http_names *names;
    struct xd_watchdog *watchdog;
    unsigned char secret[XD_HTTP_SECRET_BYTES]; /* at random */
    bool has_secret;
};

/* The line that says which download a request of the depot of `url` is of: another
 * one for each depot, so that two of them cannot find out that they serve the same
 * client.  False: there is none, for lack of random bytes. */
bool xd_net_context_name_client(const struct xd_net_context *c,
                                const struct xd_url *url,
                                char out[XD_HTTP_CLIENT_LINE]);

#endif
