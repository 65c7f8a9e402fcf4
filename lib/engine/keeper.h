/*
 * The keeper: one thread beside the workers, for what must not hold them up.
 * It hashes what was written, writes bytes out in order, and gives the finished
 * file its name.
 */
#ifndef XD_ENGINE_KEEPER_H
#define XD_ENGINE_KEEPER_H

#include "engine/engine.h"

/* Errors: NOMEM. */
int xd_keeper_start_locked(struct xd_engine *e, struct xd_error *err);

#endif
