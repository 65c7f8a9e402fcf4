/* SPDX-License-Identifier: MIT */
#include "store/s3_call.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/hash.h"

/* A failed step is tried at least this many times, and until it has failed for
 * order.patience, because after a failure the whole upload would have to be
 * repeated. */
#define LEAST_TRIES 5

/* Pause, in seconds, before a step is tried again, if the governor of the host
 * (base/governor.h) asks for none.  It does not notice a failure that is
 * reported with status 200.  Each further attempt doubles the pause, this many
 * times at most. */
#define FIRST_PAUSE_S 1
#define MOST_DOUBLINGS 3

/* Longest pause, in seconds, after which the task itself repeats a request.  If
 * a store asks for a longer pause (Retry-After), the task ends, and the caller
 * decides whether to try again. */
#define MOST_PAUSE_S 60

/* Largest number of clock corrections in a task.  The first correction is wrong
 * if another task has found the clock offset meanwhile, because the caller then
 * passes a corrected time to next().  A second correction repairs that. */
#define MOST_CORRECTIONS 2

#define EMPTY_SHA256 \
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct xd_s3_slot *xd_s3_free_slot(struct xd_s3_task *t)
{
    for (size_t i = 0; i < XD_S3_MOST_CALLS; i++)
        if (!t->slots[i].is_busy) {
            xd_text_clear(&t->slots[i].text);
            t->slots[i].part = NULL;
            return &t->slots[i];
        }
    return NULL;
}

static int hash_body(struct xd_s3_task *t, const struct xd_s3_slot *slot,
                     struct xd_range body, char out_hex[XD_SHA256_HEX + 1],
                     struct xd_error *err)
{
    if (!xd_range_is_empty(body))
        return t->order.hash(t->order.user, body, out_hex, err);
    if (slot->text.len == 0) {
        memcpy(out_hex, EMPTY_SHA256, XD_SHA256_HEX + 1);
        return 0;
    }
    return xd_sha256_hex(xd_span(slot->text.s, slot->text.len), out_hex) < 0
               ? xd_fail_nomem(err)
               : 0;
}

static int make_url(struct xd_s3_task *t, struct xd_s3_slot *slot,
                    const struct xd_sigv4_request *r, struct xd_error *err)
{
    struct xd_text text = {.s = NULL};
    struct xd_url url;
    int rc = 0;

    xd_text_addf(&text, "%s%s%s", t->store->place.origin, r->path,
                 r->n_query > 0 ? "?" : "");
    xd_sigv4_query(&text, r);
    if (text.failed)
        rc = xd_fail_nomem(err);
    else if (!xd_url_parse(&url, text.s))
        rc = xd_fail(err, XD_E_INVAL, "%s: its URL would be too long", t->name);
    else if (!(slot->url = xd_url_copy(&url)))
        rc = xd_fail_nomem(err);
    xd_text_fini(&text);
    return rc;
}

static int sign(struct xd_s3_task *t, struct xd_s3_slot *slot,
                const struct xd_s3_request *r, struct xd_error *err)
{
    struct xd_sigv4_signer signer = xd_s3_signer(t->store);
    struct xd_sigv4_pair headers[5] = {{NULL, NULL}};
    struct xd_sigv4_request request = {.method = r->method,
                                       .host = t->store->place.host,
                                       .path = r->path ? r->path : t->path,
                                       .query = r->query,
                                       .n_query = r->n_query,
                                       .headers = headers,
                                       .n_headers = r->n_headers};
    char hash[XD_SHA256_HEX + 1];
    int rc = hash_body(t, slot, r->body, hash, err);

    if (rc < 0)
        return rc;
    memcpy(headers, r->headers, r->n_headers * sizeof *headers);
    headers[request.n_headers++] =
        (struct xd_sigv4_pair){"x-amz-content-sha256", hash};
    request.payload = hash;
    slot->signed_at = t->now + t->clock_off_s;
    xd_text_clear(&slot->fields);
    if (xd_sigv4_sign(&slot->fields, &signer, &request, slot->signed_at) < 0)
        return xd_fail_nomem(err);
    return make_url(t, slot, &request, err);
}

/* Returns whether the store may need time for the request: to process the bytes
 * of an object, or to combine parts. */
static bool gives_work(const struct xd_s3_slot *slot,
                       const struct xd_s3_request *r)
{
    return !xd_range_is_empty(r->body) || slot->text.len > 0;
}

bool xd_s3_make_call(struct xd_s3_task *t, struct xd_s3_slot *slot,
                     const struct xd_s3_request *r, struct xd_call *out)
{
    struct xd_s3_failure failure = {.kind = XD_TASK_BAD};

    if (slot->text.failed) {
        xd_s3_fail_nomem(t);
        return false;
    }
    if (sign(t, slot, r, &failure.error) < 0) {
        xd_s3_fail(t, &failure);
        return false;
    }
    slot->is_busy = true;
    slot->step = t->step;
    slot->id = t->next_id++;
    t->n_busy++;
    *out = (struct xd_call){.id = slot->id,
                            .url = slot->url,
                            .method = r->method,
                            .fields = slot->fields.s,
                            .body = r->body,
                            .text = slot->text.len > 0 ? slot->text.s : NULL,
                            .text_len = slot->text.len,
                            .patience =
                                gives_work(slot, r) ? t->order.patience : 0,
                            .most_answer = r->most_answer};
    return true;
}

