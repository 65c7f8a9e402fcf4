/* SPDX-License-Identifier: MIT */
#include "store/s3_fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/s3_xml.h"

/* The clocks may differ by 15 minutes ("RequestTimeTooSkewed"). */
#define MOST_CLOCK_OFF_S 900

/* The end of the year 9999, after which HTTP has no dates. */
#define LAST_DATE INT64_C(253402300799)

#define BUSY "it is busy, or has failed for now"
#define KEY_RIGHTS                                                       \
    "access denied: the access key has no right to that; put needs "     \
    "s3:PutObject and s3:GetObject, drop s3:DeleteObject, and what was " \
    "broken off s3:AbortMultipartUpload"
#define KEY_UNKNOWN                                                   \
    "it does not know the access key: check s3-access-key, and that " \
    "s3-endpoint is where the key is from"
#define ACCOUNT "something is wrong with the account: ask its provider"
/* the bucket is in another region: see explain_elsewhere() */
#define ELSEWHERE NULL

static const struct row {
    const char *code;
    enum xd_task_failure failure;
    const char *words;
} rows[] = {
    {"AccessDenied", XD_TASK_REFUSED, KEY_RIGHTS},
    {"AccountProblem", XD_TASK_REFUSED, ACCOUNT},
    {"AllAccessDisabled", XD_TASK_REFUSED,
     "the provider has disabled all access to it"},
    {"AuthorizationHeaderMalformed", XD_TASK_BAD, ELSEWHERE},
    {"BadDigest", XD_TASK_MAY_PASS,
     "the store received other bytes than were sent"},
    {"ConditionalRequestConflict", XD_TASK_MAY_PASS, BUSY},
    {"EntityTooLarge", XD_TASK_UNABLE,
     "the object is larger than it allows: use smaller extents"},
    {"EntityTooSmall", XD_TASK_UNABLE,
     "the parts are smaller than it allows: use a larger s3-part-size"},
    {"ExpiredToken", XD_TASK_REFUSED,
     "the temporary credentials have expired: get new ones"},
    {"IllegalLocationConstraintException", XD_TASK_BAD, ELSEWHERE},
    {"IncompleteBody", XD_TASK_MAY_PASS,
     "it got fewer bytes than were announced"},
    {"InternalError", XD_TASK_MAY_PASS, BUSY},
    {"InvalidAccessKeyId", XD_TASK_REFUSED, KEY_UNKNOWN},
    {"InvalidBucketName", XD_TASK_BAD, "it allows no bucket of this name"},
    {"InvalidObjectState", XD_TASK_UNABLE,
     "the object is archived: restore it first"},
    {"InvalidPart", XD_TASK_MAY_PASS, "it has lost a part of the object"},
    {"InvalidPartOrder", XD_TASK_MAY_PASS, "it has lost a part of the object"},
    {"InvalidToken", XD_TASK_REFUSED,
     "the session token is not valid: get new credentials"},
    {"KeyTooLongError", XD_TASK_BAD, "it allows no key as long as this"},
    {"MethodNotAllowed", XD_TASK_UNABLE,
     "it does not do that: is s3-endpoint one of S3?"},
    {"NoSuchBucket", XD_TASK_BAD,
     "there is no such bucket: check its name and s3-endpoint, or create it"},
    {"NoSuchKey", XD_TASK_ABSENT, "there is no such object"},
    {"NoSuchUpload", XD_TASK_MAY_PASS,
     "the upload was aborted by something else"},
    {"NotImplemented", XD_TASK_UNABLE, "it does not know what is asked"},
    {"OperationAborted", XD_TASK_MAY_PASS, BUSY},
    {"PermanentRedirect", XD_TASK_BAD, ELSEWHERE},
    {"PreconditionFailed", XD_TASK_EXISTS,
     "an object of this name is there already"},
    {"QuotaExceeded", XD_TASK_FULL, "the quota is used up"},
    {"Redirect", XD_TASK_BAD, ELSEWHERE},
    {"RequestLimitExceeded", XD_TASK_MAY_PASS, BUSY},
    {"RequestTimeTooSkewed", XD_TASK_REFUSED,
     "the clocks of this machine and of the store differ by more than 15 "
     "minutes: set this one"},
    {"RequestTimeout", XD_TASK_MAY_PASS, "it has waited too long for bytes"},
    {"ServiceUnavailable", XD_TASK_MAY_PASS, BUSY},
    {"SignatureDoesNotMatch", XD_TASK_REFUSED,
     "the signature is wrong: check s3-secret-key and s3-region"},
    {"SlowDown", XD_TASK_MAY_PASS, "it asks for fewer requests"},
    {"TemporaryRedirect", XD_TASK_BAD, ELSEWHERE},
    {"Throttling", XD_TASK_MAY_PASS, "it asks for fewer requests"},
    {"ThrottlingException", XD_TASK_MAY_PASS, "it asks for fewer requests"},
    {"TooManyRequests", XD_TASK_MAY_PASS, BUSY},
    {"UserSuspended", XD_TASK_REFUSED, ACCOUNT},          /* Ceph */
    {"XAdminUserNotFound", XD_TASK_REFUSED, KEY_UNKNOWN}, /* versitygw */
    {"XAmzContentSHA256Mismatch", XD_TASK_MAY_PASS,
     "the store received other bytes than were sent"},
    {"XMinioAdminBucketQuotaExceeded", XD_TASK_FULL, "the quota is used up"},
    {"XMinioStorageFull", XD_TASK_FULL, "it has no room left"},
};

