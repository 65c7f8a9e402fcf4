/* SPDX-License-Identifier: MIT */
#include "io/http/http_names.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/http/curl_global.h"
#include "os/thread.h"

struct xd_http_names {
    CURLSH *share;
    /* leaf locks; libcurl holds one at a time */
    struct xd_mutex names, share_itself;
};

/* Returns our mutex for a lock of libcurl, which locks only the names and the
 * share itself. */
static struct xd_mutex *mutex_of(struct xd_http_names *n, curl_lock_data data)
{
    XD_ASSERT(data == CURL_LOCK_DATA_DNS || data == CURL_LOCK_DATA_SHARE);
    return data == CURL_LOCK_DATA_DNS ? &n->names : &n->share_itself;
}

static void lock(CURL *e, curl_lock_data data, curl_lock_access access,
                 void *user)
{
    (void)e;
    (void)access;
    xd_mutex_lock(mutex_of(user, data));
}

static void unlock(CURL *e, curl_lock_data data, void *user)
{
    (void)e;
    xd_mutex_unlock(mutex_of(user, data));
}

static bool set_up(CURLSH *share, struct xd_http_names *n)
{
#define SET(option, value) \
    (curl_share_setopt(share, option, value) == CURLSHE_OK)
    return SET(CURLSHOPT_LOCKFUNC, lock) && SET(CURLSHOPT_UNLOCKFUNC, unlock) &&
           SET(CURLSHOPT_USERDATA, (void *)n) &&
           SET(CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
#undef SET
}

int xd_http_names_new(struct xd_http_names **out, struct xd_error *err)
{
    struct xd_http_names *n;
    int rc = xd_curl_global_init(err);

    *out = NULL;
    if (rc < 0)
        return rc;
    n = xd_alloc(1, sizeof *n);
    if (n == NULL || xd_mutex_init(&n->names) < 0)
        goto free_names;
    if (xd_mutex_init(&n->share_itself) < 0)
        goto fini_names;
    n->share = curl_share_init();
    if (n->share == NULL || !set_up(n->share, n))
        goto fini_share;
    *out = n;
    return 0;

fini_share:
    curl_share_cleanup(n->share);
    xd_mutex_fini(&n->share_itself);
fini_names:
    xd_mutex_fini(&n->names);
free_names:
    xd_free(n);
    return xd_fail_nomem(err);
}

void xd_http_names_free(struct xd_http_names *n)
{
    if (n == NULL)
        return;
    curl_share_cleanup(n->share);
    xd_mutex_fini(&n->share_itself);
    xd_mutex_fini(&n->names);
    xd_free(n);
}

bool xd_http_names_share(struct xd_http_names *n, CURL *e)
{
    return n == NULL ||
           curl_easy_setopt(e, CURLOPT_SHARE, n->share) == CURLE_OK;
}
