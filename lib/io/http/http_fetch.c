/* SPDX-License-Identifier: MIT */
#include "io/http/http_fetch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "base/hosts.h"
#include "base/text.h"
#include "io/http/http_callbacks.h"
#include "io/http/http_redirect.h"
#include "io/window.h"
#include "os/clock.h"

/* Seconds for which an answer of a name server holds, which does not say to
 * programs how long it does; libcurl's own. */
#define KEEP_NAMES 60L

/* Seconds for which an idle connection is good; libcurl's own. */
#define KEEP_IDLE 118L

static bool may_reach(struct xd_http_fetch *f, const struct sockaddr *address)
{
    if (f->options->net->allow_private_redirs || !XD_DEFENDS("reach") ||
        xd_reach_of_address(address) >= f->reach)
        return true;
    f->is_kept_out = true;
    return false;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct xd_http_fetch *f = user;
    int fd;

    (void)purpose;
    if (!may_reach(f, &address->addr) ||
        !xd_http_connect_try(&f->connect, &address->addr, address->addrlen))
        return CURL_SOCKET_BAD;
    f->made_progress =
        true; /* from here on it is this address that is silent */
    fd = xd_http_connect_socket(address, &f->lacks_descriptor);
    if (fd == CURL_SOCKET_BAD)
        return CURL_SOCKET_BAD;
    xd_watched_add_socket(&f->shared->watched, fd);
    xd_window_bound_unsent(fd);
    if (f->limit_rate > 0)
        xd_window_bound(fd, f->limit_rate);
    return fd;
}

/* What comes for a stream that is paused, libcurl holds in memory, and the
 * connection's other streams let it come: so there are none with a limit.  A
 * connection that is there, and was bounded, is widened as far as that goes. */
bool xd_http_fetch_limit(struct xd_http_fetch *f, uint64_t bytes_per_s)
{
    long version =
        bytes_per_s > 0 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;
    curl_socket_t fd;

    f->limit_rate = bytes_per_s;
    if (f->is_busy &&
        curl_easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
        fd != CURL_SOCKET_BAD)
        xd_window_bound(fd, bytes_per_s);
    return curl_easy_setopt(f->easy, CURLOPT_HTTP_VERSION, version) ==
               CURLE_OK &&
           curl_easy_setopt(f->easy, CURLOPT_BUFFERSIZE,
                            (long)xd_window_step(bytes_per_s)) == CURLE_OK;
}

/* The connection may outlive the request that it was made for. */
static int close_socket(void *user, curl_socket_t fd)
{
    xd_watched_close_socket(user, fd);
    return 0;
}

static int on_names(void *state, void *reserved, void *user)
{
    struct xd_http_fetch *f = user;

    (void)state;
    (void)reserved;
    f->connect.phase = XD_HTTP_NAMES;
    f->made_progress = true;
    return 0;
}

static int on_asked(void *user, char *to, char *from, int to_port,
                    int from_port)
{
    struct xd_http_fetch *f = user;

    (void)from;
    (void)to_port;
    f->made_progress = true;
    if (!xd_http_connect_has(&f->connect, to))
        return CURL_PREREQFUNC_ABORT;
    xd_http_send_begin(f, from_port);
    return CURL_PREREQFUNC_OK;
}

/* What is the same for all requests. */
static bool set_up(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return xd_http_fetch_limit(f, f->options->net->limit_rate) &&
           SET(CURLOPT_PRIVATE, (void *)f) &&
           SET(CURLOPT_ERRORBUFFER, f->reason) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(CURLOPT_OPENSOCKETDATA, (void *)f) &&
           SET(CURLOPT_CLOSESOCKETFUNCTION, close_socket) &&
           SET(CURLOPT_CLOSESOCKETDATA, (void *)&f->shared->watched) &&
           SET(CURLOPT_RESOLVER_START_FUNCTION, on_names) &&
           SET(CURLOPT_RESOLVER_START_DATA, (void *)f) &&
           SET(CURLOPT_PREREQFUNCTION, on_asked) &&
           SET(CURLOPT_PREREQDATA, (void *)f) &&
           xd_http_names_share(f->options->names, e) &&
           SET(CURLOPT_COOKIEFILE, "") && /* in memory, from no file */
           xd_http_fetch_set_callbacks(f) && xd_http_send_set_callbacks(f) &&
           xd_http_options_apply(f->options, e);
#undef SET
}

