/* SPDX-License-Identifier: MIT */
/*
 * With the build option XD_FLOOR this header is included first in every file of
 * lib/io.  It makes any libcurl look like 7.81.0, the oldest supported version,
 * by poisoning later names.
 */
#ifndef XD_CURL_FLOOR_H
#define XD_CURL_FLOOR_H

#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

/* Macros cannot be poisoned. */
#undef CURLU_PUNYCODE
#undef CURLU_PUNY2IDN
#undef CURLU_GET_EMPTY
#undef CURLU_NO_GUESS_SCHEME

#undef LIBCURL_VERSION_NUM
#define LIBCURL_VERSION_NUM 0x075100

#pragma GCC poison curl_easy_header curl_easy_nextheader curl_global_trace     \
    curl_multi_get_handles curl_multi_waitfds curl_multi_get_offt curl_ws_send \
        curl_ws_recv curl_ws_meta
#pragma GCC poison CURLOPT_PROTOCOLS_STR CURLOPT_REDIR_PROTOCOLS_STR \
    CURLOPT_QUICK_EXIT CURLOPT_CA_CACHE_TIMEOUT CURLOPT_WS_OPTIONS   \
        CURLOPT_HAPROXY_CLIENT_IP CURLOPT_SERVER_RESPONSE_TIMEOUT_MS \
            CURLOPT_TCP_KEEPCNT CURLOPT_ECH CURLMOPT_NETWORK_CHANGED
#pragma GCC poison CURLINFO_CONN_ID CURLINFO_XFER_ID CURLINFO_QUEUE_TIME_T  \
    CURLINFO_USED_PROXY CURLINFO_POSTTRANSFER_TIME_T CURLINFO_HTTPAUTH_USED \
        CURLINFO_PROXYAUTH_USED CURLINFO_EARLYDATA_SENT_T                   \
            CURLINFO_SIZE_DELIVERED
#pragma GCC poison CURLE_TOO_LARGE CURLE_ECH_REQUIRED CURLE_UNRECOVERABLE_POLL \
    CURLU_PUNYCODE CURLU_PUNY2IDN CURLU_GET_EMPTY CURLU_NO_GUESS_SCHEME        \
        CURLUE_TOO_LARGE CURL_HTTP_VERSION_3ONLY

#endif
