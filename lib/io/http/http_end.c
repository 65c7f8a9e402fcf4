/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "io/http/ftp_answer.h"
#include "io/http/http_callbacks.h"

/* How long to wait for further bytes of an FTP object after its last one, if
 * the server does not close the connection: two round trips on a slow link. */
#define LAST_WORDS (2 * XD_SECOND)

/* Returns true for errors that another attempt will not change. */
static bool is_final(CURLcode result)
{
    switch ((int)result) {
    case CURLE_UNSUPPORTED_PROTOCOL: /* for example an HTTP/0.9 server */
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE: /* a header line is too long */
#endif
        return true;
    default:
        return false;
    }
}

/* Returns whether the server refused the connection, or closed it without a
 * response. */
static bool has_hung_up(const struct xd_http_fetch *f, CURLcode result)
{
    return f->header_bytes == 0 &&
           (result == CURLE_COULDNT_CONNECT || result == CURLE_GOT_NOTHING ||
            result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR ||
            result == CURLE_SSL_CONNECT_ERROR);
}

static void fail_early(struct xd_http_fetch *f)
{
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: the connection was closed early, at offset %" PRIu64,
            f->name.s, f->at);
}

/* Returns true if a response without a length ended without an error, but one
 * byte before the end of the range in its header. */
static bool ends_one_byte_early(const struct xd_http_fetch *f)
{
    const struct xd_http_answer *a = &f->answer;

    return f->is_judged && !f->is_ftp && xd_http_is_part(a, &f->request) &&
           f->judgement.end == a->last + 1 && f->at == a->last;
}

static void fail_miscounted(struct xd_http_fetch *f)
{
    xd_http_fetch_decide(f, XD_VERDICT_NO_RANGES);
    f->outcome.is_wrong_range = true;
    f->outcome.object_size = f->answer.total;
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: ended its answer at offset %" PRIu64
            ", one byte before the range that it named",
            f->name.s, f->at);
    f->outcome.error.http_status = (int)f->answer.status;
}

static void fail_kept_out(struct xd_http_fetch *f)
{
    xd_http_fetch_decide(f, XD_VERDICT_GONE);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: redirects to an address of %s, where only "
            "allow-private-redirs lets it",
            f->name.s,
            f->reach == XD_REACH_PRIVATE ? "this machine"
                                         : "this machine or a private network");
}

/*
 * Returns true if a header line was too long.  Before 8.6.0, libcurl uses the
 * same code for a header line over 100 KiB and for lack of memory.  After the
 * first bytes of a response, this function assumes a long line.  Otherwise a
 * server could abort the download.
 */
static bool is_line_too_long(const struct xd_http_fetch *f, CURLcode result)
{
    curl_off_t first_byte = 0;

    return result == CURLE_OUT_OF_MEMORY &&
           curl_easy_getinfo(f->easy, CURLINFO_STARTTRANSFER_TIME_T,
                             &first_byte) == CURLE_OK &&
           (first_byte > 0 || f->header_bytes > 0);
}

static void fail_line_too_long(struct xd_http_fetch *f)
{
    xd_http_fetch_decide(f, XD_VERDICT_GONE);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: sent a header line of more than 100 KiB", f->name.s);
}

static bool ran_out_of_descriptors(const struct xd_http_fetch *f,
                                   CURLcode result)
{
    return f->lacks_descriptor ||
           (!f->is_judged && xd_http_connect_lacks_descriptors(result));
}

static void fail_locally(struct xd_http_fetch *f)
{
    xd_http_fetch_decide(f, XD_VERDICT_LOCAL);
    xd_fail_errno(&f->outcome.error, XD_E_IO, EMFILE,
                  "%s: no descriptor is left to connect with", f->name.s);
}

/* Fails a request because of libcurl's result code.  Every code that was not
 * handled before counts against the depot, because a server can provoke any
 * code.  If memory is really short, the engine will notice it elsewhere. */
