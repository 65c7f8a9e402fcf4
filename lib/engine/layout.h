/* SPDX-License-Identifier: MIT */
/*
 * Converts depots and sources to the plain arrays that the scheduler uses.
 */
#ifndef XD_ENGINE_LAYOUT_H
#define XD_ENGINE_LAYOUT_H

#include "base/error.h"
#include "base/range.h"
#include "sched/layout.h"

struct xd_depots;

/*
 * Fills *out with the depots, what each holds, and the boundaries that no
 * request may cross.  Release it with xd_layout_fini().
 * Errors: NOMEM; NOREPLICA if no depot holds some byte of `wanted`.
 */
int xd_depots_layout(const struct xd_depots *d, struct xd_range wanted,
                     struct xd_layout *out, struct xd_error *err);
void xd_layout_fini(struct xd_layout *layout);

#endif
