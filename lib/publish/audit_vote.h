/* SPDX-License-Identifier: MIT */
/*
 * What the replicas of an audit have shown of each cell, and which of them is
 * right.
 *
 *     cell with a hash      it decides
 *     cell without          replica 0: 1f..  \ most depots have that: right
 *                           replica 1: 1f..  /
 *                           replica 2: 07..    wrong
 *                           replica 0: 1f..  one against one: in dispute
 *                           replica 1: 07..
 *                           replica 0: 1f..  alone: it shows nothing
 *
 * A replica that is proved as a whole, by the hash of its extent or of the file,
 * decides in the place of a majority.
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_VOTE_H
#define XD_PUBLISH_AUDIT_VOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/url.h"
#include "io/hash.h"
#include "publish/audit_cells.h"

enum xd_cell_state {
    XD_CELL_UNREAD,
    XD_CELL_READ, /* its digest is there, and nothing to compare it with */
    XD_CELL_RIGHT,
    XD_CELL_WRONG,
    XD_CELL_DISPUTED /* the replicas differ, and nothing decides */
};

#define XD_AUDIT_HEX 64 /* of SHA-256, which what is compared has */

/* What one replica has shown of the cells of its extent. */
struct xd_audit_shown {
    const struct xd_url *url; /* depots have one vote each */
    const struct xd_audit_extent *extent;
    unsigned char *states;             /* of each cell: an xd_cell_state */
    char (*digests)[XD_AUDIT_HEX + 1]; /* of those that are READ */
    bool is_proved;                    /* what it has READ is RIGHT */
    bool is_refuted; /* its bytes together do not match their hash */
};

/*
 * Decide what each READ cell is.  A refuted replica has no vote, and if
 * it has no WRONG cell, all its cells are WRONG that have no hash.
 * Errors: NOMEM.
 */
int xd_audit_vote(const struct xd_audit_cells *cells,
                  struct xd_audit_shown *shown, size_t n);

/* The bytes of the cells that are in this state.  Errors: NOMEM. */
int xd_audit_bytes_in(const struct xd_audit_cells *cells,
                      const struct xd_audit_shown *shown,
                      enum xd_cell_state state, struct xd_rangeset *out);

#endif