static void fail_by_curl(struct xd_http_fetch *f, CURLcode result)
{
    /* libcurl quotes input it does not understand, such as a proxy URL, which
     * may contain a password. */
    bool has_reason = f->reason[0] != '\0' && strchr(f->reason, '@') == NULL;
    const char *reason = has_reason ? f->reason : curl_easy_strerror(result);
    long os_errno = 0;

    xd_http_fetch_decide(f,
                         is_final(result) ? XD_VERDICT_GONE : XD_VERDICT_AGAIN);
    f->outcome.is_refusal = has_hung_up(f, result);
    if (f->is_judged)
        xd_fail(&f->outcome.error, XD_E_NET, "%s: %s at offset %" PRIu64,
                f->name.s, reason, f->at);
    else
        xd_fail(&f->outcome.error, XD_E_NET, "%s: %s", f->name.s, reason);
    if (curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &os_errno) == CURLE_OK)
        f->outcome.error.os_errno = (int)os_errno;
    f->outcome.is_unanswered =
        xd_http_connect_is_unanswered(result, (int)os_errno);
    f->outcome.lacks_address = xd_http_connect_lacks_address(result);
}

/* Returns true if SIZE was the last command sent. */
static bool lacks_size_reply(const struct xd_http_fetch *f)
{
    return f->ftp.size != NULL && !f->answer.has_size_reply;
}

void xd_http_fetch_ask_without_size(struct xd_http_fetch *f)
{
    struct xd_ftp_object *known = xd_ftp_known(&f->shared->ftp, f->url);

    if (known != NULL)
        known->has_no_size = true;
    f->skips_size = true;
    f->begins_again = true;
}

void xd_http_fetch_conclude_trial(struct xd_http_fetch *f)
{
    struct xd_ftp_trial *t = &f->trial;
    struct xd_ftp_shared *shared = &f->shared->ftp;

    if (f->answer.has_length &&
        xd_request_refuses_size(&f->request, f->answer.length)) {
        f->is_decided = true;
        xd_request_is_different(&f->request, f->name.s, f->answer.length,
                                &f->outcome);
        return;
    }
    t->is_passed = t->n == xd_ftp_trial_bytes(&f->answer, t->size);
    f->begins_again = t->is_passed;
    if (!t->is_passed) {
        f->is_decided = true;
        xd_ftp_judge_trial(&f->answer, f->name.s, t->size, &f->outcome);
    } else if (shared->url != NULL && xd_url_same_origin(shared->url, f->url) &&
               shared->proved_to < t->size) {
        shared->proved_to = t->size;
    }
}

/* Returns true if a trial has received all the bytes that it asked for: only
 * the end of the connection or the final reply is missing. */
static bool trial_has_last(const struct xd_http_fetch *f)
{
    return f->trial.is_on &&
           f->trial.n == xd_ftp_trial_bytes(&f->answer, f->trial.size);
}

/* Returns true if a trial is over, whatever it has shown. */
static bool trial_is_over(const struct xd_http_fetch *f, CURLcode result)
{
    return f->trial.is_on && !f->is_decided &&
           (result == CURLE_OK ||
            (result == CURLE_ABORTED_BY_CALLBACK && trial_has_last(f)));
}

/* Handles refusals, and FTP objects without data. */
static void conclude_ftp(struct xd_http_fetch *f, CURLcode result)
{
    if (f->is_judged || f->is_decided)
        return;
    if (result == CURLE_OK) {
        xd_http_fetch_judge(f, 0);
    } else if ((result == CURLE_QUOTE_ERROR && !lacks_size_reply(f)) ||
               xd_ftp_refuses_offset(&f->answer, &f->request)) {
        f->is_decided = true;
        xd_ftp_judge_no_ranges(&f->answer, f->name.s, &f->outcome);
    } else if (result == CURLE_QUOTE_ERROR &&
               xd_ftp_is_unknown_command(&f->answer)) {
        xd_http_fetch_ask_without_size(f);
    } else if (xd_ftp_has_refused(&f->answer)) {
        f->is_decided = true;
        xd_ftp_judge_refusal(&f->answer, f->name.s, &f->outcome);
    }
}

