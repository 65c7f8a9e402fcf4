/* SPDX-License-Identifier: MIT */
/*
 * Queries about which depot holds which bytes, for sched.c and next.c.
 *
 * A depot *could deliver* a byte if it is not dropped, holds the byte and
 * supports ranges.  A depot without ranges could deliver it only if no depot
 * that could has delivered a byte before.  A depot of last resort could deliver
 * it only if no other depot could.
 */
#ifndef XD_SCHED_HOLDERS_H
#define XD_SCHED_HOLDERS_H

#include "sched/policy.h"

/* Further requirements on a depot, to be combined with |. */
#define XD_NEED_OPEN 1U
#define XD_NEED_RESERVE 2U
#define XD_NEED_AWAKE 4U

/*
 * Finds the first depot by preference that meets `need` and could deliver
 * `byte`.  Among depots in reserve, those that have not failed yet come first.
 *
 * Returns n_depots if there is none.  Otherwise sets *out_end to the end of the
 * run of bytes with the same answer.
 */
unsigned xd_holders_deliverer(const struct xd_book *b, unsigned need,
                              uint64_t byte, uint64_t *out_end);

/* Returns the first missing byte at or after `from` that the depot could
 * deliver, or wanted.end. */
uint64_t xd_holders_work(const struct xd_book *b, unsigned depot,
                         uint64_t from);

/* Returns the end of the bytes, starting at `byte`, that this depot without
 * ranges may deliver in one fetch.  Its objects end at cuts. */
uint64_t xd_holders_sole_end(const struct xd_book *b, unsigned depot,
                             uint64_t byte);

/* Returns whether some missing byte could be delivered by no depot but this
 * one. */
bool xd_holders_is_needed(const struct xd_book *b, unsigned depot);

#endif
