/* What is in a struct xd_commons. */
#ifndef XD_IO_HTTP_COMMONS_H
#define XD_IO_HTTP_COMMONS_H

#include "io/commons.h"

struct xd_commons {
    struct xd_http_names *names;
    struct xd_watchdog *watchdog;
};

#endif
