/* SPDX-License-Identifier: MIT */
/* Questions to the nodes of a mesh, in plain HTTP: whatever is answered is an
 * answer. */
#ifndef XD_PUBLISH_MESH_ASKS_H
#define XD_PUBLISH_MESH_ASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/url.h"
#include "engine/api/cancelable_batch.h"
#include "io/transport.h"

struct xd_mesh_ask {
    /* The asker's. */
    size_t node;
    unsigned what;
    uint64_t chunk;

    /* The question: strings are owned. */
    char *target; /* what is asked for */
    char *fields; /* "Name: value" and a line feed, each */

    /* The answer. */
    int64_t code; /* HTTP's status; 0: there was none, */
    char *error;  /* and why, in a sentence */
    bool is_range;
    struct xd_range range;
    uint64_t size;       /* of the object, or XD_SIZE_UNKNOWN */
    char *etag;          /* the strong one; or NULL */
    struct xd_text body; /* the first of it */

    /* Its own. */
    struct xd_url at;
    struct xd_sending sending;
    bool has_no_memory;
};

/*
 * Ask all, several at once.
 * Blocks: until each has been answered or has failed; `a` may end it.
 * Errors: NOMEM.  What is wrong with one stands there.
 */
int xd_mesh_asks_run(struct xd_mesh_ask *asks, size_t n,
                     const struct xd_cancelable_batch *a, struct xd_error *err);

void xd_mesh_asks_free(struct xd_mesh_ask *asks, size_t n); /* or NULL */

#endif
