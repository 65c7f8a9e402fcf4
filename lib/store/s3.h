/* SPDX-License-Identifier: MIT */
/*
 * S3: a bucket as a store.  A small object is uploaded by one request, a larger
 * one by a multipart upload whose parts are sent in parallel.
 *
 *     PUT      HEAD, then PutObject; or CreateMultipartUpload,
 *              UploadPart..., CompleteMultipartUpload; then HEAD to verify
 *     LOOK     HEAD             READ    GET with a range
 *     RENEW    HEAD, since objects do not expire
 *     DELETE   DeleteObject     ABORT   AbortMultipartUpload; without a
 *              known upload id, after ListMultipartUploads of exactly that key
 *
 * If a HEAD is refused, a GET of one byte follows, because only the answer to a
 * GET has a body with the reason.
 *
 * xd_s3_new() is declared in task.h.  Threads: as in store.h.
 */
#ifndef XD_STORE_S3_H
#define XD_STORE_S3_H

#include "store/s3_place.h"
#include "store/sigv4.h"
#include "store/task.h"

/* Number of parts in flight.  This is twice the number that hides a round trip
 * of 100 ms between parts of 8 MiB at 1 Gbit/s. */
#define XD_S3_MOST_CALLS 4

/* Limits from "Amazon S3 multipart upload limits". */
#define XD_S3_LEAST_PART ((uint64_t)5 << 20)
#define XD_S3_MOST_PART ((uint64_t)5 << 30)
#define XD_S3_MOST_PARTS 10000
#define XD_S3_DEFAULT_PART ((uint64_t)8 << 20)

/* Lifetime in seconds of a URL that is presigned with temporary credentials of
 * unknown expiry: the longest session of a role (AssumeRole). */
#define XD_S3_TEMPORARY_SECONDS 43200

/* Constant after new(). */
struct xd_s3 {
    struct xd_store store;
    struct xd_s3_place place;
    /* owned; session_token may be NULL */
    char *access_key, *secret_key, *session_token;
    uint64_t part_bytes;
};

/* Returns the keys and region that sign requests.  The pointers are valid as
 * long as `s`. */
struct xd_sigv4_signer xd_s3_signer(const struct xd_s3 *s);

/*
 * The task functions of struct xd_store_ops, for a store made by xd_s3_new().
 * Their contracts are in store.h.  new_task() keeps no pointer to order->name
 * and order->object.
 * Errors of new_task(): INVAL (an object outside of this store, an invalid
 * name, more bytes than 10000 parts of 5 GiB, a READ of 0 or more than 65536
 * bytes), NOMEM.  *out is then unchanged.
 */
int xd_s3_new_task(struct xd_task **out, const struct xd_store *s,
                   const struct xd_task_order *order, struct xd_error *err);
void xd_s3_free_task(struct xd_task *task);
bool xd_s3_next(struct xd_task *task, int64_t now, struct xd_call *out);
void xd_s3_answered(struct xd_task *task, unsigned id,
                    const struct xd_answer *answer);
void xd_s3_result(const struct xd_task *task, struct xd_task_result *out);

#endif