int xd_http_fetch_init(struct xd_http_fetch *f, unsigned slot,
                       const struct xd_transport_handler *handler,
                       struct xd_http_shared *shared,
                       const struct xd_http_options *options,
                       struct xd_error *err)
{
    f->slot = slot;
    f->shared = shared;
    f->connect.addresses = &shared->addresses;
    f->handler = handler;
    f->options = options;
    snprintf(f->wants[0], sizeof f->wants[0],
             "Want-Repr-Digest: sha-256=10, sha-512=9");
    snprintf(f->wants[1], sizeof f->wants[1],
             "Want-Digest: SHA-256, SHA-512;q=0.9");
    f->easy = curl_easy_init();
    if (f->easy == NULL || !set_up(f)) {
        xd_http_fetch_fini(f);
        return xd_fail_nomem(err);
    }
    return 0;
}

void xd_http_fetch_fini(struct xd_http_fetch *f)
{
    curl_easy_cleanup(f->easy);
    xd_http_send_fini(f);
    xd_offer_fini(&f->offer);
    xd_free(f->first);
    xd_free(f->url);
    xd_free(f->if_range);
    f->easy = NULL;
    f->first = f->url = NULL;
    f->if_range = NULL;
}

/* FTP knows no end of a range: it is read up to there. */
static bool set_range(struct xd_http_fetch *f, const struct xd_request *r)
{
    uint64_t end = f->is_ftp ? XD_TO_END : xd_request_end(r);
    char range[50];

    if (end == XD_TO_END)
        snprintf(range, sizeof range, "%" PRIu64 "-", r->offset);
    else
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, r->offset,
                 end - 1);
    return curl_easy_setopt(f->easy, CURLOPT_RANGE,
                            xd_http_asks_for_range(r) ? range : NULL) ==
           CURLE_OK;
}

static struct curl_slist *put_line(struct curl_slist *line, char *text,
                                   struct curl_slist *next)
{
    *line = (struct curl_slist){.data = text, .next = next};
    return line;
}

/* A depot that serves many clients tells them apart by it.  Nodes of a mesh
 * fetch for many, and what stores are sent is no download. */
static bool name_client(struct xd_http_fetch *f)
{
    const struct xd_net_context *c = f->options->naming;

    return c != NULL && !f->is_ftp && !f->request.is_plain &&
           f->request.sends == NULL &&
           xd_net_context_name_client(c, f->url, f->client);
}

/* Shared by all handles, but for lines of this request before it.  Both ways to
 * ask for a digest are in use (RFC 9530, RFC 3230). */
static struct curl_slist *choose_header(struct xd_http_fetch *f,
                                        bool is_trusted)
{
    struct curl_slist *list =
        xd_http_options_header(f->options, is_trusted, f->request.is_plain);
    struct curl_slist *next = f->header;

    if (f->request.if_range != NULL && xd_http_asks_for_range(&f->request))
        list = put_line(next++, f->if_range, list);
    if (f->request.wants_offer) {
        list = put_line(next++, f->wants[0], list);
        list = put_line(next++, f->wants[1], list);
    }
    if (name_client(f))
        list = put_line(next, f->client, list);
    return xd_http_send_header(f, list);
}

/* Seconds for which a connection may have been idle: not since before the line
 * was down. */
static long keep_idle(const struct xd_http_fetch *f)
{
    xd_usec since = xd_now() - f->connect.addresses->outage_at;

    if (f->request.outages == 0 || since / XD_SECOND >= KEEP_IDLE)
        return KEEP_IDLE;
    return since < XD_SECOND ? 1 : (long)(since / XD_SECOND);
}

/*
 * Requests at one https depot wait for the first one's connection, which
 * HTTP/2 lets them share, unless each is to have its own; without TLS there is
 * none to be shared.  A proxy that
 * turned FTP into HTTP would answer with what no code here reads.
 */
static bool set_request(struct xd_http_fetch *f)
{
    CURL *e = f->easy;
    bool is_https = f->url->scheme == XD_SCHEME_HTTPS;
    const struct xd_sending *sends = f->request.sends;
    const bool is_plain = f->request.is_plain;
    bool is_trusted = f->is_trusted && !is_plain &&
                      (sends == NULL || sends->logs_in) &&
                      xd_url_same_origin(f->first, f->url);
    bool is_anew = xd_http_connect_begin(&f->connect);

    f->is_ftp = xd_scheme_is_ftp(f->url->scheme);
#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_URL, xd_url_secret_text(f->url)) &&
           SET(CURLOPT_REFERER, is_plain ? NULL : f->options->net->referer) &&
           SET(CURLOPT_FORBID_REUSE, 0L) &&
           SET(CURLOPT_MAXAGE_CONN, keep_idle(f)) &&
           SET(CURLOPT_DNS_CACHE_TIMEOUT, is_anew ? 0L : KEEP_NAMES) &&
           SET(CURLOPT_PIPEWAIT,
               is_https && !f->request.owns_connection ? 1L : 0L) &&
           SET(CURLOPT_HTTPPROXYTUNNEL, f->is_ftp ? 1L : 0L) &&
           set_range(f, &f->request) && xd_http_send_apply(f) &&
           SET(CURLOPT_HTTPHEADER, choose_header(f, is_trusted)) &&
           xd_http_options_authorize(f->options, e, f->url, is_trusted,
                                     sends != NULL);
#undef SET
}

