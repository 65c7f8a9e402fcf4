/* SPDX-License-Identifier: MIT */
/* What is in a struct xd_net_context. */
#ifndef XD_IO_HTTP_CONTEXT_H
#define XD_IO_HTTP_CONTEXT_H

#include "io/net_context.h"

/* "Xd-Client: " and 16 digits: xdownload-depot(1). */
#define XD_HTTP_CLIENT_LINE 32

struct xd_net_context {
    struct xd_http_names *names;
    struct xd_watchdog *watchdog;
    char client[XD_HTTP_CLIENT_LINE]; /* the line that says which download it
                                         is, at random; "": without one */
};

#endif