/* Judges a response that has no body. */
static void conclude_http(struct xd_http_fetch *f)
{
    if (!f->is_judged && !f->is_decided && f->answer.complete &&
        f->answer.status >= 200)
        xd_http_fetch_judge(f, 0);
}

bool xd_http_fetch_note_received(struct xd_http_fetch *f)
{
    curl_off_t asked_after = 0;
    long port = 0;

    if (f->is_received || f->is_judged || f->is_decided || f->request.sends)
        return false;
    if (curl_easy_getinfo(f->easy, CURLINFO_PRETRANSFER_TIME_T, &asked_after) !=
            CURLE_OK ||
        asked_after <= 0 ||
        curl_easy_getinfo(f->easy, CURLINFO_LOCAL_PORT, &port) != CURLE_OK)
        return false;
    f->is_received = !xd_http_connect_may_leave(&f->connect, f->url) &&
                     xd_way_has_arrived(xd_watched_find_socket(
                         &f->shared->watched, (int)port));
    return f->is_received;
}

xd_usec xd_http_fetch_patience(const struct xd_http_fetch *f, xd_usec silence,
                               xd_usec first_byte)
{
    if (f->is_received && !f->is_judged && first_byte > silence)
        return first_byte;
    if (xd_http_send_awaits_answer(f) && f->request.sends->patience > silence)
        return f->request.sends->patience;
    if (f->has_last || trial_has_last(f))
        return silence < LAST_WORDS ? silence : LAST_WORDS;
    return xd_http_connect_limit(&f->connect, f->easy, silence);
}

static void fail_silent(struct xd_http_fetch *f)
{
    double seconds = (double)f->silence / XD_SECOND;

    f->outcome.is_unanswered = true;
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    if (f->connect.phase == XD_HTTP_NAMES)
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: could not resolve the host's name within %.1f s",
                f->name.s, seconds);
    else
        xd_fail(&f->outcome.error, XD_E_NET,
                "%s: no bytes for %.1f s at offset %" PRIu64, f->name.s,
                seconds, f->at);
}

/* Returns true if an FTP object of unknown size is shorter than the server
 * announced. */
static bool is_short(const struct xd_http_fetch *f)
{
    return f->is_ftp && xd_ftp_begin(&f->request) == 0 &&
           f->judgement.end == XD_TO_END && f->at < f->answer.announced;
}

/* Returns true if an FTP server reports completion before the requested end.
 * Another attempt would get no more. */
static bool ends_before_size(const struct xd_http_fetch *f, CURLcode result)
{
    return f->is_ftp && result == CURLE_OK && f->is_judged &&
           f->judgement.end != XD_TO_END && f->at < f->judgement.end &&
           xd_ftp_says_complete(&f->answer);
}

static void fail_short(struct xd_http_fetch *f)
{
    f->is_decided = true;
    xd_ftp_judge_short(&f->answer, f->name.s, f->at, &f->outcome);
}

