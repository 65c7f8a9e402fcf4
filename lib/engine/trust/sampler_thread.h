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

struct xd_depot;
struct xd_depot_source;
struct xd_engine;

/* There may be something to ask: the thread looks, and is started before. */
void xd_sampler_run_locked(struct xd_engine *e);

/* Ask `depot` for `range`, of at most XD_SAMPLE_BYTES, of `source`, over a new
 * connection and whatever its validator is.  True: all of it is in the sampler's
 * buffer, and what the head said in `validator`.  Releases the lock.  Only the
 * sampler's thread calls this. */
bool xd_sampler_ask_anew_locked(struct xd_engine *e, struct xd_depot *depot,
                                const struct xd_depot_source *source,
                                struct xd_range range);

/* What to ask, and of which depot; false: nothing now. */
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
