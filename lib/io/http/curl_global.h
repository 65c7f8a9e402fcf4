/* SPDX-License-Identifier: MIT */
/* Process-wide initialization of libcurl. */
#ifndef XD_IO_CURL_GLOBAL_H
#define XD_IO_CURL_GLOBAL_H

#include <xdownload/error.h>

/* Call before using libcurl.  Errors: NOMEM.  Threads: any. */
int xd_curl_global_init(struct xd_error *err);

#endif
