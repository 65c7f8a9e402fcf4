/* SPDX-License-Identifier: MIT */
/* What an earlier run has left, compared with samples of what the depots have. */
#ifndef XD_ENGINE_RESUME_COMPARE_H
#define XD_ENGINE_RESUME_COMPARE_H

#include "engine/trust/sample_check.h"

struct xd_batch_config;
struct xd_engine;

/* e->resume.batch, for requests of the keeper, which the end of the download
 * cancels.  Without the lock.  Errors: as xd_batch_new(). */
int xd_resume_open_batch(struct xd_engine *e,
                         const struct xd_batch_config *config, unsigned n_slots,
                         struct xd_error *err);
void xd_resume_close_batch(struct xd_engine *e);

/*
 * Compare the bytes `held` of the .part; `known` are the validators of earlier
 * runs (struct xd_sample_check).  The end of the download ends it, too.
 * Only the keeper calls this, without the lock, before anything is fetched.
 * Errors: as with xd_sample_check_run(); INVAL.
 */
int xd_resume_compare(struct xd_engine *e, const struct xd_rangeset *held,
                      const char *known, struct xd_sample_check *out,
                      struct xd_error *err);

#endif
