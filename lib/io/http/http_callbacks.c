/* SPDX-License-Identifier: MIT */
/*
 * A response is judged when its body begins, and no byte is delivered before.
 * libcurl delivers no body of interim responses (1xx), so the judged response
 * is the final one.  Redirects are followed here as separate requests; see
 * http_options.c.
 *
 * libcurl limits the length of a header line, and we limit the whole header.
 */
#include "io/http/http_callbacks.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "io/http/ftp_answer.h"
#include "io/http/http_offer.h"
#include "io/http/http_redirect.h"
#include "os/clock.h"

/* An unwanted body up to this size is read to its end: a new connection would
 * cost more round trips. */
#define SMALL_BODY_BYTES ((uint64_t)16 << 10)

#define MAX_HEADER_BYTES ((size_t)256 << 10)
/* Longest pause accepted from a server, in seconds (a year).  The caller's
 * patience is usually shorter. */
#define MAX_RETRY_AFTER ((curl_off_t)31536000)

/* Longest time that libcurl may block in an FTP request.  libcurl waits for
 * some FTP replies in steps of one second, and only a progress callback that
 * fails ends such a wait. */
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

/* Returns whether other requests can share the connection (HTTP/2). */
static bool shares_connection(const struct xd_http_fetch *f)
{
    long version = CURL_HTTP_VERSION_NONE;

    return !f->is_ftp &&
           curl_easy_getinfo(f->easy, CURLINFO_HTTP_VERSION, &version) ==
               CURLE_OK &&
           version >= CURL_HTTP_VERSION_2_0;
}

static const char *media_type(const struct xd_http_fetch *f)
{
    return f->answer.media_type[0] != '\0' ? f->answer.media_type : NULL;
}

/* Returns the networks to which this server may refer us: for a public server,
 * only public ones.  If a proxy is used, its address decides. */
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

/* Skips an unwanted body, or closes the connection if the body is long. */
static void drop_body(struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    f->quit = f->is_ftp || a->is_chunked || !a->has_length ||
              a->length > SMALL_BODY_BYTES;
}

