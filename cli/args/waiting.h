/* SPDX-License-Identifier: MIT */
/*
 * Shows what a network call is waiting for: on the terminal, or in lines with
 * --verbose.
 */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

#include "args/args.h"

struct waiting {
    bool draws, has_said;
    xd_log_fn *log; /* log function that waiting_end() restores */
    void *log_user;
};

/* Replaces the log function of the options of `a` until waiting_end(). */
void waiting_begin(struct waiting *w, const struct args *a);
void waiting_end(const struct waiting *w, const struct args *a);

#endif
