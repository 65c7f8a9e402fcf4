/* SPDX-License-Identifier: MIT */
/*
 * Reading header fields is strict: a field that is not in its standard form
 * counts as absent, and what needs it is then refused.
 */
#include "io/http/http_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "base/defence.h"
#include "base/error.h"
#include "base/number.h"
#include "base/span.h"
#include "io/request.h"

/* So much older than the answer, in seconds, a file will not have changed twice
 * in the second of its Last-Modified, whatever the clocks say. */
#define MIN_AGE 60

/* What does not fit is left out whole: half a validator is another one. */
static void keep(char *out, size_t size, struct xd_span value)
{
    if (value.len >= size)
        return;
    memcpy(out, value.s, value.len);
    out[value.len] = '\0';
}

static void read_length(struct xd_http_answer *a, struct xd_span value)
{
    uint64_t length;

    if (!xd_parse_u64(value.s, value.len, &length))
        return;
    if (a->has_length && a->length != length)
        a->contradicts = true;
    a->has_length = true;
    a->length = length;
}

/* "0-99", or "*" in the answer to a range that cannot be had. */
static bool split_range(struct xd_span t, struct xd_http_answer *out)
{
    const char *dash = memchr(t.s, '-', t.len);

    out->range_is_empty = xd_span_is_word(t, "*");
    if (out->range_is_empty)
        return true;
    if (dash == NULL || !xd_parse_u64(t.s, (size_t)(dash - t.s), &out->first) ||
        !xd_parse_u64(dash + 1, (size_t)(t.s + t.len - dash - 1), &out->last))
        return false;
    return out->first <= out->last;
}

/* The size behind the slash; "*" or nothing if it is not known. */
static bool split_total(struct xd_span t, struct xd_http_answer *out)
{
    out->total = XD_SIZE_UNKNOWN;
    if (t.len == 0 || xd_span_is_word(t, "*"))
        return !out->range_is_empty && out->last != UINT64_MAX;
    return xd_parse_u64(t.s, t.len, &out->total) &&
           (out->range_is_empty || out->last < out->total);
}

/* "bytes 0-99/1234", "bytes 0-99/" "*", "bytes *" "/1234"; some servers omit
 * the unit, or the size and its slash. */
static void read_range(struct xd_http_answer *a, struct xd_span value)
{
    struct xd_http_answer read = *a;
    struct xd_span range = value, total = {0};
    const char *slash;

    if (xd_span_begins_with(value, "bytes ") ||
        xd_span_begins_with(value, "bytes="))
        range = xd_span_trim(xd_span(value.s + 6, value.len - 6));
    slash = memchr(range.s, '/', range.len);
    if (slash != NULL) {
        total = xd_span_trim(
            xd_span(slash + 1, (size_t)(range.s + range.len - slash - 1)));
        range = xd_span_trim(xd_span(range.s, (size_t)(slash - range.s)));
    }
    if (!split_range(range, &read) || !split_total(total, &read))
        return;
    read.has_range = true;
    if (a->has_range && (read.first != a->first || read.last != a->last ||
                         read.total != a->total))
        read.contradicts = true;
    *a = read;
}

/* "bytes=0-99", and nothing else; a server that says it twice says nothing. */
static void read_next(struct xd_http_answer *a, struct xd_span value)
{
    static const char unit[] = "bytes=";
    const char *dash = memchr(value.s, '-', value.len);
    const bool is_second = a->has_next;
    uint64_t first, last;

    a->next = (struct xd_range){0, 0};
    a->has_next = true;
    if (is_second || dash == NULL || !xd_span_begins_with(value, unit))
        return;
    xd_span_skip(&value, strlen(unit));
    if (xd_parse_u64(value.s, (size_t)(dash - value.s), &first) &&
        xd_parse_u64(dash + 1, (size_t)(value.s + value.len - dash - 1),
                     &last) &&
        first <= last && last != UINT64_MAX)
        a->next = (struct xd_range){first, last + 1};
}

/* "identity" takes nothing back; the others are no codings (RFC 9110, 16.6.1),
 * but servers send them: an object store, for example, says how an object was
 * sent to it. */
static void read_encoding(struct xd_http_answer *a, struct xd_span value)
{
    static const char *const plain[] = {
        "",     "identity", "none",       "binary",   "7bit",
        "8bit", "UTF-8",    "ISO-8859-1", "US-ASCII", "aws-chunked"};
    size_t len =
        value.len < sizeof a->encoding ? value.len : sizeof a->encoding - 1;

    if (xd_span_is_among(value, plain, sizeof plain / sizeof *plain))
        return;
    memcpy(a->encoding, value.s, len);
    a->encoding[len] = '\0';
}

