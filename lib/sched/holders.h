/* SPDX-License-Identifier: MIT */
/*
 * Which depot holds what: questions of sched.c and next.c.
 *
 * A depot *could deliver* a byte if it is not dropped, holds it, and knows
 * ranges.  One that knows none could where no other could that has proved
 * itself, that is, has delivered a byte before; one that is a last resort,
 * where no other could at all.
 */
#ifndef XD_SCHED_HOLDERS_H
#define XD_SCHED_HOLDERS_H

#include "sched/policy.h"

/* What else is asked of a depot; any of them together. */
#define XD_NEED_OPEN 1U
#define XD_NEED_RESERVE 2U
#define XD_NEED_AWAKE 4U

/*
 * The first depot in order of preference, in reserve those before others that
 * have not failed yet, that could deliver `byte`, and the end
 * of the run of bytes for which that is so; n_depots if there is none, and
 * *out_end is left alone.
 */
unsigned xd_holders_deliverer(const struct xd_book *b, unsigned need,
                              uint64_t byte, uint64_t *out_end);

/* The first byte from `from` on that has not arrived and that the depot could
 * deliver; wanted.end if there is none. */
uint64_t xd_holders_work(const struct xd_book *b, unsigned depot,
                         uint64_t from);

/* Where the bytes end, counted from `byte`, that this depot without ranges
 * may deliver in one fetch, cuts being edges of its objects. */
uint64_t xd_holders_sole_end(const struct xd_book *b, unsigned depot,
                             uint64_t byte);

/* Whether a byte that has not arrived would have no depot left to deliver it
 * without this depot. */
bool xd_holders_is_needed(const struct xd_book *b, unsigned depot);

#endif
