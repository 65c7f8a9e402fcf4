/* SPDX-License-Identifier: MIT */
#include "io/http/http_send.h"

#include <inttypes.h>
#include <string.h>

#include <sys/socket.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/error.h"
#include "io/http/http_callbacks.h"
#include "io/http/http_reply.h"
#include "io/window.h"
#include "os/clock.h"

/* First status code with which a server refuses the body. */
#define LEAST_NO 300u

/* Returns whether the final response has a complete header. */
static bool is_answered(const struct xd_http_fetch *f)
{
    return f->answer.complete && f->answer.status >= 200;
}

static bool is_refused(const struct xd_http_fetch *f)
{
    return is_answered(f) && f->answer.status >= LEAST_NO;
}

/* ---- the request ---- */

static size_t count_lines(const char *fields)
{
    size_t n = 0;

    for (; *fields != '\0'; fields++)
        n += *fields == '\n';
    return n;
}

/* Replaces the line feeds in `text` by NULs. */
static void split_lines(struct xd_http_send *s)
{
    char *at = s->text;

    for (size_t i = 0; i < s->n_lines; i++) {
        char *end = strchr(at, '\n');

        *end = '\0';
        s->lines[i] = (struct curl_slist){.data = at, .next = &s->lines[i] + 1};
        at = end + 1;
    }
}

void xd_http_send_fini(struct xd_http_fetch *f)
{
    xd_free(f->send.text);
    xd_free(f->send.lines);
    f->send = (struct xd_http_send){.text = NULL};
}

int xd_http_send_prepare(struct xd_http_fetch *f, const char *fields)
{
    struct xd_http_send *s = &f->send;

    xd_http_send_fini(f);
    if (fields == NULL || fields[0] == '\0')
        return 0;
    s->n_lines = count_lines(fields);
    s->text = xd_strdup(fields);
    s->lines = xd_alloc(s->n_lines, sizeof *s->lines);
    if (s->text == NULL || s->lines == NULL) {
        xd_http_send_fini(f);
        return XD_E_NOMEM;
    }
    split_lines(s);
    return 0;
}

struct curl_slist *xd_http_send_header(struct xd_http_fetch *f,
                                       struct curl_slist *rest)
{
    struct xd_http_send *s = &f->send;

    if (s->n_lines == 0)
        return rest;
    s->lines[s->n_lines - 1].next = rest;
    return s->lines;
}

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)

/* Sets the method.  PUT and POST without a body need "Content-Length: 0". */
static bool set_method(CURL *e, const struct xd_sending *s)
{
    bool has_body = s->length > 0 || strcmp(s->method, "PUT") == 0 ||
                    strcmp(s->method, "POST") == 0;

    if (strcmp(s->method, "HEAD") == 0)
        return SET(CURLOPT_NOBODY, 1L);
    return (!has_body ||
            (SET(CURLOPT_UPLOAD, 1L) &&
             SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->length))) &&
           SET(CURLOPT_CUSTOMREQUEST, s->method);
}

bool xd_http_send_apply(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

    /* resets the method of an earlier request */
    if (!SET(CURLOPT_HTTPGET, 1L) || !SET(CURLOPT_CUSTOMREQUEST, NULL))
        return false;
    if (f->request.sends == NULL)
        return true;
    f->at = 0;
    f->send.fd = -1;
    f->send.queued = 0;
    f->send.sent_at = 0;
    return set_method(e, f->request.sends);
}

void xd_http_send_begin(struct xd_http_fetch *f, int local_port)
{
    if (f->request.sends == NULL)
        return;
    xd_http_answer_reset(&f->answer);
    f->at = 0;
    f->send.sent_at = f->request.sends->length == 0 ? xd_now() : 0;
    f->send.fd = xd_watched_find_socket(&f->shared->watched, local_port);
}

/* ---- the body ---- */

static bool is_http2(const struct xd_http_fetch *f)
{
    long version = CURL_HTTP_VERSION_NONE;

    return f->url->scheme == XD_SCHEME_HTTPS &&
           (curl_easy_getinfo(f->easy, CURLINFO_HTTP_VERSION, &version) !=
                CURLE_OK ||
            version == CURL_HTTP_VERSION_NONE ||
            version > CURL_HTTP_VERSION_1_1);
}

