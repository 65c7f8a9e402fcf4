/* libcurl as a whole, which wants to be set up once in a process. */
#ifndef XD_IO_CURL_GLOBAL_H
#define XD_IO_CURL_GLOBAL_H

#include <curl/curl.h>
#include <xdownload/error.h>

/* Before the first use of libcurl.  Errors: NOMEM.  Threads: any. */
int xd_curl_global_init(struct xd_error *err);

/* Without descriptors for it libcurl makes a handle that nobody can wake.
 * Errors: IO (os_errno EMFILE). */
int xd_curl_check_wakeup(CURLM *multi, struct xd_error *err);

#endif