static void read_field(struct xd_http_answer *a, struct xd_span name,
                       struct xd_span value)
{
    if (xd_span_is_word(name, "Content-Length"))
        read_length(a, value);
    else if (xd_span_is_word(name, "Content-Range"))
        read_range(a, value);
    else if (xd_span_is_word(name, "Content-Type"))
        a->is_multipart |= xd_span_begins_with(value, "multipart/byteranges");
    else if (xd_span_is_word(name, "Content-Encoding"))
        read_encoding(a, value);
    else if (xd_span_is_word(name, "Transfer-Encoding"))
        a->is_chunked = true;
    else if (xd_span_is_word(name, "Location"))
        keep(a->location, sizeof a->location, value);
    else if (xd_span_is_word(name, "ETag") && !xd_span_begins_with(value, "W/"))
        keep(a->etag, sizeof a->etag, value);
    else if (xd_span_is_word(name, "Last-Modified"))
        keep(a->modified, sizeof a->modified, value);
    else if (xd_span_is_word(name, "Date"))
        keep(a->date, sizeof a->date, value);
    else if (xd_span_is_word(name, "X-Amz-Delete-Marker"))
        a->leaves_marker = xd_span_is_word(value, "true");
    else if (xd_span_is_word(name, "Xd-Next"))
        read_next(a, value);
    else if (xd_span_is_word(name, "Content-Disposition"))
        (void)xd_http_disposition(xd_span(value.s, value.len), a->file_name);
}

/* "HTTP/1.1 206 Partial Content", "HTTP/2 206" */
static void read_status(struct xd_http_answer *a, struct xd_span line)
{
    const char *blank = memchr(line.s, ' ', line.len);
    uint64_t status;

    *a = (struct xd_http_answer){.total = XD_SIZE_UNKNOWN};
    if (blank != NULL && line.s + line.len - blank >= 4 &&
        xd_parse_u64(blank + 1, 3, &status))
        a->status = (unsigned)status;
}

void xd_http_answer_line(struct xd_http_answer *a, const char *line, size_t len)
{
    struct xd_span t = xd_span_trim(xd_span(line, len));
    const char *colon;

    if (xd_span_begins_with(t, "HTTP/")) {
        read_status(a, t);
    } else if (t.len == 0) {
        a->complete = true;
    } else if (t.s == line && (colon = memchr(t.s, ':', t.len)) != NULL) {
        size_t name_len = (size_t)(colon - t.s);

        read_field(a, xd_span(t.s, name_len),
                   xd_span_trim(xd_span(colon + 1, t.len - name_len - 1)));
    }
}

static bool is_strong_date(const struct xd_http_answer *a)
{
    time_t modified = curl_getdate(a->modified, NULL);
    time_t date = curl_getdate(a->date, NULL);

    return modified != -1 && date != -1 && date - MIN_AGE >= modified;
}

const char *xd_http_validator(const struct xd_http_answer *a)
{
    if (a->etag[0] == '"')
        return a->etag;
    return is_strong_date(a) ? a->modified : NULL;
}

int64_t xd_http_modified(const struct xd_http_answer *a)
{
    const time_t modified =
        a->modified[0] != '\0' ? curl_getdate(a->modified, NULL) : -1;

    return modified > 0 ? (int64_t)modified : 0;
}

bool xd_http_asks_for_range(const struct xd_request *r)
{
    return !r->whole && (r->offset > 0 || r->length != XD_TO_END);
}

bool xd_http_is_part(const struct xd_http_answer *a, const struct xd_request *r)
{
    bool ends_early = a->last + 1 < a->total;

    if (a->status == 206)
        return true;
    if (!a->has_range || a->range_is_empty || !a->has_length || a->is_chunked ||
        a->length != a->last - a->first + 1)
        return false;
    if (a->total == XD_SIZE_UNKNOWN)
        ends_early = xd_http_asks_for_range(r);
    return a->first > 0 || ends_early;
}

/* "bytes 0-99", "bytes 5- " or "the whole object", as asked for. */
static const char *format_request(const struct xd_request *r, char *out,
                                  size_t size)
{
    uint64_t end = xd_request_end(r);

    if (!xd_http_asks_for_range(r))
        snprintf(out, size, "the whole object");
    else if (end == XD_TO_END)
        snprintf(out, size, "all from byte %" PRIu64, r->offset);
    else
        snprintf(out, size, "bytes %" PRIu64 "-%" PRIu64, r->offset, end - 1);
    return out;
}

