/* SPDX-License-Identifier: MIT */
/*
 * A task of a store of WebDAV gets whatever answers; the bytes of the input choose
 * the task and each answer.  It asks for nothing outside of its target, removes
 * nothing but what it was told to, and comes to an end.
 */
#include "store/store.h"

#include <strings.h>

#include "fuzz.h"
#include "store/web_path.h"

#define TARGET "http://d.example/a/"
#define MOST_CALLS 20

static char object_url[] = TARGET "b/x";
static const struct xd_object object = {
    .read = object_url, .manage = object_url, .size = 1000};

static const int codes[] = {0,   100, 200, 201, 204, 206, 207, 301, 307,
                            400, 401, 403, 404, 405, 409, 410, 412, 413,
                            416, 429, 500, 501, 503, 507, 999};
static const char *const locations[] = {NULL, "", "/y", "http://u:p@e/x?k",
                                        "\n"};
static const uint64_t lengths[] = {XD_SIZE_UNKNOWN, 0, 999, 1000, 2000000};

#define CHOOSE(in, list) (list)[fuzz_below(in, sizeof(list) / sizeof *(list))]

static void answer(struct xd_task *t, unsigned id, struct fuzz_input *in,
                   struct xd_reply *out)
{
    struct xd_outcome outcome = {
        .verdict = fuzz_below(in, 8) > 0 ? XD_VERDICT_OK : XD_VERDICT_AGAIN};
    const size_t body_len = fuzz_below(in, 300);
    char *body = calloc(1, body_len + 1);
    const struct xd_answer a = {
        .outcome = &outcome, .reply = out, .body = body, .body_len = body_len};

    FUZZ_CHECK(body != NULL);
    *out = (struct xd_reply){.code = CHOOSE(in, codes),
                             .length = CHOOSE(in, lengths),
                             .location = CHOOSE(in, locations),
                             .etag = fuzz_below(in, 2) > 0 ? "\"e\"" : NULL,
                             .is_range = fuzz_below(in, 2) > 0,
                             .range = {100, 100 + fuzz_below(in, 20)}};
    xd_task_answered(t, id, &a);
    free(body);
}

/* Folders end in a slash; all else is an object below the target. */
static void check_call(const struct xd_call *c, enum xd_task_kind kind,
                       const struct xd_url *target)
{
    const struct xd_span path = xd_url_path(c->url);

    FUZZ_CHECK(xd_url_same_origin(c->url, target));
    if (strcmp(c->method, "MKCOL") == 0)
        FUZZ_CHECK(kind == XD_TASK_PUT && path.s[path.len - 1] == '/');
    else
        FUZZ_CHECK(xd_web_is_below(target, c->url));
    FUZZ_CHECK(strcmp(c->method, "DELETE") != 0 || kind == XD_TASK_DELETE ||
               kind == XD_TASK_ABORT);
    FUZZ_CHECK(strcmp(c->method, "PUT") != 0 || kind == XD_TASK_PUT);
}

static void check_result(const struct xd_task *t, enum xd_task_kind kind,
                         const struct xd_reply *last)
{
    struct xd_task_result r;

    xd_task_result(t, &r);
    FUZZ_CHECK(r.state != XD_TASK_RUNS);
    if (r.state == XD_TASK_FAILED && r.failure == XD_TASK_EXISTS)
        FUZZ_CHECK(kind == XD_TASK_PUT && r.object->manage != NULL);
    if (r.state == XD_TASK_FAILED)
        return;
    if (kind == XD_TASK_PUT)
        FUZZ_CHECK(last->code / 100 == 2 && last->length == 1000);
    if (kind == XD_TASK_READ)
        FUZZ_CHECK(r.n_bytes == 10);
}

/* Moves the time to when the task has a call again.  Returns false if it does not
 * wait. */
static bool wait_for(const struct xd_task *t, int64_t *now)
{
    struct xd_task_result r;

    xd_task_result(t, &r);
    if (r.state != XD_TASK_RUNS || r.ready_at <= *now)
        return false;
    *now = r.ready_at;
    return true;
}

static void run(struct fuzz_input *in, const struct xd_store *store,
                const struct xd_url *target)
{
    const struct xd_task_order order = {
        .kind = (enum xd_task_kind)fuzz_below(in, XD_TASK_ABORT + 1),
        .name = "b/x",
        .size = 1000,
        .range = {100, 110},
        .object = &object};
    struct xd_reply last = {.code = 0};
    struct xd_task *task;
    struct xd_call call;
    int64_t now = 1;
    unsigned n = 0;

    FUZZ_CHECK(xd_task_new(&task, store, &order, NULL) == 0);
    do {
        while (xd_task_next(task, now, &call)) {
            FUZZ_CHECK(++n <= MOST_CALLS);
            check_call(&call, order.kind, target);
            answer(task, call.id, in, &last);
        }
    } while (wait_for(task, &now));
    check_result(task, order.kind, &last);
    xd_task_free(task);
}

/* What a manifest says, below the target or not. */
static void check_name(const struct xd_store *store, const char *name)
{
    if (!xd_store_has(store, name))
        return;
    FUZZ_CHECK(strncasecmp(name, TARGET, strlen("http://d.example")) == 0);
    FUZZ_CHECK(strstr(name, "/a/") != NULL && strstr(name, "/../") == NULL);
    FUZZ_CHECK(strpbrk(name, "?#\\") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    struct xd_url target;
    const struct xd_store_config config = {.target = &target};
    struct xd_store *store;
    char *name;

    FUZZ_CHECK(xd_url_parse(&target, TARGET));
    FUZZ_CHECK(xd_store_new(&store, &config, NULL) == 0);
    name = calloc(1, len + 1);
    FUZZ_CHECK(name != NULL);
    memcpy(name, data, len);
    check_name(store, name);
    free(name);
    run(&in, store, &target);
    xd_store_free(store);
    return 0;
}
