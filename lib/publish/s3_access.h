/* SPDX-License-Identifier: MIT */
/*
 * The credentials and settings for S3.  They come from the user of this
 * machine, never from a manifest.
 *
 *     1. the options s3-*
 *     2. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN;
 *        AWS_REGION, AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
 *     3. the profile AWS_PROFILE, or "default", of AWS_SHARED_CREDENTIALS_FILE
 *        (~/.aws/credentials) and of AWS_CONFIG_FILE (~/.aws/config)
 *
 * Both keys and the token come from the first place that has the keys, so
 * credentials of two accounts are never mixed.  Each other setting comes from
 * the first place that has it.
 */
#ifndef XD_PUBLISH_S3_ACCESS_H
#define XD_PUBLISH_S3_ACCESS_H

#include "engine/options.h"
#include "store/store.h"

/* The strings are owned; NULL: not given. */
struct xd_s3_access {
    char *endpoint, *region, *access_key, *secret_key, *session_token;
    bool host_style;
    uint64_t part_bytes;
};

/*
 * Collects the settings.  It is no error if nothing is set, because
 * xd_store_new() reports missing settings.
 * Blocks: on the disk, for two small files.
 * Errors: INVAL (no such profile, unsupported credentials in it, or only one of
 *         the two keys), IO (a file that exists cannot be read), NOMEM.
 */
int xd_s3_access_find(struct xd_s3_access *out, const struct xd_s3_options *o,
                      struct xd_error *err);
void xd_s3_access_fini(struct xd_s3_access *a);

/* Copies pointers into the config of a store.  The config must not outlive
 * `a`. */
void xd_s3_access_apply(const struct xd_s3_access *a,
                        struct xd_store_config *config);

#endif
