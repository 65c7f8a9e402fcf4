/* SPDX-License-Identifier: MIT */
#include "io/ibp/ibp_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "io/window.h"

/* Seconds to cache resolved names, as for HTTP. */
#define KEEP_NAMES 60L

static curl_socket_t open_socket(void *user, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct xd_ibp_connect *c = user;
    curl_socket_t fd;

    (void)purpose;
    if (!xd_http_connect_try(&c->steps, &address->addr, address->addrlen))
        return CURL_SOCKET_BAD;
    c->has_moved = true;
    fd = xd_http_connect_socket(address, &c->lacks_descriptor);
    if (fd != CURL_SOCKET_BAD && c->limit_rate > 0)
        xd_window_bound(fd, c->limit_rate);
    return fd;
}

static int on_names(void *state, void *reserved, void *user)
{
    struct xd_ibp_connect *c = user;

    (void)state;
    (void)reserved;
    c->steps.phase = XD_HTTP_NAMES;
    c->has_moved = true;
    return 0;
}

/* Returns the proxy to use, or NULL.  http_proxy does not apply to IBP, but
 * all_proxy does. */
static const char *choose_proxy(const struct xd_net_options *net)
{
    const char *proxy = net->proxy;

    if (proxy == NULL)
        proxy = getenv("all_proxy");
    if (proxy == NULL)
        proxy = getenv("ALL_PROXY");
    return proxy != NULL ? proxy : "";
}

static bool set_up(struct xd_ibp_connect *c, void *user,
                   const struct xd_http_options *options)
{
    CURL *e = c->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_PRIVATE, user) && SET(CURLOPT_CONNECT_ONLY, 1L) &&
           SET(CURLOPT_ERRORBUFFER, c->reason) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(CURLOPT_OPENSOCKETDATA, (void *)c) &&
           SET(CURLOPT_RESOLVER_START_FUNCTION, on_names) &&
           SET(CURLOPT_RESOLVER_START_DATA, (void *)c) &&
           xd_http_names_share(options->names, e) &&
           xd_http_options_apply(options, e) &&
           SET(CURLOPT_PROXY, choose_proxy(options->net)) &&
           SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
#undef SET
}

int xd_ibp_connect_init(struct xd_ibp_connect *c, void *user, CURLM *multi,
                        struct xd_http_addresses *addresses,
                        const struct xd_http_options *options,
                        struct xd_error *err)
{
    *c = (struct xd_ibp_connect){.multi = multi};
    c->steps.addresses = addresses;
    c->limit_rate = options->net->limit_rate;
    c->goes_through_tls =
        strncasecmp(choose_proxy(options->net), "https:", 6) == 0;
    c->easy = curl_easy_init();
    if (c->easy == NULL || !set_up(c, user, options)) {
        xd_ibp_connect_fini(c);
        return xd_fail_nomem(err);
    }
    return 0;
}

void xd_ibp_connect_fini(struct xd_ibp_connect *c)
{
    xd_ibp_connect_end(c);
    curl_easy_cleanup(c->easy);
    c->easy = NULL;
}

static bool add(struct xd_ibp_connect *c)
{
    bool is_anew = xd_http_connect_begin(&c->steps);

    c->reason[0] = '\0';
    c->lacks_descriptor = false;
    c->has_moved = true;
    c->is_active = curl_easy_setopt(c->easy, CURLOPT_DNS_CACHE_TIMEOUT,
                                    is_anew ? 0L : KEEP_NAMES) == CURLE_OK &&
                   curl_multi_add_handle(c->multi, c->easy) == CURLM_OK;
    return c->is_active;
}

/* Gives libcurl the URL of an HTTP server, but libcurl never sends a
 * request. */
bool xd_ibp_connect_begin(struct xd_ibp_connect *c, const char *peer)
{
    struct xd_text url = {.s = NULL};
    bool is_set;

    xd_text_addf(&url, "http://%s/", peer);
    is_set = !url.failed &&
             curl_easy_setopt(c->easy, CURLOPT_URL, url.s) == CURLE_OK;
    xd_text_fini(&url);
    return is_set && add(c);
}

void xd_ibp_connect_end(struct xd_ibp_connect *c)
{
    if (c->is_active)
        curl_multi_remove_handle(c->multi, c->easy);
    c->is_active = false;
}

/* Duplicates the descriptor, because libcurl may close its own at any time. */
int xd_ibp_connect_take(struct xd_ibp_connect *c)
{
    curl_socket_t theirs = CURL_SOCKET_BAD;
    int fd = -1;

    if (curl_easy_getinfo(c->easy, CURLINFO_ACTIVESOCKET, &theirs) ==
            CURLE_OK &&
        theirs != CURL_SOCKET_BAD)
        fd = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    xd_ibp_connect_end(c);
    c->steps.phase = XD_HTTP_ASKED;
    return fd;
}

bool xd_ibp_connect_again(struct xd_ibp_connect *c)
{
    if (!xd_http_connect_retry(&c->steps))
        return false;
    xd_ibp_connect_end(c);
    return add(c);
}

xd_usec xd_ibp_connect_patience(const struct xd_ibp_connect *c, xd_usec silence)
{
    return xd_http_connect_limit(&c->steps, c->easy, silence);
}

bool xd_ibp_connect_give_up(struct xd_ibp_connect *c)
{
    if (!xd_http_connect_next(&c->steps, c->easy))
        return false;
    xd_ibp_connect_end(c);
    return add(c);
}

void xd_ibp_connect_explain(const struct xd_ibp_connect *c, CURLcode result,
                            const char *name, struct xd_outcome *out)
{
    /* libcurl quotes input it does not understand, such as a proxy URL, which
     * may contain a password. */
    bool has_reason = c->reason[0] != '\0' && strchr(c->reason, '@') == NULL;
    const char *reason = has_reason ? c->reason : curl_easy_strerror(result);
    long os_errno = 0;

    if (c->lacks_descriptor || xd_http_connect_lacks_descriptors(result)) {
        out->verdict = XD_VERDICT_LOCAL;
        xd_fail_errno(&out->error, XD_E_IO, EMFILE,
                      "%s: no descriptor is left to connect with", name);
        return;
    }
    out->verdict = XD_VERDICT_AGAIN;
    out->is_refusal = result == CURLE_COULDNT_CONNECT;
    xd_fail(&out->error, XD_E_NET, "%s: %s", name, reason);
    if (curl_easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &os_errno) == CURLE_OK)
        out->error.os_errno = (int)os_errno;
    out->is_unanswered = xd_http_connect_is_unanswered(result, (int)os_errno);
    out->lacks_address = xd_http_connect_lacks_address(result);
}
