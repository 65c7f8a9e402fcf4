/* SPDX-License-Identifier: MIT */
#include "io/http/http_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/span.h"
#include "base/url.h"
#include "os/clock.h"
#include "os/descriptors.h"

/* Descriptors needed while connecting: sockets for two addresses, libcurl's
 * pair for name resolution, the resolver's socket, a certificate file. */
#define CONNECTING_DESCRIPTORS 6

/* Time limit for resolving a name: the resolver queries each of three name
 * servers twice for 5 s (resolv.conf(5)).  Applies even if the silence limit is
 * shorter. */
#define NAMES_TIME (30 * XD_SECOND)

/* Time limit for connecting to one of several addresses: enough for the first
 * SYN and its retransmission after one second. */
#define ADDRESS_TIME (2 * XD_SECOND)

/* Time limit for connecting when another address is known to work: a slower
 * address would be no improvement. */
#define OTHER_TIME (XD_SECOND / 2)

static bool is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_silent(const struct xd_http_addresses *a,
                      const struct sockaddr_storage *address)
{
    for (unsigned i = 0; i < a->n_silent; i++)
        if (is_same(&a->silent[i], address))
            return true;
    return false;
}

/* Adds a silent address.  If the list is full, it replaces the oldest one. */
static void note_silent(struct xd_http_addresses *a,
                        const struct sockaddr_storage *address)
{
    if (is_silent(a, address))
        return;
    if (a->n_silent == XD_HTTP_SILENT_MAX) {
        a->n_silent--;
        memmove(&a->silent[0], &a->silent[1], a->n_silent * sizeof *a->silent);
    }
    a->silent[a->n_silent++] = *address;
}

static bool is_connected(CURL *easy)
{
    curl_off_t after = 0;

    return curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &after) ==
               CURLE_OK &&
           after > 0;
}

void xd_http_connect_prepare(struct xd_http_connect *c, unsigned outages,
                             const struct xd_address_list *passes_over)
{
    struct xd_http_addresses *a = c->addresses;

    c->n_silent = 0;
    c->passes_over.n = c->passes_over.n_left = 0;
    c->has_disobeyed = false;
    if (passes_over != NULL)
        c->passes_over = *passes_over;
    if (a->outages == outages)
        return;
    a->outages = outages;
    a->outage_at = xd_now();
    a->are_stale = true;
}

bool xd_http_connect_begin(struct xd_http_connect *c)
{
    struct xd_http_addresses *a = c->addresses;
    bool is_anew = a->are_stale;

    if (is_anew) {
        a->n_silent = 0;
        a->are_exhausted = a->are_stale = false;
    }
    c->phase = XD_HTTP_WAITS;
    c->has_passed_over = c->has_tried = c->has_obeyed = c->has_left = false;
    return is_anew;
}

static bool is_to_be_passed_over(const struct xd_address_list *l,
                                 const struct sockaddr *address)
{
    char text[XD_ADDRESS_TEXT] = "";
    const void *bytes =
        address->sa_family == AF_INET6
            ? (const void *)&(
                  (const struct sockaddr_in6 *)(const void *)address)
                  ->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)address)
                  ->sin_addr;

    return l->n > 0 &&
           inet_ntop(address->sa_family, bytes, text, sizeof text) != NULL &&
           xd_address_list_has(l, text);
}

bool xd_http_connect_try(struct xd_http_connect *c,
                         const struct sockaddr *address, socklen_t len)
{
    struct sockaddr_storage a;

    if (is_to_be_passed_over(&c->passes_over, address)) {
        c->has_obeyed = true;
        return false;
    }
    memset(&a, 0, sizeof a);
    memcpy(&a, address, len < sizeof a ? len : sizeof a);
    if (!c->addresses->are_exhausted && is_silent(c->addresses, &a)) {
        c->has_passed_over = true;
        return false;
    }
    c->current = a;
    c->has_tried = true;
    c->phase = XD_HTTP_CONNECTS;
    return true;
}

xd_usec xd_http_connect_limit(const struct xd_http_connect *c, CURL *easy,
                              xd_usec silence)
{
    xd_usec names = silence > NAMES_TIME ? silence : NAMES_TIME;
    xd_usec most = c->has_obeyed ? OTHER_TIME : ADDRESS_TIME;
    xd_usec address = silence / 2 < most ? silence / 2 : most;

    switch (c->phase) {
    case XD_HTTP_WAITS:
        return names < XD_NEVER - silence ? names + silence : XD_NEVER;
    case XD_HTTP_NAMES:
        return names;
    case XD_HTTP_CONNECTS:
        return c->addresses->are_exhausted || is_connected(easy) ? silence
                                                                 : address;
    case XD_HTTP_ASKED:
        break;
    }
    return silence;
}