/* The sentence is "NAME: answered STATUS WHAT to a request for RANGE". */
static void refuse(struct xd_http_judgement *out, enum xd_verdict verdict,
                   const struct xd_http_answer *a, const struct xd_request *r,
                   const char *name, const char *what)
{
    char asked[80];

    out->outcome.verdict = verdict;
    xd_fail(&out->outcome.error, XD_E_NET,
            "%s: answered %u %s to a request for %s", name, a->status, what,
            format_request(r, asked, sizeof asked));
}

static void allow(struct xd_http_judgement *out, uint64_t end,
                  uint64_t object_size)
{
    out->end = end;
    out->object_size = object_size;
}

/* The size of the object, as the answer or else the request says it. */
static uint64_t size_of_object(const struct xd_http_answer *a,
                               const struct xd_request *r)
{
    return a->total != XD_SIZE_UNKNOWN ? a->total : r->object_size;
}

/* A server may send less than was asked for (RFC 9110, 15.3.7), but a
 * request for all of an object of unknown size could not tell that from its
 * end. */
static bool range_is_as_asked(const struct xd_http_answer *a,
                              const struct xd_request *r)
{
    uint64_t end = a->last + 1, asked_end = xd_request_end(r);

    if (!XD_DEFENDS("content-range"))
        return true;
    return a->first == r->offset && end <= asked_end &&
           end <= size_of_object(a, r) &&
           (asked_end != XD_TO_END || size_of_object(a, r) != XD_SIZE_UNKNOWN);
}

static void judge_range(const struct xd_http_answer *a,
                        const struct xd_request *r, const char *name,
                        struct xd_http_judgement *out)
{
    char what[100];

    if (!xd_http_asks_for_range(r)) {
        refuse(out, XD_VERDICT_GONE, a, r, name, "with a range");
    } else if (a->is_multipart) {
        refuse(out, XD_VERDICT_REFUSED_RANGE, a, r, name,
               "with several ranges");
    } else if (!a->has_range || a->range_is_empty) {
        refuse(out, XD_VERDICT_REFUSED_RANGE, a, r, name,
               "without saying with which bytes");
    } else if (r->object_size != XD_SIZE_UNKNOWN &&
               size_of_object(a, r) != r->object_size && XD_DEFENDS("size")) {
        xd_request_is_different(r, name, a->total, &out->outcome);
    } else if (!range_is_as_asked(a, r)) {
        snprintf(what, sizeof what, "with bytes %" PRIu64 "-%" PRIu64, a->first,
                 a->last);
        refuse(out, XD_VERDICT_NO_RANGES, a, r, name, what);
        out->outcome.is_wrong_range = true;
        out->outcome.object_size = a->total;
    } else {
        allow(out, a->last + 1, a->total);
        out->outcome.is_cut = a->last + 1 < xd_request_end(r) &&
                              a->last + 1 < size_of_object(a, r);
    }
}

/* The body is the object. */
static void judge_whole(const struct xd_http_answer *a,
                        const struct xd_request *r, const char *name,
                        struct xd_http_judgement *out)
{
    bool is_stated = a->has_length && !a->is_chunked;
    uint64_t stated = is_stated ? a->length : XD_SIZE_UNKNOWN;
    uint64_t size = is_stated ? stated : r->object_size;
    uint64_t end = r->takes_whole ? XD_TO_END : xd_request_end(r);
    /* All of it may be just what was asked for. */
    bool is_range = xd_http_asks_for_range(r) && !r->takes_whole &&
                    (r->offset > 0 || size == XD_SIZE_UNKNOWN || size > end);

    if (is_stated && r->object_size != XD_SIZE_UNKNOWN &&
        stated != r->object_size && XD_DEFENDS("size")) {
        xd_request_is_different(r, name, stated, &out->outcome);
    } else if (is_range && XD_DEFENDS("no-ranges")) {
        refuse(out, XD_VERDICT_NO_RANGES, a, r, name, "with the whole object");
        out->outcome.object_size = stated;
    } else if (is_stated && r->offset > 0 && stated <= r->offset) {
        xd_request_is_different(r, name, stated, &out->outcome);
    } else {
        allow(out, end < size ? end : size, stated);
    }
}

/* Some servers, and what stands before them, refuse every range, or a
 * condition that they do not know. */
static bool may_refuse_range(const struct xd_http_answer *a,
                             const struct xd_request *r)
{
    if (!xd_http_asks_for_range(r))
        return false;
    return a->status == 400 || a->status == 403 || a->status == 405 ||
           a->status == 406 || a->status == 416 || a->status == 417 ||
           a->status == 501 || (a->status == 412 && r->if_range != NULL);
}

