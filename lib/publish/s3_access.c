/* SPDX-License-Identifier: MIT */
#include "publish/s3_access.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/small_file.h"
#include "publish/aws_profile.h"

/* Largest accepted length of a file, in bytes.  Even a file with many profiles
 * and tokens of 2 KiB has only about 100 KiB. */
#define MOST_BYTES ((size_t)1 << 20)

/* The credentials file or the config file. */
struct file {
    struct xd_text path, text;
    struct xd_aws_profile profile;
};

/* Returns an environment variable; NULL if it is empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] != '\0' ? value : NULL;
}

static const char *first_of(const char *a, const char *b)
{
    return a ? a : b;
}

static int set(char **out, const char *s, size_t len, struct xd_error *err)
{
    *out = xd_strndup(s, len);
    return *out ? 0 : xd_fail_nomem(err);
}

static int set_string(char **out, const char *s, struct xd_error *err)
{
    return !s || *out ? 0 : set(out, s, strlen(s), err);
}

static int set_span(char **out, struct xd_span s, struct xd_error *err)
{
    return s.len == 0 || *out ? 0 : set(out, s.s, s.len, err);
}

/* Takes both keys from one source.  Takes nothing if the source does not have
 * both. */
static int take_keys(struct xd_s3_access *a, const char *access_key,
                     const char *secret_key, const char *token,
                     const char *place, struct xd_error *err)
{
    int rc;

    if (a->access_key || (!access_key && !secret_key))
        return 0;
    if (!access_key || !secret_key)
        return xd_fail(err, XD_E_INVAL,
                       "%s: there is one key of S3, and it takes two: the "
                       "access key and the secret key",
                       place);
    rc = set_string(&a->access_key, access_key, err);
    if (rc == 0)
        rc = set_string(&a->secret_key, secret_key, err);
    if (rc == 0)
        rc = set_string(&a->session_token, token, err);
    return rc;
}

static int take_options(struct xd_s3_access *a, const struct xd_s3_options *o,
                        struct xd_error *err)
{
    int rc = take_keys(a, o->access_key, o->secret_key, o->session_token,
                       "s3-access-key, s3-secret-key", err);

    a->host_style = o->host_style != 0;
    a->part_bytes = o->part_bytes;
    if (rc == 0)
        rc = set_string(&a->endpoint, o->endpoint, err);
    if (rc == 0)
        rc = set_string(&a->region, o->region, err);
    return rc;
}

static int take_environment(struct xd_s3_access *a, struct xd_error *err)
{
    int rc = take_keys(a, variable("AWS_ACCESS_KEY_ID"),
                       variable("AWS_SECRET_ACCESS_KEY"),
                       variable("AWS_SESSION_TOKEN"),
                       "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY", err);

    if (rc == 0)
        rc = set_string(&a->endpoint,
                        first_of(variable("AWS_ENDPOINT_URL_S3"),
                                 variable("AWS_ENDPOINT_URL")),
                        err);
    if (rc == 0)
        rc = set_string(
            &a->region,
            first_of(variable("AWS_REGION"), variable("AWS_DEFAULT_REGION")),
            err);
    return rc;
}

static void close_file(struct file *f)
{
    xd_text_fini(&f->path);
    xd_text_fini(&f->text);
}

static int open_file(struct file *f, const char *named, const char *name,
                     const char *profile, bool is_config, struct xd_error *err)
{
    const char *path = variable(named), *home = variable("HOME");
    int rc;

    *f = (struct file){.path = {.s = NULL}};
    if (path)
        xd_text_addf(&f->path, "%s", path);
    else if (home)
        xd_text_addf(&f->path, "%s/.aws/%s", home, name);
    if (f->path.failed)
        return xd_fail_nomem(err);
    if (!f->path.s)
        return 0;
    rc = xd_small_file_read(&f->text, f->path.s, MOST_BYTES, err);
    if (rc == 0 && f->text.len > 0)
        xd_aws_profile_read(&f->profile, xd_span(f->text.s, f->text.len),
                            profile, is_config);
    return rc;
}

