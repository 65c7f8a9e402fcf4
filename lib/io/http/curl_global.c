/* SPDX-License-Identifier: MIT */
/*
 * The mutable globals of this layer.
 *
 * libcurl is never cleaned up: the host or another library in the process may
 * be using it, and it does not count its users.
 */
#include "io/http/curl_global.h"

#include <pthread.h>
#include <stdio.h>

#include <curl/curl.h>

#include "base/error.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t version_once = PTHREAD_ONCE_INIT;
static CURLcode result;
static char version[300];

static void init(void)
{
    result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* curl_version() writes to a buffer that it shares between threads; and it may
 * set up all that libcurl knows the version of, as OpenLDAP, which looks up the
 * host's name and loads plugins: not before it is needed. */
static void find_version(void)
{
    snprintf(version, sizeof version, "%s", curl_version());
}

int xd_curl_global_init(struct xd_error *err)
{
    pthread_once(&once, init);
    if (result != CURLE_OK)
        return xd_fail(err, XD_E_NOMEM, "libcurl cannot be set up: %s",
                       curl_easy_strerror(result));
    return 0;
}

const char *xd_version_libcurl(void)
{
    pthread_once(&once, init);
    pthread_once(&version_once, find_version);
    return version;
}
