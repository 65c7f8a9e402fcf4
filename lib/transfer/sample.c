/* SPDX-License-Identifier: MIT */
#include "transfer/sample.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* The samples of a run: request i belongs to picked[i]. */
struct taking {
    struct xd_sample *list;
    size_t *picked;
    struct xd_request *requests;
    size_t n;
    bool has_no_memory;
};

static struct xd_sample *sample_of(const struct taking *t, size_t i)
{
    return &t->list[t->picked[i]];
}

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    struct taking *t = user;
    struct xd_sample *s = sample_of(t, i);

    s->received = 0;
    s->object_size = head->object_size;
    s->has_head = true;
    s->modified = head->modified;
    xd_hasher_free(s->hasher);
    s->hasher = NULL;
    xd_free(s->validator);
    s->validator = head->validator ? xd_strdup(head->validator) : NULL;
    if (xd_hasher_new(&s->hasher, XD_SAMPLE_HASH, NULL) < 0 ||
        (head->validator && !s->validator)) {
        t->has_no_memory = true;
        return XD_E_NOMEM;
    }
    return 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    struct xd_sample *s = sample_of(user, i);

    xd_hasher_add(s->hasher, data, len);
    s->received += len;
    return 0;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct taking *t = user;
    struct xd_sample *s = sample_of(t, i);

    s->outcome = *outcome;
    if (outcome->error.code == XD_E_NOMEM)
        t->has_no_memory = true;
    if (outcome->verdict == XD_VERDICT_OK && s->hasher)
        xd_hasher_end(s->hasher, s->digest);
}

static int take_picked(struct xd_batch *batch, struct taking *t,
                       const struct xd_batch_times *times, struct xd_error *err)
{
    struct xd_batch_handler handler = {
        .user = t, .head = on_head, .bytes = on_bytes, .end = on_end};
    int rc = 0;

    for (size_t i = 0; i < t->n; i++)
        t->requests[i] = sample_of(t, i)->request;
    if (t->n > 0)
        rc = xd_batch_run(batch, t->requests, t->n, times, &handler, err);
    return rc == 0 && t->has_no_memory ? xd_fail_nomem(err) : rc;
}

/* Selects the samples from depots that do not support ranges.  Such a depot can
 * still deliver a sample near the start of the object. */
static void pick_without_ranges(struct taking *t, size_t n)
{
    t->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct xd_sample *s = &t->list[i];

        if (!s->request.url || !xd_sample_needs_whole(s) ||
            s->request.offset + s->request.length > XD_SAMPLE_SKIP_MAX)
            continue;
        s->request.whole = true;
        t->picked[t->n++] = i;
    }
}

int xd_samples_take(struct xd_batch *batch, struct xd_sample *list, size_t n,
                    const struct xd_batch_times *times, struct xd_error *err)
{
    struct taking t = {.list = list};
    int rc;

    t.picked = xd_alloc(n, sizeof *t.picked);
    t.requests = xd_alloc(n, sizeof *t.requests);
    for (size_t i = 0; t.picked && i < n; i++) {
        if (list[i].request.url)
            t.picked[t.n++] = i;
    }
    if (!t.picked || !t.requests)
        rc = xd_fail_nomem(err);
    else
        rc = take_picked(batch, &t, times, err);
    if (rc == 0) {
        pick_without_ranges(&t, n);
        rc = take_picked(batch, &t, times, err);
    }
    xd_free(t.picked);
    xd_free(t.requests);
    return rc;
}

void xd_samples_fini(struct xd_sample *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        xd_hasher_free(list[i].hasher);
        xd_free(list[i].validator);
    }
}
