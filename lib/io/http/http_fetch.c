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

/* Seconds to cache resolved names, libcurl's default; the resolver does not
 * tell their real lifetime. */
#define KEEP_NAMES 60L

/* Seconds to keep idle connections, libcurl's default. */
#define KEEP_IDLE 118L

/* How often a redirector is asked again in one request.  aria2 makes five
 * attempts in all.  A redirector that gives the same target twice is not asked
 * again. */
#define ASKED_AGAIN_MOST 4

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
    /* measure the silence of this address from now on */
    f->made_progress = true;
    fd = xd_http_connect_socket(address, &f->lacks_descriptor);
    if (fd == CURL_SOCKET_BAD)
        return CURL_SOCKET_BAD;
    xd_watched_add_socket(&f->shared->watched, fd);
    xd_window_bound_unsent(fd);
    if (f->limit_rate > 0)
        xd_window_bound(fd, f->limit_rate);
    return fd;
}

/* Sets the rate limit.  With a limit HTTP/2 is not used: libcurl would store
 * the data of a paused stream in memory while other streams keep the connection
 * flowing.  The buffer of an existing connection is widened as far as
 * possible. */
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

/* Closes a socket for libcurl.  `user` is not the request, because a connection
 * may outlive the request that opened it. */
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

/* Sets the options that are the same for all requests. */
static bool set_up(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return xd_http_fetch_limit(f, f->limit_rate) &&
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
           SET(CURLOPT_COOKIEFILE, "") && /* keep cookies in memory */
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
    f->limit_rate = options->net->limit_rate;
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
    xd_ftp_commands_fini(&f->ftp);
    xd_http_send_fini(f);
    xd_offer_fini(&f->offer);
    xd_http_answer_fini(&f->answer);
    xd_free(f->first);
    xd_free(f->url);
    xd_free(f->lacks);
    xd_free(f->if_range);
    xd_free(f->nonce_server);
    f->easy = NULL;
    f->first = f->url = f->lacks = f->nonce_server = NULL;
    f->if_range = NULL;
}

bool xd_http_fetch_needs_trial(const struct xd_http_fetch *f)
{
    const struct xd_ftp_shared *shared = &f->shared->ftp;
    const uint64_t begin = xd_ftp_begin(&f->request);

    return f->is_ftp && begin > 0 && !f->trial.is_passed &&
           (shared->url == NULL || !xd_url_same_origin(shared->url, f->url) ||
            begin >= shared->proved_to);
}

static bool asks_ftp_size(struct xd_http_fetch *f)
{
    const struct xd_ftp_object *known = xd_ftp_known(&f->shared->ftp, f->url);

    return !f->skips_size && (known == NULL || !known->has_no_size);
}

/* Makes the next transfer a trial if one is needed and the size is known.  If
 * the size is unknown, the request itself finds out the size, and starts again
 * after the trial. */
static void begin_trial(struct xd_http_fetch *f)
{
    f->trial.n = 0;
    f->trial.is_on = xd_http_fetch_needs_trial(f) &&
                     f->trial.size != XD_SIZE_UNKNOWN && f->trial.size > 1;
}

/* Sets the range.  An FTP request cannot state the end of a range, so the
 * transfer is stopped at that end. */
static bool set_range(struct xd_http_fetch *f, const struct xd_request *r)
{
    const uint64_t end = xd_request_end(r);
    char range[50];

    if (f->is_ftp) {
        xd_ftp_ask(&f->shared->ftp, f->url);
        begin_trial(f);
        return curl_easy_setopt(f->easy, CURLOPT_RANGE, NULL) == CURLE_OK &&
               xd_ftp_commands_apply(&f->ftp, f->easy, f->url,
                                     f->trial.is_on
                                         ? xd_ftp_trial_begin(f->trial.size)
                                         : xd_ftp_begin(r),
                                     asks_ftp_size(f), r->wants_time);
    }
    if (end == XD_TO_END)
        snprintf(range, sizeof range, "%" PRIu64 "-", r->offset);
    else
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, r->offset,
                 end - 1);
    return xd_ftp_commands_clear(&f->ftp, f->easy) &&
           curl_easy_setopt(f->easy, CURLOPT_RANGE,
                            xd_http_asks_for_range(r) ? range : NULL) ==
               CURLE_OK;
}

static struct curl_slist *put_line(struct curl_slist *line, char *text,
                                   struct curl_slist *next)
{
    *line = (struct curl_slist){.data = text, .next = next};
    return line;
}

