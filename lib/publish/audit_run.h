/* SPDX-License-Identifier: MIT */
/*
 * An audit in progress and its results.
 *
 *     1  ask IBP depots how long their allocations live
 *     2  if the size of the file is unknown, ask each replica; the size that
 *        most depots state is used
 *     3  read and hash the cells of each replica
 *     4  votes, verdicts, sums (audit_sum.c)
 */
#ifndef XD_PUBLISH_AUDIT_RUN_H
#define XD_PUBLISH_AUDIT_RUN_H

#include <xdpublish/audit.h>

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
    const struct xd_url *url; /* owned by the manifest */
    size_t extent, depot;
    /* in bytes, as stated in the manifest */
    uint64_t object_offset, object_size;
    const struct xd_framing *framing;
    enum xd_reach reach;
    bool is_left_out;

    /* Values from the responses. */
    uint64_t stated_size;
    char *validator;
    int64_t modified;
    struct xd_audit_facts facts;
    uint64_t expires_at; /* expiry time in seconds since 1970, or 0 */
    char *error;         /* message of the first failed read, or NULL */
    char *reason;        /* reason of the verdict, or NULL */
    enum xd_audit_verdict verdict;

    /* The bytes read so far. */
    const struct xd_audit_read *reading; /* the read in progress, or NULL */
    struct xd_audit_shown shown;
    uint64_t pos; /* offset in the file of the next byte */
    size_t cell;  /* index, within the extent, of the cell at `pos` */
    struct xd_hasher *hasher, *whole;
    bool is_whole_read;
    char whole_hex[XD_HASH_HEX_MAX + 1];
    uint64_t bytes_read, bytes_right;
    struct xd_rangeset wrong;
};

/* A parity shard with a replica in the manifest.  It is treated like an
 * extent. */
struct xd_audit_shard {
    size_t stripe;
    unsigned number;
    const char *sha256;
    size_t first_replica, n_replicas; /* indices into all replicas */
};

struct xd_audit_depot {
    char *name;
    const struct xd_url *url; /* URL of its first replica */
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
    /* chooses the cell length if cell_bytes is 0; or NULL */
    uint64_t (*choose_cell_bytes)(uint64_t size);
    /* algorithm for hashes of whole replicas; NULL: do not compute them */
    const char *whole_with;
    const char *whole_hex; /* hash of the file from the manifest, or NULL */
    /* first the replicas of the file, then the replicas of parity */
    struct xd_audit_replica *replicas;
    size_t n, n_of_file;
    /* extents in the same order; shards are placed after the end of the file */
    struct xd_audit_extent *extents;
    size_t n_extents, n_extents_of_file;
    /* the parity shards, which are extents after the end of the file */
    struct xd_audit_shard *shards;
    size_t n_shards;
    uint64_t parity_end;             /* position after the last shard */
    struct xd_audit_stripe *stripes; /* from the model */
    size_t n_stripes;
    struct xd_audit_depot *depots;
    struct xd_audit_line *lines; /* one entry for each depot */
    size_t n_depots;

    /* bytes of the file; XD_SIZE_UNKNOWN until the manifest or most depots
     * state it */
    uint64_t size;
    struct xd_audit_cells cells;
    /* algorithm of the piece hashes; NULL: the manifest has no piece hashes to
     * use */
    const char *piece_algorithm;

    bool has_no_memory; /* set in callbacks */
    bool is_line_down;
    struct xd_audit_risk risk;
    struct xd_rangeset scattered; /* see xd_audit_scattered() */
};

static inline bool xd_audit_is_parity(const struct xd_audit *a,
                                      const struct xd_audit_replica *r)
{
    return r->extent >= a->n_extents_of_file;
}

/* Returns the offset of the replica's shard if it is parity, otherwise 0.
 * Subtract it from positions in the replica's extent. */
static inline uint64_t xd_audit_base(const struct xd_audit *a,
                                     const struct xd_audit_replica *r)
{
    return xd_audit_is_parity(a, r) ? a->extents[r->extent].at.begin : 0;
}

/* Returns the SHA-256 that the manifest has for exactly the bytes of this
 * replica, or NULL. */
static inline const char *xd_audit_sha256(const struct xd_audit *a,
                                          const struct xd_audit_replica *r)
{
    return xd_audit_is_parity(a, r)
               ? a->shards[r->extent - a->n_extents_of_file].sha256
               : xd_model_sha256(a->model, r->extent);
}

/*
 * Prepares an audit without reading anything.  If `cell_bytes` is 0, it chooses
 * the length of cells.  `whole_with` is the algorithm for a hash of each whole
 * replica, or NULL for no such hashes.
 * Ownership: *out is the caller's; release it with xd_audit_free().
 * Errors:    INVAL, NOMEM.
 */
int xd_audit_begin(struct xd_audit **out, struct xd_manifest *m, size_t file,
                   bool is_full, uint64_t cell_bytes, const char *whole_with,
                   const struct xd_options *o, struct xd_error *err);

/* Copies the results for a replica to *out.  Returns 0, or INVAL if `r` is
 * NULL. */
int xd_audit_copy_row(const struct xd_audit *a,
                      const struct xd_audit_replica *r, struct xd_audited *out);

/* Reports range number `i` of a set, with `base` subtracted from both ends.
 * Returns 0, or INVAL past the last range. */
int xd_audit_run_of(const struct xd_rangeset *s, size_t i, uint64_t base,
                    uint64_t *out_begin, uint64_t *out_end);

/* Reads everything and computes the results.  Blocks and errors: like
 * xd_audit_new(). */
int xd_audit_run(struct xd_audit *a, struct xd_error *err);

/* Computes votes, verdicts and sums from what was read.  Errors: NOMEM. */
int xd_audit_conclude(struct xd_audit *a);

/* Handler that hashes the bytes read.  Its `user` is the audit. */
extern const struct xd_audit_handler xd_audit_hashing;

#endif
