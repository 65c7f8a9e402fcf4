/* SPDX-License-Identifier: MIT */
/*
 * An audit while it runs, and what it has found.
 *
 *     1  IBP depots are asked how long what they hold lives
 *     2  a file of unknown size: each replica is asked for its size, and that of
 *        most depots holds
 *     3  the cells of each replica are read and hashed
 *     4  votes, verdicts, sums (audit_sum.c)
 */
#ifndef XD_PUBLISH_AUDIT_RUN_H
#define XD_PUBLISH_AUDIT_RUN_H

#include <xdownload/audit.h>

#include "engine/options.h"
#include "io/hash.h"
#include "manifest/model.h"
#include "publish/audit_cells.h"
#include "publish/audit_reads.h"
#include "publish/audit_risk.h"
#include "publish/audit_verdict.h"
#include "publish/audit_vote.h"

struct xd_audit_replica {
    /* Constant. */
    const struct xd_url *url; /* the manifest's */
    size_t extent, depot;
    uint64_t object_offset, object_size; /* as the manifest has them */
    const struct xd_framing *framing;
    enum xd_reach reach;
    bool is_left_out;

    /* What answers say. */
    uint64_t stated_size;
    char *validator;
    int64_t modified;
    struct xd_audit_facts facts;
    uint64_t expires_at; /* seconds since 1970, or 0 */
    char *error;         /* of its first failure; or NULL */
    char *reason;        /* for its verdict; or NULL */
    enum xd_audit_verdict verdict;

    /* Its bytes. */
    const struct xd_audit_read *reading; /* in progress; or NULL */
    struct xd_audit_shown shown;
    uint64_t pos; /* the byte of the file that comes next */
    size_t cell;  /* in which it lies: its number in the extent */
    struct xd_hasher *hasher, *whole;
    bool is_whole_read;
    char whole_hex[XD_HASH_HEX_MAX + 1];
    uint64_t bytes_read, bytes_right;
    struct xd_rangeset wrong;
};

/* A shard of parity of which the manifest names a replica: an extent, too. */
struct xd_audit_shard {
    size_t stripe;
    unsigned number;
    const char *sha256;
    size_t first_replica, n_replicas; /* of all */
};

struct xd_audit_depot {
    char *name;
    const struct xd_url *url; /* of its first replica */
    double bytes_per_s;
};

struct xd_audit {
    /* Constant after begin(). */
    struct xd_manifest *manifest;
    const struct xd_model_file *model;
    size_t file;
    struct xd_options options;
    bool is_full;
    uint64_t cell_bytes; /* as in struct xd_audit_plan */
    uint64_t (*choose_cell_bytes)(uint64_t size); /* if that is 0; or NULL */
    const char *whole_with; /* the algorithm by which whole replicas are hashed;
                               NULL: they are not */
    const char *whole_hex;  /* the file's own; or NULL */
    struct xd_audit_replica *replicas; /* of the file, then of parity */
    size_t n, n_of_file;
    struct xd_audit_extent *extents; /* likewise: shards lie behind the file */
    size_t n_extents, n_extents_of_file;
    struct xd_audit_shard *shards; /* of the extents behind the file */
    size_t n_shards;
    uint64_t parity_end;             /* of the last of them */
    struct xd_audit_stripe *stripes; /* of the model */
    size_t n_stripes;
    struct xd_audit_depot *depots;
    struct xd_audit_line *lines; /* of each depot */
    size_t n_depots;

    /* Known once the size is. */
    uint64_t size;
    struct xd_audit_cells cells;
    const char *piece_algorithm; /* NULL: there are no pieces to compare with */

    bool has_no_memory; /* in a callback */
    bool is_line_down;
    struct xd_audit_risk risk;
    struct xd_rangeset scattered; /* see xd_audit_scattered() */
};

static inline bool xd_audit_is_parity(const struct xd_audit *a,
                                      const struct xd_audit_replica *r)
{
    return r->extent >= a->n_extents_of_file;
}

/* Of what a replica has, and of places in it: what lies before its shard, if it is of
 * parity. */
static inline uint64_t xd_audit_base(const struct xd_audit *a,
                                     const struct xd_audit_replica *r)
{
    return xd_audit_is_parity(a, r) ? a->extents[r->extent].at.begin : 0;
}

/* The hash of all that a replica has, if the manifest has one of just that. */
static inline const char *xd_audit_sha256(const struct xd_audit *a,
                                          const struct xd_audit_replica *r)
{
    return xd_audit_is_parity(a, r)
               ? a->shards[r->extent - a->n_extents_of_file].sha256
               : xd_model_sha256(a->model, r->extent);
}

/* An audit of which nothing is read yet; `cell_bytes` 0 is as is best, and
 * `whole_with` a hash that is wanted of each whole replica, or NULL.
 * Ownership: *out is the caller's, to release with xd_audit_free().
 * Errors:    INVAL, NOMEM. */
int xd_audit_begin(struct xd_audit **out, struct xd_manifest *m, size_t file,
                   bool is_full, uint64_t cell_bytes, const char *whole_with,
                   const struct xd_options *o, struct xd_error *err);

/* What was found of a replica, for a caller; 0, or INVAL for NULL. */
int xd_audit_copy_row(const struct xd_audit *a,
                      const struct xd_audit_replica *r, struct xd_audited *out);

/* The i-th run of a set, without the `base` before it; 0, or INVAL past the last. */
int xd_audit_run_of(const struct xd_rangeset *s, size_t i, uint64_t base,
                    uint64_t *out_begin, uint64_t *out_end);

/* Read, and conclude.  Blocks and errors: as xd_audit_new(). */
int xd_audit_run(struct xd_audit *a, struct xd_error *err);

/* From what was read: votes, verdicts, sums.  Errors: NOMEM. */
int xd_audit_conclude(struct xd_audit *a);

/* The handler that hashes what comes; its user is the audit. */
extern const struct xd_audit_handler xd_audit_hashing;

#endif