bool xd_http_connect_next(struct xd_http_connect *c, CURL *easy)
{
    if (c->phase != XD_HTTP_CONNECTS || c->addresses->are_exhausted ||
        is_connected(easy))
        return false;
    note_silent(c->addresses, &c->current);
    return true;
}

static bool has_answered(CURL *easy)
{
    curl_off_t after = 0;

    return curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &after) !=
               CURLE_OK ||
           after > 0;
}

bool xd_http_connect_leave_silent(struct xd_http_connect *c, CURL *easy)
{
    struct xd_http_addresses *a = c->addresses;

    if (!c->has_tried || !is_connected(easy) || has_answered(easy))
        return false;
    note_silent(a, &c->current);
    return !a->are_exhausted && c->n_silent++ < XD_HTTP_SILENT_MAX;
}

/* Returns true for a numeric address, which has no alternative.  The number of
 * addresses of a name is unknown until all of them were tried. */
static bool is_number(struct xd_span host)
{
    size_t n = 0;

    while (n < host.len && (host.s[n] == '.' || host.s[n] == ':' ||
                            (host.s[n] >= '0' && host.s[n] <= '9')))
        n++;
    return n == host.len || host.s[0] == '[';
}

bool xd_http_connect_may_leave(const struct xd_http_connect *c,
                               const struct xd_url *url)
{
    return c->has_tried && !c->addresses->are_exhausted &&
           c->n_silent < XD_HTTP_SILENT_MAX && !is_number(xd_url_host(url));
}

bool xd_http_connect_has(struct xd_http_connect *c, const char *address)
{
    c->has_left = xd_address_list_leaves(&c->passes_over, address);
    if (!c->has_left)
        c->phase = XD_HTTP_ASKED;
    return !c->has_left;
}

bool xd_http_connect_disobey(struct xd_http_connect *c, CURLcode result)
{
    /* A reused connection may just have been closed; libcurl then makes a new
     * one. */
    const bool lacks_connection =
        c->phase != XD_HTTP_ASKED || result == CURLE_COULDNT_CONNECT;

    if (!c->has_obeyed || !lacks_connection)
        return false;
    c->passes_over.n = c->passes_over.n_left = 0;
    c->has_disobeyed = true;
    return true;
}

bool xd_http_connect_was_last(struct xd_http_connect *c)
{
    if (c->n_silent == 0 || !c->has_passed_over || c->has_tried)
        return false;
    c->phase = XD_HTTP_ASKED; /* now only the response is missing */
    return true;
}

bool xd_http_connect_retry(struct xd_http_connect *c)
{
    /* another request of this transport may have tried all addresses */
    const bool has_had_all = c->addresses->are_exhausted && c->has_tried;

    if (!c->has_passed_over || has_had_all || c->phase == XD_HTTP_ASKED)
        return false;
    c->addresses->are_exhausted = true;
    return true;
}

void xd_http_connect_end(struct xd_http_connect *c, CURL *easy)
{
    bool failed = c->phase == XD_HTTP_NAMES ||
                  (c->phase == XD_HTTP_CONNECTS && !is_connected(easy));

    c->addresses->are_stale |= failed;
}

/* Opens a socket that a child process does not inherit, because the program may
 * start one at any moment. */
curl_socket_t xd_http_connect_socket(const struct curl_sockaddr *address,
                                     bool *out_lacks_descriptor)
{
    int type = address->socktype;
    int fd;

#ifdef SOCK_CLOEXEC
    type |= SOCK_CLOEXEC;
#endif
    fd = socket(address->family, type, address->protocol);
    if (fd < 0) {
        *out_lacks_descriptor |= xd_descriptors_ran_out(errno);
        return CURL_SOCKET_BAD;
    }
#ifndef SOCK_CLOEXEC
    fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    return fd;
}

bool xd_http_connect_lacks_descriptors(CURLcode result)
{
    return result != CURLE_COULDNT_CONNECT &&
           xd_descriptors_free(CONNECTING_DESCRIPTORS) < CONNECTING_DESCRIPTORS;
}

bool xd_http_connect_lacks_address(CURLcode result)
{
    return result == CURLE_COULDNT_RESOLVE_HOST ||
           result == CURLE_COULDNT_RESOLVE_PROXY;
}

bool xd_http_connect_is_unanswered(CURLcode result, int os_errno)
{
    return xd_http_connect_lacks_address(result) ||
           result == CURLE_OPERATION_TIMEDOUT || os_errno == ETIMEDOUT ||
           os_errno == ENETUNREACH || os_errno == EHOSTUNREACH ||
           os_errno == ENETDOWN || os_errno == EADDRNOTAVAIL;
}
