/* SPDX-License-Identifier: MIT */
/*
 * From depots and their sources to the scheduler's plain arrays.
 */
#ifndef XD_ENGINE_LAYOUT_H
#define XD_ENGINE_LAYOUT_H

#include "base/error.h"
#include "base/range.h"
#include "sched/layout.h"

struct xd_depots;

/*
 * What the scheduler needs to know.
 * Errors: NOMEM; NOREPLICA when no depot holds some byte of `wanted`.
 */
int xd_depots_layout(const struct xd_depots *d, struct xd_range wanted,
                     struct xd_layout *out, struct xd_error *err);
void xd_layout_fini(struct xd_layout *layout);

#endif
