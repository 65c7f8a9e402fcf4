/* SPDX-License-Identifier: MIT */
/*
 * Two answers of one depot had different validators: has its file changed, or
 * do several servers with equal files answer under one name?
 *
 * Samples of a few places of the file are asked for, each over a connection of
 * its own, since many load balancers choose a server for each connection.  A
 * file that has changed has its new validator from then on; a load balancer
 * gives different ones again.  It holds one file if the bytes under different
 * validators are the same.
 *
 * The sampler's thread (sampler_ask.h) does the asking.  Every function is
 * called with engine.lock held.
 */
#ifndef XD_ENGINE_VALIDATOR_CHECK_H
#define XD_ENGINE_VALIDATOR_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct xd_depot;
struct xd_depot_source;
struct xd_engine;

/* Have the answers of `s`, a source of `depot`, compared; its `validators` says
 * what came out.  `sought`: the hash of a validator that is to be among them, or
 * 0. */
void xd_validator_check_begin_locked(struct xd_engine *e,
                                     struct xd_depot *depot,
                                     struct xd_depot_source *s,
                                     uint64_t sought);

/* Never 0. */
uint64_t xd_validator_hash(const char *validator);

/* Whether the source, whose validators vary, has not been compared under the one
 * with this hash: a server with another file may have joined. */
bool xd_validator_is_new(const struct xd_depot_source *s, uint64_t hash);

/* Whether a source is to be decided on, and the doing: releases the lock
 * meanwhile.  Only the sampler's thread calls these. */
bool xd_validator_check_can_work_locked(const struct xd_engine *e);
void xd_validator_check_work_locked(struct xd_engine *e);

#endif
