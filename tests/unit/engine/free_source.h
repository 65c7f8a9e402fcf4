/* SPDX-License-Identifier: MIT */
/* For tests whose end does not know which readers there are. */
#ifndef FREE_SOURCE_H
#define FREE_SOURCE_H

#include "engine/engine.h"

/* NULL does nothing. */
static inline void free_source_and_readers(struct xd_source *s)
{
    struct xd_engine *e = (struct xd_engine *)s;

    while (e && e->readers.n > 0)
        xd_reader_free(e->readers.list[0]);
    xd_source_unref(s);
}

#endif
