/* SPDX-License-Identifier: MIT */
/* What a heal makes: a copy for each replica that is bad, and on which hosts it must not
 * lie. */
#ifndef XD_PUBLISH_HEAL_PLAN_H
#define XD_PUBLISH_HEAL_PLAN_H

#include "publish/upload.h"

struct xd_audit;

/* All of it goes into the plan, and into u->heal, which knows what is bad.
 * Errors: NOMEM. */
int xd_heal_plan(struct xd_upload *u, const struct xd_audit *audit,
                 struct xd_error *err);

#endif
