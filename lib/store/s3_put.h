/* SPDX-License-Identifier: MIT */
/* The steps of an S3 upload, after no object of that name was found. */
#ifndef XD_STORE_S3_PUT_H
#define XD_STORE_S3_PUT_H

#include "store/s3_call.h"

void xd_s3_put_begin(struct xd_s3_task *t);

/* Makes the task fail because an object of that name exists. */
void xd_s3_put_exists(struct xd_s3_task *t);

/* Makes the next call of the steps from SENDS on, except VERIFIES. */
bool xd_s3_put_next(struct xd_s3_task *t, struct xd_call *out);

/* Handles the answer to such a call. */
void xd_s3_put_answered(struct xd_s3_task *t, struct xd_s3_slot *slot,
                        const struct xd_answer *answer);

/* Called with the result of VERIFIES: the object exists, does not exist, or the
 * check failed. */
void xd_s3_put_found(struct xd_s3_task *t, uint64_t size, const char *etag);
void xd_s3_put_missing(struct xd_s3_task *t);
void xd_s3_put_unverified(struct xd_s3_task *t,
                          const struct xd_s3_failure *failure);

#endif
