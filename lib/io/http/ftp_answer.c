/* SPDX-License-Identifier: MIT */
#include "io/http/ftp_answer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "io/request.h"

/* A reply ends with a line "213 ..."; "213-..." and continuation lines precede
 * it (RFC 959 section 4.2). */
#define CODE_LEN 3
#define STATUS_REPLY 213 /* reply to SIZE and to MDTM */
#define OPEN_REPLY 125   /* the data connection is already open */
#define OPENS_REPLY 150
#define SENT_REPLY 226 /* transfer complete, connection closed */
#define DONE_REPLY 250 /* transfer complete, connection may stay open */
#define NOT_LOGGED_IN 530
#define BUSY 421
#define SYNTAX 500
#define PARAMETERS 501
#define NOT_IMPLEMENTED 502
#define NOT_FOR_PARAMETER 504
#define NO_SUCH_OFFSET 554 /* RFC 3659 section 5.4 */

#define TIME_LEN 14

static size_t trimmed(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r' ||
                       line[len - 1] == ' '))
        len--;
    return len;
}

/* Returns the number in "(300000 bytes)" of the reply to RETR; 0 if there is
 * none. */
static uint64_t announced_in(const char *line, size_t len)
{
    static const char unit[] = " bytes)";
    uint64_t n;

    for (size_t i = 0; i < len; i++) {
        size_t end = i + 1;

        if (line[i] != '(')
            continue;
        while (end < len && isdigit((unsigned char)line[end]))
            end++;
        if (len - end >= sizeof unit - 1 &&
            memcmp(line + end, unit, sizeof unit - 1) == 0 &&
            xd_parse_u64(line + i + 1, end - i - 1, &n))
            return n;
    }
    return 0;
}

/* Converts the reply to MDTM, "20260131235959" with an optional fraction (RFC
 * 3659 section 3.1), to an HTTP date for xd_http_modified(). */
static void read_time(struct xd_http_answer *a, const char *text, size_t len)
{
    for (size_t i = 0; i < TIME_LEN; i++)
        if (i >= len || !isdigit((unsigned char)text[i]))
            return;
    snprintf(a->modified, sizeof a->modified, "%.8s %.2s:%.2s:%.2s GMT", text,
             text + 8, text + 10, text + 12);
}

void xd_ftp_answer_line(struct xd_http_answer *a, const char *line, size_t len)
{
    uint64_t code;

    const bool has_space = len > CODE_LEN && line[CODE_LEN] == ' ';
    const bool has_dash = len > CODE_LEN && line[CODE_LEN] == '-';

    len = trimmed(line, len);
    if (len < CODE_LEN || !xd_parse_u64(line, CODE_LEN, &code) ||
        (len > CODE_LEN && !has_space && !has_dash))
        return;
    a->is_bare = !has_space && !has_dash && !a->is_continued;
    a->is_continued = has_dash || (a->is_continued && !has_space);
    if (has_dash)
        return;
    a->status = (unsigned)code;
    if (code == OPEN_REPLY || code == OPENS_REPLY)
        a->announced = announced_in(line, len);
    if (code != STATUS_REPLY)
        return;
    if (a->has_size_reply) {
        if (len > CODE_LEN)
            read_time(a, line + CODE_LEN + 1, len - CODE_LEN - 1);
        return;
    }
    a->has_size_reply = true;
    /* File sizes are limited to INT64_MAX. */
    a->has_length =
        len > CODE_LEN + 1 &&
        xd_parse_u64(line + CODE_LEN + 1, len - CODE_LEN - 1, &a->length) &&
        a->length <= INT64_MAX;
}

uint64_t xd_ftp_begin(const struct xd_request *r)
{
    return r->whole ? 0 : r->offset;
}

/* Returns an odd offset, which also reveals a server that rounds offsets down
 * to blocks. */
uint64_t xd_ftp_trial_begin(uint64_t size)
{
    return (size - 2) | 1;
}

uint64_t xd_ftp_trial_bytes(const struct xd_http_answer *a, uint64_t size)
{
    const uint64_t end = a->has_length && a->length > size ? a->length : size;

    return end - xd_ftp_trial_begin(size);
}

/* Returns false if the size is unknown or known to be wrong.  For a later
 * offset the announced size is ambiguous: some servers announce the rest, and
 * some the whole file. */
static bool has_size(const struct xd_http_answer *a, const struct xd_request *r,
                     const struct xd_ftp_object *known, size_t len)
{
    if (!a->has_length || known->has_wrong_size)
        return false;
    return xd_ftp_begin(r) > 0 ||
           (len <= a->length &&
            (a->announced == 0 || a->announced == a->length));
}

/* Returns true if the server cannot have started at r->offset. */
static bool ignores_offset(const struct xd_http_answer *a,
                           const struct xd_request *r, size_t len)
{
    const uint64_t begin = xd_ftp_begin(r);

    return begin > 0 && a->length >= begin && len > a->length - begin;
}

