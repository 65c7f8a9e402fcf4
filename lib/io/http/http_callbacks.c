/* SPDX-License-Identifier: MIT */
/*
 * A byte reaches the handler only after the answer was judged, and the answer
 * is judged when its body begins: libcurl hands over no body of the answers
 * that it deals with itself (1xx), so that this one is the last.  Redirects are
 * dealt with here, as requests of their own: see http_options.c.
 *
 * Headers are bounded by libcurl line by line, and by us as a whole.
 */
#include "io/http/http_callbacks.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "io/http/ftp_answer.h"
#include "io/http/http_offer.h"
#include "io/http/http_redirect.h"
#include "os/clock.h"

/* A refused answer's body up to this size is read to its end, because a new
 * connection costs more round trips than that. */
#define SMALL_BODY_BYTES ((uint64_t)16 << 10)

#define MAX_HEADER_BYTES ((size_t)256 << 10)
#define MAX_RETRY_AFTER ((curl_off_t)30) /* seconds */

/* Libcurl waits in steps of a second for some replies of an FTP server, which
 * could not be interrupted. */
#define MAX_BLOCKING (XD_SECOND / 2)

void xd_http_fetch_decide(struct xd_http_fetch *f, enum xd_verdict verdict)
{
    f->is_decided = true;
    f->outcome.verdict = verdict;
}

void xd_http_fetch_refuse(struct xd_http_fetch *f, int rc)
{
    xd_http_fetch_decide(f, XD_VERDICT_STOPPED);
    f->quit = true;
    xd_fail(&f->outcome.error, (enum xd_code)rc, "%s: refused", f->name.s);
}

