/* SPDX-License-Identifier: MIT */
/* The steps of PUT, from the moment when no object of that name is there. */
#ifndef XD_STORE_S3_PUT_H
#define XD_STORE_S3_PUT_H

#include "store/s3_call.h"

void xd_s3_put_begin(struct xd_s3_task *t);

/* One is: it fails. */
void xd_s3_put_exists(struct xd_s3_task *t);

/* The next call of a step from SENDS on, but VERIFIES. */
bool xd_s3_put_next(struct xd_s3_task *t, struct xd_call *out);

/* What became of it. */
void xd_s3_put_answered(struct xd_s3_task *t, struct xd_s3_slot *slot,
                        const struct xd_answer *answer);

/* What VERIFIES has found: an object, or none, or why that is not known. */
void xd_s3_put_found(struct xd_s3_task *t, uint64_t size, const char *etag);
void xd_s3_put_missing(struct xd_s3_task *t);
void xd_s3_put_unverified(struct xd_s3_task *t,
                          const struct xd_s3_failure *failure);

#endif
