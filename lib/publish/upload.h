/* SPDX-License-Identifier: MIT */
/*
 * An upload in progress.
 *
 *     hasher:   hashes the file, extent by extent
 *     keeper:   writes the inventory, and ends it all
 *     workers:  one for each store: put an extent, read a sample of it back
 *
 *     FREE --next()--> PUTS --> PROVES --> FREE, and in the inventory
 *       ^                |  ^      |
 *       |                v  |      | it differs
 *       +---- CLEARS <---+--+------+
 *             (what a failed attempt has left)
 *
 * An extent is a run of the line (upload_line.h): bytes of the file, or a shard of
 * parity.  It is sent once it was hashed and the inventory names its object; what a worker
 * has sent is hashed too, so that a file that changes meanwhile is noticed.
 *
 * Locks: upload.lock; never held across the network, the disk, hashing or a join.
 */
#ifndef XD_PUBLISH_UPLOAD_H
#define XD_PUBLISH_UPLOAD_H

#include <stdbool.h>
#include <xdownload/upload.h>

#include "base/rate.h"
#include "engine/options.h"
#include "io/hash.h"
#include "io/net_context.h"
#include "manifest/model.h"
#include "os/cancel.h"
#include "os/log.h"
#include "os/thread.h"
#include "publish/coding.h"
#include "publish/hold.h"
#include "publish/inventory.h"
#include "publish/heal.h"
#include "publish/origin.h"
#include "publish/parity_reads.h"
#include "publish/plan.h"
#include "publish/upload_line.h"
#include "store/store.h"
#include "transfer/budget.h"
#include "transfer/tasks.h"

/* Of one store at a time: the next begins when little is left of the first. */
#define XD_UPLOAD_LANES 2

#define XD_UPLOAD_RECORDS 4096 /* that are kept, until they are taken */

#define XD_UPLOAD_SAMPLE ((size_t)64 << 10) /* that is read back, at most */

enum xd_lane_state {
    XD_LANE_FREE,
    XD_LANE_PUTS,
    XD_LANE_LOOKS,  /* at what an earlier attempt has put there */
    XD_LANE_PROVES, /* reads a sample of it back */
    XD_LANE_CLEARS  /* removes what is of no use */
};

struct xd_upload_worker;

struct xd_upload_lane {
    struct xd_upload_worker *worker;
    unsigned number;
    enum xd_lane_state state;
    size_t extent;
    struct xd_range range; /* of the line */
    xd_usec began;
    char name[XD_INVENTORY_NAME_SIZE + 48]; /* of its object */
    struct xd_object object;                /* as far as it is known */
    bool is_resumed; /* an earlier run has begun it: that it is cleared is no
                        failure; */
    bool may_come;   /* and the rest of it may be on its way still, */
    bool is_hashed;  /* or what it is to be is not known yet */
    bool is_found;   /* another attempt has put it there, */
    bool is_there;   /* or this one: that is known, but not what it holds */
    bool is_pending; /* the object is in the inventory as one that is sent, */
    uint64_t noted;  /* from this change on, */
    bool is_noted;   /* which is on the disk */

    /* What was sent of it, if that was in order. */
    struct xd_hasher *sent;
    uint64_t n_sent;
    bool is_held; /* it waits until the other lane has sent all of its own */
    bool in_order;

    struct xd_range sample; /* of the object */
    char *bytes;            /* what the sample is to be */
    unsigned samples_left;

    /* How the task has ended, until that was dealt with. */
    bool has_ended;
    bool is_done;
    enum xd_task_failure failure;
    xd_usec retry_after;
    struct xd_error error;
    uint64_t size; /* of the object, that was looked at */
    bool is_same;  /* the sample is as it is to be */

    bool drops;             /* once it is cleared the store is given up; */
    struct xd_error reason; /* why it is cleared */
    xd_usec pause;          /* and how long the store wants to be left alone */
};

struct xd_upload_worker {
    /* Constant after new(). */
    struct xd_upload *upload;
    size_t index;
    struct xd_store *store;
    struct xd_tasks_handler handler;

    /* Constant after start(). */
    struct xd_tasks *tasks;
    struct xd_thread thread;
    bool is_started;

    /* The worker's own. */
    struct xd_upload_lane lanes[XD_UPLOAD_LANES];
    uint64_t sent_now; /* since it was last counted */
    bool has_put_off;  /* what an earlier run has sent and is not whole; */
    xd_usec put_off_until;

    int64_t clock_off_s; /* as in struct xd_task_result */

    /* Of each extent whether some of it was ever sent here.  Its object is ours then,
     * whenever it comes to be there; one that comes from elsewhere is that of another
     * store of this upload, which is this one by another name. */
    bool *was_sent;

    /* Guarded by lock. */
    unsigned failures; /* in a row */
    xd_usec retry_at;
    struct xd_store_stats stats;
    struct xd_rate rate;
};

enum xd_upload_state {
    XD_UPLOAD_NEW,
    XD_UPLOAD_RUNS,
    XD_UPLOAD_ENDS, /* workers are to stop, and what was replaced is removed */
    XD_UPLOAD_HAS_ENDED
};