void xd_ftp_judge(const struct xd_http_answer *a, const struct xd_request *r,
                  const char *name, const struct xd_ftp_object *known,
                  size_t len, struct xd_http_judgement *out)
{
    uint64_t end = xd_request_end(r);
    bool is_all = !xd_http_asks_for_range(r) && r->offset == 0;
    bool has_length = has_size(a, r, known, len);

    *out = (struct xd_http_judgement){
        .outcome = {.verdict = XD_VERDICT_OK, .object_size = XD_SIZE_UNKNOWN}};
    if (has_length && ignores_offset(a, r, len)) {
        out->outcome.verdict = XD_VERDICT_NO_RANGES;
        out->outcome.object_size = a->length;
        xd_fail(&out->outcome.error, XD_E_NET,
                "%s: accepted to begin at byte %" PRIu64
                ", and sent more than the %" PRIu64
                " bytes from there to the end of its file",
                name, r->offset, a->length - r->offset);
    } else if (!has_length) {
        out->end = end;
        out->object_size = XD_SIZE_UNKNOWN;
    } else if (xd_request_refuses_size(r, a->length) ||
               (a->length <= r->offset && !is_all)) {
        xd_request_is_different(r, name, a->length, &out->outcome);
    } else {
        out->end = end < a->length ? end : a->length;
        out->object_size = a->length;
    }
}

void xd_ftp_judge_overlong(const struct xd_request *r, const char *name,
                           uint64_t size, struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_CHANGED;
    out->is_overlong = true;
    if (xd_ftp_begin(r) == 0)
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: sent more than the %" PRIu64 " bytes of its file", name,
                size);
    else
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: was asked to begin at byte %" PRIu64
                ", and sent more than the %" PRIu64
                " bytes from there to the end of its file",
                name, r->offset, size - r->offset);
}

bool xd_ftp_says_complete(const struct xd_http_answer *a)
{
    return a->status == SENT_REPLY || a->status == DONE_REPLY;
}

void xd_ftp_judge_short(const struct xd_http_answer *a, const char *name,
                        uint64_t at, struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_DIFFERENT;
    out->object_size = XD_SIZE_UNKNOWN;
    if (a->has_length)
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: states a size of %" PRIu64
                " bytes, but its file has none from byte %" PRIu64 " on",
                name, a->length, at);
    else
        xd_fail(&out->error, XD_E_DIFFERENT,
                "%s: has no bytes from byte %" PRIu64 " on", name, at);
}

bool xd_ftp_is_unknown_command(const struct xd_http_answer *a)
{
    return a->status == SYNTAX || a->status == PARAMETERS ||
           a->status == NOT_IMPLEMENTED || a->status == NOT_FOR_PARAMETER;
}

bool xd_ftp_refuses_offset(const struct xd_http_answer *a,
                           const struct xd_request *r)
{
    return a->status == NO_SUCH_OFFSET && xd_ftp_begin(r) > 0;
}

bool xd_ftp_is_size_reply(const struct xd_http_answer *a)
{
    return a->status == STATUS_REPLY;
}

bool xd_ftp_has_refused(const struct xd_http_answer *a)
{
    return a->status >= 400;
}

/* Fills in the outcome of a refusal.  Many servers refuse the login while there
 * are too many users, so another attempt may succeed later. */
void xd_ftp_judge_refusal(const struct xd_http_answer *a, const char *name,
                          struct xd_outcome *out)
{
    bool may_pass = a->status < 500 || a->status == NOT_LOGGED_IN;

    out->verdict = may_pass ? XD_VERDICT_AGAIN : XD_VERDICT_GONE;
    out->is_refusal = a->status == BUSY || a->status == NOT_LOGGED_IN;
    xd_fail(&out->error, XD_E_NET, "%s: answered %u", name, a->status);
    out->error.http_status = (int)a->status;
}

void xd_ftp_judge_no_ranges(const struct xd_http_answer *a, const char *name,
                            struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_NO_RANGES;
    if (a->has_length)
        out->object_size = a->length;
    xd_fail(&out->error, XD_E_NET,
            "%s: answered %u to a request to begin within the object", name,
            a->status);
    out->error.http_status = (int)a->status;
}

void xd_ftp_judge_trial(const struct xd_http_answer *a, const char *name,
                        uint64_t size, struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_NO_RANGES;
    if (a->has_length)
        out->object_size = a->length;
    if (size == XD_SIZE_UNKNOWN)
        xd_fail(&out->error, XD_E_NET,
                "%s: does not say how long its file is, so nothing shows "
                "where its ranges begin",
                name);
    else
        xd_fail(&out->error, XD_E_NET,
                "%s: accepted to begin at byte %" PRIu64
                ", and sent other bytes than the last of its %" PRIu64,
                name, xd_ftp_trial_begin(size), size);
}

void xd_ftp_judge_bare(const struct xd_http_answer *a, const char *name,
                       struct xd_outcome *out)
{
    out->verdict = XD_VERDICT_GONE;
    xd_fail(&out->error, XD_E_NET,
            "%s: answered %u without the space that FTP requires after it",
            name, a->status);
}
