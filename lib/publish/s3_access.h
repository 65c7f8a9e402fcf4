/* SPDX-License-Identifier: MIT */
/*
 * By what right, and where, S3 is asked: what the user of this machine has said,
 * and no manifest.
 *
 *     1. the options s3-*
 *     2. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AWS_REGION,
 *        AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
 *     3. the profile AWS_PROFILE, or "default", of AWS_SHARED_CREDENTIALS_FILE
 *        (~/.aws/credentials) and of AWS_CONFIG_FILE (~/.aws/config)
 *
 * The first place that has both keys gives the token, too, or none: those of two
 * accounts are never mixed.  The others are looked for one by one.
 */
#ifndef XD_PUBLISH_S3_ACCESS_H
#define XD_PUBLISH_S3_ACCESS_H

#include "engine/options.h"
#include "store/store.h"

/* Strings are owned; NULL: not given. */
struct xd_s3_access {
    char *endpoint, *region, *access_key, *secret_key, *session_token;
    bool host_style;
    uint64_t part_bytes;
};

/*
 * Blocks: on the disk, for two small files.
 * Errors: INVAL (no such profile; one whose credentials are elsewhere; one key of
 *         two), IO (a file that is there, and cannot be read), NOMEM.  That
 *         nothing is said is none: xd_store_new() says what is missing.
 */
int xd_s3_access_find(struct xd_s3_access *out, const struct xd_s3_options *o,
                      struct xd_error *err);
void xd_s3_access_fini(struct xd_s3_access *a);

/* Put it into a store's config, which lives no longer than `a`. */
void xd_s3_access_apply(const struct xd_s3_access *a,
                        struct xd_store_config *config);

#endif
