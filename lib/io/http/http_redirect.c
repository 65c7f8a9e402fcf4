/* SPDX-License-Identifier: MIT */
#include "io/http/http_redirect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/defence.h"
#include "base/error.h"

#define NO_URL "to what is no URL that could be used"

/* Copies a part of `from` to `u`; clears it if `from` is NULL or has none. */
static CURLUcode copy_part(CURLU *u, CURLU *from, CURLUPart part)
{
    char *value = NULL;
    CURLUcode rc = CURLUE_OK;

    if (from != NULL)
        rc = curl_url_get(from, part, &value, 0);
    if (rc != CURLUE_OUT_OF_MEMORY)
        rc = curl_url_set(u, part, value, 0);
    curl_free(value);
    return rc;
}

static CURLUcode set_login(CURLU *u, CURLU *from)
{
    CURLUcode rc = copy_part(u, from, CURLUPART_USER);

    return rc == CURLUE_OK ? copy_part(u, from, CURLUPART_PASSWORD) : rc;
}

/* Writes the URL in `u`, with the login of `first` if both have the same
 * origin. */
static CURLUcode get_url(CURLU *u, const struct xd_url *first, char **out)
{
    CURLU *origin = NULL;
    CURLUcode rc = set_login(u, NULL);
    struct xd_url plain;

    if (rc == CURLUE_OK)
        rc = curl_url_get(u, CURLUPART_URL, out, 0);
    if (rc != CURLUE_OK || !xd_url_parse(&plain, *out) ||
        !xd_url_same_origin(first, &plain))
        return rc;
    curl_free(*out);
    *out = NULL;
    origin = curl_url();
    rc = origin != NULL
             ? curl_url_set(origin, CURLUPART_URL, xd_url_secret_text(first), 0)
             : CURLUE_OUT_OF_MEMORY;
    if (rc == CURLUE_OK)
        rc = set_login(u, origin);
    if (rc == CURLUE_OK)
        rc = curl_url_get(u, CURLUPART_URL, out, 0);
    curl_url_cleanup(origin);
    return rc;
}

/* Resolves a relative reference.  Uses libcurl, because servers expect its
 * rules. */
static CURLUcode resolve(const struct xd_url *first, const struct xd_url *from,
                         const char *location, char **out)
{
    CURLU *u = curl_url();
    CURLUcode rc =
        u != NULL ? curl_url_set(u, CURLUPART_URL, xd_url_secret_text(from), 0)
                  : CURLUE_OUT_OF_MEMORY;

    if (rc == CURLUE_OK)
        rc = curl_url_set(u, CURLUPART_URL, location, CURLU_URLENCODE);
    if (rc == CURLUE_OK)
        rc = get_url(u, first, out);
    curl_url_cleanup(u);
    return rc;
}

/* Returns the length of the scheme (RFC 3986 section 3.1), 0 if there is
 * none. */
static size_t scheme_length(const char *location)
{
    size_t len = strcspn(location, ":/?#");

    return location[len] == ':' && isalpha((unsigned char)location[0]) ? len
                                                                       : 0;
}

/* Returns true for another scheme than http and https.  libcurl 7.81 would take
 * a scheme without "//" for a path. */
static bool is_of_other_scheme(const char *location)
{
    size_t len = scheme_length(location);

    return len > 0 && !(len == 4 && strncasecmp(location, "http", len) == 0) &&
           !(len == 5 && strncasecmp(location, "https", len) == 0);
}

/* Returns true if clients disagree about the host: with a second '@', libcurl
 * 7.81 takes the text before it and others the text after it; browsers end the
 * host at a backslash. */
static bool has_two_hosts(const char *location)
{
    size_t len = scheme_length(location);
    const char *at = location + len + (len > 0);

    if (strncmp(at, "//", 2) != 0)
        return false;
    at += 2;
    if (memchr(at, '\\', strcspn(at, "/?#")) != NULL)
        return true;
    at += strcspn(at, "@/?#");
    return *at == '@' && at[1 + strcspn(at + 1, "@/?#")] == '@';
}

/* Returns the reason not to follow a redirect, or NULL if it may be
 * followed. */
static const char *refusal(const struct xd_url *from, const char *location,
                           const struct xd_url *to)
{
    enum xd_scheme scheme = to->scheme;

    if (!XD_DEFENDS("redirects"))
        return NULL;
    if (has_two_hosts(location))
        return NO_URL;
    if (is_of_other_scheme(location) ||
        (scheme != XD_SCHEME_HTTP && scheme != XD_SCHEME_HTTPS))
        return "to a URL that is neither http nor https";
    /* Never downgrade from https. */
    return scheme == XD_SCHEME_HTTP && from->scheme == XD_SCHEME_HTTPS
               ? "from https to http"
               : NULL;
}

int xd_http_redirect(struct xd_url **out, const struct xd_url *first,
                     const struct xd_url *from, const char *location,
                     const char *name, struct xd_error *err)
{
    char *text = NULL;
    CURLUcode rc = resolve(first, from, location, &text);
    const char *why = NO_URL;
    struct xd_url url;

    *out = NULL;
    if (rc == CURLUE_OK) {
        xd_url_parse(&url, text);
        why = refusal(from, location, &url);
        *out = why == NULL ? xd_url_copy(&url) : NULL;
    }
    curl_free(text);
    if (rc == CURLUE_OUT_OF_MEMORY || (why == NULL && *out == NULL))
        return xd_fail_nomem(err);
    if (why != NULL)
        return xd_fail(err, XD_E_NET, "%s: redirects %s", name, why);
    return 0;
}

int xd_http_resolve(struct xd_url **out, const struct xd_url *first,
                    const struct xd_url *from, struct xd_span reference)
{
    char location[XD_URL_MAX + 1], *text = NULL;
    CURLUcode rc = CURLUE_MALFORMED_INPUT;
    struct xd_url url;

    *out = NULL;
    if (reference.len > XD_URL_MAX)
        return XD_E_NET;
    memcpy(location, reference.s, reference.len);
    location[reference.len] = '\0';
    if (!has_two_hosts(location))
        rc = resolve(first, from, location, &text);
    if (rc == CURLUE_OK && xd_url_parse(&url, text) &&
        xd_scheme_is_web(url.scheme)) {
        *out = xd_url_copy(&url);
        rc = *out != NULL ? CURLUE_OK : CURLUE_OUT_OF_MEMORY;
    }
    curl_free(text);
    if (rc == CURLUE_OUT_OF_MEMORY)
        return XD_E_NOMEM;
    return *out != NULL ? 0 : XD_E_NET;
}
