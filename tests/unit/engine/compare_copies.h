/* SPDX-License-Identifier: MIT */
/* What a lane does with its buffer before it writes anything of it. */
#ifndef COMPARE_COPIES_H
#define COMPARE_COPIES_H

#include "engine/engine.h"
#include "engine/trust/copies.h"

static inline void compare_copies_locked(struct xd_engine *e, unsigned depot,
                                         struct xd_range range,
                                         const unsigned char *data)
{
    struct xd_copies copies;

    if (!xd_copies_begin_locked(e, &copies, depot, range, data))
        return;
    while (xd_copies_take_locked(e, &copies)) {
        xd_engine_unlock(e);
        xd_copies_read(e, &copies);
        xd_engine_lock(e);
        xd_copies_give_locked(e, &copies);
    }
    xd_copies_end_locked(e, &copies);
}

#endif
