/*
 * A byte reaches the handler only after the answer was judged, and the answer
 * is judged when its body begins: libcurl hands over no body of the answers
 * that it deals with itself (1xx), so that this one is the last.  Redirects are
 * dealt with here, as requests of their own: see http_options.c.
 *
 * Headers are bounded by libcurl line by line, and by us as a whole.
 */
#include "io/http_fetch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "base/url.h"
#include "io/ftp_answer.h"
#include "io/http_redirect.h"
#include "os/clock.h"
#include "base/defence.h"

#define BUFFER_BYTES (128L << 10)   /* larger ones cost more than they save */
#define MIN_BUFFER ((uint64_t)1024) /* libcurl takes no less */
#define MIN_WINDOW ((uint64_t)16 << 10)
#define MAX_WINDOW ((uint64_t)4 << 20)
#define MAX_HEADER_BYTES ((size_t)256 << 10)

/* A refused answer's body up to this size is read to its end, because a new
 * connection costs more round trips than that. */
#define SMALL_BODY_BYTES ((uint64_t)16 << 10)

#define MAX_RETRY_AFTER ((curl_off_t)30) /* seconds */

/* Libcurl waits in steps of a second for some replies of an FTP server, which
 * nobody could interrupt. */
#define MAX_BLOCKING (XD_SECOND / 2)

static void judge(struct xd_http_fetch *f);

static uint64_t clamp(uint64_t n, uint64_t least, uint64_t most)
{
    if (n < least)
        return least;
    return n < most ? n : most;
}

/* The kernel would take in megabytes before it learns that nobody reads on.  A
 * quarter of a second's bytes let one connection have all of the rate. */
