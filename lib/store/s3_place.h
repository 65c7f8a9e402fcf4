/* SPDX-License-Identifier: MIT */
/*
 * The location of a bucket, and the names and URLs of its objects.
 *
 *     s3://BUCKET/KEY              in manifests and on the command line
 *     https://HOST/BUCKET/KEY      URL, path style
 *     https://BUCKET.HOST/KEY      URL, host style
 *
 * KEY is always percent-encoded: "a%20b" is the key "a b", and '+' is a plus.
 * See "Creating object keys" and "Virtual hosting of buckets" in the S3 user
 * guide.
 */
#ifndef XD_STORE_S3_PLACE_H
#define XD_STORE_S3_PLACE_H

#include <stdbool.h>
#include <xdownload/error.h>

#include "base/text.h"
#include "base/url.h"

#define XD_S3_KEY_MAX 1024 /* bytes */

struct xd_store_config;

/* The strings are owned. */
struct xd_s3_place {
    char *bucket;
    char *prefix; /* prefix of all keys: empty, or ends with '/' */
    char *region;
    char *name;   /* "s3://BUCKET/PREFIX", encoded */
    char *origin; /* "https://HOST" or "https://HOST:PORT" */
    /* points into `origin`: the value of the Host header */
    const char *host;
    /* part of `origin`: the host without bucket and port */
    struct xd_span endpoint;
    char *path; /* path before the key: "/" or "/BUCKET/" */
};

/* Returns whether the URL begins with "s3://". */
bool xd_s3_is_name(const struct xd_url *url);

/* Computes the names from the config.  Errors: INVAL, NOMEM; in both cases
 * there is nothing to release. */
int xd_s3_place_init(struct xd_s3_place *out,
                     const struct xd_store_config *config,
                     struct xd_error *err);
void xd_s3_place_fini(struct xd_s3_place *p);

/* Returns why S3 or this library cannot use `key`: words that follow its name
 * in a sentence.  Returns NULL if the key can be used.  "." and ".." between
 * slashes are refused, because some servers and libcurl resolve them. */
const char *xd_s3_key_fault(const char *key);

/* Sets *out to the key of an object of this place; `name` is "s3://BUCKET/KEY".
 * On failure *out is unchanged.  Errors: INVAL, NOMEM. */
int xd_s3_place_key(const struct xd_s3_place *p, const char *name, char **out,
                    struct xd_error *err);

/* Return the name "s3://BUCKET/KEY", and the path of the object's URL.  NULL:
 * out of memory. */
char *xd_s3_place_name(const struct xd_s3_place *p, const char *key);
char *xd_s3_place_path(const struct xd_s3_place *p, const char *key);

#endif
