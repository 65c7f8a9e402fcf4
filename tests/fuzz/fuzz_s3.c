/* SPDX-License-Identifier: MIT */
/*
 * A store of S3 that answers what it likes.  The first byte says which task, and
 * each later line is one answer: two bytes of status and what is known beside it,
 * then the body.  Whatever comes, a task ends or waits, names nothing of another's
 * that could be removed, and shows no secret.
 */
#include <xdownload/manifest.h>

#include "fuzz.h"
#include "store/s3_xml.h"
#include "store/store.h"

/* No word of an answer that is shown has a slash in it: the fuzzer cannot be the one to say
 * it. */
#define SECRET "s3cr3t/k3y"
#define MOST_ANSWERS 300

static const int codes[] = {200, 204, 206, 301, 307, 400, 403, 404,
                            409, 412, 416, 429, 500, 501, 503, 507};

static int hash(void *user, struct xd_range range, char out_hex[65],
                struct xd_error *err)
{
    (void)user;
    (void)err;
    FUZZ_CHECK(range.begin < range.end);
    snprintf(out_hex, 65, "%064d", 7);
    return 0;
}

static bool is_one_line(const char *s)
{
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* The bucket is asked for lists only. */
static void check_call(const struct xd_call *call, uint64_t size)
{
    const char *url = xd_url_secret_text(call->url);

    FUZZ_CHECK(call->url->is_valid && call->most_answer > 0);
    FUZZ_CHECK(begins(url, "http://h.example:9/bkt/p/") ||
               (strcmp(call->method, "GET") == 0 &&
                begins(url, "http://h.example:9/bkt?prefix=p%2Fk&uploads=")));
    FUZZ_CHECK(strstr(call->fields, SECRET) == NULL);
    FUZZ_CHECK(strstr(call->fields, "\n\n") == NULL);
    FUZZ_CHECK(call->body.begin <= call->body.end && call->body.end <= size);
    FUZZ_CHECK(call->text == NULL || strlen(call->text) == call->text_len);
}

static void answer(struct xd_task *t, unsigned id, struct fuzz_input *in)
{
    unsigned kind = fuzz_byte(in), more = fuzz_byte(in);
    size_t len = 0;
    char *body = fuzz_line(in, &len);
    struct xd_outcome outcome = {
        .verdict = kind == 255   ? XD_VERDICT_GONE
                   : kind == 254 ? XD_VERDICT_AGAIN
                                 : XD_VERDICT_OK,
        .error = {.code = XD_E_NET, .msg = "broke off"}};
    struct xd_reply reply = {.code =
                                 codes[kind % (sizeof codes / sizeof *codes)],
                             .etag = more & 1   ? "\"e\""
                                     : more & 2 ? body
                                                : NULL,
                             .length = more & 4   ? 9 << 20
                                       : more & 8 ? XD_SIZE_UNKNOWN
                                                  : len,
                             .is_range = more & 16,
                             .range = {2, 9},
                             .date = more & 32   ? INT64_MAX
                                     : more & 64 ? 1795543200
                                                 : 0,
                             .retry_after = more & 128 ? XD_SECOND * 7 : 0};

    xd_task_answered(t, id,
                     &(struct xd_answer){.outcome = &outcome,
                                         .reply = kind >= 254 ? NULL : &reply,
                                         .body = body,
                                         .body_len = len});
    free(body);
}

/* Play until nothing is asked any more. */
static void play(struct xd_task *t, uint64_t size, struct fuzz_input *in)
{
    struct xd_task_result result;
    struct xd_call call;
    unsigned open[8], n = 0;
    int64_t now = 1795543200;

    for (int i = 0; i < MOST_ANSWERS; i++) {
        while (xd_task_next(t, now, &call)) {
            check_call(&call, size);
            FUZZ_CHECK(n < 4);
            open[n++] = call.id;
        }
        xd_task_result(t, &result);
        if (n == 0 && result.state != XD_TASK_RUNS)
            return;
        if (n == 0) {
            FUZZ_CHECK(result.ready_at > now && result.ready_at <= now + 60);
            now = result.ready_at;
            continue;
        }
        unsigned which = fuzz_below(in, n);

        answer(t, open[which], in);
        open[which] = open[--n];
    }
}

static void check_result(const struct xd_task *t, enum xd_task_kind kind)
{
    struct xd_task_result r;

    xd_task_result(t, &r);
    FUZZ_CHECK(is_one_line(r.error.msg));
    FUZZ_CHECK(strstr(r.error.msg, SECRET) == NULL);
    FUZZ_CHECK((r.state == XD_TASK_FAILED) == (r.error.code != XD_OK));
    if (kind == XD_TASK_PUT && r.state == XD_TASK_DONE)
        FUZZ_CHECK(r.object->manage && r.object->read && !r.object->upload);
    if (kind == XD_TASK_PUT && r.state == XD_TASK_FAILED &&
        r.failure == XD_TASK_EXISTS)
        FUZZ_CHECK(!r.object->upload);
    if (kind == XD_TASK_READ && r.state == XD_TASK_DONE)
        FUZZ_CHECK(r.n_bytes == 7);
}

static void try_task(const struct xd_store *s, struct fuzz_input *in)
{
    static char manage[] = "s3://bkt/p/k", upload[] = "u&1";
    unsigned first = fuzz_byte(in);
    const struct xd_object object = {.manage = manage,
                                     .upload = first & 128 ? NULL : upload};
    struct xd_task_order order = {.kind = (enum xd_task_kind)(first % 6),
                                  .name = "k",
                                  .size = first & 64 ? (uint64_t)41 << 20 : 9,
                                  .range = {2, 9},
                                  .object = &object,
                                  .hash = hash};
    struct xd_task *t;

    FUZZ_CHECK(xd_task_new(&t, s, &order, NULL) == 0);
    play(t, order.size, in);
    check_result(t, order.kind);
    xd_task_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input in = fuzz_input(data, len);
    char word[20];
    struct xd_url target;
    struct xd_store *s;

    FUZZ_CHECK(xd_url_parse(&target, "s3://bkt/p"));
    FUZZ_CHECK(xd_store_new(&s,
                            &(struct xd_store_config){.target = &target,
                                                      .s3_endpoint =
                                                          "http://h.example:9",
                                                      .s3_access_key = "A",
                                                      .s3_secret_key = SECRET},
                            NULL) == 0);
    try_task(s, &in);
    xd_store_free(s);
    xd_s3_xml_child(xd_span((const char *)data, len), "Code", word,
                    sizeof word);
    FUZZ_CHECK(strlen(word) < sizeof word);
    return 0;
}
