/* SPDX-License-Identifier: MIT */
/*
 * One long call of the library, which Ctrl-C ends: it runs on a thread of its own,
 * while this one waits for a signal, and what it waits for is on the terminal.
 */
#ifndef CLI_INTERRUPTIBLE_H
#define CLI_INTERRUPTIBLE_H

#include "args/args.h"

/* Makes the call, with the options of `a`, and returns what that does. */
typedef int interruptible_fn(void *user, struct xd_error *err);

/* The code of the call: CANCELED after a signal; NOMEM if it could not begin. */
int interruptible_run(const struct args *a, interruptible_fn *call, void *user,
                      struct xd_error *err);

/* The sentence and the status for a call that failed so. */
int interruptible_fail(const struct xd_error *err);

#endif
