/*
 * A worker: the thread that serves one depot after another.
 *
 * It takes requests from its lanes, carries them out through its transport,
 * and gives back what came.  Only taking and giving hold engine.lock.
 */
#ifndef XD_ENGINE_WORKER_H
#define XD_ENGINE_WORKER_H

#include "engine/engine.h"

/* Start one.  Errors: NOMEM. */
int xd_worker_new(struct xd_worker **out, struct xd_engine *e);

/* Join it, once the engine is over; then release it, when no thread is left that
 * could wake it. */
void xd_worker_join(struct xd_worker *w);
void xd_worker_free(struct xd_worker *w);

#endif
