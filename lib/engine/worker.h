/* SPDX-License-Identifier: MIT */
/*
 * A worker: a thread that serves one depot after another.
 *
 * It takes requests from its lanes, carries them out with its transport, and
 * reports the results.  It holds engine.lock only to take requests and to
 * report.
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
    /* constant after start */
    struct xd_engine *engine;
    struct xd_thread thread;
    struct xd_runner_handler handler;
    struct xd_runner *runner; /* used only by the thread, except wakeup() */
    struct xd_lane *lanes;
    unsigned n_lanes;
    size_t buffer_bytes; /* size of the buffer of each lane */

    /* owned by the thread */
    const struct xd_url
        *begun; /* URL of the response that inspection started and lane
                   `begun_lane` takes over, or NULL */
    unsigned begun_lane;

    /* guarded by lock */
    struct xd_depot *depot;  /* NULL if there is nothing to serve */
    struct xd_depot *served; /* the depot served last, whose connections are
                                still open */
    bool must_wake; /* the thread waits for its transport, so new requests must
                       wake it */
};

/* All workers.  Guarded by lock. */
struct xd_workers {
    struct xd_worker **list;
    unsigned n, max;
    unsigned n_lanes;   /* lanes of each worker; constant after start */
    unsigned n_serving; /* number of workers that have not ended yet */
};

/* Starts a worker, which serves `depot` first.  Errors: NOMEM. */
int xd_worker_new(struct xd_worker **out, struct xd_engine *e,
                  const struct xd_depot *depot);

/* join() waits for the thread after the engine has ended.  free() releases the
 * worker when no other thread can wake it any more. */
void xd_worker_join(struct xd_worker *w);
void xd_worker_free(struct xd_worker *w);

#endif
