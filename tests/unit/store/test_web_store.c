/* SPDX-License-Identifier: MIT */
/* What a WebDAV store is asked, and what becomes of each answer. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/store.h"
#include "suite.h"
#include "url_of.h"

#define TARGET "https://h.example/a/"
#define OBJECT TARGET "d/x.0"
#define SIZE 1000
#define LARGE ((uint64_t)1 << 20)
#define NOTHING UINT64_MAX /* as a length: 0 */
#define MOST_TURNS 40

/* A call, "METHOD PATH", and what is answered. */
struct turn {
    const char *call;
    int64_t code;
    uint64_t length; /* 0: not said */
    const char *etag, *location;
    xd_usec retry_after;
    enum xd_verdict verdict;
    xd_usec worked;        /* PUT: all of it was sent so long before */
    bool is_unconditional; /* PUT: without If-None-Match */
};

#define GET_X "GET /a/d/x.0"
#define HEAD_X "HEAD /a/d/x.0"
#define PUT_X "PUT /a/d/x.0"
#define DELETE_X "DELETE /a/d/x.0"
#define SAYS(asked, status)                \
    {                                      \
        .call = (asked), .code = (status), \
    }
#define SAYS_MORE(asked, status, ...)                  \
    {                                                  \
        .call = (asked), .code = (status), __VA_ARGS__ \
    }
#define BREAKS(asked, how)                            \
    {                                                 \
        .call = (asked), .verdict = XD_VERDICT_##how, \
    }
#define HAS(size) SAYS_MORE(HEAD_X, 200, .length = (size))
#define HAS_NOT SAYS(HEAD_X, 404)
#define TAKES SAYS(PUT_X, 201)
#define TAKES_UNCONDITIONAL SAYS_MORE(PUT_X, 201, .is_unconditional = true)
#define LACKS_FOLDER SAYS(PUT_X, 409)
#define GET_HAS(size) SAYS_MORE(GET_X, 206, .length = (size))
#define GET_HAS_NOT SAYS(GET_X, 404)
#define WORKS(status, seconds) \
    SAYS_MORE(PUT_X, status, .worked = (seconds)*XD_SECOND)
#define BREAKS_AFTER(seconds)                       \
    {                                               \
        .call = PUT_X, .verdict = XD_VERDICT_AGAIN, \
        .worked = (seconds)*XD_SECOND,              \
    }
#define LACKS_IT HAS_NOT, GET_HAS_NOT