struct xd_upload {
    /* Constant after new(). */
    struct xd_options options;
    struct xd_origin *origin;
    char *file_name; /* for sentences */
    struct xd_upload_worker *workers;
    size_t n_workers;
    unsigned copies;
    struct xd_coding coding;         /* k 0: no parity is wanted */
    struct xd_model_stripe *stripes; /* that the manifest had not; or NULL */
    struct xd_upload_line line;
    struct xd_parity_reads **parity; /* of each worker, and of the hasher */
    struct xd_inventory_note note;
    bool makes_manifest; /* of a file that had none */
    bool goes_on;        /* from an earlier run, which has left a note */
    struct xd_heal heal; /* guarded by lock, once it runs */
    uint64_t presign_s;  /* as in struct xd_upload_wish */
    struct xd_hold hold; /* of its manifests */

    struct xd_net_context *context;
    struct xd_budget budget;
    struct xd_thread hasher, keeper;
    struct xd_cancel_hook hook;
    struct xd_cancel *removal; /* of objects that were replaced; or NULL */
    struct xd_log log;
    bool has_keeper;

    struct xd_mutex lock;
    struct xd_cond work_ready; /* workers: something may be sent; or it ends */
    struct xd_cond kept; /* the keeper: the inventory has changed; or it ends */
    struct xd_cond ended; /* wait(): state is HAS_ENDED */

    /* Guarded by lock. */
    enum xd_upload_state state;
    struct xd_plan *plan;
    struct xd_inventory *inventory;
    size_t n_resuming;               /* workers that look yet at what an
                                        earlier run has begun at their store */
    uint64_t changes;                /* of the inventory: how many, */
    uint64_t written, written_whole; /* and up to which one they, and all of
                                        it, were written */
    xd_usec whole_at;                /* not before that it is again */
    xd_usec looks_until;             /* for these the keeper waits until then,
                                        once all copies are there */
    bool is_hashed;                  /* all of the file */
    bool is_canceled;
    struct xd_error error; /* why it ends; code XD_OK: it has not failed */
    xd_usec started, ended_at;
    uint64_t bytes_total, bytes_done, bytes_resumed, bytes_sent;
    uint64_t parity_bytes;            /* of bytes_total */
    struct xd_upload_record *records; /* a ring; NULL: they are not wanted */
    size_t first_record, n_records;

    /* The hasher's own, until an extent is ready; then constant. */
    char (*digests)[65];  /* of each extent of the plan */
    char (*expected)[65]; /* likewise, as an earlier run had it, or "" */
    struct xd_model_pieces pieces;
    char sha256[XD_HASH_HEX_MAX + 1];
};

/* Its threads are joined, if it had any. */
void xd_upload_unmake(struct xd_upload *u);

/* ---- for the threads ---- */

/* Exactly `len` bytes of the line, of one extent, by reader number `reader`.
 * Blocks, Errors: as xd_origin_read(); NOMEM. */
int xd_upload_read(struct xd_upload *u, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err);

/* The steps of an extent; each begins the next one, without the lock. */
void xd_lane_put(struct xd_upload_lane *lane);
void xd_lane_resume(
    struct xd_upload_lane *lane);               /* what an earlier run began */
void xd_lane_step(struct xd_upload_lane *lane); /* what it did has ended */
void xd_lane_fini(struct xd_upload_lane *lane);

/* Whether what it sends has to wait: until the inventory on the disk names the object;
 * and at most one extent of a store is under way
 * that would have to be sent again.  What was handed over to the kernel arrives, though
 * this process is killed, but parts of an upload to S3 are nothing before it is
 * complete. */
bool xd_lane_must_wait(const struct xd_upload_lane *lane);

/* For the tasks. */
int64_t xd_lane_read(void *user, unsigned task, uint64_t at, void *to,
                     size_t len, struct xd_error *err);
void xd_lane_note_end(void *user, unsigned task,
                      const struct xd_task_result *result);

/* What became of the extent of a lane, which is free then: it is there; it is not;
 * what an earlier run has sent of it is looked at again later. */
void xd_worker_complete(struct xd_upload_worker *w,
                        struct xd_upload_lane *lane);
void xd_worker_give_back(struct xd_upload_worker *w,
                         struct xd_upload_lane *lane);
void xd_worker_put_off(struct xd_upload_worker *w, struct xd_upload_lane *lane);

void *xd_upload_hasher_main(void *arg);
void *xd_upload_keeper_main(void *arg);
void *xd_upload_worker_main(void *arg);

/* It ends, with this error unless it has one already. */
void xd_upload_fail_locked(struct xd_upload *u, const struct xd_error *why);

/* The inventory says something else now. */
static inline void xd_upload_changed_locked(struct xd_upload *u)
{
    u->changes++;
    xd_cond_signal(&u->kept);
}

static inline bool xd_upload_is_ending_locked(const struct xd_upload *u)
{
    return u->state >= XD_UPLOAD_ENDS || u->is_canceled ||
           u->error.code != XD_OK;
}

/* One extent more is on the store, or not: a record. */
void xd_upload_record_locked(struct xd_upload *u,
                             const struct xd_upload_worker *w,
                             const struct xd_upload_lane *lane,
                             enum xd_code code);

#endif
