/* SPDX-License-Identifier: MIT */
/*
 * Which depots get a line of their own, and in which order.  Pure.
 */
#ifndef CLI_CAST_H
#define CLI_CAST_H

#include <stdbool.h>

#include "common/snapshot.h"

struct cast {
    const struct snapshot_depot **depots; /* into the snapshot */
    size_t n;                             /* 0 also where there is no memory */
    unsigned longest;                     /* of their host names, in columns */
};

/* Those of `s` of which has_part() is true, by what they have given; those
 * that failed are the last. */
void cast_init(struct cast *c, const struct snapshot *s,
               bool (*has_part)(const struct snapshot_depot *));
void cast_fini(struct cast *c);

#endif
