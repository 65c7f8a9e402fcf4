/* SPDX-License-Identifier: MIT */
/* libcurl as a whole, which wants to be set up once in a process. */
#ifndef XD_IO_CURL_GLOBAL_H
#define XD_IO_CURL_GLOBAL_H

#include <xdownload/error.h>

/* Before the first use of libcurl.  Errors: NOMEM.  Threads: any. */
int xd_curl_global_init(struct xd_error *err);

#endif
