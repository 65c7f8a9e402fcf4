/* SPDX-License-Identifier: MIT */
/*
 * Fetches parity in place of data, in virtual time, as engine/coded.h does in a
 * real download.  session/stand_in.h decides which depots are asked for parity.
 * session/stripes.h decides when a stripe is decoded.  In the simulation,
 * decoding takes no time.
 *
 * Without a code there are no stripes, and these functions do nothing.  If
 * memory runs out, the run ends (xd_run_out_of_memory()).
 */
#ifndef XD_SIM_CODED_H
#define XD_SIM_CODED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

struct xd_run;
struct xd_sched_action;

/* Returns 0 or NOMEM.  Call fini() in any case. */
int xd_sim_coded_start(struct xd_run *r);
void xd_sim_coded_fini(struct xd_run *r);

enum xd_sim_coded_kind {
    XD_SIM_IS_DATA,
    XD_SIM_IS_PARITY,
    /* The parity is reserved for other shards, or already replaces one.  Do not
     * send the request; end it as canceled (XD_EV_CANCELED). */
    XD_SIM_IS_KEPT
};

/* Call for a new request.  While a parity request runs, its depot is not asked
 * for data at the same positions in other shards. */
enum xd_sim_coded_kind xd_sim_coded_begin(struct xd_run *r,
                                          const struct xd_sched_action *a);

/* Records that parity from the request is stored in place of `range`, bytes of
 * the file.  The request must have claimed them in the ledger. */
void xd_sim_coded_stored(struct xd_run *r, unsigned fetch,
                         struct xd_range range);

/* Call when any request, for parity or data, has ended and the scheduler was
 * told.  `byte` is the first byte that was requested. */
void xd_sim_coded_ended(struct xd_run *r, unsigned fetch, uint64_t byte);

/* Decodes the stripes that are ready, and bans depots whose parity was wrong.
 * If even one of them sent wrong parity, all stored parity of that stripe is
 * dropped, and the stripe is not decoded. */
void xd_sim_coded_decode(struct xd_run *r);

/* Marks the bytes that undecoded parity of a banned depot replaced as
 * missing. */
void xd_sim_coded_drop(struct xd_run *r, unsigned depot);

/* Call when bytes of the range, or parity that replaces them, are stored. */
void xd_sim_coded_written(struct xd_run *r, struct xd_range range);

/* Lets depots with parity deliver the late shards of stripes.  Also allows
 * requests that were refused (XD_SIM_IS_KEPT) again after a while.  Returns
 * when to call it again. */
xd_usec xd_sim_coded_watch(struct xd_run *r);

/* Call when no depot can be asked for the byte and coming() returned an empty
 * range.  Frees parity for it, if possible: parity that was reserved for other
 * shards, or that replaced data which depots still have.  Returns true if
 * parity for the byte can be requested now. */
bool xd_sim_coded_spares(struct xd_run *r, uint64_t byte);

/* Callback of the driver.  Returns the first part of the range that running
 * parity requests may make available; empty if there is none. */
struct xd_range xd_sim_coded_coming(void *run, struct xd_range range);

#endif