static void bound_window(int fd, uint64_t limit_rate)
{
    int bytes = (int)clamp(limit_rate / 4, MIN_WINDOW, MAX_WINDOW);

    if (limit_rate > 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/* What is handed over at a time is small against what a second may bring. */
static long buffer_bytes(uint64_t limit_rate)
{
    return limit_rate == 0 ? BUFFER_BYTES
                           : (long)clamp(limit_rate / 40, MIN_BUFFER,
                                         (uint64_t)BUFFER_BYTES);
}

static bool may_reach(struct xd_http_fetch *f, const struct sockaddr *address)
{
    if (f->options->net->allow_private_redirs || !XD_DEFENDS("reach") ||
        xd_reach_of_address(address) >= f->reach)
        return true;
    f->is_kept_out = true;
    return false;
}

/* A child that the host starts at any moment must not inherit it. */
static curl_socket_t open_socket(void *user, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct xd_http_fetch *f = user;
    int type = address->socktype;
    int fd;

    (void)purpose;
    if (!may_reach(f, &address->addr))
        return CURL_SOCKET_BAD;
#ifdef SOCK_CLOEXEC
    type |= SOCK_CLOEXEC;
#endif
    fd = socket(address->family, type, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
#ifndef SOCK_CLOEXEC
    fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    bound_window(fd, f->options->net->limit_rate);
    return fd;
}

static void decide(struct xd_http_fetch *f, enum xd_verdict verdict)
{
    f->is_decided = true;
    f->outcome.verdict = verdict;
}

/* The handler's answer to head() or bytes(). */
static void refuse(struct xd_http_fetch *f, int rc)
{
    decide(f, XD_VERDICT_STOPPED);
    f->quit = true;
    xd_fail(&f->outcome.error, (enum xd_code)rc, "%s: refused", f->name);
}

static size_t on_header(char *line, size_t one, size_t len, void *user)
{
    struct xd_http_fetch *f = user;

    (void)one;
    f->heard = true;
    f->header_bytes += len;
    if (f->header_bytes > MAX_HEADER_BYTES && XD_DEFENDS("header-size")) {
        decide(f, XD_VERDICT_GONE);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: the header is longer than %zu bytes", f->name,
                MAX_HEADER_BYTES);
        return 0;
    }
    if (f->is_ftp)
        xd_ftp_answer_line(&f->answer, line, len);
    else
        xd_http_answer_line(&f->answer, line, len);
    *f->alive_at = xd_now();
    return len;
}

/* Hand on what was asked for; a redirected or greedy depot may send more. */
static size_t deliver(struct xd_http_fetch *f, const char *data, size_t len)
{
    const struct xd_transport_handler *h = f->handler;
    uint64_t begin = f->request.offset > f->at ? f->request.offset : f->at;
    uint64_t end = f->judgement.end;
    int rc = 0;

    if (end - f->at > len)
        end = f->at + len;
    if (begin < end)
        rc = h->bytes(h->user, f->slot, data + (begin - f->at),
                      (size_t)(end - begin));
    else if (h->skip != NULL && end > f->at)
        rc = h->skip(h->user, f->slot, (size_t)(end - f->at));
    f->paused = rc == XD_E_AGAIN;
    if (rc < 0 && rc != XD_E_AGAIN)
        refuse(f, rc);
    if (rc < 0)
        return CURL_WRITEFUNC_PAUSE;
    f->at = end > f->at ? end : f->at;
    if (f->at < f->judgement.end)
        return len;
    decide(f, XD_VERDICT_OK);
    f->quit = true;
    /* libcurl would wait, blocking, for what an FTP server says at the end. */
    return f->is_ftp ? CURL_WRITEFUNC_PAUSE : len;
}

/*
 * Giving up is a pause, after which http.c removes the handle: an error would
 * close the connection also where others share it.
 */
static size_t on_body(char *data, size_t one, size_t len, void *user)
{
    struct xd_http_fetch *f = user;

    (void)one;
    f->heard = true;
    if (!f->is_judged)
        judge(f);
    if (f->quit)
        return CURL_WRITEFUNC_PAUSE;
    if (!f->is_decided && !f->follows)
        len = deliver(f, data, len);
    *f->alive_at = xd_now();
    return len;
}

/* Called in passing, and between those steps. */
static int on_progress(void *user, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    const struct xd_http_fetch *f = user;

    (void)total;
    (void)now;
    (void)up_total;
    (void)up_now;
    return f->is_ftp && xd_now() - *f->alive_at >= MAX_BLOCKING;
}

static void set_retry_after(struct xd_http_fetch *f)
{
    curl_off_t seconds = 0;

    if (f->outcome.verdict != XD_VERDICT_AGAIN || !XD_DEFENDS("retry-after") ||
        curl_easy_getinfo(f->easy, CURLINFO_RETRY_AFTER, &seconds) !=
            CURLE_OK ||
        seconds <= 0)
        return;
    if (seconds > MAX_RETRY_AFTER)
        seconds = MAX_RETRY_AFTER;
    f->outcome.retry_after = (xd_usec)seconds * XD_SECOND;
}

/* Whether other requests at this depot go over the same connection. */
static bool shares_connection(const struct xd_http_fetch *f)
{
    long version = CURL_HTTP_VERSION_NONE;

    return !f->is_ftp &&
           curl_easy_getinfo(f->easy, CURLINFO_HTTP_VERSION, &version) ==
               CURLE_OK &&
           version >= CURL_HTTP_VERSION_2_0;
}

static void tell_head(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;
    struct xd_head head = {.object_size = f->judgement.object_size,
                           .is_range = f->is_ftp
                                           ? xd_http_asks_for_range(&f->request)
                                           : a->status == 206,
                           .shares = shares_connection(f)};
    int rc;

    head.validator = xd_http_validator(a);
    head.final_url = f->url;
    head.reach = f->reach;
    rc = f->handler->head(f->handler->user, f->slot, &head);
    if (rc < 0)
        refuse(f, rc);
}

/* A body that is not wanted: read it to its end if that is near. */
static void drop_body(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    f->quit = f->is_ftp || a->is_chunked || !a->has_length ||
              a->length > SMALL_BODY_BYTES;
}

static bool is_redirect(const struct xd_http_fetch *f)
{
    return !f->is_ftp && f->answer.status / 100 == 3 &&
           f->answer.location[0] != '\0';
}

/* A server of this machine may send us anywhere, one of the world only out
 * again; a proxy stands for all that lies behind it. */
static void narrow_reach(struct xd_http_fetch *f)
{
    char *address = NULL;
    enum xd_reach reach = XD_REACH_PUBLIC;

    if (curl_easy_getinfo(f->easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK)
        reach = xd_reach_of_text(address);
    if (f->reach < reach)
        f->reach = reach;
}

/* Where it points to, in place of where it was asked. */
static void judge_redirect(struct xd_http_fetch *f)
{
    struct xd_error *error = &f->outcome.error;
    uint64_t most = f->options->net->max_redirs;
    char *next = NULL;
    int rc = 0;

    drop_body(f);
    if (f->n_redirects >= most && XD_DEFENDS("max-redirs"))
        rc = xd_fail(error, XD_E_NET, "%s: more than %" PRIu64 " redirects",
                     f->name, most);
    else
        rc = xd_http_redirect(&next, f->first, f->url, f->answer.location,
                              f->name, error);
    if (rc < 0) {
        decide(f, rc == XD_E_NOMEM ? XD_VERDICT_AGAIN : XD_VERDICT_GONE);
        error->http_status = (int)f->answer.status;
        return;
    }
    if (!xd_http_same_origin(f->url, next)) {
        f->request.if_range = NULL;
        narrow_reach(f);
    }
    xd_free(f->url);
    f->url = next;
    f->n_redirects++;
    f->follows = true;
}

static void judge(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    f->is_judged = true;
    if (is_redirect(f)) {
        judge_redirect(f);
        return;
    }
    if (f->is_ftp)
        xd_ftp_judge(a, &f->request, f->name, &f->judgement);
    else
        xd_http_judge(a, &f->request, f->name, &f->judgement);
    if (f->judgement.outcome.verdict == XD_VERDICT_OK) {
        tell_head(f);
        return;
    }
    f->is_decided = true;
    f->outcome = f->judgement.outcome;
    drop_body(f);
    set_retry_after(f);
}

/* What is the same for all requests. */
static bool set_up(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_PRIVATE, (void *)f) &&
           SET(CURLOPT_ERRORBUFFER, f->reason) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(CURLOPT_OPENSOCKETDATA, (void *)f) &&
           SET(CURLOPT_HEADERFUNCTION, on_header) &&
           SET(CURLOPT_HEADERDATA, (void *)f) &&
           SET(CURLOPT_WRITEFUNCTION, on_body) &&
           SET(CURLOPT_WRITEDATA, (void *)f) &&
           SET(CURLOPT_XFERINFOFUNCTION, on_progress) &&
           SET(CURLOPT_XFERINFODATA, (void *)f) &&
           SET(CURLOPT_NOPROGRESS, 0L) &&
           SET(CURLOPT_BUFFERSIZE, buffer_bytes(f->options->net->limit_rate)) &&
           xd_http_options_apply(f->options, e);
#undef SET
}

int xd_http_fetch_init(struct xd_http_fetch *f, unsigned slot,
                       const struct xd_transport_handler *handler,
                       xd_usec *alive_at, const struct xd_http_options *options,
                       struct xd_error *err)
{
    f->slot = slot;
    f->alive_at = alive_at;
    f->handler = handler;
    f->options = options;
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
    xd_free(f->first);
    xd_free(f->url);
    xd_free(f->if_range);
    f->easy = NULL;
    f->first = f->url = f->if_range = NULL;
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

/* Shared by all handles, but for a line of this request before it. */
static struct curl_slist *choose_header(struct xd_http_fetch *f,
                                        bool is_trusted)
{
    struct curl_slist *list = xd_http_options_header(f->options, is_trusted);

    if (f->request.if_range == NULL || !xd_http_asks_for_range(&f->request))
        return list;
    f->header = (struct curl_slist){.data = f->if_range, .next = list};
    return &f->header;
}

/*
 * Requests at one https depot wait for the first one's connection, which
 * HTTP/2 lets them share; without TLS there is none to be shared.  A proxy that
 * turned FTP into HTTP would answer with what nobody here reads.
 */
static bool set_request(struct xd_http_fetch *f)
{
    CURL *e = f->easy;
    struct xd_url u;
    bool is_url = xd_url_split(f->url, &u);
    bool is_https = is_url && u.scheme == XD_SCHEME_HTTPS;
    bool is_trusted = f->is_trusted && xd_http_same_origin(f->first, f->url);

    f->is_ftp = is_url && u.scheme == XD_SCHEME_FTP;
#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_URL, f->url) &&
           SET(CURLOPT_PIPEWAIT, is_https ? 1L : 0L) &&
           SET(CURLOPT_HTTPPROXYTUNNEL, f->is_ftp ? 1L : 0L) &&
           set_range(f, &f->request) &&
           SET(CURLOPT_HTTPHEADER, choose_header(f, is_trusted)) &&
           xd_http_options_authorize(f->options, e, f->url, is_trusted);
#undef SET
}

/* For the answer to the first, or the next, URL. */
static void reset_answer(struct xd_http_fetch *f)
{
    f->answer = (struct xd_http_answer){.status = 0};
    f->is_judged = f->follows = false;
    f->paused = f->quit = false;
}

static int set_urls(struct xd_http_fetch *f, const char *first, const char *url)
{
    int rc = xd_http_options_trust(f->options, first);

    if (rc < 0)
        return rc;
    f->is_trusted = rc > 0;
    xd_free(f->first);
    xd_free(f->url);
    f->first = xd_strdup(first);
    f->url = xd_strdup(url);
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

int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err)
{
    const char *first =
        request->origin != NULL ? request->origin : request->url;

    f->request = *request;
    f->request.url = f->request.origin = NULL;
    if (xd_request_name(f->name, request->url) < 0 ||
        set_urls(f, first, request->url) < 0 ||
        set_if_range(f, request->if_range) < 0 || !set_request(f))
        return xd_fail_nomem(err);
    f->outcome = (struct xd_outcome){.verdict = XD_VERDICT_OK,
                                     .object_size = XD_SIZE_UNKNOWN};
    f->at = request->whole ? 0 : request->offset;
    f->n_redirects = 0;
    f->reach = request->reach;
    f->is_kept_out = false;
    f->header_bytes = 0;
    f->is_decided = f->heard = false;
    reset_answer(f);
    return 0;
}

bool xd_http_fetch_follow(struct xd_http_fetch *f)
{
    if (!f->follows || f->is_decided)
        return false;
    reset_answer(f);
    if (set_request(f))
        return true;
    xd_fail_nomem(&f->outcome.error);
    decide(f, XD_VERDICT_AGAIN);
    return false;
}

/* What no second attempt will change. */
static bool is_final(CURLcode result)
{
    switch ((int)result) {
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 among them */
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return true;
    default:
        return false;
    }
}

static void fail_early(struct xd_http_fetch *f)
{
    decide(f, XD_VERDICT_AGAIN);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: the connection was closed early, at offset %" PRIu64, f->name,
            f->at);
}

static void fail_kept_out(struct xd_http_fetch *f)
{
    decide(f, XD_VERDICT_GONE);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: redirects to an address of %s, where only "
            "allow-private-redirs lets it",
            f->name,
            f->reach == XD_REACH_PRIVATE ? "this machine"
                                         : "this machine or a private network");
}

static void fail_by_curl(struct xd_http_fetch *f, CURLcode result)
{
    /* libcurl quotes what it does not understand, a proxy's URL for one: that
     * may have a password. */
    bool tells = f->reason[0] != '\0' && strchr(f->reason, '@') == NULL;
    const char *reason = tells ? f->reason : curl_easy_strerror(result);
    long os_errno = 0;

    decide(f, is_final(result) ? XD_VERDICT_GONE : XD_VERDICT_AGAIN);
    if (f->is_judged)
        xd_fail(&f->outcome.error, XD_E_NET, "%s: %s at offset %" PRIu64,
                f->name, reason, f->at);
    else
        xd_fail(&f->outcome.error, XD_E_NET, "%s: %s", f->name, reason);
    if (result == CURLE_OUT_OF_MEMORY)
        f->outcome.error.code = XD_E_NOMEM;
    if (curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &os_errno) == CURLE_OK)
        f->outcome.error.os_errno = (int)os_errno;
}

