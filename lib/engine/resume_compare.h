/* SPDX-License-Identifier: MIT */
/* Compares the data left by an earlier run with samples from the depots. */
#ifndef XD_ENGINE_RESUME_COMPARE_H
#define XD_ENGINE_RESUME_COMPARE_H

#include "engine/trust/sample_check.h"

struct xd_engine;

/*
 * Compares the bytes `held` of the .part file.  `known` is the list of
 * validators that earlier runs saw (struct xd_sample_check).  The end of the
 * download cancels the comparison.
 * Called by the keeper only, without the lock, before anything is fetched.
 * Errors: those of xd_sample_check_run(); INVAL.
 */
int xd_resume_compare(struct xd_engine *e, const struct xd_rangeset *held,
                      const char *known, struct xd_sample_check *out,
                      struct xd_error *err);

#endif
