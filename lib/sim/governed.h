/* SPDX-License-Identifier: MIT */
/*
 * The governor of each depot (base/governor.h).  It decides when a request may
 * start and how many run at the same time.  The engine has one for each host.
 */
#ifndef XD_SIM_GOVERNED_H
#define XD_SIM_GOVERNED_H

#include "sched/sched.h"

struct xd_run;
struct xd_sim_request;

/* Creates the governors.  Returns 0 or NOMEM. */
int xd_sim_governed_start(struct xd_run *r);
void xd_sim_governed_fini(struct xd_run *r);

/* Tells the scheduler the new terms of all governors whose terms have
 * changed. */
void xd_sim_governed_tell(struct xd_run *r);

/* Returns 0 if the request may start, and counts it as running.  Otherwise
 * returns when to call it again. */
xd_usec xd_sim_governed_ask(struct xd_run *r, struct xd_sim_request *q);

/* Reports that bytes of the response have arrived. */
void xd_sim_governed_bytes(struct xd_run *r, struct xd_sim_request *q);

/* Reports the end of the request.  After a failure, q->retry_at is at least the
 * end of the back-off. */
void xd_sim_governed_end(struct xd_run *r, struct xd_sim_request *q,
                         enum xd_sched_event_kind kind);

#endif
