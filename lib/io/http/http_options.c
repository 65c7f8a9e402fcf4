/* SPDX-License-Identifier: MIT */
/*
 * A handle gets credentials only for a request to a server that may see them,
 * and loses them for any other.  libcurl's own rules are not relied upon,
 * because they differ between versions.
 */
#include "io/http/http_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdownload/version.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/time.h"
#include "io/http/http_context.h"
#include "io/net_texts.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define USER_AGENT                                                           \
    "xdownload/" TEXT(XD_VERSION_MAJOR) "." TEXT(XD_VERSION_MINOR) "." TEXT( \
        XD_VERSION_PATCH)

static const struct xd_net_options defaults = XD_NET_OPTIONS_INIT;

static int append(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer == NULL)
        return XD_E_NOMEM;
    *list = longer;
    return 0;
}

/* Adds header lines.  Each of the `lines` ends with a line feed. */
static int add_headers(struct xd_http_options *o, const char *lines)
{
    int rc = 0;

    while (rc == 0 && lines != NULL && *lines != '\0') {
        size_t len = strcspn(lines, "\n");
        char *line = xd_strndup(lines, len);

        if (line == NULL)
            return XD_E_NOMEM;
        rc = append(&o->secret_header, line);
        if (rc == 0 && !xd_header_is_secret(line))
            rc = append(&o->header, line);
        xd_free(line);
        lines += len + 1;
    }
    return rc;
}

/* Splits "FILE:PASSWORD" like curl, at the first colon without a backslash
 * before it. */
static int split_cert(struct xd_http_options *o, const char *cert)
{
    char *out;

    if (cert == NULL)
        return 0;
    o->cert = out = xd_strdup(cert);
    if (out == NULL)
        return XD_E_NOMEM;
    for (; *cert != '\0' && *cert != ':'; cert++) {
        if (cert[0] == '\\' && (cert[1] == ':' || cert[1] == '\\'))
            cert++;
        *out++ = *cert;
    }
    *out = '\0';
    /* Without a password OpenSSL would ask for it on the terminal. */
    o->cert_password = xd_strdup(*cert == ':' ? cert + 1 : "");
    return o->cert_password != NULL ? 0 : XD_E_NOMEM;
}

/* Checks that the netrc file can be read, because libcurl silently ignores a
 * missing file. */
static int check_netrc(const char *file, struct xd_error *err)
{
    if (file == NULL || access(file, R_OK) == 0)
        return 0;
    return xd_fail_errno(err, XD_E_IO, errno, "%s (netrc-file)", file);
}

/* Returns the shared cache of host names, or NULL.  libcurl resolves the local
 * address (interface) in the same cache, and reads the result after releasing
 * it (bindlocal() of 7.88).  Another thread may have freed it then, so the
 * cache is not shared if an interface is set. */
static struct xd_http_names *shared_names(const struct xd_http_options *o,
                                          const struct xd_net_context *context)
{
    return context && o->net->interface == NULL ? context->names : NULL;
}

int xd_http_options_init(struct xd_http_options *o,
                         const struct xd_net_options *net,
                         const struct xd_net_context *context,
                         struct xd_error *err)
{
    /* With any other encoding, ranges would refer to encoded bytes. */
    static const char identity[] = "Accept-Encoding: identity";

    *o = (struct xd_http_options){.net = net != NULL ? net : &defaults};
    o->names = shared_names(o, context);
    if (!o->net->no_client_id)
        o->naming = context;
    if (check_netrc(o->net->netrc_file, err) < 0)
        return XD_E_IO;
    if (append(&o->own_header, identity) == 0 &&
        append(&o->header, identity) == 0 &&
        append(&o->secret_header, identity) == 0 &&
        add_headers(o, o->net->headers) == 0 &&
        split_cert(o, o->net->cert) == 0)
        return 0;
    xd_http_options_fini(o);
    return xd_fail_nomem(err);
}

void xd_http_options_fini(struct xd_http_options *o)
{
    curl_slist_free_all(o->own_header);
    curl_slist_free_all(o->header);
    curl_slist_free_all(o->secret_header);
    xd_free(o->cert);
    xd_free(o->cert_password);
    *o = (struct xd_http_options){.net = NULL};
}

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)

static bool set_protocols(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075500 /* 7.85.0 */
    return SET(CURLOPT_PROTOCOLS_STR, "http,https,ftp,ftps") ||
           SET(CURLOPT_PROTOCOLS_STR, "http,https,ftp");
#else
    return SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS |
                                         CURLPROTO_FTP | CURLPROTO_FTPS));
#endif
}

/* Makes free() return quickly.  Otherwise it would wait for a name server that
 * does not answer. */
static bool set_quick_exit(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075700 /* 7.87.0 */
    return SET(CURLOPT_QUICK_EXIT, 1L);
#else
    (void)e;
    return true;
#endif
}

