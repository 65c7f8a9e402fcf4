/* SPDX-License-Identifier: MIT */
/*
 * Ensures that a depot's file does not change during the download.
 *
 * The validator in a source's first response is sent as a condition with each
 * later request, and compared with each later response.  If they differ,
 * samples are requested from the depot (validator_check.h).  A load balancer
 * whose servers have equal files returns the same bytes under several
 * validators, which are then ignored.  A depot whose file has changed is not
 * used again.  Bytes from it that no hash has proved are fetched again from
 * other depots, so that bytes of two files are never mixed.
 *
 * Only responses of one server are compared.  A redirect to another server
 * leads to another replica, with its own validators.  If hashes find every
 * wrong byte (xd_verify_decides()), validators are not enforced, and a
 * difference is reported once.
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

/* Returns the validator to send with a request for `s` at `url`, or NULL.  `s`
 * may be NULL. */
const char *xd_validators_if_range_locked(const struct xd_engine *e,
                                          const struct xd_depot_source *s,
                                          const struct xd_url *url);

/* Stores the validator that inspection received for the URL of `s` before the
 * download. */
void xd_validators_stated_locked(struct xd_depot_source *s,
                                 const char *validator);

/* Compares the validator of the response on `lane`.  Returns 0, or DIFFERENT
 * with lane->outcome set.  Call it without the lock, before the first byte. */
int xd_validators_learned(struct xd_engine *e, struct xd_lane *lane,
                          const struct xd_head *head);

/* Compares the validator of a sample ("": none).  Returns false if the sample
 * may belong to another file than the responses of the source.  Then a check
 * starts, and the sample must not be used.  Called with engine.lock held. */
bool xd_validators_sampled_locked(struct xd_engine *e, struct xd_depot *depot,
                                  struct xd_depot_source *s,
                                  const char *validator,
                                  const struct xd_url *final_url);

/*
 * Call it when the request on `lane` of `depot` has ended.  Returns true if its
 * outcome depends on a check that is running.  When the check has ended, the
 * depot's worker is woken and calls this again.  Returns false if lane->outcome
 * is final.  The outcome becomes STOPPED if the validators have turned out to
 * be meaningless, and AGAIN if no sample could be fetched.
 */
bool xd_validators_wait_locked(struct xd_engine *e, struct xd_depot *depot,
                               struct xd_lane *lane);

/* Returns true if the request on `lane`, which has ended, found another file
 * than earlier requests. */
bool xd_validators_have_changed_locked(const struct xd_lane *lane);

#endif
