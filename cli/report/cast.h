/* SPDX-License-Identifier: MIT */
/*
 * Selects and sorts the depots that get a line in the display.  Pure.
 */
#ifndef CLI_CAST_H
#define CLI_CAST_H

#include <stdbool.h>

#include "common/snapshot.h"

struct cast {
    const struct snapshot_depot **depots; /* pointers into the snapshot */
    size_t n;         /* number of depots; also 0 if memory ran out */
    unsigned longest; /* length of the longest host name, in columns */
};

/* Selects the depots for which has_part() returns true.  Sorts them by bytes
 * delivered.  Failed depots come last. */
void cast_init(struct cast *c, const struct snapshot *s,
               bool (*has_part)(const struct snapshot_depot *));
void cast_fini(struct cast *c);

#endif
