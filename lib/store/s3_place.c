/* SPDX-License-Identifier: MIT */
#include "store/s3_place.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/unicode.h"
#include "store/sigv4.h"
#include "store/store.h"

#define SCHEME "s3://"
#define DEFAULT_REGION "us-east-1" /* as in Amazon's tools */

/* Limits from "General purpose bucket naming rules", and longer names that
 * other servers allow. */
#define LEAST_BUCKET 3
#define MOST_BUCKET 255

#define MOST_REGION 64

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_of_bucket(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_';
}

static bool all_of(struct xd_span s, bool (*is_of_class)(char))
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_of_class(s.s[i]))
            return false;
    return true;
}

/* Returns whether the bucket is a single label of a host name, which a
 * certificate for "*.HOST" covers. */
static bool is_label(const char *bucket)
{
    for (const char *c = bucket; *c != '\0'; c++)
        if (!is_lower_or_digit(*c) && *c != '-')
            return false;
    return bucket[0] != '-' && strlen(bucket) <= 63;
}

bool xd_s3_is_name(const struct xd_url *url)
{
    return url->is_valid && url->scheme == XD_SCHEME_OTHER &&
           strncasecmp(xd_url_secret_text(url), SCHEME, strlen(SCHEME)) == 0;
}

/* Returns whether the URL has no query and no fragment. */
static bool ends_with_path(const struct xd_url *url)
{
    return xd_url_secret_text(url)[url->path + url->path_len] == '\0';
}

/* Returns whether "." or ".." is between two slashes. */
static bool has_dot_segment(const char *s)
{
    while (s != NULL) {
        size_t len = strcspn(s, "/");

        if ((len == 1 && s[0] == '.') ||
            (len == 2 && s[0] == '.' && s[1] == '.'))
            return true;
        s = s[len] == '/' ? s + len + 1 : NULL;
    }
    return false;
}

static bool is_plain_text(const char *s)
{
    size_t len = strlen(s);

    while (len > 0) {
        uint32_t c;
        size_t n = xd_utf8_decode(s, len, &c);

        if (n == 0 || c < ' ' || c == 0x7f)
            return false;
        s += n;
        len -= n;
    }
    return true;
}

const char *xd_s3_key_fault(const char *key)
{
    if (strlen(key) > XD_S3_KEY_MAX)
        return "is longer than the 1024 bytes that S3 allows";
    if (!is_plain_text(key))
        return "is not plain text in UTF-8";
    if (has_dot_segment(key))
        return "has '.' or '..' between slashes, which servers change";
    return NULL;
}

/* Decodes a percent-encoded key. */
static bool decode(struct xd_text *out, struct xd_span s)
{
    while (s.len > 0) {
        bool is_escape = s.s[0] == '%';
        int value = is_escape ? s.len < 3 ? -1 : xd_url_unescape(s.s)
                              : (unsigned char)s.s[0];
        char c = (char)value;

        if (value <= 0)
            return false;
        xd_text_add(out, &c, 1);
        xd_span_skip(&s, is_escape ? 3 : 1);
    }
    xd_text_add(out, "", 0);
    return true;
}

/* Splits a name "s3://BUCKET/KEY" into bucket and key.  Errors: INVAL. */
static int parse(const struct xd_url *url, struct xd_text *bucket,
                 struct xd_text *key, struct xd_error *err)
{
    struct xd_span host = xd_url_host(url), path = xd_url_path(url);
    struct xd_url_name name = xd_url_name(url);
    const char *fault;

    if (!xd_s3_is_name(url) || xd_url_has_login(url) || url->port != 0 ||
        !ends_with_path(url))
        return xd_fail(err, XD_E_INVAL,
                       "%s: not of the form s3://BUCKET/KEY, in which '?' is "
                       "written %%3F and '#' %%23",
                       name.s);
    if (host.len < LEAST_BUCKET || host.len > MOST_BUCKET ||
        !all_of(host, is_of_bucket))
        return xd_fail(err, XD_E_INVAL,
                       "%s: no bucket has such a name: 3 to 63 lower-case "
                       "letters, digits, '-' and '.'",
                       name.s);
    if (path.len > 0)
        xd_span_skip(&path, 1);
    if (!decode(key, path))
        return xd_fail(err, XD_E_INVAL,
                       "%s: '%%' is not followed by two hex digits of a byte",
                       name.s);
    xd_text_add(bucket, host.s, host.len);
    if (key->failed || bucket->failed)
        return xd_fail_nomem(err);
    fault = xd_s3_key_fault(key->s);
    return fault ? xd_fail(err, XD_E_INVAL, "%s: the key %s", name.s, fault)
                 : 0;
}

