/* SPDX-License-Identifier: MIT */
#include "nodes/node_requests.h"

#include "base/alloc.h"
#include "base/error.h"

/* Largest number of bytes read of a body.  No meaningful answer is longer. */
#define LONGEST_BODY ((size_t)64 << 10)

static int on_head(void *user, size_t i, const struct xd_head *head)
{
    struct xd_mesh_ask *ask = (struct xd_mesh_ask *)user + i;
    const struct xd_reply *reply = head->reply;

    xd_text_fini(&ask->body);
    xd_free(ask->etag);
    ask->etag = NULL;
    ask->code = reply->code;
    ask->is_range = reply->is_range;
    ask->range = reply->range;
    ask->size = reply->length;
    if (reply->etag && !(ask->etag = xd_strdup(reply->etag)))
        ask->has_no_memory = true;
    return ask->has_no_memory ? XD_E_NOMEM : 0;
}

static int on_bytes(void *user, size_t i, const void *data, size_t len)
{
    struct xd_mesh_ask *ask = (struct xd_mesh_ask *)user + i;

    if (ask->body.len + len > LONGEST_BODY)
        return XD_E_CANCELED;
    xd_text_add(&ask->body, data, len);
    ask->has_no_memory = ask->has_no_memory || ask->body.failed;
    return ask->has_no_memory ? XD_E_NOMEM : 0;
}

static void on_end(void *user, size_t i, const struct xd_outcome *outcome)
{
    struct xd_mesh_ask *ask = (struct xd_mesh_ask *)user + i;

    if (outcome->error.code == XD_OK)
        return;
    ask->code = 0;
    ask->error = xd_strdup(outcome->error.msg);
    ask->has_no_memory = ask->has_no_memory || !ask->error;
}

static bool make_request(struct xd_request *out, struct xd_mesh_ask *ask)
{
    if (!ask->target || !ask->fields)
        return false;
    (void)xd_url_parse(&ask->at, ask->target);
    ask->sending = (struct xd_sending){.method = "GET", .fields = ask->fields};
    *out = (struct xd_request){.url = &ask->at,
                               .length = 1,
                               .object_size = XD_SIZE_UNKNOWN,
                               .sends = &ask->sending};
    return true;
}

int xd_mesh_asks_run(struct xd_mesh_ask *asks, size_t n,
                     const struct xd_cancelable_batch *a, struct xd_error *err)
{
    const struct xd_batch_handler handler = {
        .user = asks, .head = on_head, .bytes = on_bytes, .end = on_end};
    const struct xd_batch_times times = {.until = a->until,
                                         .first = XD_NEVER,
                                         .grace = XD_NEVER,
                                         .turn = XD_NEVER};
    struct xd_request *requests = xd_alloc(n + 1, sizeof *requests);
    bool has_no_memory = !requests;
    int rc = 0;

    for (size_t i = 0; !has_no_memory && i < n; i++)
        has_no_memory = !make_request(&requests[i], &asks[i]);
    if (!has_no_memory && n > 0)
        rc = xd_batch_run(a->batch, requests, n, &times, &handler, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        has_no_memory = has_no_memory || asks[i].has_no_memory;
    xd_free(requests);
    return has_no_memory ? xd_fail_nomem(err) : rc;
}

void xd_mesh_asks_free(struct xd_mesh_ask *asks, size_t n)
{
    for (size_t i = 0; asks && i < n; i++) {
        xd_free(asks[i].target);
        xd_free(asks[i].fields);
        xd_free(asks[i].error);
        xd_free(asks[i].etag);
        xd_text_fini(&asks[i].body);
    }
    xd_free(asks);
}
