/* SPDX-License-Identifier: MIT */
/*
 * What of a file is looked at by an audit: cells, each of which is hashed by
 * itself.
 *
 *     pieces    |----0----|----1----|----2----|
 *     extents   |=====a=======)==========b====|
 *     cells     |----0----|-x-|--y--|----2----|
 *
 * A piece of which the manifest has a hash is a cell of each extent that holds
 * all of it.  Other bytes are cut where an extent begins or ends, so that the
 * replicas of all extents can be compared cell by cell.  Of samples there are a
 * few cells in each extent; of every byte there are as many as cover it.
 *
 * What lies behind the file, where there are no pieces, may be extents too
 * (audit_run.h).
 *
 * Pure.
 */
#ifndef XD_PUBLISH_AUDIT_CELLS_H
#define XD_PUBLISH_AUDIT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/range.h"

/* Of a sample where there are no pieces. */
#define XD_AUDIT_SAMPLE_BYTES ((uint64_t)64 << 10)

/* So many samples in an extent, or in each part of it that others share, unless
 * its pieces are so long that fewer come to XD_AUDIT_SAMPLED. */
#define XD_AUDIT_SAMPLES 8
#define XD_AUDIT_SAMPLED ((uint64_t)16 << 20)

/* So many beginnings and ends of extents leave so few parts that each has all of
 * these samples. */
#define XD_AUDIT_PARTS_FEW 8

/* Of a cell without a hash, when every byte is looked at: a mebibyte, or as much
 * as keeps the digests of a file below a megabyte for each replica. */
#define XD_AUDIT_CELL_LEAST ((uint64_t)1 << 20)
#define XD_AUDIT_CELLS_MOST 16384u

/* Of samples an extent has no more, however others cut it. */
#define XD_AUDIT_WITHIN_MOST 256

/* Cells of all extents together, each as often as it is in one: 128 MiB of
 * indices.  Extents of a mebibyte are a file of 16 TiB. */
#define XD_AUDIT_INDICES_MOST ((size_t)1 << 24)

#define XD_AUDIT_NO_PIECE UINT64_MAX

struct xd_audit_cell {
    struct xd_range at; /* bytes of the file */
    uint64_t piece;     /* its number; or XD_AUDIT_NO_PIECE */
};

/* The cells of one extent: indices into the list, ascending. */
struct xd_audit_extent {
    struct xd_range at; /* set by the caller */
    size_t first, n;    /* in `indices` */
};

struct xd_audit_cells {
    struct xd_audit_cell *list; /* by their beginning, then their end */
    size_t n, capacity;
    size_t *indices;
    size_t n_indices, indices_capacity;
    uint64_t *cuts; /* where an extent begins or ends, ascending */
    size_t n_cuts, n_cuts_of_file;
};

struct xd_audit_plan {
    uint64_t size;        /* of the file */
    uint64_t piece_bytes; /* 0: there are no hashes of pieces */
    uint64_t cell_bytes;  /* of cells without a hash; 0: as is best */
    size_t cells_most;    /* of all extents; 0: XD_AUDIT_INDICES_MOST */
    bool is_full;         /* every byte; else samples */
};

/*
 * Ownership: whatever it returns, release with xd_audit_cells_fini().
 * Errors:    NOMEM; INVAL: the extents overlap in so many ways that there would be
 *            more than `cells_most`.
 */
int xd_audit_cells_init(struct xd_audit_cells *c,
                        const struct xd_audit_plan *plan,
                        struct xd_audit_extent *extents, size_t n);
void xd_audit_cells_fini(struct xd_audit_cells *c);

/* The k-th cell of an extent. */
static inline const struct xd_audit_cell *xd_audit_cell_of(
    const struct xd_audit_cells *c, const struct xd_audit_extent *e, size_t k)
{
    return &c->list[c->indices[e->first + k]];
}

#endif
