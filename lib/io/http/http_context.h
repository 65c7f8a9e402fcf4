/* SPDX-License-Identifier: MIT */
/* What is in a struct xd_net_context. */
#ifndef XD_IO_HTTP_CONTEXT_H
#define XD_IO_HTTP_CONTEXT_H

#include "io/net_context.h"

struct xd_net_context {
    struct xd_http_names *names;
    struct xd_watchdog *watchdog;
};

#endif
