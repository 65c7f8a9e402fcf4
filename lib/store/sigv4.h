/* SPDX-License-Identifier: MIT */
/*
 * AWS Signature Version 4, as Amazon S3 has it: "Authenticating Requests (AWS
 * Signature Version 4)" of its API reference.  libcurl's own has, before 8.x,
 * neither the payload's hash nor the port in Host, and encodes some paths twice.
 *
 * Pure.  Errors: NOMEM, and nothing else.
 */
#ifndef XD_STORE_SIGV4_H
#define XD_STORE_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

#include "base/span.h"
#include "base/text.h"

/* The longest life of a presigned URL: seven days, in seconds ("Authenticating
 * Requests: Using Query Parameters", X-Amz-Expires). */
#define XD_SIGV4_MOST_SECONDS 604800

#define XD_SIGV4_MOST_PAIRS 16 /* in a query, and of headers, with our own */

/* What stands for the hash of a body that is not signed. */
#define XD_SIGV4_UNSIGNED "UNSIGNED-PAYLOAD"

struct xd_sigv4_signer {
    const char *access_key, *secret_key;
    const char *session_token; /* of temporary credentials, else NULL */
    const char *region, *service;
};

struct xd_sigv4_pair {
    const char *name, *value;
};

struct xd_sigv4_request {
    const char *method;
    const char *host; /* as in the header, with its port if that is not the
                         scheme's own */
    const char *path; /* as it is sent: encoded, once */
    /* The query, not encoded; names are of unreserved characters, and differ.
     * At most XD_SIGV4_MOST_PAIRS - 6. */
    const struct xd_sigv4_pair *query;
    size_t n_query;
    /* Headers that are sent and signed beside Host, X-Amz-Date and the token:
     * names in lower case, values without blanks around them or two together.
     * At most XD_SIGV4_MOST_PAIRS - 3. */
    const struct xd_sigv4_pair *headers;
    size_t n_headers;
    const char *payload; /* SHA-256 of the body in hex, or
                            XD_SIGV4_UNSIGNED */
};

/* Every byte but A-Z a-z 0-9 - . _ ~ becomes %XX, and '/' unless it is kept. */
void xd_sigv4_encode(struct xd_text *out, struct xd_span s, bool keeps_slash);

/* The query as it is signed, and sent: encoded and sorted. */
void xd_sigv4_query(struct xd_text *out, const struct xd_sigv4_request *r);

/*
 * Add the fields of the request, signed at `at` (seconds since 1970):
 * "Name: value" and a line feed, each.  All of r->headers are among them; Host,
 * which the transport writes, is not.
 */
int xd_sigv4_sign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                  const struct xd_sigv4_request *r, int64_t at);

/* Add the query with which anybody may make the request, from `at` on for
 * `seconds`: 1 to XD_SIGV4_MOST_SECONDS.  Host alone is signed. */
int xd_sigv4_presign(struct xd_text *out, const struct xd_sigv4_signer *signer,
                     const struct xd_sigv4_request *r, int64_t at,
                     uint64_t seconds);

#endif
