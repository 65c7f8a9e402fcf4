/*
 * A byte reaches the handler only after the answer was judged, and the answer
 * is judged when its body begins: libcurl hands over no body of the answers
 * that it deals with itself (redirects, 1xx), so that this one is the last.
 *
 * Headers are bounded by libcurl line by line, and by us as a whole.
 */
#include "io/http_fetch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/url.h"
#include "io/ftp_answer.h"
#include "os/clock.h"

#define BUFFER_BYTES (128L << 10) /* larger ones cost more than they save */
#define MAX_REDIRECTS 10L
#define MAX_HEADER_BYTES ((size_t)256 << 10)

/* A refused answer's body up to this size is read to its end, because a new
 * connection costs more round trips than that. */
#define SMALL_BODY_BYTES ((uint64_t)16 << 10)

#define MAX_RETRY_AFTER ((curl_off_t)30) /* seconds */

/* Libcurl waits in steps of a second for some replies of an FTP server, which
 * nobody could interrupt. */
#define MAX_BLOCKING (XD_SECOND / 2)

static void judge(struct xd_http_fetch *f);

/* A child that the host starts at any moment must not inherit it. */
static curl_socket_t open_socket(void *user, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    int type = address->socktype;
    int fd;

    (void)user;
    (void)purpose;
#ifdef SOCK_CLOEXEC
    type |= SOCK_CLOEXEC;
#endif
    fd = socket(address->family, type, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
#ifndef SOCK_CLOEXEC
    fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
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
    if (f->header_bytes > MAX_HEADER_BYTES) {
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
    uint64_t begin = f->request.offset > f->at ? f->request.offset : f->at;
    uint64_t end = f->judgement.end;

    if (end - f->at > len)
        end = f->at + len;
    if (begin < end) {
        int rc =
            f->handler->bytes(f->handler->user, f->slot, data + (begin - f->at),
                              (size_t)(end - begin));

        f->paused = rc == XD_E_AGAIN;
        if (rc < 0 && rc != XD_E_AGAIN)
            refuse(f, rc);
        if (rc < 0)
            return CURL_WRITEFUNC_PAUSE;
    }
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
    if (!f->is_decided)
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

    if (f->outcome.verdict != XD_VERDICT_AGAIN ||
        curl_easy_getinfo(f->easy, CURLINFO_RETRY_AFTER, &seconds) !=
            CURLE_OK ||
        seconds <= 0)
        return;
    if (seconds > MAX_RETRY_AFTER)
        seconds = MAX_RETRY_AFTER;
    f->outcome.retry_after = (xd_usec)seconds * XD_SECOND;
}

static void tell_head(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;
    struct xd_head head = {.object_size = f->judgement.object_size,
                           .is_range = f->is_ftp
                                           ? xd_http_asks_for_range(&f->request)
                                           : a->status == 206};
    int rc;

    if (a->etag[0] != '\0')
        head.validator = a->etag;
    else if (a->modified[0] != '\0')
        head.validator = a->modified;
    if (curl_easy_getinfo(f->easy, CURLINFO_EFFECTIVE_URL, &head.final_url) !=
        CURLE_OK)
        head.final_url = NULL;
    rc = f->handler->head(f->handler->user, f->slot, &head);
    if (rc < 0)
        refuse(f, rc);
}

static void judge(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    f->is_judged = true;
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
    f->quit = f->is_ftp || a->is_chunked || !a->has_length ||
              a->length > SMALL_BODY_BYTES;
    set_retry_after(f);
}

static bool set_protocols(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075500 /* 7.85.0 */
    return curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https,ftp") ==
           CURLE_OK;
#else
    return curl_easy_setopt(e, CURLOPT_PROTOCOLS,
                            (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS |
                                   CURLPROTO_FTP)) == CURLE_OK;
#endif
}

/* What began encrypted stays so. */
static bool set_redirects(CURL *e, bool is_https)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR,
                            is_https ? "https" : "http,https") == CURLE_OK;
#else
    long http = is_https ? 0L : (long)CURLPROTO_HTTP;

    return curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS,
                            http | (long)CURLPROTO_HTTPS) == CURLE_OK;
#endif
}

/* Without it a name server that does not answer would hold up free(). */
static bool set_quick_exit(CURL *e)
{
#if LIBCURL_VERSION_NUM >= 0x075700 /* 7.87.0 */
    return curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
#else
    (void)e;
    return true;
#endif
}

/* Where OpenSSL and curl(1) look too, but not libcurl. */
static bool set_trust(CURL *e)
{
    const char *file = getenv("SSL_CERT_FILE");

    return file == NULL || file[0] == '\0' ||
           curl_easy_setopt(e, CURLOPT_CAINFO, file) == CURLE_OK;
}

