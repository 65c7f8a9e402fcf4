/* SPDX-License-Identifier: MIT */
/*
 * S3: a bucket as a store.  A small object is put by one request, a larger one by
 * a multipart upload whose parts go out beside each other:
 *
 *     PUT      HEAD, then PUT; or CreateMultipartUpload, UploadPart...,
 *              CompleteMultipartUpload; then HEAD: is all of it there?
 *     LOOK     HEAD             READ    GET with a range
 *     RENEW    HEAD: objects do not expire, if they are there
 *     DELETE   DeleteObject     ABORT   AbortMultipartUpload; before it, if no id
 *              is known, ListMultipartUploads of exactly that key
 *
 * A HEAD that is refused is followed by a GET of one byte: only that one's answer
 * has a body, which says why.
 */
#ifndef XD_STORE_S3_H
#define XD_STORE_S3_H

#include "store/s3_place.h"
#include "store/sigv4.h"
#include "store/task.h"

#define XD_S3_MOST_CALLS \
    4 /* parts in flight: what hides a round trip of 100 ms
                              between parts of 8 MiB at 1 Gbit/s twice */

/* "Amazon S3 multipart upload limits" */
#define XD_S3_LEAST_PART ((uint64_t)5 << 20)
#define XD_S3_MOST_PART ((uint64_t)5 << 30)
#define XD_S3_MOST_PARTS 10000
#define XD_S3_DEFAULT_PART ((uint64_t)8 << 20)

/* Of a URL that was made with temporary credentials, if their end is not known:
 * so long the longest session of a role lasts, AssumeRole's. */
#define XD_S3_TEMPORARY_SECONDS 43200

/* Constant after new(). */
struct xd_s3 {
    struct xd_store store;
    struct xd_s3_place place;
    char *access_key, *secret_key, *session_token; /* owned; the last or NULL */
    uint64_t part_bytes;
};

/* What its requests are signed with; lives as long as `s`. */
struct xd_sigv4_signer xd_s3_signer(const struct xd_s3 *s);

/* The tasks of struct xd_store_ops. */
int xd_s3_new_task(struct xd_task **out, const struct xd_store *s,
                   const struct xd_task_order *order, struct xd_error *err);
void xd_s3_free_task(struct xd_task *task);
bool xd_s3_next(struct xd_task *task, int64_t now, struct xd_call *out);
void xd_s3_answered(struct xd_task *task, unsigned id,
                    const struct xd_answer *answer);
void xd_s3_result(const struct xd_task *task, struct xd_task_result *out);

#endif
