/* SPDX-License-Identifier: MIT */
/*
 * A run in virtual time.  Any thread may carry one out.
 */
#ifndef CLI_VIRTUAL_H
#define CLI_VIRTUAL_H

#include "args/args.h"
#include "bench/subject.h"
#include "bench/sweep.h"

/* Carry it out, and fill in what it came to.  0, or a negative enum xd_code
 * when it could not be simulated; a download that fails is a row. */
int virtual_run(const struct args *a, const struct subject *s,
                const struct run *r, struct row *row, struct xd_error *err);

#endif
