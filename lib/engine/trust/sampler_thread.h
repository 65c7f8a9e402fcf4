/*
 * The thread that asks for samples, and what it needs of sampler.c.
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_SAMPLER_THREAD_H
#define XD_ENGINE_SAMPLER_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"

struct xd_engine;

/* There may be something to ask: the thread looks, and is started before. */
void xd_sampler_run_locked(struct xd_engine *e);

/* What to ask, and whom; false: nothing now. */
bool xd_sampler_choose_locked(struct xd_engine *e, size_t *out_case,
                              unsigned *out_depot);

/* Whether it matters what `depot` has. */
bool xd_sampler_listens_locked(const struct xd_engine *e, unsigned depot);

/* A case of its own for bytes of which the copy of `depot` is not what is kept,
 * by `bringer`. */
void xd_sampler_dispute_locked(struct xd_engine *e, struct xd_range at,
                               unsigned depot, const unsigned char *copy,
                               unsigned bringer, const unsigned char *kept);

/* `depot` has told all of case `i`, or failed to: what follows is done. */
void xd_sampler_heard_locked(struct xd_engine *e, size_t i, unsigned depot,
                             const unsigned char *data);

void xd_sampler_refused_locked(struct xd_engine *e, unsigned depot);

#endif