void xd_http_fetch_conclude(struct xd_http_fetch *f, CURLcode result)
{
    if (f->has_last && !f->is_decided) {
        xd_http_fetch_hand_on_last(f);
        return;
    }
    if (f->begins_again)
        return;
    if (trial_is_over(f, result)) {
        f->is_ready = result == CURLE_OK;
        xd_http_fetch_conclude_trial(f);
        return;
    }
    /* Only the final reply is missing; the size tells whether all bytes
     * arrived. */
    if (f->is_ftp && result == CURLE_ABORTED_BY_CALLBACK)
        result = f->answer.has_length ? CURLE_OK : CURLE_PARTIAL_FILE;
    if (f->connect.has_left && !f->is_decided) {
        f->begins_again = true;
        return;
    }
    if (f->request.sends != NULL)
        xd_http_send_conclude(f, result);
    else if (f->is_ftp)
        conclude_ftp(f, result);
    else
        conclude_http(f);
    if (f->is_decided || f->follows || f->begins_again)
        return;
    if (result == CURLE_OK && !is_short(f) && f->request.sends == NULL &&
        f->is_judged && f->at >= f->request.offset &&
        (f->judgement.end == XD_TO_END || f->judgement.end == f->at))
        xd_http_fetch_decide(f, XD_VERDICT_OK);
    else if (result == CURLE_OK && ends_one_byte_early(f))
        fail_miscounted(f);
    else if (ends_before_size(f, result))
        fail_short(f);
    else if (result == CURLE_OK || result == CURLE_PARTIAL_FILE)
        fail_early(f);
    else if (f->is_kept_out && !f->is_judged)
        fail_kept_out(f);
    else if (xd_http_connect_disobey(&f->connect, result))
        f->begins_again = true;
    else if (xd_http_connect_was_last(&f->connect))
        fail_silent(f);
    else if (xd_http_connect_retry(&f->connect))
        f->begins_again = true;
    else if (is_line_too_long(f, result))
        fail_line_too_long(f);
    else if (ran_out_of_descriptors(f, result))
        fail_locally(f);
    else
        fail_by_curl(f, result);
}

void xd_http_fetch_fail_nomem(struct xd_http_fetch *f)
{
    if (f->is_decided)
        return;
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    xd_fail_nomem(&f->outcome.error);
}

/* Drops the data of a paused request.  If other requests share the connection,
 * libcurl up to at least 7.88 keeps that data.  It would deliver the data as
 * part of the next request that is paused on this handle. */
static void let_go(struct xd_http_fetch *f)
{
    f->hangs_up = true;
    curl_easy_pause(f->easy, CURLPAUSE_CONT);
    f->hangs_up = false;
}

/* Returns whether the depot has already sent data for the stopped request.
 * That data would delay the next request on the connection. */
static bool leaves_rest(const struct xd_http_fetch *f)
{
    return f->request.owns_connection && f->is_decided &&
           f->outcome.verdict == XD_VERDICT_STOPPED;
}

void xd_http_fetch_hang_up(struct xd_http_fetch *f)
{
    curl_socket_t fd;

    let_go(f);
    if (f->is_silent || leaves_rest(f))
        curl_easy_setopt(f->easy, CURLOPT_FORBID_REUSE, 1L);
    if (f->is_ftp && !f->is_ready &&
        curl_easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
        fd != CURL_SOCKET_BAD)
        shutdown(fd, SHUT_RDWR);
}

void xd_http_fetch_give_up(struct xd_http_fetch *f, xd_usec silence)
{
    if (f->has_last && !f->is_decided) {
        xd_http_fetch_hand_on_last(f);
        f->quit = f->is_decided;
        return;
    }
    f->quit = true;
    f->silence = silence;
    if (f->is_decided || xd_http_send_settle(f))
        return;
    if (trial_has_last(f)) {
        xd_http_fetch_conclude_trial(f);
        return;
    }
    if (xd_http_connect_next(&f->connect, f->easy) ||
        (f->request.sends == NULL &&
         xd_http_connect_leave_silent(&f->connect, f->easy)))
        f->begins_again = true;
    else
        fail_silent(f);
}

void xd_http_fetch_end_flood(struct xd_http_fetch *f)
{
    f->quit = true;
    if (f->is_decided)
        return;
    xd_http_fetch_decide(f, XD_VERDICT_AGAIN);
    xd_fail(&f->outcome.error, XD_E_NET,
            "%s: kept libcurl busy and sent no bytes, at offset %" PRIu64,
            f->name.s, f->at);
}

void xd_http_fetch_stop(struct xd_http_fetch *f)
{
    f->quit = true;
    if (f->is_decided)
        return;
    xd_http_fetch_decide(f, XD_VERDICT_STOPPED);
    xd_fail(&f->outcome.error, XD_E_CANCELED, "%s: stopped at offset %" PRIu64,
            f->name.s, f->at);
}
