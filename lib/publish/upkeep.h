/* SPDX-License-Identifier: MIT */
/*
 * The common parts of xd_replicas_drop() and xd_replicas_renew(): a locked
 * manifest, one row for each replica, and jobs for the stores.
 *
 *     open -> rows -> jobs -> write -> close
 *
 * Rows may share a job, because several mappings may name the same object.
 */
#ifndef XD_PUBLISH_UPKEEP_H
#define XD_PUBLISH_UPKEEP_H

#include <xdpublish/upkeep.h>

#include "base/range.h"
#include "publish/jobs.h"
#include "publish/hold.h"
#include "publish/inventory.h"
#include "publish/stores.h"

#define XD_UPKEEP_NO_JOB SIZE_MAX

struct xd_upkeep_row {
    enum xd_upkeep_state state;
    struct xd_range range;
    char *shown_url;         /* owned */
    struct xd_object object; /* owns its strings; `manage` may be NULL */
    const struct xd_store *store;
    /* Index of the replica in the file.  For a parity replica: index among all
     * parity replicas, stripe by stripe.  SIZE_MAX: a pending object. */
    size_t place;
    /* stripe of a parity replica, otherwise NULL */
    const struct xd_model_stripe *stripe;
    unsigned shard;
    size_t job;
    int64_t expires_at;
    uint64_t limit;
    /* reason of a failure, or a remark; owned, or NULL */
    const struct xd_kept_error *error;
    /* true if a replica with a new URL has replaced this one */
    bool is_replaced;
};

struct xd_upkeep {
    struct xd_options options;
    const char *path; /* owned by the caller, until the call returns */
    struct xd_hold hold;
    struct xd_inventory *inventory;
    struct xd_manifest *manifest; /* owned by the inventory */
    const struct xd_model_file *file;
    struct xd_stores stores;
    struct xd_upkeep_row *rows;
    size_t n, capacity;
    struct xd_job *jobs;
    size_t n_jobs;
    uint64_t bytes_proved;
};

/* Locks the manifest at `path` and reads the public and the private manifest.
 * Errors: IO, MANIFEST, STATE (an upload is not complete, or the two manifests
 * describe different files), NOMEM. */
int xd_upkeep_open(struct xd_upkeep **out, const char *path,
                   const struct xd_options *o, struct xd_error *err);

/* Unlocks the manifest and releases everything except the rows. */
void xd_upkeep_close(struct xd_upkeep *u);

/* Returns the object name from the private manifest that manages a replica of
 * `f`, or NULL.  `f` is the file, possibly without some of its replicas. */
const char *xd_upkeep_manage(const struct xd_upkeep *u,
                             const struct xd_model_file *f, size_t place);

/* Like xd_upkeep_manage(), for a parity replica. */
const char *xd_upkeep_manage_parity(const struct xd_upkeep *u,
                                    const struct xd_model_shard_replica *r);

/* Adds a row.  Returns NULL if memory runs out.  `url` and `manage` may be
 * NULL. */
struct xd_upkeep_row *xd_upkeep_add(struct xd_upkeep *u, struct xd_range range,
                                    const struct xd_url *url,
                                    const char *manage);

/* Adds a row for replica `i` of a parity shard of the file. */
struct xd_upkeep_row *xd_upkeep_add_parity(struct xd_upkeep *u,
                                           const struct xd_model_stripe *s,
                                           const struct xd_model_shard *shard,
                                           size_t i);

/* Sets the state of the row and the reason of a failure, or a remark after
 * success. */
void xd_upkeep_fail(struct xd_upkeep_row *row, enum xd_upkeep_state state,
                    const struct xd_error *why);

/* Returns whether the file has a hash that is strong enough to prove its
 * content. */
bool xd_upkeep_can_prove(const struct xd_upkeep *u);

/* Reads and verifies the whole file from the replicas of `m`, which are the
 * remaining replicas.  Errors: INVAL (no strong hash), and like
 * xd_reader_read(). */
int xd_upkeep_prove(struct xd_upkeep *u, struct xd_manifest *m,
                    struct xd_error *err);

/* Writes both manifests from the inventory.  If there is no private manifest,
 * writes only the public one.  Errors: IO, MANIFEST, INVAL, NOMEM. */
int xd_upkeep_write(struct xd_upkeep *u, struct xd_error *err);

#endif
