/* SPDX-License-Identifier: MIT */
/*
 * Finds out why two responses of one depot had different validators: the file
 * has changed, or several servers with the same file share one host name.
 *
 * A few places of the file are sampled, each on a new connection, because many
 * load balancers choose a server per connection.  A file that has changed
 * keeps its new validator, whereas a load balancer returns different ones
 * again.  If the bytes under different validators are equal, the servers have
 * the same file.
 *
 * The sampler's thread (sampler_ask.h) sends the requests.  Every function is
 * called with engine.lock held.
 */
#ifndef XD_ENGINE_VALIDATOR_CHECK_H
#define XD_ENGINE_VALIDATOR_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct xd_depot;
struct xd_depot_source;
struct xd_engine;

/* Starts a check of `s`, a source of `depot`.  When it has ended, s->validators
 * has the result.  `sought` is the hash of a validator that at least one sample
 * must have, or 0. */
void xd_validator_check_begin_locked(struct xd_engine *e,
                                     struct xd_depot *depot,
                                     struct xd_depot_source *s,
                                     uint64_t sought);

/* Returns a hash of the validator that is never 0. */
uint64_t xd_validator_hash(const char *validator);

/* Returns true if the validators of the source vary, but it was not sampled
 * under the validator with this hash.  A server with another file may have
 * joined. */
bool xd_validator_is_new(const struct xd_depot_source *s, uint64_t hash);

/* can_work() returns true if a source must be checked; work() checks it and
 * releases the lock meanwhile.  Called by the sampler's thread only. */
bool xd_validator_check_can_work_locked(const struct xd_engine *e);
void xd_validator_check_work_locked(struct xd_engine *e);

#endif
