/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a thread for everything that must not block the workers.  It
 * hashes what was written, syncs it, decodes parity, and renames the complete
 * file.
 */
#ifndef XD_ENGINE_KEEPER_H
#define XD_ENGINE_KEEPER_H

#include <stdbool.h>

#include "os/thread.h"

struct xd_engine;
struct xd_error;

/* constant after start() */
struct xd_keeper {
    struct xd_thread thread;
    bool has_thread;
};

/* Starts the keeper.  Errors: NOMEM. */
int xd_keeper_start_locked(struct xd_engine *e, struct xd_error *err);

#endif
