/* SPDX-License-Identifier: MIT */
/* The contents of struct xd_net_context. */
#ifndef XD_IO_HTTP_CONTEXT_H
#define XD_IO_HTTP_CONTEXT_H

#include <stdbool.h>

#include "base/url.h"
#include "io/net_context.h"

/* "Xd-Client: " and 16 digits, see xdownload-depot(1). */
#define XD_HTTP_CLIENT_LINE 32

#define XD_HTTP_SECRET_BYTES 16

struct xd_net_context {
    struct xd_http_names *names;
    struct xd_watchdog *watchdog;
    /* random bytes, from which client numbers are derived */
    unsigned char secret[XD_HTTP_SECRET_BYTES];
    bool has_secret;
};

/* Writes the Xd-Client line for the depot of `url`.  It identifies the
 * download, but differs between depots, so that they cannot find out that they
 * serve the same client.  Returns false if there were no random bytes. */
bool xd_net_context_name_client(const struct xd_net_context *c,
                                const struct xd_url *url,
                                char out[XD_HTTP_CLIENT_LINE]);

#endif
