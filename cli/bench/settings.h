/* SPDX-License-Identifier: MIT */
/*
 * The settings of a run: options for the library, and cells of its row.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "args/args.h"
#include "bench/row.h"
#include "bench/sweep.h"

/* Makes the library options of a run from the command line and the run's own
 * settings.
 * Ownership: *out is the caller's.
 * Errors: INVAL, NOMEM. */
int settings_options(struct xd_options **out, const struct args *a,
                     const struct run *r, struct xd_error *err);

/* Fills in the cells that are known before the run, except the cells that
 * subject_describe() fills in. */
void settings_describe(const struct args *a, const struct run *r,
                       struct row *row);

/* Returns the seed of a run's simulated network. */
uint64_t settings_seed(const struct args *a, const struct run *r);

#endif
