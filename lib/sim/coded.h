/* SPDX-License-Identifier: MIT */
/*
 * Parity in the place of data that no depot delivers, as engine/coded.h has it, in
 * virtual time: session/stand_in.h decides which depots are asked for it, and
 * session/stripes.h when a stripe is decoded, which takes no time.
 *
 * Without a code there are no stripes, and nothing happens here.
 */
#ifndef XD_SIM_CODED_H
#define XD_SIM_CODED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/range.h"
#include "base/time.h"

struct xd_run;
struct xd_sched_action;

/* 0 or NOMEM; fini() in any case. */
int xd_sim_coded_start(struct xd_run *r);
void xd_sim_coded_fini(struct xd_run *r);

enum xd_sim_coded_kind {
    XD_SIM_IS_DATA,
    XD_SIM_IS_PARITY,
    XD_SIM_IS_KEPT /* parity that others need: it ends before it begins */
};

/* A request was decided on.  Of parity its depot is not asked for any more at these
 * positions. */
enum xd_sim_coded_kind xd_sim_coded_begin(struct xd_run *r,
                                          const struct xd_sched_action *a);

/* Parity of that request, which claimed the range, is in its place. */
void xd_sim_coded_stored(struct xd_run *r, unsigned fetch,
                         struct xd_range range);

/* The request, which was for that byte, has ended, and the scheduler knows that. */
void xd_sim_coded_ended(struct xd_run *r, unsigned fetch, uint64_t byte);

/* Decodes what can be; bans depots of which parity turns out to be wrong. */
void xd_sim_coded_decode(struct xd_run *r);

/* What is not decoded of a depot, which was banned, is missing again. */
void xd_sim_coded_drop(struct xd_run *r, unsigned depot);

/* Bytes are stored, or parity in their place. */
void xd_sim_coded_written(struct xd_run *r, struct xd_range range);

/* From when on the last shards of a stripe are late depots with parity hold them as
 * their own do.  Returns when it is to be called again. */
xd_usec xd_sim_coded_watch(struct xd_run *r);

/* No depot can be asked for the byte: whether parity can be now that was kept for
 * others, or taken from the place of data that depots still hold. */
bool xd_sim_coded_spares(struct xd_run *r, uint64_t byte);

/* For how much of the range, from its beginning, the requests for parity that run may
 * yet leave some.  Of the driver. */
struct xd_range xd_sim_coded_coming(void *run, struct xd_range range);

#endif
