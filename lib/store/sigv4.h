/* SPDX-License-Identifier: MIT */
/*
 * AWS Signature Version 4 for S3: "Authenticating Requests (AWS Signature
 * Version 4)" in the API reference.  Before version 8, libcurl's own
 * implementation omits the hash of the payload and the port in Host, and
 * encodes some paths twice.
 *
 * Pure.  Errors: only NOMEM.
 */
#ifndef XD_STORE_SIGV4_H
#define XD_STORE_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "base/span.h"
#include "base/text.h"

/* Longest lifetime of a presigned URL: seven days, in seconds ("Authenticating
 * Requests: Using Query Parameters", X-Amz-Expires). */
#define XD_SIGV4_MOST_SECONDS 604800

/* limit for the query and for the headers, including ours */
#define XD_SIGV4_MOST_PAIRS 16

/* Used in place of the hash if the body is not signed. */
#define XD_SIGV4_UNSIGNED "UNSIGNED-PAYLOAD"

struct xd_sigv4_signer {
    const char *access_key, *secret_key;
    /* token of temporary credentials, otherwise NULL */
    const char *session_token;
    const char *region, *service;
};

struct xd_sigv4_pair {
    const char *name, *value;
};

struct xd_sigv4_request {
    const char *method;
    /* value of the Host header, with the port unless it is the default */
    const char *host;
    const char *path; /* as sent: encoded once */
    /* The query, not encoded.  Names are unique and consist of unreserved
     * characters.  At most XD_SIGV4_MOST_PAIRS - 6. */
    const struct xd_sigv4_pair *query;
    size_t n_query;
    /* Headers that are sent and signed besides Host, X-Amz-Date and the token.
     * Names are in lower case; values have no leading, trailing or double
     * blanks.  At most XD_SIGV4_MOST_PAIRS - 3. */
    const struct xd_sigv4_pair *headers;
    size_t n_headers;
    const char *payload; /* SHA-256 of the body in hex, or XD_SIGV4_UNSIGNED */
};

/* Appends `s` with all bytes except A-Z a-z 0-9 - . _ ~ encoded as %XX; also
 * '/', unless keeps_slash is true. */
void xd_sigv4_encode(struct xd_text *out, struct xd_span s, bool keeps_slash);

/* Appends the query as it is signed and sent: encoded and sorted. */
void xd_sigv4_query(struct xd_text *out, const struct xd_sigv4_request *r);

/* Appends the header fields of the request, signed at the time `at` (seconds
 * since 1970), each as "Name: value" and a line feed.  They include r->headers,
 * but not Host, which the transport adds. */
int xd_sigv4_sign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                  const struct xd_sigv4_request *r, int64_t at);

/* Appends a query that lets anybody make the request for `seconds` after `at`:
 * 1 to XD_SIGV4_MOST_SECONDS.  Only Host is signed. */
int xd_sigv4_presign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                     const struct xd_sigv4_request *r, int64_t at,
                     uint64_t seconds);

#endif
