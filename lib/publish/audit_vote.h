/* SPDX-License-Identifier: MIT */
/*
 * Decides which replicas of an audit are right, cell by cell.
 *
 *     cell with a hash      the hash decides
 *     cell without          replica 0: 1f..  \ most depots agree: right
 *                           replica 1: 1f..  /
 *                           replica 2: 07..    wrong
 *                           replica 0: 1f..  one against one: disputed
 *                           replica 1: 07..
 *                           replica 0: 1f..  alone: unknown
 *
 * A replica that matches the hash of its whole extent or of the file overrules
 * the majority.
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
    XD_CELL_READ, /* hashed, but not compared yet */
    XD_CELL_RIGHT,
    XD_CELL_WRONG,
    XD_CELL_DISPUTED /* the replicas differ, without a hash or a majority */
};

/* hex digits of SHA-256, which is used for comparisons */
#define XD_AUDIT_HEX 64

/* The results of one replica, for the cells of its extent. */
struct xd_audit_shown {
    const struct xd_url *url; /* URL of the replica; each depot has one vote */
    const struct xd_audit_extent *extent;
    unsigned char *states;             /* an xd_cell_state for each cell */
    char (*digests)[XD_AUDIT_HEX + 1]; /* digest of each READ cell */
    /* the whole replica matches its hash, so its READ cells are RIGHT */
    bool is_proved;
    bool is_refuted; /* the whole replica does not match its hash */
};

/*
 * Decides the state of each READ cell.  A refuted replica has no vote.  If it
 * has no WRONG cell, all its cells without a hash are WRONG.
 *
 * Errors: NOMEM.
 */
int xd_audit_vote(const struct xd_audit_cells *cells,
                  struct xd_audit_shown *shown, size_t n);

/* Adds the bytes of the cells in this state to `out`.  Errors: NOMEM. */
int xd_audit_bytes_in(const struct xd_audit_cells *cells,
                      const struct xd_audit_shown *shown,
                      enum xd_cell_state state, struct xd_rangeset *out);

#endif
