/* SPDX-License-Identifier: MIT */
/*
 * Interprets an error response of S3 ("Error responses" in the API reference).
 *
 * Only the error code, region and endpoint are shown to users, and only if they
 * are well-formed.  The other texts could contain secrets that a hostile server
 * repeats from the request.
 */
#ifndef XD_STORE_S3_FAULT_H
#define XD_STORE_S3_FAULT_H

#include "store/store.h"

struct xd_s3_fault {
    int64_t status;
    char code[65];      /* such as "NoSuchBucket"; or "" */
    char region[65];    /* region of the bucket, or "" */
    char endpoint[129]; /* host to use for the bucket; or "" */
    xd_usec retry_after;
    /* seconds that `now` is behind the server's clock; 0: unknown */
    int64_t clock_off_s;
};

/* Parses an error response.  `now` is the time with which the request was
 * signed. */
void xd_s3_fault_read(struct xd_s3_fault *out, const struct xd_answer *answer,
                      int64_t now);

/* Returns whether the request was refused because of its time: S3 says so, or
 * the clocks differ by more than S3 allows. */
bool xd_s3_fault_is_of_clock(const struct xd_s3_fault *f);

/* Returns the kind of failure, and writes a sentence about `name` to *err. */
enum xd_task_failure xd_s3_fault_explain(const struct xd_s3_fault *f,
                                         const char *name,
                                         struct xd_error *err);

#endif
