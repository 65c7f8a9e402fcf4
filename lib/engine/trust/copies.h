/*
 * What comes a second time is held against what is in the file, where both are
 * depots' and not the same one's; where they differ a case is made of it
 * (sampler.h).
 */
#ifndef XD_ENGINE_COPIES_H
#define XD_ENGINE_COPIES_H

#include "base/range.h"

struct xd_engine;

/* `depot` has `data` for `range`.  Called with engine.lock held, which it
 * releases to read. */
void xd_copies_compare_locked(struct xd_engine *e, unsigned depot,
                              struct xd_range range, const unsigned char *data);

#endif