/* Adds the client number for depots that serve many clients.  Not sent to mesh
 * nodes, which fetch for many clients, nor with uploads. */
static bool name_client(struct xd_http_fetch *f)
{
    const struct xd_net_context *c = f->options->naming;

    return c != NULL && !f->is_ftp && !f->request.is_plain &&
           f->request.sends == NULL &&
           xd_net_context_name_client(c, f->url, f->client);
}

/* Returns the header lines of the request.  All handles share one list, and the
 * lines of this request are put before it.  Both ways of requesting a digest
 * are in use (RFC 9530, RFC 3230). */
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

/* Returns the maximum idle time, in seconds, of a connection to be reused.
 * Connections made before the last outage are not reused. */
static long keep_idle(const struct xd_http_fetch *f)
{
    xd_usec since = xd_now() - f->connect.addresses->outage_at;

    if (f->request.outages == 0 || since / XD_SECOND >= KEEP_IDLE)
        return KEEP_IDLE;
    return since < XD_SECOND ? 1 : (long)(since / XD_SECOND);
}

static bool sees_credentials(const struct xd_http_fetch *f)
{
    const struct xd_sending *sends = f->request.sends;

    return f->is_trusted && !f->request.is_plain &&
           (sends == NULL || sends->logs_in) &&
           xd_url_same_origin(f->first, f->url);
}

/*
 * Chooses the authentication.  Basic needs no extra round trip, and some
 * servers answer 404 or redirect unauthenticated requests.  So downloads use
 * Digest only at servers that have requested it.
 *
 * libcurl keeps the chosen scheme and the nonce for the next request on the
 * handle, even to another server.  So such a handle is reset first.  Returns
 * false if out of memory.
 */
static bool choose_login(struct xd_http_fetch *f)
{
    const struct xd_url *known = f->shared->digest_server;

    f->answers_digest = f->request.sends != NULL ||
                        (known != NULL && xd_url_same_origin(known, f->url));
    if (f->nonce_server == NULL
            ? !f->answers_digest
            : f->answers_digest && xd_url_same_origin(f->nonce_server, f->url))
        return true;
    /* curl_easy_reset() would leak the list of cookie files, so clear it
     * first. */
    if (curl_easy_setopt(f->easy, CURLOPT_COOKIEFILE, NULL) != CURLE_OK)
        return false;
    curl_easy_reset(f->easy);
    if (!set_up(f))
        return false;
    xd_free(f->nonce_server);
    f->nonce_server = f->answers_digest ? xd_url_copy(f->url) : NULL;
    return f->nonce_server != NULL || !f->answers_digest;
}

bool xd_http_fetch_turns_to_digest(struct xd_http_fetch *f)
{
    struct xd_url *server;

    if (f->answers_digest || f->answer.status != 401 ||
        !f->answer.wants_digest ||
        !xd_http_options_have_password(f->options, f->url, sees_credentials(f)))
        return false;
    server = xd_url_copy(f->url);
    if (server == NULL)
        return false;
    xd_free(f->shared->digest_server);
    f->shared->digest_server = server;
    return true;
}

/*
 * Requests to one https server wait for the first connection, in case HTTP/2
 * lets them share it, unless the request needs its own.  FTP through an HTTP
 * proxy is not supported.
 */
static bool set_request(struct xd_http_fetch *f)
{
    CURL *e = f->easy;
    bool is_https = f->url->scheme == XD_SCHEME_HTTPS;
    const bool is_plain = f->request.is_plain;
    bool is_trusted = sees_credentials(f);
    bool is_anew = xd_http_connect_begin(&f->connect);

    f->is_ftp = xd_scheme_is_ftp(f->url->scheme);
#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return choose_login(f) && SET(CURLOPT_URL, xd_url_secret_text(f->url)) &&
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
                                     f->answers_digest);
#undef SET
}