/* What is the same for all requests. */
static bool set_up(struct xd_http_fetch *f, const char *user_agent,
                   struct curl_slist *header)
{
    CURL *e = f->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_PRIVATE, (void *)f) &&
           SET(CURLOPT_ERRORBUFFER, f->reason) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(CURLOPT_HEADERFUNCTION, on_header) &&
           SET(CURLOPT_HEADERDATA, (void *)f) &&
           SET(CURLOPT_WRITEFUNCTION, on_body) &&
           SET(CURLOPT_WRITEDATA, (void *)f) &&
           SET(CURLOPT_XFERINFOFUNCTION, on_progress) &&
           SET(CURLOPT_XFERINFODATA, (void *)f) &&
           SET(CURLOPT_NOPROGRESS, 0L) &&
           SET(CURLOPT_BUFFERSIZE, BUFFER_BYTES) &&
           SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) &&
           SET(CURLOPT_HTTP09_ALLOWED, 0L) &&
           SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) &&
           SET(CURLOPT_FOLLOWLOCATION, 1L) &&
           SET(CURLOPT_MAXREDIRS, MAX_REDIRECTS) &&
           SET(CURLOPT_USERAGENT, user_agent) &&
           SET(CURLOPT_HTTPHEADER, header) &&
           SET(CURLOPT_FTP_FILEMETHOD, (long)CURLFTPMETHOD_NOCWD) &&
           set_protocols(e) && set_trust(e) && set_quick_exit(e);
#undef SET
}

int xd_http_fetch_init(struct xd_http_fetch *f, unsigned slot,
                       const struct xd_transport_handler *handler,
                       xd_usec *alive_at, const char *user_agent,
                       struct curl_slist *header, struct xd_error *err)
{
    f->slot = slot;
    f->alive_at = alive_at;
    f->handler = handler;
    f->easy = curl_easy_init();
    if (f->easy == NULL || !set_up(f, user_agent, header)) {
        xd_http_fetch_fini(f);
        return xd_fail_nomem(err);
    }
    return 0;
}

void xd_http_fetch_fini(struct xd_http_fetch *f)
{
    curl_easy_cleanup(f->easy);
    f->easy = NULL;
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

/* Requests at one https depot wait for the first one's connection, which
 * HTTP/2 lets them share; without TLS there is none to be shared. */
static bool set_request(struct xd_http_fetch *f, const struct xd_request *r)
{
    struct xd_url u;
    bool is_url = xd_url_split(r->url, &u);
    bool is_https = is_url && u.scheme == XD_SCHEME_HTTPS;

    f->is_ftp = is_url && u.scheme == XD_SCHEME_FTP;
    return curl_easy_setopt(f->easy, CURLOPT_URL, r->url) == CURLE_OK &&
           curl_easy_setopt(f->easy, CURLOPT_PIPEWAIT, is_https ? 1L : 0L) ==
               CURLE_OK &&
           set_redirects(f->easy, is_https) && set_range(f, r);
}

int xd_http_fetch_prepare(struct xd_http_fetch *f,
                          const struct xd_request *request,
                          struct xd_error *err)
{
    if (xd_request_name(f->name, request->url) < 0 || !set_request(f, request))
        return xd_fail_nomem(err);
    f->request = *request;
    f->request.url = NULL;
    f->answer = (struct xd_http_answer){.status = 0};
    f->outcome = (struct xd_outcome){.verdict = XD_VERDICT_OK,
                                     .object_size = XD_SIZE_UNKNOWN};
    f->at = request->whole ? 0 : request->offset;
    f->header_bytes = 0;
    f->is_judged = f->is_decided = false;
    f->heard = f->paused = f->quit = false;
    return 0;
}

/* What no second attempt will change. */
static bool is_final(CURLcode result)
{
    switch ((int)result) {
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 among them */
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
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

static void fail_by_curl(struct xd_http_fetch *f, CURLcode result)
{
    const char *reason =
        f->reason[0] != '\0' ? f->reason : curl_easy_strerror(result);
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

/* An answer without a body, or one that broke off before it; a redirect that
 * went wrong is libcurl's to tell. */
static void conclude_http(struct xd_http_fetch *f, CURLcode result)
{
    if (!f->is_judged && !f->is_decided && f->answer.complete &&
        f->answer.status >= 200 &&
        (result == CURLE_OK || !f->answer.has_location))
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
        conclude_http(f, result);
    if (f->is_decided)
        return;
    if (result == CURLE_OK && f->is_judged && f->at >= f->request.offset &&
        (f->judgement.end == XD_TO_END || f->judgement.end == f->at))
        decide(f, XD_VERDICT_OK);
    else if (result == CURLE_OK || result == CURLE_PARTIAL_FILE)
        fail_early(f);
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