static void judge_unsatisfied(const struct xd_http_answer *a,
                              const struct xd_request *r, const char *name,
                              struct xd_http_judgement *out)
{
    bool is_stated = a->has_range && a->range_is_empty;

    if (is_stated && a->total <= r->offset)
        xd_request_is_different(r, name, a->total, &out->outcome);
    else
        refuse(out,
               may_refuse_range(a, r) ? XD_VERDICT_REFUSED_RANGE
                                      : XD_VERDICT_GONE,
               a, r, name, "(no such range)");
}

/* Of what a server cannot do (501, 505) there is no second attempt. */
static enum xd_verdict verdict_of_refusal(const struct xd_http_answer *a,
                                          const struct xd_request *r)
{
    if (a->status == 412 && r->fields != NULL)
        return XD_VERDICT_DIFFERENT;
    if (may_refuse_range(a, r))
        return XD_VERDICT_REFUSED_RANGE;
    if (a->status == 408 || a->status == 425 || a->status == 429 ||
        (a->status >= 500 && a->status != 501 && a->status != 505))
        return XD_VERDICT_AGAIN;
    return XD_VERDICT_GONE;
}

static void judge_refusal(const struct xd_http_answer *a,
                          const struct xd_request *r, const char *name,
                          struct xd_http_judgement *out)
{
    out->outcome.verdict = verdict_of_refusal(a, r);
    out->outcome.is_refusal = a->status == 429 || a->status == 503;
    xd_fail(&out->outcome.error, XD_E_NET, "%s: answered %u", name, a->status);
}

/* 203 is the 200 of a proxy which may have changed something: hashes and
 * comparisons tell whether it has. */
static bool delivers_object(const struct xd_http_answer *a)
{
    return a->status == 200 || a->status == 203 || a->status == 206;
}

/* Whether the bytes are those of the file though they are said to be encoded:
 * no encoding was asked for, and some servers only say what a file's name ends
 * in.  An object of the right size is the file itself. */
static bool encoding_does_not_matter(const struct xd_http_answer *a,
                                     const struct xd_request *r)
{
    bool is_part = xd_http_is_part(a, r);
    uint64_t stated = is_part ? a->total : XD_SIZE_UNKNOWN;

    if (!is_part && a->has_length && !a->is_chunked)
        stated = a->length;
    return a->encoding[0] == '\0' || r->takes_encoded ||
           (stated != XD_SIZE_UNKNOWN && stated == r->object_size);
}

/* What is sent whole in place of a range says by that alone that it is another
 * object, unless it says that it is not. */
static bool has_changed(const struct xd_http_answer *a,
                        const struct xd_request *r)
{
    const char *now;

    if (r->if_range == NULL)
        return false;
    now = r->if_range[0] == '"' ? a->etag : a->modified;
    if (now[0] != '\0')
        return strcmp(now, r->if_range) != 0;
    return !xd_http_is_part(a, r) && xd_http_asks_for_range(r);
}

static void judge_changed(const char *name, struct xd_http_judgement *out)
{
    out->outcome.verdict = XD_VERDICT_CHANGED;
    xd_fail(&out->outcome.error, XD_E_DIFFERENT,
            "%s: its file has changed during the download", name);
}

void xd_http_judge(const struct xd_http_answer *a, const struct xd_request *r,
                   const char *name, struct xd_http_judgement *out)
{
    char what[100];

    *out = (struct xd_http_judgement){
        .outcome = {.verdict = XD_VERDICT_OK, .object_size = XD_SIZE_UNKNOWN}};
    if (!delivers_object(a) && a->status != 416) {
        judge_refusal(a, r, name, out);
    } else if (a->contradicts) {
        refuse(out, XD_VERDICT_GONE, a, r, name,
               "with two different lengths or ranges");
    } else if (a->status == 416) {
        judge_unsatisfied(a, r, name, out);
    } else if (!encoding_does_not_matter(a, r) &&
               XD_DEFENDS("content-encoding")) {
        snprintf(what, sizeof what, "in the encoding \"%s\"", a->encoding);
        refuse(out, XD_VERDICT_GONE, a, r, name, what);
    } else if (has_changed(a, r)) {
        judge_changed(name, out);
    } else if (xd_http_is_part(a, r)) {
        judge_range(a, r, name, out);
    } else {
        judge_whole(a, r, name, out);
    }
    if (out->outcome.verdict != XD_VERDICT_OK)
        out->outcome.error.http_status = (int)a->status;
}

/* An entity tag begins with a quote, and a date does not. */
bool xd_validators_differ(const char *a, const char *b)
{
    return (a[0] == '"') == (b[0] == '"') && strcmp(a, b) != 0;
}