/* An object without bytes, or none where they were asked for; or a refusal. */
static void conclude_ftp(struct xd_http_fetch *f, CURLcode result)
{
    if (f->is_judged || f->is_decided)
        return;
    if (result == CURLE_OK || result == CURLE_BAD_DOWNLOAD_RESUME) {
        judge(f);
    } else if (result == CURLE_FTP_COULDNT_USE_REST) {
        f->is_decided = true;
        xd_ftp_judge_no_ranges(&f->answer, f->name, &f->outcome);
    } else if (xd_ftp_has_refused(&f->answer)) {
        f->is_decided = true;
        xd_ftp_judge_refusal(&f->answer, f->name, &f->outcome);
    }
}

/* An answer without a body, or one that broke off before it. */
static void conclude_http(struct xd_http_fetch *f)
{
    if (!f->is_judged && !f->is_decided && f->answer.complete &&
        f->answer.status >= 200)
        judge(f);
}

void xd_http_fetch_conclude(struct xd_http_fetch *f, CURLcode result)
{
    /* Only the farewell is missing, and the size tells whether all came. */
    if (f->is_ftp && result == CURLE_ABORTED_BY_CALLBACK)
        result = f->answer.has_length ? CURLE_OK : CURLE_PARTIAL_FILE;
    if (f->is_ftp)
        conclude_ftp(f, result);
    else
        conclude_http(f);
    if (f->is_decided || f->follows)
        return;
    if (result == CURLE_OK && f->is_judged && f->at >= f->request.offset &&
        (f->judgement.end == XD_TO_END || f->judgement.end == f->at))
        decide(f, XD_VERDICT_OK);
    else if (result == CURLE_OK || result == CURLE_PARTIAL_FILE)
        fail_early(f);
    else if (f->is_kept_out && !f->is_judged)
        fail_kept_out(f);
    else
        fail_by_curl(f, result);
}

void xd_http_fetch_hang_up(struct xd_http_fetch *f)
{
    curl_socket_t fd;

    if (f->is_ftp &&
        curl_easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
        fd != CURL_SOCKET_BAD)
        shutdown(fd, SHUT_RDWR);
}

void xd_http_fetch_give_up(struct xd_http_fetch *f, xd_usec silence)
{
    f->quit = true;
    if (f->is_decided)
        return;
    decide(f, XD_VERDICT_AGAIN);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: no bytes for %.1f s at offset %" PRIu64, f->name,
            (double)silence / (double)XD_SECOND, f->at);
}

void xd_http_fetch_stop(struct xd_http_fetch *f)
{
    f->quit = true;
    if (f->is_decided)
        return;
    decide(f, XD_VERDICT_STOPPED);
    xd_fail(&f->outcome.error, XD_E_CANCELED, "%s: stopped at offset %" PRIu64,
            f->name, f->at);
}
