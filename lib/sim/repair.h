/* SPDX-License-Identifier: MIT */
/*
 * Verifies the whole file in virtual time; if it is wrong, session/repair.h
 * decides what follows.
 *
 * All depots that lie hold the same wrong file, in which every byte differs.
 */
#ifndef XD_SIM_REPAIR_H
#define XD_SIM_REPAIR_H

#include "session/repair.h"

struct xd_run;

struct xd_sim_repair {
    struct xd_repair core;
    /* wrong bytes of the file and of the second copy */
    struct xd_rangeset wrong[2];
};

void xd_sim_repair_start(struct xd_run *r);
void xd_sim_repair_fini(struct xd_sim_repair *p);

/* Records that a range from `depot` is stored.  May end the round. */
void xd_sim_repair_written(struct xd_run *r, struct xd_range range,
                           unsigned depot);

/* Call when a depot can be asked for the whole file. */
void xd_sim_repair_joined(struct xd_run *r, unsigned depot);

/* Call when no depot can deliver some byte.  Returns true if that ends a
 * round. */
bool xd_sim_repair_gives_up(struct xd_run *r);

/* Callbacks of the driver (driver.h). */
void xd_sim_repair_check(void *run);
void xd_sim_repair_begin_round(void *run);

#endif
