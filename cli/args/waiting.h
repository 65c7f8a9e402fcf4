/* SPDX-License-Identifier: MIT */
/*
 * What a call that asks the network waits for: on the terminal while it does, or
 * in lines with --verbose.
 */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "args/args.h"

struct waiting {
    bool draws, has_said;
    xd_log_fn *log; /* of the options until begin(), and from end() on */
    void *log_user;
};

/* The options of `a` say it until end(). */
void waiting_begin(struct waiting *w, const struct args *a);
void waiting_end(const struct waiting *w, const struct args *a);

#endif
