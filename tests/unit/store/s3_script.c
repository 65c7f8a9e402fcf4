/* SPDX-License-Identifier: MIT */
#include "s3_script.h"

#include <inttypes.h>
#include <string.h>

#include "suite.h"
#include "url_of.h"

struct xd_store *s3_of(const char *target, const char *endpoint)
{
    struct xd_store_config config = {.target = url_of(target),
                                     .s3_endpoint = endpoint,
                                     .s3_access_key = "AKIDEXAMPLE",
                                     .s3_secret_key = "SECRETEXAMPLE"};
    struct xd_error error = {.code = XD_OK};
    struct xd_store *s = NULL;

    ck_assert_msg(xd_store_new(&s, &config, &error) == 0, "%s", error.msg);
    return s;
}

/* It is of the range, so that each part has another. */
static int hash_of(void *user, struct xd_range range, char out_hex[65],
                   struct xd_error *err)
{
    (void)user;
    (void)err;
    snprintf(out_hex, 65, "%032" PRIx64 "%032" PRIx64, range.begin, range.end);
    return 0;
}

struct xd_task *s3_put_patiently(const struct xd_store *s, uint64_t size,
                                 xd_usec patience)
{
    struct xd_task_order order = {.kind = XD_TASK_PUT,
                                  .name = "k",
                                  .size = size,
                                  .patience = patience,
                                  .hash = hash_of};
    struct xd_error error = {.code = XD_OK};
    struct xd_task *t = NULL;

    ck_assert_msg(xd_task_new(&t, s, &order, &error) == 0, "%s", error.msg);
    return t;
}

struct xd_task *s3_put(const struct xd_store *s, uint64_t size)
{
    return s3_put_patiently(s, size, 0);
}

struct xd_task *s3_task(const struct xd_store *s, enum xd_task_kind kind,
                        const struct xd_object *object, struct xd_range range)
{
    struct xd_task_order order = {
        .kind = kind, .object = object, .range = range};
    struct xd_error error = {.code = XD_OK};
    struct xd_task *t = NULL;

    ck_assert_msg(xd_task_new(&t, s, &order, &error) == 0, "%s", error.msg);
    return t;
}

void s3_answer(struct xd_task *t, unsigned id, const struct s3_line *line)
{
    struct xd_outcome outcome = {.verdict = XD_VERDICT_OK,
                                 .worked = line->worked};
    struct xd_reply reply = {.code = line->code,
                             .etag = line->etag,
                             .length = line->length,
                             .is_range = line->code == 206,
                             .range = line->range,
                             .date = line->date,
                             .retry_after = line->retry_after,
                             .leaves_marker = line->leaves_marker};
    struct xd_answer answer = {.outcome = &outcome};

    if (line->code <= 0) {
        outcome.verdict = line->code == 0 ? XD_VERDICT_AGAIN : XD_VERDICT_GONE;
        outcome.error.code = XD_E_NET;
        snprintf(outcome.error.msg, sizeof outcome.error.msg, "broke off");
    } else {
        answer.reply = &reply;
        answer.body = line->body ? line->body : "";
        answer.body_len = strlen(answer.body);
    }
    xd_task_answered(t, id, &answer);
}

static void check_call(const struct xd_call *call, const struct s3_line *line)
{
    const char *url = xd_url_secret_text(call->url);
    const char *host = strstr(url, "://"), *path;
    char asks[600];

    ck_assert_ptr_nonnull(host);
    path = strchr(host + 3, '/');
    snprintf(asks, sizeof asks, "%s %s", call->method, path);
    ck_assert_str_eq(asks, line->asks);
    ck_assert_ptr_nonnull(strstr(call->fields, "\nAuthorization: AWS4-"));
    ck_assert_ptr_null(strstr(call->fields, "SECRETEXAMPLE"));
    ck_assert(!call->logs_in);
    if (line->fields)
        ck_assert_msg(strstr(call->fields, line->fields) != NULL,
                      "no '%s' in '%s'", line->fields, call->fields);
}

void s3_play(struct xd_task *t, const struct s3_line *lines, int64_t *now)
{
    struct xd_task_result result;
    struct xd_call call;

    for (; lines->asks; lines++) {
        if (!xd_task_next(t, *now, &call)) {
            xd_task_result(t, &result);
            ck_assert_msg(
                result.state == XD_TASK_RUNS && result.ready_at > *now,
                "'%s' is not asked: %s", lines->asks, result.error.msg);
            ck_assert(!xd_task_next(t, result.ready_at - 1, &call));
            *now = result.ready_at;
            ck_assert(xd_task_next(t, *now, &call));
        }
        check_call(&call, lines);
        s3_answer(t, call.id, lines);
    }
}
