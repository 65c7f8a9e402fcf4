/* SPDX-License-Identifier: MIT */
#include "sched/policy.h"

#include <string.h>

static const struct xd_policy *const policies[] = {
    &xd_policy_adaptive,   &xd_policy_adaptive2, &xd_policy_basic,
    &xd_policy_aggressive, &xd_policy_progress,
};

const struct xd_policy *xd_policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}
