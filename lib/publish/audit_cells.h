/* SPDX-License-Identifier: MIT */
/*
 * Divides a file into the cells that an audit reads and hashes.
 *
 *     pieces    |----0----|----1----|----2----|
 *     extents   |=====a=======)==========b====|
 *     cells     |----0----|-x-|--y--|----2----|
 *
 * A piece with a hash in the manifest is a cell of each extent that contains
 * all of it.  Other bytes are cut at the begin and end of each extent, so that
 * all replicas can be compared cell by cell.  A sampling audit uses a few cells
 * of each extent, a full audit as many cells as cover the extent.
 *
 * Extents may also be after the end of the file, where there are no pieces
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

/* Length in bytes of a sample where there are no pieces. */
#define XD_AUDIT_SAMPLE_BYTES ((uint64_t)64 << 10)

/* Number of samples in an extent.  If extents overlap, each part between two
 * extent borders gets this number.  If pieces are long, the number is lower, so
 * that all samples together have at most XD_AUDIT_SAMPLED bytes. */
#define XD_AUDIT_SAMPLES 8
#define XD_AUDIT_SAMPLED ((uint64_t)16 << 20)

/* If extents begin and end at no more than this number of positions, each part
 * of the file gets XD_AUDIT_SAMPLES samples.  Otherwise each part gets two. */
#define XD_AUDIT_PARTS_FEW 8

/* Shortest cell without a hash in a full audit, in bytes, and the largest
 * number of such cells in a file.  With this number of cells, the digests of a
 * replica take about 1 MB. */
#define XD_AUDIT_CELL_LEAST ((uint64_t)1 << 20)
#define XD_AUDIT_CELLS_MOST 16384u

/* Largest number of samples in an extent, even if overlapping extents divide it
 * into many parts. */
#define XD_AUDIT_WITHIN_MOST 256

/* Largest number of cells of all extents.  A cell counts once for each extent
 * that contains it.  The indices then take 128 MiB.  With extents of 1 MiB, the
 * limit allows a file of 16 TiB. */
#define XD_AUDIT_INDICES_MOST ((size_t)1 << 24)

#define XD_AUDIT_NO_PIECE UINT64_MAX

struct xd_audit_cell {
    struct xd_range at; /* bytes of the file */
    uint64_t piece;     /* number of the piece, or XD_AUDIT_NO_PIECE */
};

/* The cells of an extent, as ascending indices into the list of cells. */
struct xd_audit_extent {
    struct xd_range at; /* range of the extent; set by the caller */
    size_t first, n;    /* first index and number of indices, in `indices` */
};

struct xd_audit_cells {
    struct xd_audit_cell *list; /* sorted by begin, then by end */
    size_t n, capacity;
    size_t *indices;
    size_t n_indices, indices_capacity;
    uint64_t *cuts; /* positions at which extents begin or end, ascending */
    size_t n_cuts, n_cuts_of_file;
};

struct xd_audit_plan {
    uint64_t size;        /* bytes of the file */
    uint64_t piece_bytes; /* length of a piece; 0: no hashes of pieces */
    uint64_t cell_bytes;  /* length of a cell without a hash; 0: chosen here */
    size_t cells_most; /* largest number of cells; 0: XD_AUDIT_INDICES_MOST */
    bool is_full;      /* true: all bytes; false: samples */
};

/*
 * Computes the cells of the extents.
 * Ownership: call xd_audit_cells_fini() whatever it returns.
 * Errors:    NOMEM; INVAL if the extents overlap in too many ways, so that more
 *            than `cells_most` cells would be needed.
 */
int xd_audit_cells_init(struct xd_audit_cells *c,
                        const struct xd_audit_plan *plan,
                        struct xd_audit_extent *extents, size_t n);
void xd_audit_cells_fini(struct xd_audit_cells *c);

/* Returns the k-th cell of an extent. */
static inline const struct xd_audit_cell *xd_audit_cell_of(
    const struct xd_audit_cells *c, const struct xd_audit_extent *e, size_t k)
{
    return &c->list[c->indices[e->first + k]];
}

#endif