/* Meanings of a status if there is no known code, as after a HEAD.  `most` is
 * included.  An object counts as absent only if the store says exactly that,
 * because an absent object is uploaded again. */
static const struct status_row {
    int64_t least, most;
    enum xd_task_failure failure;
    const char *words;
} status_rows[] = {
    {300, 399, XD_TASK_BAD, ELSEWHERE},
    {401, 401, XD_TASK_REFUSED, KEY_RIGHTS},
    {403, 403, XD_TASK_REFUSED, KEY_RIGHTS},
    {404, 404, XD_TASK_ABSENT, "there is no such object"},
    {405, 405, XD_TASK_UNABLE,
     "it does not do that: is s3-endpoint one of S3?"},
    {408, 408, XD_TASK_MAY_PASS, "it has waited too long for bytes"},
    {412, 412, XD_TASK_EXISTS, "an object of this name is there already"},
    {413, 413, XD_TASK_UNABLE,
     "the object is larger than it allows: use smaller extents"},
    {429, 429, XD_TASK_MAY_PASS, BUSY},
    {501, 501, XD_TASK_UNABLE, "it does not know what is asked"},
    {507, 507, XD_TASK_FULL, "it has no room left"},
    {500, 599, XD_TASK_MAY_PASS, BUSY},
};

static bool is_of_code(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9');
}

static bool is_of_host(char c)
{
    return is_of_code(c) || c == '-' || c == '.' || c == ':';
}

/* Copies the text of a child element if it consists of characters of this
 * class, otherwise "". */
static void read_word(struct xd_span body, const char *name,
                      bool (*is_of_class)(char), char *out, size_t size)
{
    if (!xd_s3_xml_child(body, name, out, size))
        return;
    for (const char *c = out; *c != '\0'; c++)
        if (!is_of_class(*c)) {
            out[0] = '\0';
            return;
        }
}

void xd_s3_fault_read(struct xd_s3_fault *out, const struct xd_answer *answer,
                      int64_t now)
{
    struct xd_span body = xd_span(answer->body, answer->body_len);
    const struct xd_reply *reply = answer->reply;

    *out = (struct xd_s3_fault){.status = reply->code,
                                .retry_after = reply->retry_after};
    if (reply->date > 0 && reply->date <= LAST_DATE && now > 0)
        out->clock_off_s = reply->date - now;
    if (!xd_span_is(xd_s3_xml_root(body), "Error"))
        return;
    read_word(body, "Code", is_of_code, out->code, sizeof out->code);
    read_word(body, "Region", is_of_host, out->region, sizeof out->region);
    read_word(body, "Endpoint", is_of_host, out->endpoint,
              sizeof out->endpoint);
}

