/* SPDX-License-Identifier: MIT */
/*
 * Where a bucket is, and what its objects are called:
 *
 *     s3://BUCKET/KEY              as people, and manifests, write it
 *     https://HOST/BUCKET/KEY      path style
 *     https://BUCKET.HOST/KEY      host style
 *
 * In all of them KEY is encoded as in URLs: "a%20b" is the key "a b", and '+' is a
 * plus.  See "Creating object keys" and "Virtual hosting of buckets" in the user
 * guide of S3.
 */
#ifndef XD_STORE_S3_PLACE_H
#define XD_STORE_S3_PLACE_H

#include <stdbool.h>
#include <xdownload/error.h>

#include "base/text.h"
#include "base/url.h"

#define XD_S3_KEY_MAX 1024 /* bytes */

struct xd_store_config;

/* Its strings are owned. */
struct xd_s3_place {
    char *bucket;
    char *prefix; /* of all keys: empty, or with '/' at its end */
    char *region;
    char *name;              /* "s3://BUCKET/PREFIX", encoded */
    char *origin;            /* "https://HOST" or "https://HOST:PORT", */
    const char *host;        /* of which this is the part that goes into Host */
    struct xd_span endpoint; /* of that: its host without the bucket and port */
    char *path;              /* what stands before a key: "/", or "/BUCKET/" */
};

/* Whether a URL is one of S3: "s3://". */
bool xd_s3_is_name(const struct xd_url *url);

/* Errors: INVAL, NOMEM; there is nothing to release then. */
int xd_s3_place_init(struct xd_s3_place *out,
                     const struct xd_store_config *config,
                     struct xd_error *err);
void xd_s3_place_fini(struct xd_s3_place *p);

/* Why `key` can be none: words that follow its name in a sentence; NULL: it can.
 * One with "." or ".." between slashes is another one for some servers and for
 * libcurl, and is refused. */
const char *xd_s3_key_fault(const char *key);

/* The key of an object of this place by its name, "s3://BUCKET/KEY"; *out is as
 * it was if it is not one.  Errors: INVAL, NOMEM. */
int xd_s3_place_key(const struct xd_s3_place *p, const char *name, char **out,
                    struct xd_error *err);

/* That name, and the path of the object's URL.  NULL: out of memory. */
char *xd_s3_place_name(const struct xd_s3_place *p, const char *key);
char *xd_s3_place_path(const struct xd_s3_place *p, const char *key);

#endif
