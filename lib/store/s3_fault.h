/* SPDX-License-Identifier: MIT */
/*
 * What S3 says when it refuses a request ("Error responses" of its API reference),
 * and what is to be done then.
 *
 * Of an answer's words none is shown but its code, the region and the endpoint,
 * when they look like that: a hostile server could repeat in the others what was
 * sent to it.
 */
#ifndef XD_STORE_S3_FAULT_H
#define XD_STORE_S3_FAULT_H

#include "store/store.h"

struct xd_s3_fault {
    int64_t status;
    char code[65];      /* "NoSuchBucket"; or "" */
    char region[65];    /* where the bucket is; or "" */
    char endpoint[129]; /* likewise, a host; or "" */
    xd_usec retry_after;
    int64_t clock_off_s; /* how far `now` is behind the server's clock; 0 if it
                            does not say */
};

/* `now` is the time that the request was signed with. */
void xd_s3_fault_read(struct xd_s3_fault *out, const struct xd_answer *answer,
                      int64_t now);

/* Whether it was refused for the time that it was signed with: it says so, or the
 * clocks differ by more than S3 allows. */
bool xd_s3_fault_is_of_clock(const struct xd_s3_fault *f);

/* What it means, and in *err a sentence about `name`. */
enum xd_task_failure xd_s3_fault_explain(const struct xd_s3_fault *f,
                                         const char *name,
                                         struct xd_error *err);

#endif