static int take_target(struct xd_s3_place *p, const struct xd_url *target,
                       struct xd_error *err)
{
    struct xd_text bucket = {.s = NULL}, prefix = {.s = NULL};
    int rc = parse(target, &bucket, &prefix, err);

    if (rc == 0 && prefix.len > 0 && prefix.s[prefix.len - 1] != '/')
        xd_text_add(&prefix, "/", 1);
    if (rc == 0 && prefix.failed)
        rc = xd_fail_nomem(err);
    if (rc < 0) {
        xd_text_fini(&bucket);
        xd_text_fini(&prefix);
        return rc;
    }
    p->bucket = bucket.s;
    p->prefix = prefix.s;
    p->name = xd_s3_place_name(p, p->prefix);
    return p->name ? 0 : xd_fail_nomem(err);
}

static bool is_of_region(char c)
{
    return is_of_bucket(c);
}

static int take_region(struct xd_s3_place *p, const char *region,
                       struct xd_error *err)
{
    struct xd_span s = xd_span_of(region);

    if (s.len == 0)
        s = xd_span_of(DEFAULT_REGION);
    if (s.len > MOST_REGION || !all_of(s, is_of_region))
        return xd_fail(err, XD_E_INVAL,
                       "invalid s3-region: use a name such as eu-central-1");
    p->region = xd_strndup(s.s, s.len);
    return p->region ? 0 : xd_fail_nomem(err);
}

/* Returns whether this URL can be the endpoint of signed requests. */
static bool is_endpoint(const struct xd_url *url)
{
    struct xd_span host = xd_url_host(url), path = xd_url_path(url);

    if (!url->is_valid || xd_url_has_login(url) || !ends_with_path(url) ||
        (url->scheme != XD_SCHEME_HTTP && url->scheme != XD_SCHEME_HTTPS))
        return false;
    for (size_t i = 0; i < host.len; i++)
        if ((unsigned char)host.s[i] >= 0x80)
            return false;
    for (size_t i = 0; i < path.len; i++)
        if (!is_of_bucket(path.s[i]) && path.s[i] != '/')
            return false;
    return !has_dot_segment(path.len > 0 ? path.s : "");
}

/* Returns whether the host is a name, not an address, and is short enough for
 * one more label. */
static bool is_host_name(struct xd_span host)
{
    bool is_ipv4 = true;

    for (size_t i = 0; i < host.len; i++)
        is_ipv4 = is_ipv4 &&
                  (host.s[i] == '.' || (host.s[i] >= '0' && host.s[i] <= '9'));
    return !is_ipv4 && host.s[0] != '[';
}

static int take_endpoint(struct xd_s3_place *p, const struct xd_url *url,
                         bool host_style, struct xd_error *err)
{
    struct xd_span host = xd_url_host(url), path = xd_url_path(url);
    struct xd_text origin = {.s = NULL}, before_key = {.s = NULL};
    const char *scheme = xd_scheme_name(url->scheme);

    xd_text_addf(&origin, "%s://", scheme);
    if (host_style)
        xd_text_addf(&origin, "%s.", p->bucket);
    for (size_t i = 0; i < host.len; i++) {
        bool is_upper = host.s[i] >= 'A' && host.s[i] <= 'Z';

        xd_text_addf(&origin, "%c", host.s[i] + (is_upper ? 'a' - 'A' : 0));
    }
    if (!url->port_is_default)
        xd_text_addf(&origin, ":%u", url->port);
    while (path.len > 0 && path.s[path.len - 1] == '/')
        path.len--;
    xd_text_add(&before_key, path.s, path.len);
    xd_text_addf(&before_key, host_style ? "/" : "/%s/", p->bucket);
    if (origin.failed || before_key.failed) {
        xd_text_fini(&origin);
        xd_text_fini(&before_key);
        return xd_fail_nomem(err);
    }
    p->origin = origin.s;
    p->host = origin.s + strlen(scheme) + strlen("://");
    p->endpoint = xd_span(
        p->host + (host_style ? strlen(p->bucket) + strlen(".") : 0), host.len);
    p->path = before_key.s;
    return 0;
}

