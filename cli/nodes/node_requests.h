/* SPDX-License-Identifier: MIT */
/* HTTP requests to nodes of a mesh.  Any response counts as an answer. */
#ifndef XD_NODES_NODE_REQUESTS_H
#define XD_NODES_NODE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/url.h"
#include "engine/api/cancelable_batch.h"
#include "io/transport.h"

struct xd_mesh_ask {
    /* For the caller. */
    size_t node;
    unsigned what;
    uint64_t chunk;

    /* The request.  The strings are owned. */
    char *target; /* the request target */
    char *fields; /* header fields, each "Name: value" and a line feed */

    /* The response. */
    int64_t code; /* HTTP status; 0: there was no response */
    char *error;  /* why there was no response */
    bool is_range;
    struct xd_range range;
    uint64_t size;       /* size of the object, or XD_SIZE_UNKNOWN */
    char *etag;          /* strong ETag, or NULL */
    struct xd_text body; /* first bytes of the body */

    /* Private. */
    struct xd_url at;
    struct xd_sending sending;
    bool has_no_memory;
};

/*
 * Sends all requests, several at a time.
 * Blocks: until each was answered or has failed, or until `a` is canceled.
 * Errors: NOMEM.  Errors of a request are in its struct.
 */
int xd_mesh_asks_run(struct xd_mesh_ask *asks, size_t n,
                     const struct xd_cancelable_batch *a, struct xd_error *err);

void xd_mesh_asks_free(struct xd_mesh_ask *asks, size_t n); /* accepts NULL */

#endif
