/* SPDX-License-Identifier: MIT */
/*
 * Runs a long call of the library so that Ctrl-C can interrupt it.  The call
 * runs on another thread.  Meanwhile the calling thread waits for signals and
 * shows on the terminal what the call is waiting for.
 */
#ifndef CLI_INTERRUPTIBLE_H
#define CLI_INTERRUPTIBLE_H

#include "args/args.h"

/* The call.  Returns its result.  Threads: runs on the other thread. */
typedef int interruptible_fn(void *user, struct xd_error *err);

/* Runs the call and returns its result.  Blocks: until the call ends.
 * Errors: CANCELED after a signal; NOMEM if no thread could be started. */
int interruptible_run(const struct args *a, interruptible_fn *call, void *user,
                      struct xd_error *err);

/* Prints the error of a call that failed.  Returns the status. */
int interruptible_fail(const struct args *a, const struct xd_error *err);

#endif
