/* SPDX-License-Identifier: MIT */
/*
 * Requests for parity in place of data that no depot delivers.
 *
 * The scheduler treats a depot with parity as if it held all data of the
 * stripe, in the last tier.  So this depot is used only when every depot that
 * holds a byte has failed or is silent.  The parity is written where the
 * missing data belongs, and its bytes stay claimed until the keeper decodes the
 * stripe in place (decode.h).
 *
 * A parity shard can replace only one data shard at each position.  Meanwhile
 * the scheduler is told that the depot does not hold the other shards there
 * (session/stand_in.h).
 *
 * Every function is called with engine.lock held.
 */
#ifndef XD_ENGINE_CODED_H
#define XD_ENGINE_CODED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/range.h"
#include "session/stripes.h"

struct xd_depot;
struct xd_depot_source;
struct xd_engine;
struct xd_error;
struct xd_lane;
struct xd_model_stripe;

struct xd_coded_stripe {
    const struct xd_model_stripe *model;
    bool was_refetched; /* unverified data of the stripe was fetched again */
    unsigned
        n_left; /* if the stripe was given up because too many shards were lost:
                   number of shards that were left; else 0 */
};

struct xd_coded {
    struct xd_stripes stripes;
    struct xd_coded_stripe *of; /* an entry for each stripe */
};

/* Finds the stripes that may be useful.  Call it when e->wanted is known,
 * before the scheduler is created.  Errors: NOMEM. */
int xd_coded_start_locked(struct xd_engine *e, struct xd_error *err);
void xd_coded_fini(struct xd_coded *c);

/* Call it when a request was assigned to the lane.  Returns true if it is for
 * parity.  Such a request is cut at the end of its shard, and the depot is not
 * asked for other shards at these positions. */
bool xd_coded_fetch_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_lane *lane);

/* Returns the parity source for that request; NULL if it is gone. */
struct xd_depot_source *xd_coded_source_locked(const struct xd_depot *depot,
                                               const struct xd_lane *lane);

/* Call it when the parity in `range`, which `lane` had claimed, was written in
 * place of the data. */
void xd_coded_stored_locked(struct xd_engine *e, const struct xd_lane *lane,
                            struct xd_range range);

/* Call it when bytes were stored or verified, or parity was written in their
 * place. */
void xd_coded_written_locked(struct xd_engine *e, struct xd_range range);

/* Lets depots with parity serve stripes whose last shards are late, and retries
 * parity that was refused a while ago.  Returns when to call it again. */
xd_usec xd_coded_watch_locked(struct xd_engine *e);

/* Call it when the request on `lane` has ended and the scheduler was
 * informed. */
void xd_coded_ended_locked(struct xd_engine *e, const struct xd_lane *lane);

/* Gives up a source, because of `why`.  Reports its bytes to the scheduler as
 * lost, unless another source of the depot holds them. */
void xd_coded_lose_source_locked(struct xd_engine *e, struct xd_depot *depot,
                                 struct xd_depot_source *source,
                                 const struct xd_error *why);

/* Marks parity of a banned depot that is not decoded yet as missing again. */
void xd_coded_drop_depot_locked(struct xd_engine *e, unsigned depot);

/* Stops using parity, because a repair now fetches bytes a second time to
 * compare them.  No request may be running. */
void xd_coded_stop_locked(struct xd_engine *e);

/* Stops using a parity shard of the stripe on all depots.  `parity` is its
 * number, or 0 for all parity of the stripe. */
void xd_coded_give_up_locked(struct xd_engine *e, size_t stripe,
                             unsigned parity);

/* Call it when no depot is left for the range.  Returns true if running
 * requests for parity may still replace its first byte.  The scheduler then
 * postpones the range and continues with other bytes. */
bool xd_coded_may_come_locked(struct xd_engine *e, struct xd_range range);

/* Call it when xd_coded_may_come_locked() has returned false.  Returns true if
 * parity can be requested now in place of the byte. */
bool xd_coded_spares_locked(struct xd_engine *e, uint64_t byte);

/* Gives up the stripe with the byte, including data that was received as
 * parity.  Returns true if there was any. */
bool xd_coded_fail_locked(struct xd_engine *e, uint64_t byte);

/* Returns how many shards of the stripe with the byte have arrived or can be
 * fetched, and sets *out to the stripe.  Returns 0 and sets *out to NULL if the
 * byte is in no stripe. */
unsigned xd_coded_n_left_locked(const struct xd_engine *e, uint64_t byte,
                                const struct xd_model_stripe **out);

/* Extends the range to the edges of stripes that were partly received as
 * parity, because decoding needs whole stripes. */
struct xd_range xd_coded_widen(const struct xd_engine *e, struct xd_range r);

/* Returns the range of the stripe that contains r.begin, because decoding may
 * need all of it.  Empty if `r` is empty, if the byte is in no stripe, or if
 * the data is complete. */
struct xd_range xd_coded_unfinished(const struct xd_engine *e,
                                    struct xd_range r);

/* Gives up parity that was received in place of data outside of `safe`, in one
 * range.  Returns that range.  Call it again until it returns an empty
 * range. */
struct xd_range xd_coded_leave_locked(struct xd_engine *e,
                                      const struct xd_rangeset *safe);

#endif
