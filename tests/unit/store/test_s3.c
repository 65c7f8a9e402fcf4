/* SPDX-License-Identifier: MIT */
#include "store/s3.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "s3_script.h"
#include "suite.h"
#include "url_of.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

#define MIB ((uint64_t)1 << 20)
#define OBJECT "/bkt/p/k"
#define MANAGE "s3://bkt/p/k"
#define READ_URL "http://127.0.0.1:9000" OBJECT
#define ERROR(code) \
    "<?xml version=\"1.0\"?><Error><Code>" code "</Code></Error>"

/* Requests with their answers, in the order in which they are made. */
#define LINE(request, status)               \
    {                                       \
        .asks = (request), .code = (status) \
    }
#define SAYS(request, status, text)                         \
    {                                                       \
        .asks = (request), .code = (status), .body = (text) \
    }
#define HEAD(status) LINE("HEAD " OBJECT, status)
#define HEAD_404 HEAD(404)
#define HEAD_200(size)                                                         \
    {                                                                          \
        .asks = "HEAD " OBJECT, .code = 200, .length = (size), .etag = "\"e\"" \
    }
#define WHY(status, text)                                        \
    {                                                            \
        .asks = "GET " OBJECT, .code = (status), .body = (text), \
        .fields = "bytes=0-0\n"                                  \
    }
#define SEND(status, text)                                       \
    {                                                            \
        .asks = "PUT " OBJECT, .code = (status), .body = (text), \
        .fields = "if-none-match: *\n"                           \
    }
#define CREATE(status, text) SAYS("POST " OBJECT "?uploads=", status, text)
#define CREATED CREATE(200, "<R><UploadId>u/1</UploadId></R>")
#define PART_OF(n) "PUT " OBJECT "?partNumber=" #n "&uploadId=u%2F1"
#define PART(n, status)                                             \
    {                                                               \
        .asks = PART_OF(n), .code = (status), .etag = "\"e" #n "\"" \
    }
#define COMPLETE(status, text) \
    SAYS("POST " OBJECT "?uploadId=u%2F1", status, text)
#define COMPLETED                                                      \
    COMPLETE(200, " \n\n<CompleteMultipartUploadResult><ETag>x</ETag>" \
                  "</CompleteMultipartUploadResult>")
#define ABORT(status) LINE("DELETE " OBJECT "?uploadId=u%2F1", status)

enum names { NO_NAMES, HAS_NAMES, HAS_UPLOAD };