/* Sets the trusted certificates.  A CA file given by the user replaces
 * libcurl's built-in list. */
static bool set_trust(CURL *e, const struct xd_net_options *net)
{
    /* libcurl ignores this variable, but OpenSSL and curl(1) use it */
    const char *file = getenv("SSL_CERT_FILE");

    if (net->cacert != NULL || net->capath != NULL) {
        if (!SET(CURLOPT_CAINFO, net->cacert) ||
            !SET(CURLOPT_CAPATH, net->capath))
            return false;
    } else if (file != NULL && file[0] != '\0') {
        if (!SET(CURLOPT_CAINFO, file))
            return false;
    }
    if (!net->insecure && XD_DEFENDS("certificates"))
        return true;
    return SET(CURLOPT_SSL_VERIFYPEER, 0L) && SET(CURLOPT_SSL_VERIFYHOST, 0L);
}

static bool set_way(CURL *e, const struct xd_net_options *net)
{
    long family = CURL_IPRESOLVE_WHATEVER;

    if (net->ipv4)
        family = CURL_IPRESOLVE_V4;
    if (net->ipv6)
        family = CURL_IPRESOLVE_V6;
    return SET(CURLOPT_IPRESOLVE, family) &&
           SET(CURLOPT_INTERFACE, net->interface) &&
           SET(CURLOPT_PROXY, net->proxy) && SET(CURLOPT_NOPROXY, net->noproxy);
}

bool xd_http_options_apply(const struct xd_http_options *o, CURL *e)
{
    const struct xd_net_options *net = o->net;
    long connect_ms = (long)((net->connect_timeout + XD_MS - 1) / XD_MS);

    return SET(CURLOPT_HTTP09_ALLOWED, 0L) &&
           SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) &&
           SET(CURLOPT_FOLLOWLOCATION, 0L) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS, connect_ms) &&
           SET(CURLOPT_USERAGENT,
               net->user_agent != NULL ? net->user_agent : USER_AGENT) &&
           SET(CURLOPT_FTP_FILEMETHOD, (long)CURLFTPMETHOD_NOCWD) &&
           set_protocols(e) && set_trust(e, net) && set_way(e, net) &&
           set_quick_exit(e);
}

static bool set_certificate(CURL *e, const struct xd_http_options *o,
                            bool is_trusted)
{
    bool is_shown = is_trusted && o->cert != NULL;

    return SET(CURLOPT_SSLCERT, is_shown ? o->cert : NULL) &&
           SET(CURLOPT_SSLKEY, is_shown ? o->net->key : NULL) &&
           SET(CURLOPT_KEYPASSWD, is_shown ? o->cert_password : NULL);
}

struct curl_slist *xd_http_options_header(const struct xd_http_options *o,
                                          bool is_trusted, bool is_plain)
{
    if (is_plain)
        return o->own_header;
    return is_trusted ? o->secret_header : o->header;
}

bool xd_http_options_have_password(const struct xd_http_options *o,
                                   const struct xd_url *url, bool is_trusted)
{
    const struct xd_net_options *net = o->net;

    if (!url->is_valid || xd_scheme_is_ftp(url->scheme))
        return false;
    return xd_url_has_login(url) ||
           (is_trusted && net->oauth2_bearer == NULL &&
            (net->user != NULL || net->netrc || net->netrc_file != NULL));
}

/* Uses the first of these logins that exists: in the URL, token, --user, netrc
 * file. */
bool xd_http_options_authorize(const struct xd_http_options *o, CURL *e,
                               const struct xd_url *url, bool is_trusted,
                               bool takes_digest)
{
    const struct xd_net_options *net = o->net;
    unsigned long password =
        takes_digest ? CURLAUTH_BASIC | CURLAUTH_DIGEST : CURLAUTH_BASIC;
    bool is_open = is_trusted && url->is_valid && !xd_url_has_login(url);
    const char *bearer =
        is_open && !xd_scheme_is_ftp(url->scheme) ? net->oauth2_bearer : NULL;
    const char *user = is_open && bearer == NULL ? net->user : NULL;
    bool uses_file = is_open && bearer == NULL && user == NULL &&
                     (net->netrc || net->netrc_file != NULL);

    return SET(CURLOPT_XOAUTH2_BEARER, bearer) &&
           SET(CURLOPT_HTTPAUTH,
               (long)(bearer != NULL ? CURLAUTH_BEARER : password)) &&
           SET(CURLOPT_USERPWD, user) &&
           SET(CURLOPT_NETRC,
               (long)(uses_file ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED)) &&
           SET(CURLOPT_NETRC_FILE, uses_file ? net->netrc_file : NULL) &&
           set_certificate(e, o, is_trusted);
}