static int take_profile(struct xd_s3_access *a, const struct file *f,
                        struct xd_error *err)
{
    const struct xd_span *s = f->profile.settings;
    char *access_key = NULL, *secret_key = NULL, *token = NULL;
    int rc = set_span(&a->endpoint, s[XD_AWS_ENDPOINT], err);

    if (rc == 0)
        rc = set_span(&a->region, s[XD_AWS_REGION], err);
    if (rc == 0)
        rc = set_span(&access_key, s[XD_AWS_ACCESS_KEY], err);
    if (rc == 0)
        rc = set_span(&secret_key, s[XD_AWS_SECRET_KEY], err);
    if (rc == 0)
        rc = set_span(&token, s[XD_AWS_SESSION_TOKEN], err);
    if (rc == 0)
        rc = take_keys(a, access_key, secret_key, token,
                       f->path.s ? f->path.s : "", err);
    xd_free(access_key);
    xd_free(secret_key);
    xd_free(token);
    return rc;
}

/* Fails if the profile has no keys, and either the user named the profile or no
 * other source of keys is left. */
static int check_profile(const struct xd_s3_access *a, const char *name,
                         bool is_named, const struct file *credentials,
                         const struct file *config, struct xd_error *err)
{
    struct xd_span elsewhere = config->profile.settings[XD_AWS_ELSEWHERE];

    if (a->access_key)
        return 0;
    if (elsewhere.len == 0)
        elsewhere = credentials->profile.settings[XD_AWS_ELSEWHERE];
    if (is_named && !credentials->profile.is_there && !config->profile.is_there)
        return xd_fail(err, XD_E_INVAL,
                       "there is no profile %s in %s and %s (AWS_PROFILE)",
                       name, credentials->path.s ? credentials->path.s : "-",
                       config->path.s ? config->path.s : "-");
    if (elsewhere.len > 0)
        return xd_fail(err, XD_E_INVAL,
                       "the profile %s has its credentials by %.*s, which is "
                       "not supported: export them by 'aws configure "
                       "export-credentials --format env'",
                       name, (int)elsewhere.len, elsewhere.s);
    return 0;
}

static int take_files(struct xd_s3_access *a, struct xd_error *err)
{
    const char *named = variable("AWS_PROFILE");
    const char *name = first_of(named, "default");
    struct file credentials, config = {.path = {.s = NULL}};
    int rc = open_file(&credentials, "AWS_SHARED_CREDENTIALS_FILE",
                       "credentials", name, false, err);

    if (rc == 0)
        rc = open_file(&config, "AWS_CONFIG_FILE", "config", name, true, err);
    if (rc == 0)
        rc = take_profile(a, &credentials, err);
    if (rc == 0)
        rc = take_profile(a, &config, err);
    if (rc == 0)
        rc = check_profile(a, name, named != NULL, &credentials, &config, err);
    close_file(&credentials);
    close_file(&config);
    return rc;
}

int xd_s3_access_find(struct xd_s3_access *out, const struct xd_s3_options *o,
                      struct xd_error *err)
{
    struct xd_s3_access a = {.endpoint = NULL};
    int rc = take_options(&a, o, err);

    if (rc == 0)
        rc = take_environment(&a, err);
    if (rc == 0)
        rc = take_files(&a, err);
    if (rc < 0)
        xd_s3_access_fini(&a);
    else
        *out = a;
    return rc;
}

void xd_s3_access_fini(struct xd_s3_access *a)
{
    xd_free(a->endpoint);
    xd_free(a->region);
    xd_free(a->access_key);
    xd_free(a->secret_key);
    xd_free(a->session_token);
    *a = (struct xd_s3_access){.endpoint = NULL};
}

void xd_s3_access_apply(const struct xd_s3_access *a,
                        struct xd_store_config *config)
{
    config->s3_endpoint = a->endpoint;
    config->s3_region = a->region;
    config->s3_access_key = a->access_key;
    config->s3_secret_key = a->secret_key;
    config->s3_session_token = a->session_token;
    config->s3_host_style = a->host_style;
    config->s3_part_bytes = a->part_bytes;
}
