/* SPDX-License-Identifier: MIT */
/*
 * The keeper: one thread beside the workers, for what must not hold them up.
 * It hashes what was written, writes bytes out in order, and gives the finished
 * file its name.
 */
#ifndef XD_ENGINE_KEEPER_H
#define XD_ENGINE_KEEPER_H

#include <stdbool.h>

#include "os/thread.h"

struct xd_engine;
struct xd_error;

/* Constant after start(). */
struct xd_keeper {
    struct xd_thread thread;
    bool has_thread;
};

/* Errors: NOMEM. */
int xd_keeper_start_locked(struct xd_engine *e, struct xd_error *err);

#endif