/* For the answer to the first, or the next, URL. */
static void reset_answer(struct xd_http_fetch *f)
{
    f->answer = (struct xd_http_answer){.status = 0};
    f->is_judged = f->follows = f->begins_again = f->is_silent = false;
    f->paused = f->quit = false;
}

static int set_urls(struct xd_http_fetch *f, const struct xd_url *first,
                    const struct xd_url *url)
{
    int rc = xd_hosts_have(f->options->net->auth_hosts, first);

    if (rc < 0)
        return rc;
    f->is_trusted = rc > 0;
    xd_free(f->first);
    xd_free(f->url);
    f->first = xd_url_copy(first);
    f->url = xd_url_copy(url);
    return f->first != NULL && f->url != NULL ? 0 : XD_E_NOMEM;
}

/* The validator, in a line of our own. */
static int set_if_range(struct xd_http_fetch *f, const char *validator)
{
    static const char name[] = "If-Range: ";
    struct xd_text line = {0};

    xd_free(f->if_range);
    f->if_range = NULL;
    f->request.if_range = NULL;
    if (validator == NULL)
        return 0;
    xd_text_addf(&line, "%s%s", name, validator);
    if (line.failed) {
        xd_text_fini(&line);
        return XD_E_NOMEM;
    }
    f->if_range = line.s;
    f->request.if_range = line.s + strlen(name);
    return 0;
}

/* All that counts of a request that sends. */
static struct xd_request sending(const struct xd_request *r)
{
    return (struct xd_request){.length = XD_TO_END,
                               .object_size = XD_SIZE_UNKNOWN,
                               .outages = r->outages,
                               .owns_connection = r->owns_connection,
                               .fields = r->sends->fields,
                               .sends = r->sends};
}

/* libcurl would send by other protocols, too, and to what is no URL to us. */
static void refuse_other_schemes(struct xd_http_fetch *f)
{
    if (f->request.sends == NULL ||
        (f->url->is_valid && (f->url->scheme == XD_SCHEME_HTTP ||
                              f->url->scheme == XD_SCHEME_HTTPS)))
        return;
    xd_http_fetch_decide(f, XD_VERDICT_GONE);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: only a depot of http or https is sent anything", f->name.s);
    f->quit = true;
}

int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err)
{
    const struct xd_url *first;

    f->request = request->sends != NULL ? sending(request) : *request;
    first = f->request.origin != NULL ? f->request.origin : request->url;
    f->request.url = f->request.origin = NULL;
    xd_http_connect_prepare(&f->connect, request->outages,
                            request->passes_over);
    /* Cookies hold for a request and the redirects that it meets: some servers
     * set one and redirect to where it is wanted. */
    curl_easy_setopt(f->easy, CURLOPT_COOKIELIST, "ALL");
    f->name = xd_url_name(request->url);
    if (set_urls(f, first, request->url) < 0 ||
        set_if_range(f, f->request.if_range) < 0 ||
        xd_http_send_prepare(f, f->request.fields) < 0 || !set_request(f))
        return xd_fail_nomem(err);
    f->outcome = (struct xd_outcome){.verdict = XD_VERDICT_OK,
                                     .object_size = XD_SIZE_UNKNOWN};
    xd_offer_fini(&f->offer);
    f->at = f->request.whole ? 0 : f->request.offset;
    f->n_redirects = 0;
    f->reach = f->request.reach;
    f->is_kept_out = f->lacks_descriptor = false;
    f->header_bytes = 0;
    f->is_decided = f->made_progress = false;
    reset_answer(f);
    refuse_other_schemes(f);
    return 0;
}

const char *xd_http_fetch_address(const struct xd_http_fetch *f)
{
    char *address = NULL;

    return curl_easy_getinfo(f->easy, CURLINFO_PRIMARY_IP, &address) ==
                       CURLE_OK &&
                   address != NULL && address[0] != '\0'
               ? address
               : NULL;
}

bool xd_http_fetch_follow(struct xd_http_fetch *f)
{
    if (!(f->follows || f->begins_again) || f->is_decided)
        return false;
    reset_answer(f);
    if (set_request(f))
        return true;
    xd_fail_nomem(&f->outcome.error);
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    return false;
}
