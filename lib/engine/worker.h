/* SPDX-License-Identifier: MIT */
/*
 * A worker: the thread that serves one depot after another.
 *
 * It takes requests from its lanes, carries them out through its transport,
 * and gives back what came.  Only taking and giving hold engine.lock.
 */
#ifndef XD_ENGINE_WORKER_H
#define XD_ENGINE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "os/thread.h"
#include "transfer/runner.h"

struct xd_depot;
struct xd_engine;
struct xd_lane;

struct xd_worker {
    /* Constant after start. */
    struct xd_engine *engine;
    struct xd_thread thread;
    struct xd_runner_handler handler;
    struct xd_runner *runner; /* the thread's own; wakeup() by any */
    struct xd_lane *lanes;
    unsigned n_lanes;
    size_t buffer_bytes; /* of each */

    /* Owned by the thread. */
    const struct xd_url
        *begun; /* the URL of the answer in lane begun_lane, with
                                   which that goes on; or NULL */
    unsigned begun_lane;

    /* Guarded by lock. */
    struct xd_depot *depot;  /* NULL: nothing to serve */
    struct xd_depot *served; /* the last one: its connections are still open */
    bool
        must_wake; /* it has looked at its lanes, and waits for its transport */
};

/* Guarded by lock. */
struct xd_workers {
    struct xd_worker **list;
    unsigned n, max;
    unsigned n_lanes;   /* of each; constant after start */
    unsigned n_serving; /* that have not left yet */
};

/* Start one, for `depot` first.  Errors: NOMEM. */
int xd_worker_new(struct xd_worker **out, struct xd_engine *e,
                  const struct xd_depot *depot);

/* Join it, once the engine is over; then release it, when no thread is left that
 * could wake it. */
void xd_worker_join(struct xd_worker *w);
void xd_worker_free(struct xd_worker *w);

#endif