static void reset_answer(struct xd_http_fetch *f)
{
    xd_http_answer_reset(&f->answer);
    f->is_judged = f->follows = f->begins_again = f->is_silent = false;
    f->is_ready = f->ends_object = f->has_last = f->is_drained = false;
    f->paused = f->quit = f->is_received = false;
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

/* Returns a request with only the fields that matter for sending. */
static struct xd_request sending(const struct xd_request *r)
{
    return (struct xd_request){.length = XD_TO_END,
                               .object_size = XD_SIZE_UNKNOWN,
                               .outages = r->outages,
                               .owns_connection = r->owns_connection,
                               .fields = r->sends->fields,
                               .sends = r->sends};
}

/* Explains why xd_url_parse() has refused a text. */
static const char *why_invalid(const char *text)
{
    const char *colon = strstr(text, "://"), *host = colon ? colon + 3 : text;

    if (strchr("/?#", *host) != NULL || (*host == ':' && host[1] != ':'))
        return "the URL has no host";
    if (strlen(text) > XD_URL_MAX)
        return "the URL is longer than 65535 bytes";
    for (const char *s = text; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return "the URL contains a control character";
    return "the URL is not valid: write an IPv6 address in brackets, a port "
           "as a number from 1 to 65535, and an @ in a name or password as %40";
}

/* Refuses URLs that we could not parse, because libcurl may read them
 * differently.  Refuses uploads by other protocols than HTTP, because libcurl
 * would try them. */
static void refuse_url(struct xd_http_fetch *f)
{
    const struct xd_url *u = f->url;
    const char *why = NULL;

    if (f->request.sends != NULL &&
        (!u->is_valid ||
         (u->scheme != XD_SCHEME_HTTP && u->scheme != XD_SCHEME_HTTPS)))
        why = "only a depot of http or https is sent anything";
    else if (!u->is_valid)
        why = why_invalid(xd_url_secret_text(u));
    if (why == NULL)
        return;
    xd_http_fetch_decide(f, XD_VERDICT_GONE);
    xd_fail(&f->outcome.error, XD_E_NET, "%s: %s", f->name.s, why);
    f->quit = true;
}

/* Returns the offset in the object at which the response begins. */
static uint64_t begin_of(const struct xd_request *r)
{
    return r->whole ? 0 : r->offset;
}

/* Resets the state for a new URL, from which nothing has been received. */
static void begin_at(struct xd_http_fetch *f, enum xd_reach reach)
{
    f->outcome = (struct xd_outcome){.verdict = XD_VERDICT_OK,
                                     .object_size = XD_SIZE_UNKNOWN};
    xd_offer_fini(&f->offer);
    f->at = begin_of(&f->request);
    f->n_redirects = 0;
    f->reach = reach;
    f->is_kept_out = f->is_decided = false;
    f->header_bytes = 0;
}

int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err)
{
    const struct xd_url *first;

    f->request = request->sends != NULL ? sending(request) : *request;
    first = f->request.origin != NULL ? f->request.origin : request->url;
    f->request.url = f->request.origin = NULL;
    f->trial = (struct xd_ftp_trial){.size = f->request.object_size};
    xd_http_connect_prepare(&f->connect, request->outages,
                            request->passes_over);
    /* Cookies are kept during a request and its redirects: some servers set a
     * cookie and redirect to a place that needs it. */
    curl_easy_setopt(f->easy, CURLOPT_COOKIELIST, "ALL");
    f->name = xd_url_name(request->url);
    if (set_urls(f, first, request->url) < 0 ||
        set_if_range(f, f->request.if_range) < 0 ||
        xd_http_send_prepare(f, f->request.fields) < 0 || !set_request(f))
        return xd_fail_nomem(err);
    begin_at(f, f->request.reach);
    xd_free(f->lacks);
    f->lacks = NULL;
    f->n_again = 0;
    f->lacks_descriptor = f->skips_size = f->made_progress = false;
    reset_answer(f);
    refuse_url(f);
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

bool xd_http_fetch_asks_redirector(struct xd_http_fetch *f)
{
    const enum xd_verdict verdict = f->outcome.verdict;
    struct xd_url *first;

    if (!f->is_decided || f->n_redirects == 0 ||
        f->at != begin_of(&f->request) || f->n_again == ASKED_AGAIN_MOST ||
        (verdict != XD_VERDICT_GONE && verdict != XD_VERDICT_DIFFERENT))
        return false;
    if (f->answer.status / 100 == 3 || /* such as a redirect loop */
        (f->lacks != NULL && xd_url_compare(f->lacks, f->url) == 0))
        return false;
    first = xd_url_copy(f->first);
    if (first == NULL)
        return false;
    xd_free(f->lacks);
    f->lacks = f->url;
    f->url = first;
    f->n_again++;
    begin_at(f, f->request.reach);
    f->follows = true;
    return true;
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
