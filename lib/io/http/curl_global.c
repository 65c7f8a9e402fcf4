/* SPDX-License-Identifier: MIT */
/*
 * The mutable global variables of lib/io.
 *
 * libcurl is never cleaned up, because the program or another library may be
 * using it and old versions do not count users.
 */
#include "io/http/curl_global.h"

#include <pthread.h>
#include <stdio.h>

#include <curl/curl.h>
#include <openssl/crypto.h>

#include "base/error.h"
#include "command/settings.h"
#include "os/exit.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_once_t version_once = PTHREAD_ONCE_INIT;
static CURLcode result;
static char version[300];

static void init(void)
{
    result = curl_global_init(CURL_GLOBAL_DEFAULT);
    /* initializes OpenSSL, because libcurl may use another TLS library */
    (void)!OPENSSL_init_crypto(0, NULL);
    xd_exit_prepare();
}

/* Calls curl_version(), which uses a shared static buffer.  It may also
 * initialize the libraries whose versions it reports; OpenLDAP then resolves
 * the host name and loads plugins.  So it is called only when needed. */
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
