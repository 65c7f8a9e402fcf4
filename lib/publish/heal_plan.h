/* SPDX-License-Identifier: MIT */
/* Plans a heal: one new copy for each bad replica, and which hosts must not get
 * that copy. */
#ifndef XD_PUBLISH_HEAL_PLAN_H
#define XD_PUBLISH_HEAL_PLAN_H

#include "publish/upload.h"

struct xd_audit;

/* Adds the copies to the plan, and fills u->heal with the bad replicas. Errors:
 * NOMEM. */
int xd_heal_plan(struct xd_upload *u, const struct xd_audit *audit,
                 struct xd_error *err);

#endif
