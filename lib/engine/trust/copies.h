/*
 * Bytes that are received a second time, from another depot, are compared with
 * those in the file (session/second_copy.h); where they differ they become a
 * sample (sampler.h).
 */
#ifndef XD_ENGINE_COPIES_H
#define XD_ENGINE_COPIES_H

#include "base/range.h"

struct xd_engine;

/* `depot` has `data` for `range`, of which nothing is claimed for it yet: it is
 * compared.  Called with engine.lock held, which it releases to read. */
void xd_copies_compare_locked(struct xd_engine *e, unsigned depot,
                              struct xd_range range, const unsigned char *data);

#endif