/* Chooses the endpoint of Amazon ("Amazon S3 endpoints").  Host style is
 * used if a certificate covers the bucket, because newer regions support
 * only that. */
static int take_amazon(struct xd_s3_place *p, struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    struct xd_url url;
    int rc = XD_E_NOMEM;

    xd_text_addf(&text, "https://s3.%s.amazonaws.com%s", p->region,
                 strncmp(p->region, "cn-", 3) == 0 ? ".cn" : "");
    if (text.failed)
        xd_fail_nomem(err);
    else if (!xd_url_parse(&url, text.s))
        rc = xd_fail(err, XD_E_INVAL,
                     "invalid s3-region: use a name such as eu-central-1");
    else
        rc = take_endpoint(p, &url, is_label(p->bucket), err);
    xd_text_fini(&text);
    return rc;
}

static int take_place(struct xd_s3_place *p,
                      const struct xd_store_config *config,
                      struct xd_error *err)
{
    struct xd_url url;

    if (!config->s3_endpoint)
        return take_amazon(p, err);
    xd_url_parse(&url, config->s3_endpoint);
    if (!is_endpoint(&url))
        return xd_fail(err, XD_E_INVAL,
                       "%s: no endpoint of S3: use http:// or https://, a host "
                       "in ASCII, and no query (s3-endpoint)",
                       xd_url_name(&url).s);
    if (config->s3_host_style &&
        (!is_host_name(xd_url_host(&url)) || !is_label(p->bucket)))
        return xd_fail(err, XD_E_INVAL,
                       "%s: the bucket %s cannot be a part of this host's name "
                       "(s3-host-style)",
                       xd_url_name(&url).s, p->bucket);
    return take_endpoint(p, &url, config->s3_host_style, err);
}

int xd_s3_place_init(struct xd_s3_place *out,
                     const struct xd_store_config *config, struct xd_error *err)
{
    struct xd_s3_place p = {.bucket = NULL};
    int rc = take_target(&p, config->target, err);

    if (rc == 0)
        rc = take_region(&p, config->s3_region, err);
    if (rc == 0)
        rc = take_place(&p, config, err);
    if (rc < 0)
        xd_s3_place_fini(&p);
    else
        *out = p;
    return rc;
}

void xd_s3_place_fini(struct xd_s3_place *p)
{
    xd_free(p->bucket);
    xd_free(p->prefix);
    xd_free(p->region);
    xd_free(p->name);
    xd_free(p->origin);
    xd_free(p->path);
    *p = (struct xd_s3_place){.bucket = NULL};
}

int xd_s3_place_key(const struct xd_s3_place *p, const char *name, char **out,
                    struct xd_error *err)
{
    struct xd_text bucket = {.s = NULL}, key = {.s = NULL};
    size_t prefix_len = strlen(p->prefix);
    struct xd_url url;
    int rc;

    xd_url_parse(&url, name);
    rc = parse(&url, &bucket, &key, err);
    if (rc == 0 && (strcmp(bucket.s, p->bucket) != 0 ||
                    strncmp(key.s, p->prefix, prefix_len) != 0 ||
                    key.s[prefix_len] == '\0'))
        rc = xd_fail(err, XD_E_INVAL, "%s: not in %s", xd_url_name(&url).s,
                     p->name);
    if (rc == 0) {
        *out = key.s;
        key = (struct xd_text){.s = NULL};
    }
    xd_text_fini(&bucket);
    xd_text_fini(&key);
    return rc;
}

static char *encode(struct xd_text *t, const char *key)
{
    xd_sigv4_encode(t, xd_span_of(key), true);
    if (t->failed)
        xd_text_fini(t);
    return t->s;
}

char *xd_s3_place_name(const struct xd_s3_place *p, const char *key)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, SCHEME "%s/", p->bucket);
    return encode(&t, key);
}

char *xd_s3_place_path(const struct xd_s3_place *p, const char *key)
{
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s", p->path);
    return encode(&t, key);
}
