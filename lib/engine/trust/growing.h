/* SPDX-License-Identifier: MIT */
/*
 * Handles files that grow while they are downloaded, such as logs.
 *
 * If there is no hash and the manifest states no size, the first response
 * defines the size of the file.  If a later response states a larger size, the
 * range delivered last is requested again and compared.  If its bytes are the
 * same, longer versions of the object are accepted from then on, and
 * validators are ignored because they differ for each length.  Otherwise the
 * file was replaced (validators.h).
 *
 * For a pipe, the last bytes written are kept for this comparison.
 */
#ifndef XD_ENGINE_GROWING_H
#define XD_ENGINE_GROWING_H

#include <stdbool.h>

struct xd_depot;
struct xd_engine;
struct xd_lane;
struct xd_source_check;

/* Works as xd_validators_wait_locked(), for a response that states a larger
 * size.  lane->outcome becomes STOPPED if the file grows, or AGAIN if nothing
 * could be compared. */
bool xd_growing_waits_locked(struct xd_engine *e, struct xd_depot *depot,
                             struct xd_lane *lane);

/* Returns true if the response on `lane` states a larger size and no byte of
 * the file has been received yet, so that there is nothing to compare. */
bool xd_growing_has_none_locked(const struct xd_engine *e,
                                const struct xd_depot *depot,
                                const struct xd_lane *lane);

/* Compares the range.  Called by the sampler's thread only; releases the lock
 * meanwhile. */
void xd_growing_compare_locked(struct xd_engine *e, struct xd_source_check *k);

#endif