/* Returns the result of recv(); -1 if nothing has arrived. */
static ssize_t peek(const struct xd_http_fetch *f)
{
    char byte;

    return f->send.fd < 0 ? -1
                          : recv(f->send.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

/*
 * Reads bytes of the body for libcurl, but sends nothing more to a server that
 * has refused.
 *
 * If a response has arrived, libcurl must read it first: if the server refused
 * and closed the connection, libcurl would fail to send and never read the
 * response.  This does not apply to HTTP/2, where data arrives all the time and
 * a refusal does not close the connection.
 */
static size_t read_body(struct xd_http_fetch *f, char *to, size_t len)
{
    const struct xd_sending *s = f->request.sends;
    const uint64_t left = s->length - f->at;
    int64_t n;

    if (left < len)
        len = (size_t)left;
    if (len == 0 || is_refused(f))
        return 0;
    n = s->read(s->user, f->slot, f->at, to, len);
    XD_ASSERT(n != 0 && n <= (int64_t)len);
    if (n == XD_E_AGAIN)
        f->paused = true;
    else if (n < 0)
        xd_http_fetch_refuse(f, (int)n);
    else if (peek(f) > 0 && !is_http2(f))
        f->wants_resume = true;
    if (n < 0 || f->wants_resume)
        return CURL_READFUNC_PAUSE;
    f->made_progress = true;
    f->at += (uint64_t)n;
    if (f->at == s->length)
        f->send.sent_at = xd_now();
    return (size_t)n;
}

static size_t on_read(char *to, size_t one, size_t n, void *user)
{
    struct xd_http_fetch *f = user;
    int where = xd_watched_move(&f->shared->watched, XD_OUTSIDE);
    size_t len = CURL_READFUNC_PAUSE;

    if (!f->hangs_up && !f->quit)
        len = read_body(f, to, one * n);
    f->shared->alive_at = xd_now();
    xd_watched_move(&f->shared->watched, where);
    return len;
}

/* Called when libcurl must send the body again. */
static int on_seek(void *user, curl_off_t offset, int origin)
{
    struct xd_http_fetch *f = user;

    if (origin != SEEK_SET || offset < 0 ||
        (uint64_t)offset > f->request.sends->length)
        return CURL_SEEKFUNC_FAIL;
    f->at = (uint64_t)offset;
    f->send.sent_at = 0;
    return CURL_SEEKFUNC_OK;
}

bool xd_http_send_set_callbacks(struct xd_http_fetch *f)
{
    CURL *e = f->easy;

    return SET(CURLOPT_READFUNCTION, on_read) &&
           SET(CURLOPT_READDATA, (void *)f) &&
           SET(CURLOPT_SEEKFUNCTION, on_seek) &&
           SET(CURLOPT_SEEKDATA, (void *)f);
}
#undef SET

bool xd_http_send_awaits_answer(const struct xd_http_fetch *f)
{
    return f->request.sends != NULL && f->send.sent_at > 0 &&
           f->send.queued == 0 && f->connect.phase == XD_HTTP_ASKED &&
           !is_answered(f);
}

void xd_http_send_note_end(struct xd_http_fetch *f)
{
    if (f->request.sends != NULL && f->send.sent_at > 0)
        f->outcome.worked = xd_now() - f->send.sent_at + 1;
}

/* Compares how many bytes the peer has acknowledged, because the kernel accepts
 * megabytes at once, which take minutes on a slow link. */
bool xd_http_send_has_moved(struct xd_http_fetch *f)
{
    const int before = f->send.queued;
    int now;

    if (f->request.sends == NULL || f->request.sends->length == 0 ||
        f->connect.phase != XD_HTTP_ASKED || f->send.fd < 0)
        return false;
    now = xd_window_unconfirmed(f->send.fd);
    if (now >= 0)
        f->send.queued = now;
    return f->send.queued != before;
}

/* Ends the request if the server has closed the connection.  libcurl would
 * continue to send, or wait for room to send. */
void xd_http_send_look(struct xd_http_fetch *f)
{
    if (f->request.sends == NULL || f->at == f->request.sends->length ||
        f->is_decided || f->quit || is_answered(f) || peek(f) != 0)
        return;
    f->quit = true;
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: closed the connection after %" PRIu64 " of %" PRIu64
            " bytes were sent to it",
            f->name.s, f->at, f->request.sends->length);
}

/* ---- the response ---- */

void xd_http_send_judge(struct xd_http_fetch *f)
{
    struct xd_reply reply;
    const struct xd_head head = {.object_size = XD_SIZE_UNKNOWN,
                                 .reply = &reply};

    xd_http_reply(&f->answer, &reply);
    reply.retry_after = xd_http_fetch_retry_after(f);
    const int rc = f->handler->head(f->handler->user, f->slot, &head);
    if (rc < 0)
        xd_http_fetch_refuse(f, rc);
}

size_t xd_http_send_deliver(struct xd_http_fetch *f, const char *data,
                            size_t len)
{
    const int rc = f->handler->bytes(f->handler->user, f->slot, data, len);

    if (rc == XD_E_AGAIN)
        f->paused = true;
    else if (rc < 0)
        xd_http_fetch_refuse(f, rc);
    return rc < 0 ? CURL_WRITEFUNC_PAUSE : len;
}

/* Resumes the body after a refusal, because libcurl does not process the
 * response while the body is paused. */
void xd_http_send_take_line(struct xd_http_fetch *f)
{
    if (f->paused && is_refused(f))
        f->wants_resume = true;
}

bool xd_http_send_settle(struct xd_http_fetch *f)
{
    if (f->request.sends == NULL || !is_refused(f))
        return false;
    if (!f->is_judged && !f->is_decided)
        xd_http_fetch_judge(f, 0);
    if (!f->is_decided)
        xd_http_fetch_decide(f, XD_VERDICT_OK);
    return true;
}

void xd_http_send_conclude(struct xd_http_fetch *f, CURLcode result)
{
    if (xd_http_send_settle(f) || f->is_decided || !is_answered(f) ||
        result != CURLE_OK)
        return;
    if (f->at < f->request.sends->length) {
        xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: answered %u after %" PRIu64 " of %" PRIu64
                " bytes were sent",
                f->name.s, f->answer.status, f->at, f->request.sends->length);
        return;
    }
    if (!f->is_judged)
        xd_http_fetch_judge(f, 0);
    if (!f->is_decided)
        xd_http_fetch_decide(f, XD_VERDICT_OK);
}
