/* SPDX-License-Identifier: MIT */
/*
 * The hash of the whole file in virtual time: where it is wrong, what follows is
 * decided by session/repair.h.
 *
 * Depots that lie hold the same other file, of which every byte is wrong.
 */
#ifndef XD_SIM_REPAIR_H
#define XD_SIM_REPAIR_H

#include "session/repair.h"

struct xd_run;

struct xd_sim_repair {
    struct xd_repair core;
    struct xd_rangeset wrong[2]; /* bytes of the file, and of the second copy */
};

void xd_sim_repair_start(struct xd_run *r);
void xd_sim_repair_fini(struct xd_sim_repair *p);

/* `depot` has delivered what is stored now.  May end the round. */
void xd_sim_repair_written(struct xd_run *r, struct xd_range range,
                           unsigned depot);

/* A depot can be asked for the whole file. */
void xd_sim_repair_joined(struct xd_run *r, unsigned depot);

/* Some byte cannot be had.  True: it was of a round, which ends. */
bool xd_sim_repair_gives_up(struct xd_run *r);

/* Of the driver: every byte is here; and no request may be left. */
void xd_sim_repair_check(void *run);
void xd_sim_repair_begin_round(void *run);

#endif