xd_usec xd_http_fetch_retry_after(const struct xd_http_fetch *f)
{
    curl_off_t seconds = 0;

    if (!XD_DEFENDS("retry-after") ||
        curl_easy_getinfo(f->easy, CURLINFO_RETRY_AFTER, &seconds) !=
            CURLE_OK ||
        seconds <= 0)
        return 0;
    if (seconds > MAX_RETRY_AFTER)
        seconds = MAX_RETRY_AFTER;
    return (xd_usec)seconds * XD_SECOND;
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

/* What the answer calls its kind, or NULL. */
static const char *media_type(const struct xd_http_fetch *f)
{
    char *type = NULL;

    return curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK
               ? type
               : NULL;
}

/* A server of this machine may send us anywhere, one of the world only out
 * again; a proxy stands for all that lies behind it. */
static enum xd_reach narrowed_reach(const struct xd_http_fetch *f)
{
    char *address = NULL;
    enum xd_reach reach = XD_REACH_PUBLIC;

    if (curl_easy_getinfo(f->easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK)
        reach = xd_reach_of_text(address);
    return f->reach < reach ? reach : f->reach;
}

void xd_http_fetch_report_head(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;
    struct xd_head head = {.object_size = f->judgement.object_size,
                           .is_range = f->is_ftp
                                           ? xd_http_asks_for_range(&f->request)
                                           : xd_http_is_part(a, &f->request),
                           .is_encoded = !f->is_ftp && a->encoding[0] != '\0',
                           .shares = shares_connection(f)};

    head.media_type = media_type(f);
    head.next = a->next;
    head.validator = xd_http_validator(a);
    head.modified = xd_http_modified(a);
    if (a->file_name[0] != '\0')
        head.file_name = a->file_name;
    head.final_url = f->url;
    head.address = xd_http_fetch_address(f);
    head.reach = f->reach;
    head.names = narrowed_reach(f);
    if (!xd_offer_is_empty(&f->offer))
        head.offer = &f->offer;
    int rc = f->handler->head(f->handler->user, f->slot, &head);
    if (rc < 0)
        xd_http_fetch_refuse(f, rc);
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

/* Where it points to, in place of where it was asked. */
static void judge_redirect(struct xd_http_fetch *f)
{
    struct xd_error *error = &f->outcome.error;
    uint64_t most = f->options->net->max_redirs;
    struct xd_url *next = NULL;
    int rc = 0;

    drop_body(f);
    if (f->request.is_plain)
        rc = xd_fail(error, XD_E_NET, "%s: redirects, which is not followed",
                     f->name.s);
    else if (f->n_redirects >= most && XD_DEFENDS("max-redirs"))
        rc = xd_fail(error, XD_E_NET,
                     "%s: more than %" PRIu64 " redirects (max-redirs)",
                     f->name.s, most);
    else
        rc = xd_http_redirect(&next, f->first, f->url, f->answer.location,
                              f->name.s, error);
    if (rc < 0) {
        xd_http_fetch_decide(f, rc == XD_E_NOMEM ? XD_VERDICT_AGAIN
                                                 : XD_VERDICT_GONE);
        error->http_status = (int)f->answer.status;
        return;
    }
    if (!xd_url_same_origin(f->url, next)) {
        f->request.if_range = NULL;
        f->reach = narrowed_reach(f);
    }
    xd_free(f->url);
    f->url = next;
    f->n_redirects++;
    f->follows = true;
}

void xd_http_fetch_judge(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    f->is_judged = true;
    if (f->request.sends != NULL) {
        xd_http_send_judge(f);
        return;
    }
    if (is_redirect(f)) {
        judge_redirect(f);
        return;
    }
    if (f->is_ftp)
        xd_ftp_judge(a, &f->request, f->name.s, &f->judgement);
    else
        xd_http_judge(a, &f->request, f->name.s, &f->judgement);
    if (f->judgement.outcome.verdict == XD_VERDICT_OK) {
        f->outcome.is_cut = f->judgement.outcome.is_cut;
        xd_http_fetch_report_head(f);
        return;
    }
    f->is_decided = true;
    f->outcome = f->judgement.outcome;
    if (f->outcome.verdict == XD_VERDICT_NO_RANGES)
        f->outcome.media_type = media_type(f);
    drop_body(f);
    if (f->outcome.verdict == XD_VERDICT_AGAIN)
        f->outcome.retry_after = xd_http_fetch_retry_after(f);
}

static void take_offer(struct xd_http_fetch *f, const char *line, size_t len)
{
    struct xd_offer *o = &f->offer;

    if (xd_http_offer_line(o, &f->answer, f->first, f->url, line, len))
        o->reach = narrowed_reach(f);
}

static size_t take_line(struct xd_http_fetch *f, const char *line, size_t len)
{
    f->made_progress = true;
    f->header_bytes += len;
    if (f->header_bytes > MAX_HEADER_BYTES && XD_DEFENDS("header-size")) {
        xd_http_fetch_decide(f, XD_VERDICT_GONE);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: the header is longer than %zu bytes", f->name.s,
                MAX_HEADER_BYTES);
        return 0;
    }
    if (f->is_ftp)
        xd_ftp_answer_line(&f->answer, line, len);
    else
        xd_http_answer_line(&f->answer, line, len);
    if (f->request.wants_offer && !f->is_ftp)
        take_offer(f, line, len);
    if (f->request.sends != NULL)
        xd_http_send_take_line(f);
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
        xd_http_fetch_refuse(f, rc);
    if (rc < 0)
        return CURL_WRITEFUNC_PAUSE;
    f->at = end > f->at ? end : f->at;
    if (f->at < f->judgement.end)
        return len;
    xd_http_fetch_decide(f, XD_VERDICT_OK);
    f->quit = true;
    /* libcurl would wait, blocking, for what an FTP server says at the end. */
    return f->is_ftp ? CURL_WRITEFUNC_PAUSE : len;
}

/*
 * Giving up is a pause, after which http.c removes the handle: an error would
 * close the connection also where others share it.
 */
static size_t take_body(struct xd_http_fetch *f, const char *data, size_t len)
{
    f->made_progress = true;
    if (!f->is_judged)
        xd_http_fetch_judge(f);
    if (f->quit)
        return CURL_WRITEFUNC_PAUSE;
    if (f->is_decided || f->follows)
        return len;
    return f->request.sends != NULL ? xd_http_send_deliver(f, data, len)
                                    : deliver(f, data, len);
}

/* ---- libcurl's callbacks ---- */

static size_t on_header(char *line, size_t one, size_t len, void *user)
{
    struct xd_http_fetch *f = user;
    int where = xd_watched_move(&f->shared->watched, XD_OUTSIDE);

    (void)one;
    if (!f->hangs_up)
        len = take_line(f, line, len);
    f->shared->alive_at = xd_now();
    xd_watched_move(&f->shared->watched, where);
    return len;
}

static size_t on_body(char *data, size_t one, size_t len, void *user)
{
    struct xd_http_fetch *f = user;
    int where = xd_watched_move(&f->shared->watched, XD_OUTSIDE);

    (void)one;
    if (!f->hangs_up)
        len = take_body(f, data, len);
    f->shared->alive_at = xd_now();
    xd_watched_move(&f->shared->watched, where);
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
    return f->is_ftp && xd_now() - f->shared->alive_at >= MAX_BLOCKING;
}

bool xd_http_fetch_set_callbacks(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    return SET(CURLOPT_HEADERFUNCTION, on_header) &&
           SET(CURLOPT_HEADERDATA, (void *)f) &&
           SET(CURLOPT_WRITEFUNCTION, on_body) &&
           SET(CURLOPT_WRITEDATA, (void *)f) &&
           SET(CURLOPT_XFERINFOFUNCTION, on_progress) &&
           SET(CURLOPT_XFERINFODATA, (void *)f) && SET(CURLOPT_NOPROGRESS, 0L);
#undef SET
}
