/* SPDX-License-Identifier: MIT */
#include "store/s3.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Returns whether a key or token can be put into a header and signed
 * unchanged. */
static bool is_credential(const char *s)
{
    for (const char *c = s; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f)
            return false;
    return s[0] != '\0';
}

static int copy(char **out, const char *from, const char *option,
                struct xd_error *err)
{
    if (!is_credential(from))
        return xd_fail(err, XD_E_INVAL,
                       "invalid %s: use printable characters without blanks",
                       option);
    *out = xd_strdup(from);
    return *out ? 0 : xd_fail_nomem(err);
}

static int take_credentials(struct xd_s3 *s,
                            const struct xd_store_config *config,
                            struct xd_error *err)
{
    int rc;

    if (!config->s3_access_key || !config->s3_secret_key)
        return xd_fail(err, XD_E_INVAL,
                       "%s: no credentials: set s3-access-key and "
                       "s3-secret-key, AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY, or a profile in "
                       "~/.aws/credentials",
                       s->place.name);
    rc = copy(&s->access_key, config->s3_access_key, "s3-access-key", err);
    if (rc == 0)
        rc = copy(&s->secret_key, config->s3_secret_key, "s3-secret-key", err);
    if (rc == 0 && config->s3_session_token)
        rc = copy(&s->session_token, config->s3_session_token,
                  "s3-session-token", err);
    return rc;
}

static int take_part_bytes(struct xd_s3 *s, uint64_t bytes,
                           struct xd_error *err)
{
    s->part_bytes = bytes > 0 ? bytes : XD_S3_DEFAULT_PART;
    if (s->part_bytes < XD_S3_LEAST_PART || s->part_bytes > XD_S3_MOST_PART)
        return xd_fail(err, XD_E_INVAL, "invalid s3-part-size: use 5m to 5g");
    return 0;
}

static const struct xd_s3 *s3_of(const struct xd_store *s)
{
    return (const struct xd_s3 *)(const void *)s;
}

static bool has(const struct xd_store *s, const char *manage)
{
    char *key = NULL;
    bool is_in = xd_s3_place_key(&s3_of(s)->place, manage, &key, NULL) == 0;

    xd_free(key);
    return is_in;
}

static struct xd_span host(const struct xd_store *s)
{
    return s3_of(s)->place.endpoint;
}

struct xd_sigv4_signer xd_s3_signer(const struct xd_s3 *s)
{
    return (struct xd_sigv4_signer){.access_key = s->access_key,
                                    .secret_key = s->secret_key,
                                    .session_token = s->session_token,
                                    .region = s->place.region,
                                    .service = "s3"};
}

static uint64_t most_presign(const struct xd_store *s)
{
    return s3_of(s)->session_token ? XD_S3_TEMPORARY_SECONDS
                                   : XD_SIGV4_MOST_SECONDS;
}

static int sign_url(const struct xd_s3 *s, const char *path, int64_t now,
                    uint64_t seconds, char **out, struct xd_error *err)
{
    struct xd_sigv4_signer signer = xd_s3_signer(s);
    struct xd_sigv4_request r = {.method = "GET",
                                 .host = s->place.host,
                                 .path = path,
                                 .payload = XD_SIGV4_UNSIGNED};
    struct xd_text t = {.s = NULL};

    xd_text_addf(&t, "%s%s?", s->place.origin, path);
    if (xd_sigv4_presign(&t, &signer, &r, now, seconds) < 0 || t.failed) {
        xd_text_fini(&t);
        return xd_fail_nomem(err);
    }
    *out = t.s;
    return 0;
}

static int presign(const struct xd_store *store, const char *manage,
                   int64_t now, uint64_t seconds, char **out,
                   struct xd_error *err)
{
    const struct xd_s3 *s = s3_of(store);
    uint64_t most = most_presign(store);
    char *key = NULL, *path;
    int rc = xd_s3_place_key(&s->place, manage, &key, err);

    if (rc < 0)
        return rc;
    path = xd_s3_place_path(&s->place, key);
    if (seconds == 0 || seconds > most)
        rc = xd_fail(err, XD_E_INVAL,
                     "%s: a presigned URL is good for at most %llu h%s",
                     s->place.name, (unsigned long long)most / 3600,
                     s->session_token ? " with temporary credentials" : "");
    else
        rc = path ? sign_url(s, path, now, seconds, out, err)
                  : xd_fail_nomem(err);
    xd_free(path);
    xd_free(key);
    return rc;
}

static const char *name(const struct xd_store *s)
{
    return s3_of(s)->place.name;
}

static void free_s3(struct xd_store *store)
{
    struct xd_s3 *s = (struct xd_s3 *)(void *)store;

    xd_s3_place_fini(&s->place);
    xd_free(s->access_key);
    xd_free(s->secret_key);
    xd_free(s->session_token);
    xd_free(s);
}

static const struct xd_store_ops ops = {.free = free_s3,
                                        .name = name,
                                        .has = has,
                                        .host = host,
                                        .most_calls = XD_S3_MOST_CALLS,
                                        .presign = presign,
                                        .most_presign = most_presign,
                                        .new_task = xd_s3_new_task,
                                        .free_task = xd_s3_free_task,
                                        .next = xd_s3_next,
                                        .answered = xd_s3_answered,
                                        .result = xd_s3_result};

int xd_s3_new(struct xd_store **out, const struct xd_store_config *config,
              struct xd_error *err)
{
    struct xd_s3 *s = xd_alloc(1, sizeof *s);
    int rc;

    if (!s)
        return xd_fail_nomem(err);
    s->store.ops = &ops;
    rc = xd_s3_place_init(&s->place, config, err);
    if (rc == 0)
        rc = take_credentials(s, config, err);
    if (rc == 0)
        rc = take_part_bytes(s, config->s3_part_bytes, err);
    if (rc < 0)
        free_s3(&s->store);
    else
        *out = &s->store;
    return rc;
}
