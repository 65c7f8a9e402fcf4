/* SPDX-License-Identifier: MIT */
/*
 * Parity in the place of data that no depot delivers.
 *
 * For the scheduler a depot with parity holds all data of the stripe, in the last
 * tier: it is asked once every depot that holds a byte fails, or is silent.  What
 * such a request delivers goes to the sink where the data belongs, and stays claimed
 * until the keeper decodes the stripe there (decode.h).  A shard of parity takes the
 * place of one shard at each position, so the depot is LOST to the scheduler for the
 * others meanwhile: session/stand_in.h decides on that.
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
    bool was_refetched; /* data of it that nothing proves was fetched anew */
    unsigned
        n_left; /* when it was given up as too many shards are lost: those that
                        were not; else 0 */
};

struct xd_coded {
    struct xd_stripes stripes;
    struct xd_coded_stripe *of; /* each of them */
};

/* Once what is wanted is known, and before the scheduler is made: which stripes can
 * be of use.  Errors: NOMEM. */
int xd_coded_start_locked(struct xd_engine *e, struct xd_error *err);
void xd_coded_fini(struct xd_coded *c);

/* A request of this lane was decided on.  If it is for parity it ends with its shard,
 * and the depot is not asked for others at these positions.  Returns whether it
 * is. */
bool xd_coded_fetch_locked(struct xd_engine *e, struct xd_depot *depot,
                           struct xd_lane *lane);

/* What such a request asks its depot for; NULL: that is gone. */
struct xd_depot_source *xd_coded_source_locked(const struct xd_depot *depot,
                                               const struct xd_lane *lane);

/* Parity of that lane, which claimed the range, is in its place. */
void xd_coded_stored_locked(struct xd_engine *e, const struct xd_lane *lane,
                            struct xd_range range);

/* Bytes are stored, or proved, or parity is in their place. */
void xd_coded_written_locked(struct xd_engine *e, struct xd_range range);

/* From when on the last shards of a stripe are late depots with parity hold them as
 * their own do; what was refused can be asked for again a while later.  Returns when
 * it is to be called again. */
xd_usec xd_coded_watch_locked(struct xd_engine *e);

/* The request has ended, and the scheduler knows that. */
void xd_coded_ended_locked(struct xd_engine *e, const struct xd_lane *lane);

/* The source is gone, and the scheduler knows that the depot has nothing there any
 * more; other parity that it has can be asked for. */
void xd_coded_source_lost_locked(struct xd_engine *e,
                                 const struct xd_depot *depot,
                                 const struct xd_depot_source *s);

/* What is not decoded of a depot, which was banned, is missing again. */
void xd_coded_drop_depot_locked(struct xd_engine *e, unsigned depot);

/* Bytes are fetched for a second time, and compared, when no request runs: parity
 * is not used any more. */
void xd_coded_stop_locked(struct xd_engine *e);

/* That shard of parity of the stripe, or 0: all parity of it, is of no use: no depot
 * is asked for any more of it. */
void xd_coded_give_up_locked(struct xd_engine *e, size_t stripe,
                             unsigned parity);

/* No depot can be asked for the range.  Whether requests for parity that run may yet
 * leave some for its first byte: then all else goes on. */
bool xd_coded_may_come_locked(struct xd_engine *e, struct xd_range range);

/* Nor is any coming: whether some can be asked for now in the place of the byte. */
bool xd_coded_spares_locked(struct xd_engine *e, uint64_t byte);

/* The byte cannot be had: nor can what of its stripe has come as parity.  Whether some
 * had. */
bool xd_coded_fail_locked(struct xd_engine *e, uint64_t byte);

/* Of the stripe that has the byte: how many of its shards are here, or may be had;
 * and *out the stripe.  Without one 0, and *out is NULL. */
unsigned xd_coded_n_left_locked(const struct xd_engine *e, uint64_t byte,
                                const struct xd_model_stripe **out);

/* The range out to the edges of stripes of which some has come as parity: the rest of
 * them is needed as well. */
struct xd_range xd_coded_widen(const struct xd_engine *e, struct xd_range r);

/* The data of the first stripe within `r`, of which a byte has not been proved: what
 * is here of it may be needed. */
struct xd_range xd_coded_unfinished(const struct xd_engine *e,
                                    struct xd_range r);

/* Parity that is in the place of data outside of `safe` is not needed any more: where
 * that was, run by run; empty: there is none. */
struct xd_range xd_coded_leave_locked(struct xd_engine *e,
                                      const struct xd_rangeset *safe);

#endif
