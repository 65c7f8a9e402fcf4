/* SPDX-License-Identifier: MIT */
/*
 * Parses headers strictly.  A malformed field counts as absent, and a
 * response that needs this field is refused.
 */
#include "io/http/http_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/defence.h"
#include "base/error.h"
#include "base/number.h"
#include "base/span.h"
#include "io/request.h"

/* A Last-Modified this many seconds before Date is a strong validator: the file
 * will not have changed twice in that second, even if clocks differ. */
#define MIN_AGE 60

/* Copies a value if it fits.  A longer value is dropped, because a truncated
 * validator would be a different one. */
static void keep(char *out, size_t size, struct xd_span value)
{
    if (value.len >= size)
        return;
    memcpy(out, value.s, value.len);
    out[value.len] = '\0';
}

static void read_location(struct xd_http_answer *a, struct xd_span value)
{
    xd_text_clear(&a->location);
    if (value.len <= XD_URL_MAX)
        xd_text_add(&a->location, value.s, value.len);
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

/* Parses "0-99", or "*" in a 416 response. */
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

/* Parses the size after the slash; "*" or nothing if unknown. */
static bool split_total(struct xd_span t, struct xd_http_answer *out)
{
    out->total = XD_SIZE_UNKNOWN;
    if (t.len == 0 || xd_span_is_word(t, "*"))
        return !out->range_is_empty && out->last != UINT64_MAX;
    return xd_parse_u64(t.s, t.len, &out->total) &&
           (out->range_is_empty || out->last < out->total);
}

/* Parses "bytes 0-99/1234", "bytes 0-99/" "*" or "bytes *" "/1234".  Some
 * servers omit the unit, or the slash and size. */
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

/* Parses the Xd-Next field, "bytes=0-99".  A repeated field is ignored. */
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

/* Stores a content coding.  "identity" means that there is none.  The other
 * values in the list are not content codings (RFC 9110 section 16.6.1), but
 * servers send them; object stores, for example, repeat how an object was
 * uploaded. */
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

/* Returns true if one of the challenges is Digest, as in `Basic realm="a, b",
 * Digest realm="c"`.  Skips quoted strings. */
static bool offers_digest(struct xd_span challenges)
{
    static const char scheme[] = "Digest";
    bool is_quoted = false, begins = true;

    for (; challenges.len > 0; xd_span_skip(&challenges, 1)) {
        const char c = challenges.s[0];

        if (begins && xd_span_begins_with(challenges, scheme) &&
            (challenges.len == strlen(scheme) ||
             challenges.s[strlen(scheme)] == ' '))
            return true;
        if (is_quoted && c == '\\' && challenges.len > 1)
            xd_span_skip(&challenges, 1);
        else if (c == '"')
            is_quoted = !is_quoted;
        begins = !is_quoted && (c == ',' || (begins && c == ' '));
    }
    return false;
}

static void read_type(struct xd_http_answer *a, struct xd_span value)
{
    a->is_multipart |= xd_span_begins_with(value, "multipart/byteranges");
    keep(a->media_type, sizeof a->media_type, value);
}

static void read_field(struct xd_http_answer *a, struct xd_span name,
                       struct xd_span value)
{
    if (xd_span_is_word(name, "Content-Length"))
        read_length(a, value);
    else if (xd_span_is_word(name, "Content-Range"))
        read_range(a, value);
    else if (xd_span_is_word(name, "Content-Type"))
        read_type(a, value);
    else if (xd_span_is_word(name, "Content-Encoding"))
        read_encoding(a, value);
    else if (xd_span_is_word(name, "Transfer-Encoding"))
        a->is_chunked = true;
    else if (xd_span_is_word(name, "WWW-Authenticate"))
        a->wants_digest |= offers_digest(value);
    else if (xd_span_is_word(name, "Location"))
        read_location(a, value);
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

void xd_http_answer_reset(struct xd_http_answer *a)
{
    struct xd_text location = a->location;

    xd_text_clear(&location);
    *a = (struct xd_http_answer){.location = location};
}

void xd_http_answer_fini(struct xd_http_answer *a)
{
    xd_text_fini(&a->location);
}

/* Parses "HTTP/1.1 206 Partial Content" or "HTTP/2 206". */
static void read_status(struct xd_http_answer *a, struct xd_span line)
{
    const char *blank = memchr(line.s, ' ', line.len);
    uint64_t status;

    xd_http_answer_reset(a);
    a->total = XD_SIZE_UNKNOWN;
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

/* Writes "bytes 0-99", "all from byte 5" or "the whole object". */
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

/* Refuses a response with the message "NAME: answered STATUS WHAT to a request
 * for RANGE". */
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

/* Returns the object's size from the response, else from the request. */
static uint64_t size_of_object(const struct xd_http_answer *a,
                               const struct xd_request *r)
{
    return a->total != XD_SIZE_UNKNOWN ? a->total : r->object_size;
}

/* Returns true if the response has the requested range.  A server may send less
 * than requested (RFC 9110 section 15.3.7), but for an object of unknown size
 * that would look like its end. */
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

/* Returns true if Content-Length is 0 or one less than the length of the range:
 * the server has a bug in its counting, but sends whole objects correctly.  Any
 * other length means that the server ends the response too early. */
static bool counts_wrongly(const struct xd_http_answer *a)
{
    return a->has_length && !a->is_chunked &&
           (a->length == 0 || a->length == a->last - a->first);
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
    } else if (xd_request_refuses_size(r, a->total) && XD_DEFENDS("size")) {
        xd_request_is_different(r, name, a->total, &out->outcome);
    } else if (!range_is_as_asked(a, r)) {
        snprintf(what, sizeof what, "with bytes %" PRIu64 "-%" PRIu64, a->first,
                 a->last);
        refuse(out, XD_VERDICT_NO_RANGES, a, r, name, what);
        out->outcome.is_wrong_range = true;
        out->outcome.object_size = a->total;
    } else if (counts_wrongly(a)) {
        snprintf(what, sizeof what,
                 "with bytes %" PRIu64 "-%" PRIu64 " in %" PRIu64 " bytes",
                 a->first, a->last, a->length);
        refuse(out, XD_VERDICT_NO_RANGES, a, r, name, what);
        out->outcome.is_wrong_range = true;
        out->outcome.object_size = a->total;
    } else {
        allow(out, a->last + 1, a->total);
        out->outcome.is_cut = a->last + 1 < xd_request_end(r) &&
                              a->last + 1 < size_of_object(a, r);
    }
}

/* Judges a response with the whole object. */
static void judge_whole(const struct xd_http_answer *a,
                        const struct xd_request *r, const char *name,
                        struct xd_http_judgement *out)
{
    bool is_stated = a->has_length && !a->is_chunked;
    uint64_t stated = is_stated ? a->length : XD_SIZE_UNKNOWN;
    uint64_t size = is_stated ? stated : r->object_size;
    uint64_t end = r->takes_whole ? XD_TO_END : xd_request_end(r);
    /* The whole object may be exactly the requested range. */
    bool is_range = xd_http_asks_for_range(r) && !r->takes_whole &&
                    (r->offset > 0 || size == XD_SIZE_UNKNOWN || size > end);

    if (xd_request_refuses_size(r, stated) && XD_DEFENDS("size")) {
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

/* Returns whether the status may be due to the Range or If-Range header.  Some
 * servers and filters refuse those. */
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

/* Decides what a refusal means for further attempts.  501 and 505 are
 * permanent. */
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
    out->outcome.is_refusal =
        a->status == 429 || a->status == 503 || a->status == 509;
    xd_fail(&out->outcome.error, XD_E_NET, "%s: answered %u", name, a->status);
}

/* Returns true for the status codes of a complete or partial object.  203 is a
 * 200 modified by a proxy; hashes or comparisons detect harmful changes. */
static bool delivers_object(const struct xd_http_answer *a)
{
    return a->status == 200 || a->status == 203 || a->status == 206;
}

/* Returns the object's size according to the response, or XD_SIZE_UNKNOWN. */
static uint64_t stated_size(const struct xd_http_answer *a,
                            const struct xd_request *r)
{
    if (xd_http_is_part(a, r))
        return a->total;
    return a->has_length && !a->is_chunked ? a->length : XD_SIZE_UNKNOWN;
}

/* Returns whether the bytes are those of the file despite a Content-Encoding.
 * We ask for no encoding, but some servers derive the field from the file's
 * extension.  If the size is right, the bytes are the file. */
static bool encoding_does_not_matter(const struct xd_http_answer *a,
                                     const struct xd_request *r)
{
    const uint64_t stated = stated_size(a, r);

    return a->encoding[0] == '\0' || r->takes_encoded ||
           (stated != XD_SIZE_UNKNOWN && stated == r->object_size);
}

/* Compares media types without parameters. */
static bool types_differ(const char *a, const char *b)
{
    static const char ends[] = "; \t";
    const size_t len = strcspn(a, ends);

    return len != strcspn(b, ends) || strncasecmp(a, b, len) != 0;
}

/* Returns true if the request has a validator but the response has none, so
 * that it probably does not come from the file's server. */
static bool has_lost_validator(const struct xd_http_answer *a,
                               const struct xd_request *r)
{
    return r->if_range != NULL && a->etag[0] == '\0' && a->modified[0] == '\0';
}

/*
 * Returns true if a server that has sent the file before now sends a page, for
 * example from a captive portal, or one saying that the server is busy.  That
 * is temporary.  A new version of the file would usually have the same media
 * type.
 */
static bool is_page(const struct xd_http_answer *a, const struct xd_request *r)
{
    const bool is_part = xd_http_is_part(a, r);
    const uint64_t stated = stated_size(a, r);

    if (r->media_type == NULL)
        return false;
    if (stated == XD_SIZE_UNKNOWN ? is_part : stated == r->object_size)
        return false;
    return types_differ(a->media_type, r->media_type) ||
           (!is_part && has_lost_validator(a, r));
}

static void judge_page(const struct xd_http_answer *a, const char *name,
                       struct xd_http_judgement *out)
{
    out->outcome.verdict = XD_VERDICT_AGAIN;
    out->outcome.is_refusal = true;
    xd_fail(&out->outcome.error, XD_E_NET,
            "%s: answered %u with a page (%s) in place of the file", name,
            a->status, a->media_type[0] != '\0' ? a->media_type : "of no type");
}

/* Returns true if the object has changed: a range request with If-Range got the
 * whole object, and the validator is not the same. */
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

static void judge_changed(const struct xd_http_answer *a,
                          const struct xd_request *r, const char *name,
                          struct xd_http_judgement *out)
{
    out->outcome.verdict = XD_VERDICT_CHANGED;
    out->outcome.object_size = stated_size(a, r);
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
    } else if (a->status != 416 && is_page(a, r)) {
        judge_page(a, name, out);
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
        judge_changed(a, r, name, out);
    } else if (xd_http_is_part(a, r)) {
        judge_range(a, r, name, out);
    } else {
        judge_whole(a, r, name, out);
    }
    if (out->outcome.verdict != XD_VERDICT_OK)
        out->outcome.error.http_status = (int)a->status;
    out->outcome.is_denied = a->status >= 400 && a->status != 429;
}

/* Compares only validators of the same kind.  An ETag starts with a quote, a
 * date does not. */
bool xd_validators_differ(const char *a, const char *b)
{
    return (a[0] == '"') == (b[0] == '"') && strcmp(a, b) != 0;
}