bool xd_s3_fault_is_of_clock(const struct xd_s3_fault *f)
{
    bool is_off =
        f->clock_off_s > MOST_CLOCK_OFF_S || f->clock_off_s < -MOST_CLOCK_OFF_S;

    if (strcmp(f->code, "RequestTimeTooSkewed") == 0)
        return f->clock_off_s != 0;
    return is_off && f->status >= 400 && f->status <= 403;
}

/* Writes a duration such as "2 h 5 min" or "16 min". */
static void format_time(char *out, size_t size, uint64_t seconds)
{
    uint64_t minutes = (seconds + 30) / 60;

    if (minutes >= 48 * 60)
        snprintf(out, size, "%" PRIu64 " days", minutes / (24 * 60));
    else if (minutes >= 60)
        snprintf(out, size, "%" PRIu64 " h %" PRIu64 " min", minutes / 60,
                 minutes % 60);
    else
        snprintf(out, size, "%" PRIu64 " min", minutes);
}

static void explain_clock(const struct xd_s3_fault *f, const char *name,
                          struct xd_error *err)
{
    bool is_behind = f->clock_off_s > 0;
    uint64_t off = is_behind ? (uint64_t)f->clock_off_s
                             : (uint64_t)0 - (uint64_t)f->clock_off_s;
    char time[40];

    format_time(time, sizeof time, off);
    xd_fail(err, XD_E_NET,
            "%s: the clock of this machine is %s %s that of the store, which "
            "allows for 15 min: set it",
            name, time, is_behind ? "behind" : "ahead of");
}

static void explain_elsewhere(const struct xd_s3_fault *f, const char *name,
                              struct xd_error *err)
{
    if (f->region[0] != '\0')
        xd_fail(err, XD_E_NET,
                "%s: the bucket is in the region %s: use s3-region %s", name,
                f->region, f->region);
    else if (f->endpoint[0] != '\0')
        xd_fail(err, XD_E_NET,
                "%s: the bucket is at the endpoint %s: use its region as "
                "s3-region, or its host as s3-endpoint",
                name, f->endpoint);
    else
        xd_fail(err, XD_E_NET,
                "%s: the bucket is elsewhere (status %" PRId64
                "): check s3-region and s3-endpoint",
                name, f->status);
}

static const char *words_of(const struct xd_s3_fault *f,
                            enum xd_task_failure *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(f->code, rows[i].code) == 0) {
            *out = rows[i].failure;
            return rows[i].words;
        }
    for (size_t i = 0; i < sizeof status_rows / sizeof *status_rows; i++)
        if (f->status >= status_rows[i].least &&
            f->status <= status_rows[i].most &&
            (status_rows[i].failure != XD_TASK_ABSENT || f->code[0] == '\0')) {
            *out = status_rows[i].failure;
            return status_rows[i].words;
        }
    *out = XD_TASK_BAD;
    return "it refuses that";
}

enum xd_task_failure xd_s3_fault_explain(const struct xd_s3_fault *f,
                                         const char *name, struct xd_error *err)
{
    enum xd_task_failure failure;
    const char *words = words_of(f, &failure);

    if (xd_s3_fault_is_of_clock(f)) {
        explain_clock(f, name, err);
        failure = XD_TASK_REFUSED;
    } else if (words == ELSEWHERE) {
        explain_elsewhere(f, name, err);
    } else if (f->code[0] != '\0') {
        xd_fail(err, XD_E_NET, "%s: %s (%s)", name, words, f->code);
    } else {
        xd_fail(err, XD_E_NET, "%s: %s (status %" PRId64 ")", name, words,
                f->status);
    }
    if (err)
        err->http_status = (int)f->status;
    return failure;
}