void xd_s3_end_call(struct xd_s3_task *t, struct xd_s3_slot *slot)
{
    xd_free(slot->url);
    slot->url = NULL;
    slot->is_busy = false;
    if (slot->part)
        slot->part->is_in_flight = false;
    t->n_busy--;
}

void xd_s3_done(struct xd_s3_task *t)
{
    t->state = XD_TASK_DONE;
}

void xd_s3_name_upload(struct xd_s3_task *t, const char *id)
{
    t->object.upload = xd_strdup(id);
    if (!t->object.upload)
        xd_s3_fail_nomem(t);
}

void xd_s3_forget_upload(struct xd_s3_task *t)
{
    xd_free(t->object.upload);
    t->object.upload = NULL;
}

void xd_s3_fail(struct xd_s3_task *t, const struct xd_s3_failure *failure)
{
    t->failure = *failure;
    if (failure->kind == XD_TASK_EXISTS && t->object.upload) {
        t->step = XD_S3_CLEARS_UP;
        return;
    }
    t->state = XD_TASK_FAILED;
}

void xd_s3_fail_with(struct xd_s3_task *t, enum xd_task_failure kind,
                     const char *format, ...)
{
    struct xd_s3_failure failure = {.kind = kind};
    char words[300];
    va_list args;

    va_start(args, format);
    xd_format_line(words, sizeof words, format, args);
    va_end(args);
    xd_fail(&failure.error, XD_E_NET, "%s: %s", t->name, words);
    xd_s3_fail(t, &failure);
}

void xd_s3_fail_nomem(struct xd_s3_task *t)
{
    struct xd_s3_failure failure = {.kind = XD_TASK_BAD};

    xd_fail_nomem(&failure.error);
    xd_s3_fail(t, &failure);
}

struct xd_s3_failure xd_s3_broken(const struct xd_s3_task *t,
                                  const struct xd_outcome *outcome)
{
    bool may_pass = outcome->verdict == XD_VERDICT_AGAIN ||
                    outcome->verdict == XD_VERDICT_LOCAL;
    struct xd_s3_failure f = {.kind = may_pass               ? XD_TASK_MAY_PASS
                                      : outcome->needs_login ? XD_TASK_REFUSED
                                                             : XD_TASK_BAD,
                              .retry_after = outcome->retry_after};

    xd_fail_because(&f.error, outcome->error.code, &outcome->error, "%s: %s",
                    t->name, outcome->error.msg);
    return f;
}

bool xd_s3_refused(struct xd_s3_task *t, const struct xd_s3_slot *slot,
                   const struct xd_answer *answer, struct xd_s3_failure *out,
                   struct xd_s3_fault *out_fault)
{
    xd_s3_fault_read(out_fault, answer, slot->signed_at);
    if (xd_s3_fault_is_of_clock(out_fault) &&
        t->n_corrections < MOST_CORRECTIONS) {
        t->n_corrections++;
        t->clock_off_s += out_fault->clock_off_s;
        return true;
    }
    *out = (struct xd_s3_failure){.retry_after = out_fault->retry_after};
    out->kind = xd_s3_fault_explain(out_fault, t->name, &out->error);
    return false;
}

/* Returns whether the steps of this task have failed for longer than the
 * user's patience. */
static bool is_out_of_patience(struct xd_s3_task *t)
{
    /* the clock may have been set back */
    if (t->failing_since == 0 || t->now < t->failing_since)
        t->failing_since = t->now;
    return (t->now - t->failing_since) * (int64_t)XD_SECOND >=
           (int64_t)t->order.patience;
}

/* Returns the pause before the next attempt in seconds, rounded up. */
static uint64_t pause_before(unsigned tries, xd_usec retry_after)
{
    if (retry_after > 0)
        return (retry_after + XD_SECOND - 1) / XD_SECOND;
    return (uint64_t)FIRST_PAUSE_S
           << (tries < MOST_DOUBLINGS ? tries : MOST_DOUBLINGS);
}

void xd_s3_succeeded(struct xd_s3_task *t)
{
    t->failing_since = 0;
}

bool xd_s3_try_again(struct xd_s3_task *t, unsigned *tries,
                     const struct xd_s3_failure *failure)
{
    const uint64_t pause = pause_before(*tries, failure->retry_after);
    const bool is_late = is_out_of_patience(t);

    if (failure->kind != XD_TASK_MAY_PASS || pause > MOST_PAUSE_S ||
        (++*tries >= LEAST_TRIES && is_late))
        return false;
    if (t->pause_s < pause)
        t->pause_s = (unsigned)pause;
    return true;
}