static const struct row {
    enum xd_task_kind kind;
    struct turn turns[MOST_TURNS]; /* call NULL: no more are made */
    enum xd_task_state state;
    enum xd_task_failure failure;
    const char *words; /* of the sentence */
} rows[] = {
    /* ---- PUT ---- */
    {XD_TASK_PUT, {HAS_NOT, TAKES, HAS(SIZE)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 410), SAYS(PUT_X, 204), HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, {HAS_NOT, SAYS(PUT_X, 200), HAS(SIZE)}, XD_TASK_DONE, 0, 0},
    /* one of that name */
    {XD_TASK_PUT, {HAS(SIZE)}, XD_TASK_FAILED, XD_TASK_EXISTS, "is there"},
    {XD_TASK_PUT, {HAS(7)}, XD_TASK_FAILED, XD_TASK_EXISTS, "is there"},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 204), SAYS(GET_X, 204)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     "is there"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 412), HAS(7)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     "is there"},
    /* it does not know If-None-Match */
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 412), HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 400), HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 422), HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 501), HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 400), HAS_NOT,
      SAYS_MORE(PUT_X, 400, .is_unconditional = true)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "PUT with 400"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 412), HAS_NOT,
      SAYS_MORE(PUT_X, 412, .is_unconditional = true)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "PUT with 412"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 412), BREAKS(HEAD_X, AGAIN)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
    /* it does not know HEAD */
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 405), GET_HAS_NOT, TAKES, SAYS(HEAD_X, 405), GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 501), GET_HAS_NOT, TAKES, SAYS(HEAD_X, 501), GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 403), GET_HAS_NOT, TAKES, SAYS(HEAD_X, 403), GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 400), GET_HAS_NOT, TAKES, SAYS(HEAD_X, 406), GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, /* it says a length of 0 of everything */
     {SAYS_MORE(HEAD_X, 200, .length = NOTHING), GET_HAS_NOT, TAKES,
      SAYS_MORE(HEAD_X, 200, .length = NOTHING), GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, /* it says none, and knows no ranges */
     {HAS_NOT, TAKES, SAYS(HEAD_X, 200), SAYS_MORE(GET_X, 200, .length = SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, /* it says 404 to every HEAD */
     {HAS_NOT, TAKES, HAS_NOT, GET_HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 405), GET_HAS(7)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     "is there"},
    {XD_TASK_PUT, /* the object is empty */
     {SAYS(HEAD_X, 405), SAYS(GET_X, 416)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     "is there"},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 405), SAYS(GET_X, 403)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "answered GET with 403"},
    /* folders */
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 201),
      TAKES, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 404), SAYS("MKCOL /a/", 201),
      SAYS("MKCOL /a/d/", 201), TAKES, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 500), SAYS("MKCOL /a/", 501),
      SAYS("MKCOL /a/d/", 501), TAKES, HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 405),
      LACKS_FOLDER},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "answered PUT with 409"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 404), SAYS("MKCOL /a/", 405),
      SAYS("MKCOL /a/d/", 201), SAYS(PUT_X, 404)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "x.0: answered PUT with 404: its folder is not there"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 500), SAYS("MKCOL /a/", 405),
      SAYS("MKCOL /a/d/", 405), SAYS(PUT_X, 500)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "answered PUT with 500: a fault"},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 409)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "https://h.example/a/: cannot be made: the folder above it is not there"},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 404)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "cannot be made"},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 403)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "https://h.example/a/d/: answered MKCOL with 403"},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 507)},
     XD_TASK_FAILED,
     XD_TASK_FULL,
     "no space"},
    {XD_TASK_PUT,
     {HAS_NOT, LACKS_FOLDER, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 201),
      SAYS(PUT_X, 412), HAS(SIZE)},
     XD_TASK_FAILED,
     XD_TASK_EXISTS,
     "is there"},
    /* it says no */
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 401)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "answered HEAD with 401: it wants a name and a password: use --user, and "
     "--auth-host"},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 407)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "proxy"},
    {XD_TASK_PUT, {SAYS(HEAD_X, 500)}, XD_TASK_FAILED, XD_TASK_MAY_PASS, "500"},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 405), SAYS(GET_X, 405)},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     "405"},
    {XD_TASK_PUT,
     {SAYS(HEAD_X, 400), SAYS(GET_X, 400)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "with 400"},
    {XD_TASK_PUT, {SAYS(HEAD_X, 520)}, XD_TASK_FAILED, XD_TASK_MAY_PASS, "520"},
    {XD_TASK_PUT, {SAYS(HEAD_X, 0)}, XD_TASK_FAILED, XD_TASK_BAD, "with 0"},
    {XD_TASK_PUT, {SAYS(HEAD_X, 999)}, XD_TASK_FAILED, XD_TASK_BAD, "with 999"},
    {XD_TASK_PUT,
     {SAYS_MORE(HEAD_X, 302, .location = "http://u:p@evil.example/y?key=1")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "answered HEAD with 302, which points to http://evil.example/y:"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS_MORE(PUT_X, 307, .location = "/y")},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "answered PUT with 307, which points to /y"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 301)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "points to nothing"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 403)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "answered PUT with 403"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 405)},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     "it does not take objects by PUT"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 501), HAS_NOT,
      SAYS_MORE(PUT_X, 501, .is_unconditional = true)},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     "by PUT"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 413)},
     XD_TASK_FAILED,
     XD_TASK_FULL,
     "413: it takes no objects of that size"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 507)},
     XD_TASK_FAILED,
     XD_TASK_FULL,
     "507: it has no space left"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS_MORE(PUT_X, 503, .retry_after = 7 * XD_SECOND)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "busy"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 429)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "429"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 502)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "502"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 504)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "504"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS(PUT_X, 423)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "locked"},
    /* no answer */
    {XD_TASK_PUT,
     {BREAKS(HEAD_X, AGAIN)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS(PUT_X, LOCAL)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS(PUT_X, GONE)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "broke"},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS(PUT_X, STOPPED)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "broke"},
    /* no answer, or that of a gateway, and the object is there */
    {XD_TASK_PUT, {HAS_NOT, BREAKS_AFTER(40), HAS(SIZE)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_PUT, {HAS_NOT, WORKS(504, 60), HAS(SIZE)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS_AFTER(10), LACKS_IT, LACKS_IT, BREAKS(HEAD_X, AGAIN),
      LACKS_IT, SAYS(HEAD_X, 503), HAS(7), HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, WORKS(502, 1), LACKS_IT, HAS(7), HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, /* it was not at work: it is sent again soon */
     {HAS_NOT, BREAKS_AFTER(1), LACKS_IT, LACKS_IT, LACKS_IT},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS_AFTER(120), HAS_NOT, GET_HAS_NOT, LACKS_IT, HAS(7)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
    {XD_TASK_PUT, /* looked for at 0, 1, 3, 7, 15, 30, 45, 60 and 75 s */
     {HAS_NOT, WORKS(504, 45), LACKS_IT, LACKS_IT, LACKS_IT, LACKS_IT, LACKS_IT,
      LACKS_IT, LACKS_IT, LACKS_IT, LACKS_IT},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "answered PUT with 504"},
    {XD_TASK_PUT, /* Accepted */
     {HAS_NOT, SAYS(PUT_X, 202), LACKS_IT, LACKS_IT, LACKS_IT, LACKS_IT,
      HAS(SIZE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT, /* a refusal is none of these */
     {HAS_NOT, WORKS(503, 40)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "503"},
    {XD_TASK_PUT, /* what is there is asked for credentials */
     {HAS_NOT, BREAKS_AFTER(10), SAYS(HEAD_X, 401)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "401"},
    /* what it has is not what was sent */
    {XD_TASK_PUT, {HAS_NOT, TAKES, LACKS_IT, HAS(SIZE)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, HAS(999), HAS(999), HAS(999)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "took 1000 bytes, and says that it has 999"},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, HAS(1001), HAS(1001), HAS(1001)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "has 1001"},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, SAYS(HEAD_X, 200), SAYS(GET_X, 206)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "does not say how many bytes"},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, LACKS_IT, LACKS_IT, LACKS_IT},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "took the object, and does not have it"},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, SAYS(HEAD_X, 503)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "HEAD with 503"},
    {XD_TASK_PUT,
     {HAS_NOT, TAKES, BREAKS(HEAD_X, AGAIN)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},

    /* ---- LOOK and RENEW ---- */
    {XD_TASK_LOOK,
     {SAYS_MORE(HEAD_X, 200, .length = 77, .etag = "\"e\"")},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_LOOK, {HAS_NOT}, XD_TASK_FAILED, XD_TASK_ABSENT, "no such object"},
    {XD_TASK_LOOK, {SAYS(HEAD_X, 410)}, XD_TASK_FAILED, XD_TASK_ABSENT, "410"},
    {XD_TASK_LOOK, {SAYS(HEAD_X, 405), GET_HAS(77)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_LOOK,
     {SAYS_MORE(HEAD_X, 200, .length = NOTHING), SAYS(GET_X, 416)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_LOOK,
     {SAYS(HEAD_X, 200), SAYS(GET_X, 200)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "does not say"},
    {XD_TASK_LOOK, {SAYS(HEAD_X, 401)}, XD_TASK_FAILED, XD_TASK_REFUSED, "401"},
    {XD_TASK_RENEW,
     {SAYS_MORE(HEAD_X, 200, .length = 77, .etag = "\"e\"")},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_RENEW, {HAS_NOT}, XD_TASK_FAILED, XD_TASK_ABSENT, "404"},

    /* ---- DELETE and ABORT ---- */
    {XD_TASK_DELETE, {SAYS(DELETE_X, 204)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_DELETE, {SAYS(DELETE_X, 200)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_DELETE, {SAYS(DELETE_X, 404)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_DELETE, {SAYS(DELETE_X, 410)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_DELETE, {SAYS(DELETE_X, 207)}, XD_TASK_FAILED, XD_TASK_BAD, "207"},
    {XD_TASK_DELETE,
     {SAYS(DELETE_X, 403)},
     XD_TASK_FAILED,
     XD_TASK_REFUSED,
     "403"},
    {XD_TASK_DELETE,
     {SAYS(DELETE_X, 405)},
     XD_TASK_FAILED,
     XD_TASK_UNABLE,
     "405"},
    {XD_TASK_DELETE, {SAYS(DELETE_X, 412)}, XD_TASK_FAILED, XD_TASK_BAD, "412"},
    {XD_TASK_DELETE,
     {SAYS(DELETE_X, 500)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "500"},
    {XD_TASK_ABORT, {SAYS(DELETE_X, 204)}, XD_TASK_DONE, 0, 0},
    {XD_TASK_ABORT, {SAYS(DELETE_X, 404)}, XD_TASK_DONE, 0, 0},
};

/* Of an object of so many bytes the folder comes before PUT. */
static const struct row large_rows[] = {
    {XD_TASK_PUT,
     {HAS_NOT, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 201), TAKES,
      HAS(LARGE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS("MKCOL /a/", 403), TAKES, HAS(LARGE)},
     XD_TASK_DONE,
     0,
     0},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS("MKCOL /a/", 405), SAYS("MKCOL /a/d/", 405),
      SAYS(PUT_X, 500)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "PUT with 500"},
    {XD_TASK_PUT,
     {HAS_NOT, SAYS("MKCOL /a/", 409), LACKS_FOLDER, SAYS("MKCOL /a/", 409)},
     XD_TASK_FAILED,
     XD_TASK_BAD,
     "cannot be made"},
    {XD_TASK_PUT,
     {HAS_NOT, BREAKS("MKCOL /a/", AGAIN)},
     XD_TASK_FAILED,
     XD_TASK_MAY_PASS,
     "broke"},
};

static struct xd_store *store;
static struct xd_task *task;
static struct xd_error err;
static uint64_t size = SIZE; /* of the object */
static int64_t now;

static int make_store(const char *target)
{
    const struct xd_store_config config = {.target = url_of(target)};

    xd_store_free(store);
    store = NULL;
    return xd_store_new(&store, &config, &err);
}

static void set_up(void)
{
    size = SIZE;
    now = 1000;
    ck_assert_int_eq(make_store(TARGET), 0);
}

static void tear_down(void)
{
    xd_task_free(task);
    task = NULL;
    xd_store_free(store);
    store = NULL;
}

static char object_url[] = OBJECT;
static const struct xd_object object = {
    .read = object_url, .manage = object_url, .size = SIZE};

static int start(enum xd_task_kind kind, struct xd_range range)
{
    const struct xd_task_order order = {.kind = kind,
                                        .patience = 120 * XD_SECOND,
                                        .name = "d/x.0",
                                        .size = size,
                                        .range = range,
                                        .object = &object};

    xd_task_free(task);
    task = NULL;
    return xd_task_new(&task, store, &order, &err);
}

static struct xd_task_result result(void)
{
    struct xd_task_result r;

    xd_task_result(task, &r);
    return r;
}

static void check_call(const struct turn *turn, const struct xd_call *call)
{
    const struct xd_span path = xd_url_path(call->url);
    char line[200];

    snprintf(line, sizeof line, "%s %.*s", call->method, (int)path.len, path.s);
    ck_assert_str_eq(line, turn->call);
    ck_assert(call->logs_in);
    ck_assert(!call->patience == (strcmp(call->method, "HEAD") == 0 ||
                                  strcmp(call->method, "GET") == 0));
    ck_assert_uint_eq(xd_range_length(call->body),
                      strcmp(call->method, "PUT") == 0 ? size : 0);
    ck_assert_ptr_null(call->text);
    if (strcmp(call->method, "PUT") == 0)
        ck_assert_str_eq(call->fields,
                         turn->is_unconditional
                             ? "Content-Type: application/octet-stream\n"
                             : "Content-Type: application/octet-stream\n"
                               "If-None-Match: *\n");
    else if (strcmp(call->method, "GET") != 0)
        ck_assert_ptr_null(call->fields);
    else if (turn->code != 0)
        ck_assert_str_eq(call->fields, "Range: bytes=0-0\n");
}

static void answer(const struct turn *turn, unsigned id, const char *body,
                   size_t len)
{
    struct xd_outcome outcome = {.verdict = turn->verdict,
                                 .worked = turn->worked};
    const struct xd_reply reply = {.code = turn->code,
                                   .length = turn->length == NOTHING ? 0
                                             : turn->length > 0
                                                 ? turn->length
                                                 : XD_SIZE_UNKNOWN,
                                   .etag = turn->etag,
                                   .location = turn->location,
                                   .retry_after = turn->retry_after};
    const struct xd_answer a = {
        .outcome = &outcome, .reply = &reply, .body = body, .body_len = len};

    if (turn->verdict != XD_VERDICT_OK)
        xd_fail(&outcome.error, XD_E_NET, "it broke");
    xd_task_answered(task, id, &a);
}

/* The last call's object is in the result from PUT on, or if it is there already. */
static void check_object(const struct row *row, const struct turn *last)
{
    const struct xd_task_result r = result();
    bool was_sent = false;

    for (const struct turn *t = row->turns; t < last; t++)
        was_sent |= strcmp(t->call, PUT_X) == 0;
    if (row->kind == XD_TASK_PUT && !was_sent &&
        row->failure != XD_TASK_EXISTS) {
        ck_assert_ptr_null(r.object->manage);
        ck_assert_ptr_null(r.object->read);
        return;
    }
    ck_assert_str_eq(r.object->manage, OBJECT);
    ck_assert_str_eq(r.object->read, OBJECT);
    ck_assert_int_eq(r.object->expires_at, 0);
    if (row->kind == XD_TASK_PUT)
        ck_assert_uint_eq(r.object->size, size);
}

/* The next call, which may be made only later. */
static bool next(struct xd_call *out)
{
    if (xd_task_next(task, now, out))
        return true;
    if (result().state != XD_TASK_RUNS || result().ready_at <= now)
        return false;
    ck_assert(!xd_task_next(task, result().ready_at - 1, out));
    now = result().ready_at;
    return xd_task_next(task, now, out);
}

static void play(const struct row *row)
{
    const struct turn *turn = row->turns;
    struct xd_call call;
    struct xd_task_result r;

    ck_assert_int_eq(start(row->kind, (struct xd_range){0, 10}), 0);
    while (next(&call)) {
        ck_assert_msg(turn->call != NULL, "%s is called", call.method);
        check_call(turn, &call);
        ck_assert(!xd_task_next(task, now, &call));
        answer(turn++, call.id, NULL, 0);
    }
    ck_assert_ptr_null(turn->call);
    r = result();
    ck_assert_int_eq(r.state, row->state);
    check_object(row, turn);
    ck_assert_uint_eq(r.retry_after, turn[-1].retry_after);
    if (row->state == XD_TASK_DONE)
        return;
    ck_assert_msg(r.failure == row->failure, "%d: %s", (int)r.failure,
                  r.error.msg);
    ck_assert_msg(strstr(r.error.msg, row->words) != NULL, "no \"%s\" in %s",
                  row->words, r.error.msg);
}

START_TEST(each_order_of_answers_has_its_end)
{
    play(&rows[_i]);
}
END_TEST

START_TEST(folder_of_a_large_object_is_made_before_it_is_sent)
{
    size = LARGE;
    play(&large_rows[_i]);
}
END_TEST

START_TEST(folder_of_a_smaller_one_is_not)
{
    size = LARGE - 1;
    play(&(struct row){
        XD_TASK_PUT, {HAS_NOT, TAKES, HAS(LARGE - 1)}, XD_TASK_DONE, 0, 0});
}
END_TEST

START_TEST(object_is_looked_for_as_long_as_the_server_may_work_on_it)
{
    static const struct {
        struct turn sent;
        int64_t seconds;
    } ends[] = {{BREAKS_AFTER(1), 3},   {BREAKS_AFTER(119), 3},
                {BREAKS_AFTER(200), 3}, {BREAKS_AFTER(20), 100},
                {WORKS(502, 1), 3},     {WORKS(504, 1), 119},
                {WORKS(524, 100), 20},  {SAYS(PUT_X, 202), 120},
                {SAYS(PUT_X, 201), 3}};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct xd_call call;
        int64_t began;

        ck_assert_int_eq(start(XD_TASK_PUT, (struct xd_range){0, 0}), 0);
        ck_assert(next(&call));
        answer(&(struct turn)HAS_NOT, call.id, NULL, 0);
        ck_assert(next(&call));
        answer(&ends[i].sent, call.id, NULL, 0);
        began = now;
        while (next(&call))
            answer(&(struct turn)HAS_NOT, call.id, NULL, 0);
        ck_assert_int_eq(result().state, XD_TASK_FAILED);
        ck_assert_int_eq(now - began, ends[i].seconds);
    }
}
END_TEST

START_TEST(server_without_conditions_is_sent_no_other)
{
    play(&(struct row){
        XD_TASK_PUT,
        {HAS_NOT, SAYS(PUT_X, 501), HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
        XD_TASK_DONE,
        0,
        0});
    play(&(struct row){XD_TASK_PUT,
                       {HAS_NOT, TAKES_UNCONDITIONAL, HAS(SIZE)},
                       XD_TASK_DONE,
                       0,
                       0});
}
END_TEST

START_TEST(size_and_validator_are_those_of_head)
{
    const struct row row = {
        XD_TASK_PUT,
        {HAS_NOT, TAKES,
         SAYS_MORE(HEAD_X, 200, .length = SIZE, .etag = "\"e1\"")},
        XD_TASK_DONE,
        0,
        0};

    play(&row);
    ck_assert_str_eq(result().object->validator, "\"e1\"");
    play(&(struct row){XD_TASK_LOOK, {HAS(77)}, XD_TASK_DONE, 0, 0});
    ck_assert_uint_eq(result().object->size, 77);
    ck_assert_ptr_null(result().object->validator);
}
END_TEST

/* ---- READ ---- */

static const struct read_row {
    struct xd_range asked;
    int64_t code;
    struct xd_range sent;
    size_t body_len;
    const char *words; /* NULL: it is right */
} read_rows[] = {
    {{100, 110}, 206, {100, 110}, 10, NULL},
    {{0, 10}, 200, {0, 0}, 10, NULL},
    {{100, 110}, 200, {0, 0}, 110, NULL},
    {{100, 110}, 206, {100, 110}, 9, "too few"},
    {{100, 110}, 206, {100, 109}, 10, "others"},
    {{100, 110}, 206, {100, 111}, 11, "others"},
    {{100, 110}, 206, {99, 109}, 10, "others"},
    {{100, 110}, 206, {99, 110}, 10, "others"},
    {{100, 110}, 206, {0, 0}, 10, "others"},
    {{100, 110}, 200, {0, 0}, 109, "too few"},
    {{2000000, 2000010}, 200, {0, 0}, 10, "others"},
    {{100, 110}, 204, {0, 0}, 0, "others"},
    {{100, 110}, 416, {0, 0}, 0, "416"},
    {{100, 110}, 302, {0, 0}, 0, "302"},
};

START_TEST(range_that_is_read_is_the_one_that_was_asked_for)
{
    const struct read_row *row = &read_rows[_i];
    const struct xd_outcome outcome = {.verdict = XD_VERDICT_OK};
    const struct xd_reply reply = {.code = row->code,
                                   .is_range = !xd_range_is_empty(row->sent),
                                   .range = row->sent,
                                   .length = XD_SIZE_UNKNOWN};
    const bool is_whole = row->code == 200;
    char body[200], field[80];
    struct xd_call call;

    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)(is_whole ? i : i + row->asked.begin);
    ck_assert_int_eq(start(XD_TASK_READ, row->asked), 0);
    ck_assert(xd_task_next(task, 1, &call));
    check_call(&(struct turn){.call = "GET /a/d/x.0"}, &call);
    snprintf(field, sizeof field, "Range: bytes=%u-%u\n",
             (unsigned)row->asked.begin, (unsigned)row->asked.end - 1);
    ck_assert_str_eq(call.fields, field);
    ck_assert_uint_ge(call.most_answer, xd_range_length(row->asked));
    xd_task_answered(
        task, call.id,
        &(struct xd_answer){&outcome, &reply, body, row->body_len});
    if (row->words) {
        ck_assert_int_eq(result().state, XD_TASK_FAILED);
        ck_assert_int_eq(result().failure, XD_TASK_BAD);
        ck_assert_ptr_nonnull(strstr(result().error.msg, row->words));
        return;
    }
    ck_assert_int_eq(result().state, XD_TASK_DONE);
    ck_assert_uint_eq(result().n_bytes, 10);
    for (size_t i = 0; i < 10; i++)
        ck_assert_int_eq(result().bytes[i], (char)(row->asked.begin + i));
}
END_TEST

START_TEST(what_is_empty_is_read_at_once)
{
    struct xd_call call;

    ck_assert_int_eq(start(XD_TASK_READ, (struct xd_range){5, 5}), 0);
    ck_assert_int_eq(result().state, XD_TASK_DONE);
    ck_assert(!xd_task_next(task, 1, &call));
}
END_TEST

/* ---- what cannot be asked ---- */

START_TEST(target_is_a_folder_without_secrets)
{
    static const struct {
        const char *target, *name;
    } good[] = {{"http://h/", "http://h/"},
                {"http://h", "http://h/"},
                {"http://h:81/a", "http://h:81/a/"},
                {"https://h/a/b/", "https://h/a/b/"}};
    static const struct {
        const char *target, *words;
    } bad[] = {{"https://u:secret@h/a/", "use --user or --netrc"},
               {"https://h/a/?x=secret", "no query"},
               {"https://h/a/#x", "no query"},
               {"https://h/../a/", "\"..\""},
               {"https://h/%2e%2e/a/", "\"..\""},
               {"ftp://h/a/", "no objects can be put there"},
               {"file:///a/", "no objects can be put there"},
               {"nonsense", "no objects can be put there"}};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(make_store(good[i].target), 0);
        ck_assert_str_eq(xd_store_name(store), good[i].name);
    }
    ck_assert_uint_eq(xd_store_most_calls(store), 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(make_store(bad[i].target), XD_E_INVAL);
        ck_assert_ptr_nonnull(strstr(err.msg, bad[i].words));
        ck_assert_ptr_null(strstr(err.msg, "secret"));
    }
}
END_TEST

START_TEST(object_of_another_store_is_not_touched)
{
    static char elsewhere[] = "https://h.example/b/x";
    static const enum xd_task_kind kinds[] = {XD_TASK_LOOK, XD_TASK_READ,
                                              XD_TASK_RENEW, XD_TASK_DELETE,
                                              XD_TASK_ABORT};
    const struct xd_object other = {.manage = elsewhere};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct xd_task_order order = {.kind = kinds[i], .object = &other};

        ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
    }
    ck_assert(!xd_store_has(store, elsewhere));
    ck_assert(!xd_store_has(store, NULL));
    ck_assert(xd_store_has(store, OBJECT));
    ck_assert(xd_span_is(xd_store_host(store), "h.example"));
    ck_assert(xd_store_is_on(store, xd_span_of("H.example")));
    ck_assert(!xd_store_is_on(store, xd_span_of("a.h.example")));
}
END_TEST

START_TEST(upload_that_has_no_name_yet_has_left_nothing)
{
    const struct xd_object none = {.size = SIZE};
    struct xd_task_order order = {.kind = XD_TASK_ABORT, .object = &none};
    struct xd_call call;

    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), 0);
    ck_assert_int_eq(result().state, XD_TASK_DONE);
    ck_assert(!xd_task_next(task, 1, &call));
    xd_task_free(task);
    task = NULL;
    order.kind = XD_TASK_DELETE;
    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
}
END_TEST

START_TEST(odd_orders_are_refused)
{
    char name[XD_URL_MAX + 1];
    struct xd_task_order order = {.kind = XD_TASK_PUT, .name = "../x"};

    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    order.name = name;
    ck_assert_int_eq(xd_task_new(&task, store, &order, &err), XD_E_INVAL);
    ck_assert_int_eq(start(XD_TASK_READ, (struct xd_range){0, 65537}),
                     XD_E_INVAL);
    ck_assert_int_eq(start(XD_TASK_READ, (struct xd_range){1, 0}), XD_E_INVAL);
    ck_assert_int_eq(start(XD_TASK_READ, (struct xd_range){0, 65536}), 0);
}
END_TEST

START_TEST(store_without_urls_for_a_while_says_so)
{
    char *url;

    ck_assert_int_eq(xd_store_presign(store, OBJECT, 1, 1, &url, &err),
                     XD_E_INVAL);
    ck_assert_uint_eq(xd_store_most_presign(store), 0);
}
END_TEST

START_TEST(failure_says_where_it_was)
{
    play(&(struct row){XD_TASK_LOOK,
                       {SAYS(HEAD_X, 403), SAYS(GET_X, 403)},
                       XD_TASK_FAILED,
                       XD_TASK_REFUSED,
                       OBJECT ": answered GET with 403"});
    ck_assert_str_eq(result().error.depot, "h.example");
    ck_assert_str_eq(result().error.url, OBJECT);
    ck_assert_int_eq(result().error.http_status, 403);
    ck_assert_int_eq(result().error.code, XD_E_NET);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("web_store");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, each_order_of_answers_has_its_end, 0,
                        (int)(sizeof rows / sizeof *rows));
    tcase_add_loop_test(tcase,
                        folder_of_a_large_object_is_made_before_it_is_sent, 0,
                        (int)(sizeof large_rows / sizeof *large_rows));
    tcase_add_test(tcase, folder_of_a_smaller_one_is_not);
    tcase_add_test(tcase,
                   object_is_looked_for_as_long_as_the_server_may_work_on_it);
    tcase_add_test(tcase, server_without_conditions_is_sent_no_other);
    tcase_add_test(tcase, size_and_validator_are_those_of_head);
    tcase_add_loop_test(tcase, range_that_is_read_is_the_one_that_was_asked_for,
                        0, (int)(sizeof read_rows / sizeof *read_rows));
    tcase_add_test(tcase, what_is_empty_is_read_at_once);
    tcase_add_test(tcase, target_is_a_folder_without_secrets);
    tcase_add_test(tcase, object_of_another_store_is_not_touched);
    tcase_add_test(tcase, upload_that_has_no_name_yet_has_left_nothing);
    tcase_add_test(tcase, odd_orders_are_refused);
    tcase_add_test(tcase, store_without_urls_for_a_while_says_so);
    tcase_add_test(tcase, failure_says_where_it_was);
    return run_suite("web_store", tcase);
}
