/* SPDX-License-Identifier: MIT */
/*
 * A depot's file must stay the same while it is fetched.
 *
 * The validator of a source's first answer, which is opaque here, goes with each
 * later request as a condition, and is compared with
 * each later answer.  Where they differ the depot is asked for samples
 * (validator_check.h): a load balancer over equal files gives the same bytes under
 * several validators, which are ignored from then on.  A depot whose file has
 * changed is not used again, and what it sent and no hash has proved is
 * fetched again from others: bytes of two files are never put together.
 *
 * Only answers of one server are compared: a redirect to another server leads
 * to another replica, with validators of its own.  Where hashes find every
 * wrong byte (xd_verify_decides()) validators decide nothing, and a difference
 * is reported once.
 */
#ifndef XD_ENGINE_VALIDATORS_H
#define XD_ENGINE_VALIDATORS_H

#include <stdbool.h>

struct xd_depot;
struct xd_depot_source;
struct xd_engine;
struct xd_head;
struct xd_lane;
struct xd_url;

/* The validator that goes with a request for `s` at `url`, or NULL.  `s` may be
 * NULL. */
const char *xd_validators_if_range_locked(const struct xd_engine *e,
                                          const struct xd_depot_source *s,
                                          const struct xd_url *url);

/* What was said of the file of `s` before anything was fetched, at its own URL. */
void xd_validators_stated_locked(struct xd_depot_source *s,
                                 const char *validator);

/* What the answer on `lane` says: 0, or DIFFERENT, and then lane->outcome is
 * decided.  Called without the lock, before the first byte. */
int xd_validators_learned(struct xd_engine *e, struct xd_lane *lane,
                          const struct xd_head *head);

/* The answer to a request for a sample had this validator ("": none).  False: it
 * is of another file than others of the source, perhaps, and its answers are
 * compared; the sample says nothing of those.  Called with engine.lock held. */
bool xd_validators_sampled_locked(struct xd_engine *e, struct xd_depot *depot,
                                  struct xd_depot_source *s,
                                  const char *validator,
                                  const struct xd_url *final_url);

/*
 * The request on `lane`, of `depot`, has ended.  True: its outcome is open
 * while samples are compared; the depot's worker is woken when that is over,
 * and asks again.  False: lane->outcome holds; it is STOPPED where validators
 * turned out to mean nothing, and AGAIN where no sample could be had.
 */
bool xd_validators_wait_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_lane *lane);

/* Whether the request on `lane`, which has ended, found another file than an
 * earlier one. */
bool xd_validators_have_changed_locked(const struct xd_lane *lane);

#endif