static bool is_redirect(const struct xd_http_fetch *f)
{
    return !f->is_ftp && f->answer.status / 100 == 3 &&
           f->answer.location.len > 0;
}

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
        rc = xd_http_redirect(&next, f->first, f->url, f->answer.location.s,
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

/* Returns true if the range includes the last byte of the object. */
static bool ends_object(const struct xd_http_fetch *f)
{
    const uint64_t size = f->judgement.object_size != XD_SIZE_UNKNOWN
                              ? f->judgement.object_size
                              : f->request.object_size;

    return size != XD_SIZE_UNKNOWN && size > 0 && f->judgement.end == size;
}

/* Returns true if the request must begin again with a trial, because the server
 * has now stated the size, which a trial needs.  Refuses ranges that no trial
 * can prove. */
static bool turns_to_trial(struct xd_http_fetch *f)
{
    struct xd_http_judgement *j = &f->judgement;

    if (j->outcome.verdict != XD_VERDICT_OK || !xd_http_fetch_needs_trial(f))
        return false;
    f->trial.size = j->object_size;
    if (f->trial.size != XD_SIZE_UNKNOWN && f->trial.size > 1)
        return true;
    xd_ftp_judge_trial(&f->answer, f->name.s, XD_SIZE_UNKNOWN, &j->outcome);
    return false;
}

static void judge_ftp(struct xd_http_fetch *f, size_t len)
{
    static const struct xd_ftp_object nothing = {.has_no_size = false};
    const struct xd_ftp_object *known = xd_ftp_known(&f->shared->ftp, f->url);

    xd_ftp_judge(&f->answer, &f->request, f->name.s,
                 known != NULL ? known : &nothing, len, &f->judgement);
    f->ends_object = ends_object(f);
    f->begins_again = turns_to_trial(f);
    f->quit = f->begins_again;
}

void xd_http_fetch_judge(struct xd_http_fetch *f, size_t len)
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
    if (xd_http_fetch_turns_to_digest(f)) {
        drop_body(f);
        f->follows = true;
        return;
    }
    if (f->is_ftp)
        judge_ftp(f, len);
    else
        xd_http_judge(a, &f->request, f->name.s, &f->judgement);
    if (f->begins_again)
        return;
    if (f->judgement.outcome.verdict == XD_VERDICT_OK && f->looks_once) {
        xd_http_fetch_stop(f);
        return;
    }
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

/* Handles a line of an FTP reply.  If the server answers SIZE with a bare code,
 * the request is repeated without SIZE.  After the first byte, only the final
 * reply can follow, and it is not needed. */
static void take_ftp_line(struct xd_http_fetch *f, const char *line, size_t len)
{
    xd_ftp_answer_line(&f->answer, line, len);
    if (!f->answer.is_bare || f->is_judged || f->is_decided || f->trial.n > 0)
        return;
    f->quit = true;
    if (xd_ftp_is_size_reply(&f->answer) && f->ftp.size != NULL) {
        xd_http_fetch_ask_without_size(f);
        return;
    }
    f->is_decided = true;
    xd_ftp_judge_bare(&f->answer, f->name.s, &f->outcome);
}

/* Closes the connection if the server refuses a request after it has sent other
 * bytes of the same object.  The server may have limited the number of
 * connections.  Then this connection must not be reused in place of the one
 * that was accepted. */
static void leave_if_refused(struct xd_http_fetch *f)
{
    if (f->request.is_known && f->answer.complete && f->answer.status >= 400)
        curl_easy_setopt(f->easy, CURLOPT_FORBID_REUSE, 1L);
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
        take_ftp_line(f, line, len);
    else
        xd_http_answer_line(&f->answer, line, len);
    leave_if_refused(f);
    if (f->answer.location.failed) {
        xd_http_fetch_fail_nomem(f);
        return 0;
    }
    if (f->request.wants_offer && !f->is_ftp)
        take_offer(f, line, len);
    if (f->request.sends != NULL)
        xd_http_send_take_line(f);
    return len;
}

/* Handles a server that sends bytes beyond the end of the object. */
static size_t refuse_overlong(struct xd_http_fetch *f)
{
    struct xd_ftp_object *known = xd_ftp_known(&f->shared->ftp, f->url);

    if (known != NULL && xd_ftp_begin(&f->request) == 0)
        known->has_wrong_size = true;
    f->is_decided = f->quit = true;
    xd_ftp_judge_overlong(&f->request, f->name.s, f->judgement.end,
                          &f->outcome);
    return CURL_WRITEFUNC_PAUSE;
}

void xd_http_fetch_hand_on_last(struct xd_http_fetch *f)
{
    const int rc = f->handler->bytes(f->handler->user, f->slot, &f->last, 1);

    f->paused = rc == XD_E_AGAIN;
    if (f->paused)
        return;
    f->has_last = false;
    f->at = f->judgement.end;
    if (rc < 0)
        xd_http_fetch_refuse(f, rc);
    else
        xd_http_fetch_decide(f, XD_VERDICT_OK);
}

/* Delivers the requested bytes.  The server may send more than that. */
static size_t deliver(struct xd_http_fetch *f, const char *data, size_t len)
{
    const struct xd_transport_handler *h = f->handler;
    uint64_t begin = f->request.offset > f->at ? f->request.offset : f->at;
    uint64_t end = f->judgement.end;
    const uint64_t left = end - f->at - f->has_last;
    const bool brings_last = f->ends_object && len == left;
    int rc = 0;

    if (f->ends_object && len > left)
        return refuse_overlong(f);
    if (left > len)
        end = f->at + len;
    end -= brings_last;
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
    if (brings_last) {
        f->has_last = true;
        f->last = data[len - 1];
    }
    if (f->at < f->judgement.end)
        return len;
    xd_http_fetch_decide(f, XD_VERDICT_OK);
    f->quit = true;
    /* otherwise libcurl blocks waiting for the final reply of an FTP server */
    return f->is_ftp ? CURL_WRITEFUNC_PAUSE : len;
}

/*
 * Handles bytes of a body.  To give up a request, it pauses the transfer, and
 * http.c then removes the handle.  An error would close a connection that other
 * requests may share.
 */
static size_t take_body(struct xd_http_fetch *f, const char *data, size_t len)
{
    f->made_progress = true;
    if (f->trial.is_on) {
        f->trial.n += len;
        f->quit = f->trial.n > xd_ftp_trial_bytes(&f->answer, f->trial.size);
        if (f->quit)
            xd_http_fetch_conclude_trial(f);
        return f->quit ? CURL_WRITEFUNC_PAUSE : len;
    }
    if (!f->is_judged)
        xd_http_fetch_judge(f, len);
    if (f->quit)
        return CURL_WRITEFUNC_PAUSE;
    if (f->is_decided || f->follows)
        return len;
    return f->request.sends != NULL ? xd_http_send_deliver(f, data, len)
                                    : deliver(f, data, len);
}

/* ---- callbacks of libcurl ---- */

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

/* Called during transfers, and between the one-second steps of FTP waits.  A
 * result other than 0 aborts the transfer. */
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
