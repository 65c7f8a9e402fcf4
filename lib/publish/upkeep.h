/* SPDX-License-Identifier: MIT */
/*
 * What xd_replicas_drop() and xd_replicas_renew() have in common: a manifest that
 * is held, rows for replicas, jobs at stores.
 *
 *     open -> rows -> jobs -> write -> close
 *
 * Rows may share a job: several mappings may be of one object.
 */
#ifndef XD_PUBLISH_UPKEEP_H
#define XD_PUBLISH_UPKEEP_H

#include <xdownload/upkeep.h>

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
    struct xd_object object; /* its strings are owned; `manage` may be NULL */
    const struct xd_store *store;
    size_t place; /* among the replicas of the file, or of parity, stripe by
                     stripe; SIZE_MAX: it is pending */
    const struct xd_model_stripe *stripe; /* of parity; or NULL */
    unsigned shard;
    size_t job;
    int64_t expires_at;
    uint64_t limit;
    const struct xd_kept_error *error; /* owned; or NULL */
    bool is_replaced;                  /* by one with another URL */
};

struct xd_upkeep {
    struct xd_options options;
    const char *path; /* of the caller, until the call returns */
    struct xd_hold hold;
    struct xd_inventory *inventory;
    struct xd_manifest *manifest; /* the inventory's */
    const struct xd_model_file *file;
    struct xd_stores stores;
    struct xd_upkeep_row *rows;
    size_t n, capacity;
    struct xd_job *jobs;
    size_t n_jobs;
    uint64_t bytes_proved;
};

/* Hold the manifest at `path`, and read both.
 * Errors: IO, MANIFEST, STATE (an upload is not complete; they are of different
 *         files), NOMEM. */
int xd_upkeep_open(struct xd_upkeep **out, const char *path,
                   const struct xd_options *o, struct xd_error *err);

/* Others may have it; only its rows are left. */
void xd_upkeep_close(struct xd_upkeep *u);

/* What manages a replica of `f`, which is the file, or that without some of them, if
 * the private manifest says so; or NULL. */
const char *xd_upkeep_manage(const struct xd_upkeep *u,
                             const struct xd_model_file *f, size_t place);

/* Likewise of one of parity. */
const char *xd_upkeep_manage_parity(const struct xd_upkeep *u,
                                    const struct xd_model_shard_replica *r);

/* A new row; NULL without memory.  `url` and `manage` may be NULL. */
struct xd_upkeep_row *xd_upkeep_add(struct xd_upkeep *u, struct xd_range range,
                                    const struct xd_url *url,
                                    const char *manage);

/* Likewise, of a replica of parity: replica `i` of a shard of the file's. */
struct xd_upkeep_row *xd_upkeep_add_parity(struct xd_upkeep *u,
                                           const struct xd_model_stripe *s,
                                           const struct xd_model_shard *shard,
                                           size_t i);

/* The row cannot be done for this reason; or it is done, and that is to be known. */
void xd_upkeep_fail(struct xd_upkeep_row *row, enum xd_upkeep_state state,
                    const struct xd_error *why);

/* Whether a hash of the file that is not weak is there, which a proof takes. */
bool xd_upkeep_can_prove(const struct xd_upkeep *u);

/* Read all of the file from the replicas of `m`, which are those that stay.
 * Errors: INVAL (no hash proves anything), and those of xd_reader_read(). */
int xd_upkeep_prove(struct xd_upkeep *u, struct xd_manifest *m,
                    struct xd_error *err);

/* Write both manifests as the inventory has them; without a private one, only the
 * other.  Errors: IO, MANIFEST, INVAL, NOMEM. */
int xd_upkeep_write(struct xd_upkeep *u, struct xd_error *err);

#endif