/* A PUT, from its beginning to its end. */
static const struct put_row {
    const char *what;
    uint64_t size;
    struct s3_line lines[16];
    enum xd_task_state state;
    enum xd_task_failure failure;
    enum names names;
    const char *words; /* of the error; or NULL */
} puts_of[] = {
    {"a small one",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"an empty one",
     0,
     {HEAD_404, SEND(200, NULL), HEAD_200(0)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"one of just a part",
     8 * MIB,
     {HEAD_404, SEND(200, NULL), HEAD_200(8 * MIB)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"of two parts",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200), COMPLETED,
      HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"one that is there",
     5,
     {HEAD_200(5)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     HAS_NAMES,
     "there already"},
    {"one that came to be there",
     5,
     {HEAD_404, SEND(412, ERROR("PreconditionFailed"))},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     HAS_NAMES,
     "there already"},
    {"likewise, of parts",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(412, ERROR("PreconditionFailed")), ABORT(204)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     HAS_NAMES,
     "there already"},
    {"where nobody may list, and it is not there",
     5,
     {HEAD(403), WHY(403, ERROR("AccessDenied")), SEND(200, NULL), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"where nobody may look, and it is there",
     5,
     {HEAD(403), {.asks = "GET " OBJECT, .code = 206, .length = 5}},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     HAS_NAMES,
     "there already"},
    {"likewise, and it is empty",
     5,
     {HEAD(403), WHY(416, ERROR("InvalidRange"))},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     HAS_NAMES,
     "there already"},
    {"where nobody may write",
     5,
     {HEAD_404, SEND(403, ERROR("AccessDenied"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_NAMES,
     "s3:PutObject"},
    {"without a bucket",
     5,
     {HEAD(400), WHY(404, ERROR("NoSuchBucket"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     NO_NAMES,
     "no such bucket"},
    {"without a bucket, seen late",
     5,
     {HEAD_404, SEND(404, ERROR("NoSuchBucket"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "no such bucket"},
    {"where If-None-Match is not known",
     5,
     {HEAD_404,
      SEND(501, ERROR("NotImplemented")),
      {.asks = "PUT " OBJECT,
       .code = 200,
       .fields = "host;x-amz-content-sha256;x-amz-date"},
      HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"where nothing is",
     5,
     {HEAD_404, SEND(501, ERROR("NotImplemented")), LINE("PUT " OBJECT, 501)},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     HAS_NAMES,
     "does not know"},
    {"where If-None-Match is not known, of parts",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(501, ERROR("NotImplemented")), COMPLETED, HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"where If-None-Match is not known, by another status",
     5,
     {HEAD_404, SEND(400, ERROR("NotImplemented")), LINE("PUT " OBJECT, 200),
      HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"where If-None-Match is not known, without a code",
     5,
     {HEAD_404, SEND(501, NULL), LINE("PUT " OBJECT, 200), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"the depot is gone",
     5,
     {HEAD(-1)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     NO_NAMES,
     MANAGE ": broke off"},
    {"it breaks off while nothing is there",
     5,
     {HEAD(0)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     NO_NAMES,
     MANAGE ": broke off"},
    {"it breaks off, and is there",
     5,
     {HEAD_404, SEND(0, NULL), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"it breaks off, and is not there",
     5,
     {HEAD_404, SEND(0, NULL), HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_NAMES,
     "broke off"},
    {"a gateway is late, and it is there later",
     5,
     {HEAD_404,
      {.asks = "PUT " OBJECT, .code = 504, .worked = 60 * XD_SECOND},
      HEAD_404,
      HEAD_404,
      HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"it breaks off at once, and is not there",
     5,
     {HEAD_404,
      {.asks = "PUT " OBJECT, .worked = 1},
      HEAD_404,
      HEAD_404,
      HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_NAMES,
     "broke off"},
    {"it got less than was announced",
     5,
     {HEAD_404, SEND(400, ERROR("IncompleteBody")), HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_NAMES,
     "fewer bytes than were announced"},
    {"a 500, and it is there",
     5,
     {HEAD_404, SEND(500, ERROR("InternalError")), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"it is cut",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_200(4)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "4 of 5 bytes"},
    {"it has more",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_200(6)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "6 of 5 bytes"},
    {"it is seen late",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_404, HEAD_404, HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"it is lost",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_404, HEAD_404, HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "does not have it"},
    {"nobody knows how long it is",
     5,
     {HEAD_404, SEND(200, NULL), HEAD_200(XD_SIZE_UNKNOWN)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "does not say how long"},
    {"the check is busy",
     5,
     {HEAD_404, SEND(200, NULL), HEAD(503), HEAD(0), HEAD_200(5)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"the check is forbidden",
     5,
     {HEAD_404, SEND(200, NULL), HEAD(403), WHY(403, ERROR("AccessDenied"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_NAMES,
     "s3:GetObject"},
    {"no room",
     5,
     {HEAD_404, SEND(507, NULL)},
     XD_TASK_FAILED,
     XD_TASK_FULL,
     HAS_NAMES,
     "no room"},
    {"no upload",
     8 * MIB + 1,
     {HEAD_404, CREATE(200, "<html>hi</html>")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "names no upload"},
    {"an upload without a name",
     8 * MIB + 1,
     {HEAD_404, CREATE(200, "<R><UploadId></UploadId></R>")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "names no upload"},
    {"no right to upload",
     8 * MIB + 1,
     {HEAD_404, CREATE(403, ERROR("AccessDenied"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_NAMES,
     "denied"},
    {"no answer to that",
     8 * MIB + 1,
     {HEAD_404, CREATE(0, NULL)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_NAMES,
     "broke off"},
    {"parts that fail, and are sent again",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 503), PART(1, 0), PART(1, 200), PART(2, 500),
      PART(2, 200), COMPLETED, HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"a part that always fails",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 503), PART(1, 503), PART(1, 503), PART(1, 503),
      PART(1, 503)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_UPLOAD,
     "busy"},
    {"a part that may not be sent",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 403)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_UPLOAD,
     "denied"},
    {"credentials that expire meanwhile",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200),
      SAYS(PART_OF(2), 400, ERROR("ExpiredToken"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_UPLOAD,
     "have expired"},
    {"an upload that is aborted meanwhile",
     8 * MIB + 1,
     {HEAD_404, CREATED, SAYS(PART_OF(1), 404, ERROR("NoSuchUpload"))},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_UPLOAD,
     "aborted"},
    {"a part without an ETag",
     8 * MIB + 1,
     {HEAD_404, CREATED, LINE(PART_OF(1), 200)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_UPLOAD,
     "no ETag"},
    {"a part with a hostile one",
     8 * MIB + 1,
     {HEAD_404, CREATED, {.asks = PART_OF(1), .code = 200, .etag = "a\rb"}},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_UPLOAD,
     "no ETag"},
    {"a 200 with an error in it, and it is there",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(200, "\n \n" ERROR("InternalError")), HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"a 200 with an error in it, and it is not there",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(200, ERROR("InternalError")), HEAD_404, COMPLETED,
      HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"a 200 with a plain no in it",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(200, ERROR("AccessDenied"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     HAS_UPLOAD,
     "denied"},
    {"a 200 with parts that are too small",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(200, ERROR("EntityTooSmall"))},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     HAS_UPLOAD,
     "s3-part-size"},
    {"a 200 with nothing in it, and it is there",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200), COMPLETE(200, "   "),
      HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"it breaks off at the end, and is done already",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200), COMPLETE(0, NULL),
      HEAD_404, COMPLETE(404, ERROR("NoSuchUpload")), HEAD_200(8 * MIB + 1)},
     XD_TASK_DONE,
     .names = HAS_NAMES},
    {"the upload is gone at the end",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200),
      COMPLETE(404, ERROR("NoSuchUpload")), HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_NAMES,
     "aborted"},
    {"it never ends",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200), COMPLETE(500, NULL),
      HEAD_404, COMPLETE(500, NULL), HEAD_404, COMPLETE(500, NULL), HEAD_404,
      COMPLETE(500, NULL), HEAD_404, COMPLETE(500, NULL), HEAD_404},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     HAS_UPLOAD,
     "busy"},
    {"it is cut at the end",
     8 * MIB + 1,
     {HEAD_404, CREATED, PART(1, 200), PART(2, 200), COMPLETED, HEAD_200(7)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     HAS_NAMES,
     "7 of 8388609 bytes"},
};

static void check_names(const struct xd_object *o, enum names names)
{
    ck_assert_int_eq(o->manage != NULL, names != NO_NAMES);
    ck_assert_int_eq(o->read != NULL, names != NO_NAMES);
    ck_assert_int_eq(o->upload != NULL, names == HAS_UPLOAD);
    if (o->manage) {
        ck_assert_str_eq(o->manage, MANAGE);
        ck_assert_str_eq(o->read, READ_URL);
    }
    if (o->upload)
        ck_assert_str_eq(o->upload, "u/1");
}

START_TEST(an_object_is_put)
{
    const struct put_row *row = &puts_of[_i];
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put(s, row->size);
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW;
    struct xd_call call;

    s3_play(t, row->lines, &now);
    ck_assert(!xd_task_next(t, now + 100, &call));
    xd_task_result(t, &result);
    ck_assert_msg(result.state == row->state, "%s: %d %s", row->what,
                  result.state, result.error.msg);
    check_names(result.object, row->names);
    if (result.state == XD_TASK_FAILED) {
        ck_assert_msg(result.failure == row->failure, "%s: %d %s", row->what,
                      result.failure, result.error.msg);
        ck_assert_msg(strstr(result.error.msg, row->words) != NULL, "%s: %s",
                      row->what, result.error.msg);
        ck_assert_ptr_null(strstr(result.error.msg, "u/1"));
    } else {
        ck_assert_str_eq(result.object->validator, "\"e\"");
        ck_assert_uint_eq(result.object->size, row->size);
    }
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

/* What is done with an object that is there; each has a few lines. */
static const struct old_row {
    enum xd_task_kind kind;
    struct xd_range range;
    struct s3_line lines[4];
    enum xd_task_state state;
    enum xd_task_failure failure;
    const char *words;
} old_rows[] = {
    {XD_TASK_LOOK, {0, 0}, {HEAD_200(7)}, .state = XD_TASK_DONE},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD_404, WHY(404, ERROR("NoSuchKey"))},
     XD_TASK_FAILED,
     XD_TASK_ABSENT,
     "no such object"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403), WHY(404, ERROR("NoSuchKey"))},
     XD_TASK_FAILED,
     XD_TASK_ABSENT,
     "no such object"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403),
      {.asks = "GET " OBJECT, .code = 206, .length = 7, .etag = "\"e\""}},
     .state = XD_TASK_DONE},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403), WHY(403, ERROR("UserSuspended"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "wrong with the account"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403), WHY(403, ERROR("InvalidAccessKeyId"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "s3-access-key"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403), WHY(403, ERROR("SignatureDoesNotMatch"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "s3-secret-key"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(301),
      WHY(301, "<Error><Code>PermanentRedirect</Code><Endpoint>b.s3-eu-west-1."
               "amazonaws.com</Endpoint></Error>")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "b.s3-eu-west-1.amazonaws.com"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(400), WHY(400, "<Error><Code>AuthorizationHeaderMalformed</Code>"
                          "<Region>eu-west-1</Region></Error>")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "use s3-region eu-west-1"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(307),
      WHY(307, "<Error><Code>Temporary\nRedirect</Code><Region>a b</Region>"
               "<Endpoint>a/b</Endpoint></Error>")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "elsewhere (status 307)"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(503)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "busy"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(409), WHY(409, ERROR("Strange"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "it refuses that (Strange)"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(403), WHY(0, NULL)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke off"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD(0)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke off"},
    {XD_TASK_RENEW, {0, 0}, {HEAD_200(7)}, .state = XD_TASK_DONE},
    {XD_TASK_RENEW,
     {0, 0},
     {HEAD_404, WHY(404, ERROR("NoSuchKey"))},
     XD_TASK_FAILED,
     XD_TASK_ABSENT,
     "no such object"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD_404, WHY(404, NULL)},
     XD_TASK_FAILED,
     XD_TASK_ABSENT,
     "no such object"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD_404, WHY(404, ERROR("NoSuchBucket"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "no such bucket"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD_404, WHY(404, ERROR("InvalidAccessKeyId"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "s3-access-key"},
    {XD_TASK_LOOK,
     {0, 0},
     {HEAD_404, WHY(404, ERROR("Strange"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "refuses that (Strange)"},
    {XD_TASK_DELETE,
     {0, 0},
     {SAYS("DELETE " OBJECT, 404, ERROR("NoSuchKey"))},
     .state = XD_TASK_DONE},
    {XD_TASK_DELETE,
     {0, 0},
     {SAYS("DELETE " OBJECT, 404, ERROR("NoSuchBucket"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "no such bucket"},
    {XD_TASK_ABORT,
     {0, 0},
     {SAYS("DELETE " OBJECT "?uploadId=u%2F1", 404, ERROR("NoSuchUpload"))},
     .state = XD_TASK_DONE},
    {XD_TASK_DELETE,
     {0, 0},
     {LINE("DELETE " OBJECT, 204)},
     .state = XD_TASK_DONE},
    {XD_TASK_DELETE,
     {0, 0},
     {{.asks = "DELETE " OBJECT, .code = 204, .leaves_marker = true}},
     .state = XD_TASK_DONE,
     .words = "its bucket keeps versions"},
    {XD_TASK_DELETE,
     {0, 0},
     {LINE("DELETE " OBJECT, 404)},
     .state = XD_TASK_DONE},
    {XD_TASK_DELETE,
     {0, 0},
     {LINE("DELETE " OBJECT, 200)},
     .state = XD_TASK_DONE},
    {XD_TASK_DELETE,
     {0, 0},
     {SAYS("DELETE " OBJECT, 403, ERROR("AccessDenied"))},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "s3:DeleteObject"},
    {XD_TASK_DELETE,
     {0, 0},
     {LINE("DELETE " OBJECT, 0)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke off"},
    {XD_TASK_ABORT, {0, 0}, {ABORT(204)}, .state = XD_TASK_DONE},
    {XD_TASK_ABORT, {0, 0}, {ABORT(404)}, .state = XD_TASK_DONE},
    {XD_TASK_ABORT,
     {0, 0},
     {ABORT(500)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "busy"},
    {XD_TASK_READ,
     {2, 5},
     {{.asks = "GET " OBJECT,
       .code = 206,
       .body = "abc",
       .fields = "range: bytes=2-4\n",
       .range = {2, 5}}},
     .state = XD_TASK_DONE},
    {XD_TASK_READ,
     {0, 3},
     {SAYS("GET " OBJECT, 200, "abcdef")},
     .state = XD_TASK_DONE},
    {XD_TASK_READ,
     {2, 5},
     {SAYS("GET " OBJECT, 200, "abcdef")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "bytes 2-4 were asked for"},
    {XD_TASK_READ,
     {2, 5},
     {{.asks = "GET " OBJECT, .code = 206, .body = "abc", .range = {1, 4}}},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "bytes 2-4 were asked for"},
    {XD_TASK_READ,
     {2, 5},
     {{.asks = "GET " OBJECT, .code = 206, .body = "abc", .range = {2, 6}}},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "bytes 2-4 were asked for"},
    {XD_TASK_READ,
     {2, 5},
     {{.asks = "GET " OBJECT, .code = 206, .body = "ab", .range = {2, 5}}},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "bytes 2-4 were asked for"},
    {XD_TASK_READ,
     {2, 5},
     {SAYS("GET " OBJECT, 416, ERROR("InvalidRange"))},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "bytes 2-4 were asked for"},
    {XD_TASK_READ,
     {2, 5},
     {SAYS("GET " OBJECT, 404, ERROR("NoSuchKey"))},
     XD_TASK_FAILED,
     XD_TASK_ABSENT,
     "no such object"},
};

START_TEST(an_object_is_looked_at_read_and_removed)
{
    static char manage[] = MANAGE, upload[] = "u/1";
    const struct xd_object object = {.manage = manage, .upload = upload};
    const struct old_row *row = &old_rows[_i];
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_task(s, row->kind, &object, row->range);
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW;
    struct xd_call call;

    s3_play(t, row->lines, &now);
    ck_assert(!xd_task_next(t, now, &call));
    xd_task_result(t, &result);
    ck_assert_msg(result.state == row->state, "%s", result.error.msg);
    ck_assert_int_eq(result.error.code != XD_OK, row->words != NULL);
    if (row->words) {
        ck_assert_msg(strstr(result.error.msg, row->words) != NULL, "%s",
                      result.error.msg);
        ck_assert_int_eq(strncmp(result.error.msg, MANAGE ": ", 14), 0);
    }
    if (row->state == XD_TASK_FAILED) {
        ck_assert_int_eq(result.failure, row->failure);
    } else if (row->kind == XD_TASK_LOOK || row->kind == XD_TASK_RENEW) {
        ck_assert_uint_eq(result.object->size, 7);
        ck_assert_str_eq(result.object->validator, "\"e\"");
        ck_assert_int_eq(result.object->expires_at, 0);
    } else if (row->kind == XD_TASK_READ) {
        ck_assert_uint_eq(result.n_bytes, 3);
        ck_assert_mem_eq(result.bytes, "abc", 3);
    }
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

#define LIST(status, text) SAYS("GET /bkt?prefix=p%2Fk&uploads=", status, text)
#define UPLOAD(key, id) \
    "<Upload><Key>" key "</Key><UploadId>" id "</UploadId></Upload>"
#define LISTED(uploads)                                                     \
    LIST(200, "<?xml version='1.0'?><ListMultipartUploadsResult xmlns='x'>" \
              "<Prefix>p/k</Prefix>" uploads "</ListMultipartUploadsResult>")
#define NONE LISTED("")

/* Of an upload that was begun, and of which no id has come. */
static const struct list_row {
    uint64_t size; /* 0: not known */
    struct s3_line lines[20];
    enum xd_task_state state;
    enum xd_task_failure failure;
} list_rows[] = {
    {8 * MIB, {{.asks = NULL}}, .state = XD_TASK_DONE},
    {0, {NONE}, .state = XD_TASK_DONE},
    {8 * MIB + 1, {NONE}, .state = XD_TASK_DONE},
    {0,
     {LISTED(UPLOAD("p/k", "u/1")), ABORT(204), NONE},
     .state = XD_TASK_DONE},
    {0,
     {LISTED(UPLOAD("p/k", "u/1")), ABORT(404), LISTED(UPLOAD("p/k", "u/2")),
      LINE("DELETE " OBJECT "?uploadId=u%2F2", 204), NONE},
     .state = XD_TASK_DONE},
    {0,
     {LISTED(UPLOAD("p/k1", "u/3") UPLOAD("p/k", "u/1") UPLOAD("p/k/", "u/4")),
      ABORT(204), LISTED(UPLOAD("p/k1", "u/3"))},
     .state = XD_TASK_DONE},
    {0, {LISTED(UPLOAD("p/k", ""))}, .state = XD_TASK_DONE},
    {0,
     {LIST(200,
           "<ListBucketResult>" UPLOAD("p/k", "u/1") "</ListBucketResult>")},
     .state = XD_TASK_DONE},
    {0, {LIST(200, "it works")}, .state = XD_TASK_DONE},
    {0, {LIST(403, ERROR("AccessDenied"))}, .state = XD_TASK_DONE},
    {0, {LIST(501, ERROR("NotImplemented"))}, .state = XD_TASK_DONE},
    {0, {LIST(404, ERROR("NoSuchBucket"))}, .state = XD_TASK_DONE},
    {0,
     {LIST(503, ERROR("SlowDown"))},
     .state = XD_TASK_FAILED,
     XD_TASK_MAY_PASS},
    {0, {LIST(0, NULL)}, .state = XD_TASK_FAILED, XD_TASK_MAY_PASS},
    {0,
     {LISTED(UPLOAD("p/k", "u/1")),
      SAYS("DELETE " OBJECT "?uploadId=u%2F1", 403, ERROR("AccessDenied"))},
     .state = XD_TASK_FAILED,
     XD_TASK_REFUSED},
};

START_TEST(uploads_of_exactly_the_key_are_found_and_aborted)
{
    static char manage[] = MANAGE;
    const struct list_row *row = &list_rows[_i];
    const struct xd_object object = {.manage = manage, .size = row->size};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t =
        s3_task(s, XD_TASK_ABORT, &object, (struct xd_range){0, 0});
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW;
    struct xd_call call;

    s3_play(t, row->lines, &now);
    ck_assert(!xd_task_next(t, now, &call));
    xd_task_result(t, &result);
    ck_assert_int_eq(result.state, row->state);
    if (row->state == XD_TASK_FAILED)
        ck_assert_int_eq(result.failure, row->failure);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

/* A store that lists what was aborted is not asked without an end. */
START_TEST(listing_uploads_comes_to_an_end)
{
    static const struct s3_line again[] = {
        LISTED(UPLOAD("p/k", "u/1")), ABORT(204), {.asks = NULL}};
    static char manage[] = MANAGE;
    const struct xd_object object = {.manage = manage};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t =
        s3_task(s, XD_TASK_ABORT, &object, (struct xd_range){0, 0});
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW;

    for (int i = 0; i < 8; i++)
        s3_play(t, again, &now);
    xd_task_result(t, &result);
    ck_assert_int_eq(result.state, XD_TASK_DONE);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

static const struct order_row {
    struct xd_task_order order;
    const char *manage, *words;
} orders[] = {
    {{.kind = XD_TASK_PUT, .name = ""}, NULL, "is empty"},
    {{.kind = XD_TASK_PUT, .name = "../k"}, NULL, "'.' or '..'"},
    {{.kind = XD_TASK_PUT, .name = "k", .size = UINT64_MAX},
     NULL,
     "smaller extents"},
    {{.kind = XD_TASK_LOOK}, NULL, "no object is named"},
    {{.kind = XD_TASK_DELETE}, "s3://bkt/other", "not in s3://bkt/p/"},
    {{.kind = XD_TASK_DELETE}, "s3://other/p/k", "not in s3://bkt/p/"},
    {{.kind = XD_TASK_DELETE}, "https://bkt/p/k", "not of the form"},
    {{.kind = XD_TASK_READ}, MANAGE, "1 to 65536 bytes"},
    {{.kind = XD_TASK_READ, .range = {5, 65542}}, MANAGE, "1 to 65536 bytes"},
};

START_TEST(what_makes_no_sense_is_not_begun)
{
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task_order order = orders[_i].order;
    char *manage = orders[_i].manage ? xd_strdup(orders[_i].manage) : NULL;
    struct xd_object object = {.manage = manage};
    struct xd_task *t = NULL;
    struct xd_error error;

    order.object = &object;
    ck_assert_int_eq(xd_task_new(&t, s, &order, &error), XD_E_INVAL);
    ck_assert_msg(strstr(error.msg, orders[_i].words) != NULL, "%s", error.msg);
    ck_assert_ptr_null(t);
    xd_free(manage);
    xd_store_free(s);
}
END_TEST

/* All calls that can be made now. */
static unsigned calls_of(struct xd_task *t, struct xd_call *calls)
{
    unsigned n = 0;

    while (xd_task_next(t, SCRIPT_NOW, &calls[n]))
        n++;
    return n;
}

static const struct s3_line begun[] = {HEAD_404, CREATED, {.asks = NULL}};
static const struct s3_line ok_part = {.code = 200, .etag = "\"e<\""};
static const struct s3_line no_part = {.code = 403};

START_TEST(parts_go_out_beside_each_other)
{
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put(s, 5 * 8 * MIB - 7);
    struct xd_call calls[6], last;
    int64_t now = SCRIPT_NOW;

    s3_play(t, begun, &now);
    ck_assert_uint_eq(calls_of(t, calls), XD_S3_MOST_CALLS);
    for (unsigned i = 0; i < XD_S3_MOST_CALLS; i++) {
        ck_assert_uint_eq(calls[i].body.begin, i * 8 * MIB);
        ck_assert_uint_eq(calls[i].body.end, (i + 1) * 8 * MIB);
    }
    s3_answer(t, calls[2].id, &ok_part);
    ck_assert_uint_eq(calls_of(t, &last), 1);
    ck_assert_uint_eq(last.body.begin, 4 * 8 * MIB);
    ck_assert_uint_eq(last.body.end, 5 * 8 * MIB - 7);
    s3_answer(t, calls[1].id, &ok_part);
    s3_answer(t, last.id, &ok_part);
    s3_answer(t, calls[3].id, &ok_part);
    ck_assert_uint_eq(calls_of(t, &last), 0);
    s3_answer(t, calls[0].id, &ok_part);
    ck_assert_uint_eq(calls_of(t, &last), 1);
    ck_assert_ptr_nonnull(strstr(
        last.text, "<Part><PartNumber>5</PartNumber><ETag>&#34;e&#60;&#34;"
                   "</ETag></Part></CompleteMultipartUpload>"));
    ck_assert_uint_eq(last.text_len, strlen(last.text));
    ck_assert(xd_range_is_empty(last.body));
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

/* A part's ETag of 200 bytes is the longest that is sent back. */
START_TEST(an_etag_has_its_bounds)
{
    static const struct {
        int len;
        char c;
        bool is_good;
    } rows[] = {{200, 'e', true},   {201, 'e', false}, {1, '~', true},
                {1, '\x7f', false}, {1, '!', true},    {1, ' ', false}};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");

    for (size_t i = 0; i < N_OF(rows); i++) {
        struct xd_task *t = s3_put(s, 2 * 8 * MIB);
        char etag[202] = "";
        const struct s3_line line = {.code = 200, .etag = etag};
        struct xd_task_result result;
        struct xd_call calls[3];
        int64_t now = SCRIPT_NOW;

        memset(etag, rows[i].c, (size_t)rows[i].len);
        s3_play(t, begun, &now);
        ck_assert_uint_eq(calls_of(t, calls), 2);
        s3_answer(t, calls[0].id, &line);
        xd_task_result(t, &result);
        ck_assert_int_eq(result.state == XD_TASK_RUNS, rows[i].is_good);
        xd_task_free(t);
    }
    xd_store_free(s);
}
END_TEST

START_TEST(parts_in_flight_when_it_fails_say_nothing)
{
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put(s, 2 * 8 * MIB);
    struct xd_task_result result;
    struct xd_call calls[3];
    int64_t now = SCRIPT_NOW;

    s3_play(t, begun, &now);
    ck_assert_uint_eq(calls_of(t, calls), 2);
    s3_answer(t, calls[0].id, &no_part);
    s3_answer(t, calls[1].id, &ok_part);
    s3_answer(t, calls[1].id, &ok_part); /* of which it knows nothing */
    xd_task_result(t, &result);
    ck_assert_int_eq(result.state, XD_TASK_FAILED);
    ck_assert_int_eq(result.failure, XD_TASK_REFUSED);
    ck_assert_uint_eq(calls_of(t, calls), 0);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

/* An answer that no part can have: it is waited for the others, and no part's
 * answer is taken for that of what follows. */
START_TEST(an_upload_is_aborted_after_its_parts)
{
    static const struct s3_line exists = {.code = 412};
    static const struct s3_line aborted[] = {ABORT(204), {.asks = NULL}};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put(s, 2 * 8 * MIB);
    struct xd_task_result result;
    struct xd_call calls[3];
    int64_t now = SCRIPT_NOW;

    s3_play(t, begun, &now);
    ck_assert_uint_eq(calls_of(t, calls), 2);
    s3_answer(t, calls[0].id, &exists);
    ck_assert_uint_eq(calls_of(t, calls + 2), 0);
    s3_answer(t, calls[1].id, &ok_part);
    s3_play(t, aborted, &now);
    xd_task_result(t, &result);
    ck_assert_int_eq(result.failure, XD_TASK_EXISTS);
    check_names(result.object, HAS_NAMES);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

START_TEST(parts_grow_where_10000_would_not_do)
{
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    const uint64_t sizes[][2] = {{80000 * MIB, 8 * MIB},
                                 {80000 * MIB + 1, 9 * MIB},
                                 {(uint64_t)50000 << 30, (uint64_t)5 << 30}};

    for (size_t i = 0; i < N_OF(sizes); i++) {
        struct xd_task *t = s3_put(s, sizes[i][0]);
        int64_t now = SCRIPT_NOW;
        struct xd_call call;

        s3_play(t, begun, &now);
        ck_assert(xd_task_next(t, now, &call));
        ck_assert_uint_eq(call.body.end, sizes[i][1]);
        xd_task_free(t);
    }
    xd_store_free(s);
}
END_TEST

/* What a store asks for, and how long it is waited before a part is sent again. */
START_TEST(a_busy_store_gets_its_pause)
{
    static const struct {
        xd_usec asked;
        int64_t waits; /* 0: the task fails */
    } rows[] = {{0, 1}, {7 * XD_SECOND + 1, 8}, {61 * XD_SECOND, 0}};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");

    for (size_t i = 0; i < N_OF(rows); i++) {
        const struct s3_line busy = {.code = 503,
                                     .body = ERROR("SlowDown"),
                                     .retry_after = rows[i].asked};
        struct xd_task *t = s3_put(s, 2 * 8 * MIB);
        struct xd_task_result result;
        struct xd_call calls[3];
        int64_t now = SCRIPT_NOW;

        s3_play(t, begun, &now);
        ck_assert_uint_eq(calls_of(t, calls), 2);
        s3_answer(t, calls[0].id, &busy);
        ck_assert_uint_eq(calls_of(t, calls + 2), 0);
        xd_task_result(t, &result);
        if (rows[i].waits > 0) {
            ck_assert_int_eq(result.ready_at, SCRIPT_NOW + rows[i].waits);
            ck_assert(!xd_task_next(t, result.ready_at - 1, calls + 2));
            ck_assert(xd_task_next(t, result.ready_at, calls + 2));
            ck_assert_uint_eq(calls[2].body.begin, 0);
        } else {
            ck_assert_int_eq(result.failure, XD_TASK_MAY_PASS);
            ck_assert_uint_eq(result.retry_after, rows[i].asked);
        }
        xd_task_free(t);
    }
    xd_store_free(s);
}
END_TEST

START_TEST(a_busy_store_is_asked_as_long_as_patience_lasts)
{
    static const struct {
        xd_usec patience;
        int64_t least, most; /* seconds until the task fails */
    } ends[] = {
        {0, 32, 32}, {40 * XD_SECOND, 40, 40}, {120 * XD_SECOND, 120, 120}};
    const struct s3_line busy = {
        .code = 503, .body = ERROR("SlowDown"), .retry_after = 8 * XD_SECOND};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");

    for (size_t i = 0; i < N_OF(ends); i++) {
        struct xd_task *t = s3_put_patiently(s, 8 * MIB + 1, ends[i].patience);
        struct xd_task_result result;
        struct xd_call calls[2];
        int64_t now = SCRIPT_NOW;

        s3_play(t, begun, &now);
        ck_assert_uint_eq(calls_of(t, calls), 2);
        ck_assert_uint_eq(calls[0].patience, ends[i].patience);
        do {
            s3_answer(t, calls[0].id, &busy);
            (void)xd_task_next(t, now, calls);
            xd_task_result(t, &result);
            if (result.state == XD_TASK_RUNS)
                now = result.ready_at;
        } while (xd_task_next(t, now, calls));
        ck_assert_int_eq(result.failure, XD_TASK_MAY_PASS);
        ck_assert_int_ge(now - SCRIPT_NOW, ends[i].least);
        ck_assert_int_le(now - SCRIPT_NOW, ends[i].most);
        xd_task_free(t);
    }
    xd_store_free(s);
}
END_TEST

/* A store takes all parts, and answers CompleteMultipartUpload with status 200
 * and an error. */
START_TEST(failure_with_status_200_is_tried_again_ever_more_rarely)
{
    const struct s3_line part = {.code = 200, .etag = "\"e\""},
                         failed = {.code = 200, .body = ERROR("InternalError")},
                         absent = {.code = 404};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put_patiently(s, 8 * MIB + 1, 120 * XD_SECOND);
    struct xd_task_result result = {.state = XD_TASK_RUNS};
    struct xd_call call;
    int64_t now = SCRIPT_NOW;
    unsigned n = 0, in_first_minute = 0;

    s3_play(t, begun, &now);
    for (; result.state == XD_TASK_RUNS; xd_task_result(t, &result)) {
        if (!xd_task_next(t, now, &call)) {
            xd_task_result(t, &result);
            now = result.ready_at > now ? result.ready_at : now;
            continue;
        }
        n += strcmp(call.method, "POST") == 0;
        in_first_minute = now < SCRIPT_NOW + 60 ? n : in_first_minute;
        s3_answer(t, call.id,
                  strcmp(call.method, "PUT") == 0    ? &part
                  : strcmp(call.method, "POST") == 0 ? &failed
                                                     : &absent);
    }
    ck_assert_int_eq(result.failure, XD_TASK_MAY_PASS);
    ck_assert_int_ge(now - SCRIPT_NOW, 120);
    ck_assert_uint_le(in_first_minute, 10);
    ck_assert_uint_le(n, 20);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

START_TEST(a_clock_that_is_set_back_in_a_pause_does_not_stop_it)
{
    static const struct s3_line busy = {.code = 503};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t = s3_put(s, 8 * MIB + 1);
    struct xd_call calls[3];
    int64_t now = SCRIPT_NOW;

    s3_play(t, begun, &now);
    ck_assert_uint_eq(calls_of(t, calls), 2);
    s3_answer(t, calls[0].id, &busy);
    ck_assert(!xd_task_next(t, SCRIPT_NOW, calls + 2));
    ck_assert(xd_task_next(t, SCRIPT_NOW - 3600, calls + 2));
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

#define SKEWED ERROR("RequestTimeTooSkewed")

/* A clock that is wrong by `off`, and the store's, which says so. */
static const struct clock_row {
    int64_t off;
    struct s3_line lines[7];
    enum xd_task_state state;
    int64_t result_off;
    const char *words;
} clocks[] = {
    /* HEAD says nothing but its date, and is tried again with that. */
    {-7500,
     {{.asks = "HEAD " OBJECT, .code = 403, .date = SCRIPT_NOW},
      {.asks = "GET " OBJECT,
       .code = 403,
       .body = SKEWED,
       .date = SCRIPT_NOW,
       .fields = "x-amz-date: 20261124T155500Z"},
      {.asks = "HEAD " OBJECT,
       .code = 200,
       .length = 7,
       .fields = "x-amz-date: 20261124T180000Z"}},
     XD_TASK_DONE,
     7500,
     NULL},
    {901,
     {{.asks = "HEAD " OBJECT, .code = 403, .date = SCRIPT_NOW},
      {.asks = "GET " OBJECT,
       .code = 403,
       .body = ERROR("AccessDenied"),
       .date = SCRIPT_NOW},
      {.asks = "HEAD " OBJECT, .code = 200, .length = 7}},
     XD_TASK_DONE,
     -901,
     NULL},
    {900,
     {{.asks = "HEAD " OBJECT, .code = 403, .date = SCRIPT_NOW},
      {.asks = "GET " OBJECT,
       .code = 403,
       .body = ERROR("AccessDenied"),
       .date = SCRIPT_NOW}},
     XD_TASK_FAILED,
     0,
     "denied"},
    /* A date that is not the one that it checks: twice is enough. */
    {0,
     {HEAD(403),
      {.asks = "GET " OBJECT,
       .code = 403,
       .body = SKEWED,
       .date = SCRIPT_NOW + 100000},
      HEAD(403),
      {.asks = "GET " OBJECT, .code = 403, .body = SKEWED, .date = SCRIPT_NOW},
      HEAD(403),
      {.asks = "GET " OBJECT,
       .code = 403,
       .body = SKEWED,
       .date = SCRIPT_NOW + 100000}},
     XD_TASK_FAILED,
     0,
     "the clock of this machine is 27 h 47 min behind that of the store"},
    {0,
     {HEAD(403),
      {.asks = "GET " OBJECT, .code = 403, .body = SKEWED, .date = INT64_MAX}},
     XD_TASK_FAILED,
     0,
     "differ by more than 15 minutes"},
    {0,
     {HEAD(403), SAYS("GET " OBJECT, 403, SKEWED)},
     XD_TASK_FAILED,
     0,
     "differ by more than 15 minutes"},
};

START_TEST(a_wrong_clock_is_corrected_and_known)
{
    static char manage[] = MANAGE;
    const struct xd_object object = {.manage = manage};
    const struct clock_row *row = &clocks[_i];
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task *t =
        s3_task(s, XD_TASK_LOOK, &object, (struct xd_range){0, 0});
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW + row->off;

    s3_play(t, row->lines, &now);
    xd_task_result(t, &result);
    ck_assert_int_eq(result.state, row->state);
    ck_assert_int_eq(result.clock_off_s, row->result_off);
    if (row->words)
        ck_assert_msg(strstr(result.error.msg, row->words) != NULL, "%s",
                      result.error.msg);
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

static int no_hash(void *user, struct xd_range range, char out_hex[65],
                   struct xd_error *err)
{
    (void)user;
    (void)range;
    (void)out_hex;
    return xd_fail(err, XD_E_IO, "/x: cannot be read");
}

START_TEST(a_file_that_cannot_be_read_fails_it)
{
    static const struct s3_line looked[] = {HEAD_404, {.asks = NULL}};
    struct xd_store *s = s3_of("s3://bkt/p", "http://127.0.0.1:9000");
    struct xd_task_order order = {
        .kind = XD_TASK_PUT, .name = "k", .size = 5, .hash = no_hash};
    struct xd_task_result result;
    int64_t now = SCRIPT_NOW;
    struct xd_task *t;
    struct xd_call call;

    ck_assert_int_eq(xd_task_new(&t, s, &order, NULL), 0);
    s3_play(t, looked, &now);
    ck_assert(!xd_task_next(t, now, &call));
    xd_task_result(t, &result);
    ck_assert_int_eq(result.state, XD_TASK_FAILED);
    ck_assert_int_eq(result.error.code, XD_E_IO);
    ck_assert_str_eq(result.error.msg, "/x: cannot be read");
    xd_task_free(t);
    xd_store_free(s);
}
END_TEST

static const struct config_row {
    const char *access_key, *secret_key, *token;
    uint64_t part_bytes;
    const char *words; /* NULL: it is fine */
} configs[] = {
    {"a", "b", "c", 5 * MIB, NULL},
    {"a", "b", NULL, 5120 * MIB, NULL},
    {NULL, "b", NULL, 0, "no credentials"},
    {"a", NULL, NULL, 0, "no credentials"},
    {"a b", "b", NULL, 0, "s3-access-key"},
    {"", "b", NULL, 0, "s3-access-key"},
    {"a", "PRIVATE\n", NULL, 0, "s3-secret-key"},
    {"a", "b", "PRIVATE\303\274", 0, "s3-session-token"},
    {"a", "b", NULL, 5 * MIB - 1, "s3-part-size"},
    {"a", "b", NULL, 5120 * MIB + 1, "s3-part-size"},
};

START_TEST(credentials_and_parts_are_checked)
{
    const struct config_row *row = &configs[_i];
    const struct xd_store_config config = {.target = url_of("s3://bkt"),
                                           .s3_access_key = row->access_key,
                                           .s3_secret_key = row->secret_key,
                                           .s3_session_token = row->token,
                                           .s3_part_bytes = row->part_bytes};
    struct xd_store *s = NULL;
    struct xd_error error = {.code = XD_OK};

    ck_assert_int_eq(xd_store_new(&s, &config, &error),
                     row->words ? XD_E_INVAL : 0);
    ck_assert_int_eq(s != NULL, row->words == NULL);
    if (row->words)
        ck_assert_msg(strstr(error.msg, row->words) != NULL, "%s", error.msg);
    ck_assert_ptr_null(strstr(error.msg, "PRIVATE"));
    xd_store_free(s);
}
END_TEST

START_TEST(private_objects_have_urls_for_a_while)
{
    struct xd_store_config config = {.target = url_of("s3://bkt/p"),
                                     .s3_endpoint = "http://127.0.0.1:9000",
                                     .s3_access_key = "A",
                                     .s3_secret_key = "B"};
    struct xd_error error;
    char *out = NULL;
    struct xd_store *s;

    ck_assert_int_eq(xd_store_new(&s, &config, NULL), 0);
    ck_assert_int_eq(
        xd_store_presign(s, MANAGE, SCRIPT_NOW, 604800, &out, NULL), 0);
    ck_assert_int_eq(strncmp(out, READ_URL "?X-Amz-Algorithm=", 46), 0);
    ck_assert_ptr_nonnull(strstr(out, "&X-Amz-Expires=604800&"));
    xd_free(out);
    out = NULL;
    ck_assert_int_eq(
        xd_store_presign(s, MANAGE, SCRIPT_NOW, 604801, &out, &error),
        XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "at most 168 h"));
    ck_assert_int_eq(xd_store_presign(s, MANAGE, SCRIPT_NOW, 0, &out, NULL),
                     XD_E_INVAL);
    ck_assert_int_eq(
        xd_store_presign(s, "s3://bkt/other", SCRIPT_NOW, 9, &out, NULL),
        XD_E_INVAL);
    ck_assert_ptr_null(out);
    xd_store_free(s);

    config.s3_session_token = "TOKEN";
    ck_assert_int_eq(xd_store_new(&s, &config, NULL), 0);
    ck_assert_uint_eq(xd_store_most_presign(s), 43200);
    ck_assert_int_eq(
        xd_store_presign(s, MANAGE, SCRIPT_NOW, 43201, &out, &error),
        XD_E_INVAL);
    ck_assert_ptr_nonnull(strstr(error.msg, "12 h with temporary"));
    xd_store_free(s);
}
END_TEST

START_TEST(the_host_of_a_bucket_is_its_endpoint)
{
    static const struct {
        const char *endpoint;
        bool host_style;
        const char *host;
    } rows[] = {{NULL, false, "s3.us-east-1.amazonaws.com"},
                {"http://[::1]:9000/x", false, "[::1]"},
                {"https://S.Example:9000", false, "s.example"},
                {"https://s.example:9000", true, "s.example"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct xd_store_config config = {.target = url_of("s3://bkt/p"),
                                               .s3_endpoint = rows[i].endpoint,
                                               .s3_host_style =
                                                   rows[i].host_style,
                                               .s3_region = "us-east-1",
                                               .s3_access_key = "A",
                                               .s3_secret_key = "B"};
        struct xd_store *s;

        ck_assert_int_eq(xd_store_new(&s, &config, NULL), 0);
        ck_assert(xd_span_is(xd_store_host(s), rows[i].host));
        xd_store_free(s);
    }
}
END_TEST

START_TEST(every_bucket_of_an_endpoint_is_on_its_host)
{
    static const struct {
        const char *host;
        bool is_on;
    } rows[] = {{"s.example", true},       {"S.Example", true},
                {"bkt.s.example", true},   {"other.S.example", true},
                {"a.b.s.example", true},   {".s.example", false},
                {"others.example", false}, {"s.example.org", false},
                {"example", false},        {"", false}};
    const struct xd_store_config config = {.target = url_of("s3://bkt/p"),
                                           .s3_endpoint = "https://s.example:9",
                                           .s3_host_style = true,
                                           .s3_access_key = "A",
                                           .s3_secret_key = "B"};
    struct xd_store *s;

    ck_assert_int_eq(xd_store_new(&s, &config, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(xd_store_is_on(s, xd_span_of(rows[i].host)),
                         rows[i].is_on);
    xd_store_free(s);
}
END_TEST

START_TEST(only_its_own_objects_are_in_a_store)
{
    struct xd_store *s = s3_of("s3://bkt/p", NULL);

    ck_assert(xd_store_has(s, MANAGE));
    ck_assert(!xd_store_has(s, "s3://bkt/k"));
    ck_assert(!xd_store_has(s, "https://bkt.s3.us-east-1.amazonaws.com/p/k"));
    xd_store_free(s);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("s3");

    tcase_add_loop_test(tcase, an_object_is_put, 0, (int)N_OF(puts_of));
    tcase_add_loop_test(tcase, an_object_is_looked_at_read_and_removed, 0,
                        (int)N_OF(old_rows));
    tcase_add_loop_test(tcase, uploads_of_exactly_the_key_are_found_and_aborted,
                        0, (int)N_OF(list_rows));
    tcase_add_test(tcase, listing_uploads_comes_to_an_end);
    tcase_add_loop_test(tcase, what_makes_no_sense_is_not_begun, 0,
                        (int)N_OF(orders));
    tcase_add_test(tcase, parts_go_out_beside_each_other);
    tcase_add_test(tcase, an_etag_has_its_bounds);
    tcase_add_test(tcase, parts_in_flight_when_it_fails_say_nothing);
    tcase_add_test(tcase, an_upload_is_aborted_after_its_parts);
    tcase_add_test(tcase, parts_grow_where_10000_would_not_do);
    tcase_add_test(tcase, a_busy_store_gets_its_pause);
    tcase_add_test(tcase, a_busy_store_is_asked_as_long_as_patience_lasts);
    tcase_add_test(tcase,
                   failure_with_status_200_is_tried_again_ever_more_rarely);
    tcase_add_test(tcase, a_clock_that_is_set_back_in_a_pause_does_not_stop_it);
    tcase_add_loop_test(tcase, a_wrong_clock_is_corrected_and_known, 0,
                        (int)N_OF(clocks));
    tcase_add_test(tcase, a_file_that_cannot_be_read_fails_it);
    tcase_add_loop_test(tcase, credentials_and_parts_are_checked, 0,
                        (int)N_OF(configs));
    tcase_add_test(tcase, private_objects_have_urls_for_a_while);
    tcase_add_test(tcase, the_host_of_a_bucket_is_its_endpoint);
    tcase_add_test(tcase, every_bucket_of_an_endpoint_is_on_its_host);
    tcase_add_test(tcase, only_its_own_objects_are_in_a_store);
    return run_suite("store/s3", tcase);
}
