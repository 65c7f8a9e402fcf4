/* SPDX-License-Identifier: MIT */
/*
 * What a run is given: its options for the library, and the cells of its row.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "args/args.h"
#include "bench/row.h"
#include "bench/sweep.h"

/* The options of a run: those of the command line, and its own.
 * Ownership: the caller's.  Errors: INVAL, NOMEM. */
int settings_options(struct xd_options **out, const struct args *a,
                     const struct run *r, struct xd_error *err);

/* All cells of a run that can be said before it; `name` are those of subject.h.
 * False: no memory. */
bool settings_describe(const struct args *a, const struct run *r,
                       struct row *row);

/* The seed of a run's network, in virtual time. */
uint64_t settings_seed(const struct args *a, const struct run *r);

#endif
