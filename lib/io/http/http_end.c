/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "io/http/ftp_answer.h"
#include "io/http/http_callbacks.h"

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
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE: /* a line of a header */
#endif
        return true;
    default:
        return false;
    }
}

/* What libcurl says of a server that does not accept a connection, or closes
 * it instead of an answer. */
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
 * Before 8.6.0 libcurl has one code for a line of a header that exceeds its
 * 100 KiB and for lack of memory.  With the first bytes of an answer it is the
 * former: a server must not be able to end the download with it.
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

/* Whatever else libcurl says is the depot's failure: there is no code that a server
 * cannot provoke.  Where memory is short, the engine's own fails too. */
static void fail_by_curl(struct xd_http_fetch *f, CURLcode result)
{
    /* libcurl quotes what it does not understand, a proxy's URL for one: that
     * may have a password. */
    bool has_reason = f->reason[0] != '\0' && strchr(f->reason, '@') == NULL;
    const char *reason = has_reason ? f->reason : curl_easy_strerror(result);
    if (result == CURLE_URL_MALFORMAT)
        reason = "this is no URL that can be used: an IPv6 address stands in "
                 "brackets, and a port is a number up to 65535";
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

/* An object without bytes, or none where they were asked for; or a refusal. */
static void conclude_ftp(struct xd_http_fetch *f, CURLcode result)
{
    if (f->is_judged || f->is_decided)
        return;
    if (result == CURLE_OK || result == CURLE_BAD_DOWNLOAD_RESUME) {
        xd_http_fetch_judge(f);
    } else if (result == CURLE_FTP_COULDNT_USE_REST) {
        f->is_decided = true;
        xd_ftp_judge_no_ranges(&f->answer, f->name.s, &f->outcome);
    } else if (xd_ftp_has_refused(&f->answer)) {
        f->is_decided = true;
        xd_ftp_judge_refusal(&f->answer, f->name.s, &f->outcome);
    }
}

/* An answer without a body, or one that broke off before it. */
static void conclude_http(struct xd_http_fetch *f)
{
    if (!f->is_judged && !f->is_decided && f->answer.complete &&
        f->answer.status >= 200)
        xd_http_fetch_judge(f);
}

xd_usec xd_http_fetch_patience(const struct xd_http_fetch *f, xd_usec silence)
{
    return xd_http_connect_limit(&f->connect, f->easy, silence);
}

static void fail_silent(struct xd_http_fetch *f)
{
    double seconds = (double)xd_http_fetch_patience(f, f->silence) / XD_SECOND;

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

void xd_http_fetch_conclude(struct xd_http_fetch *f, CURLcode result)
{
    /* Only the farewell is missing, and the size tells whether all came. */
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
    if (f->is_decided || f->follows)
        return;
    if (result == CURLE_OK && f->request.sends == NULL && f->is_judged &&
        f->at >= f->request.offset &&
        (f->judgement.end == XD_TO_END || f->judgement.end == f->at))
        xd_http_fetch_decide(f, XD_VERDICT_OK);
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

/* What libcurl holds of a request that was paused it keeps, up to 7.88 at
 * least, when others are on the connection still: the handle's next pause would
 * put more behind it, and hand that over as bytes of the next request. */
static void let_go(struct xd_http_fetch *f)
{
    f->hangs_up = true;
    curl_easy_pause(f->easy, CURLPAUSE_CONT);
    f->hangs_up = false;
}

/* What the depot has written of a request that is stopped would hold up the next
 * one on its connection. */
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
    if (f->is_ftp &&
        curl_easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
        fd != CURL_SOCKET_BAD)
        shutdown(fd, SHUT_RDWR);
}

void xd_http_fetch_give_up(struct xd_http_fetch *f, xd_usec silence)
{
    f->quit = true;
    f->silence = silence;
    if (f->is_decided || xd_http_send_settle(f))
        return;
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
