/* SPDX-License-Identifier: MIT */
/*
 * An upload in progress.
 *
 *     hasher:   hashes the file, extent by extent
 *     keeper:   writes the inventory, and ends the upload
 *     workers:  one for each store: put an extent, read a sample of it back
 *
 *     FREE --next()--> PUTS --> PROVES --> FREE, and in the inventory
 *       ^                |  ^      |
 *       |                v  |      | sample differs
 *       +---- CLEARS <---+--+------+
 *             (deletes the rest of a failed attempt)
 *
 * An extent is a range of the upload line (upload_line.h): bytes of the file,
 * or a parity shard.  It is sent after it was hashed and after the inventory on
 * the disk names its object.  The worker hashes what it sends, so a file that
 * changes during the upload is noticed.
 *
 * Locks: upload.lock, which is never held across network, disk, hashing or a
 * join.
 */
#ifndef XD_PUBLISH_UPLOAD_H
#define XD_PUBLISH_UPLOAD_H

#include <stdbool.h>
#include <xdpublish/upload.h>

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

/* Number of extents that are sent to a store at the same time.  The second
 * extent begins when little is left of the first. */
#define XD_UPLOAD_LANES 2

/* Largest number of records in the queue.  When the queue is full, the oldest
 * record is dropped. */
#define XD_UPLOAD_RECORDS 4096

/* Maximum length of a sample that is read back. */
#define XD_UPLOAD_SAMPLE ((size_t)64 << 10)

enum xd_lane_state {
    XD_LANE_FREE,
    XD_LANE_PUTS,
    XD_LANE_LOOKS,  /* examines an object of an earlier attempt */
    XD_LANE_PROVES, /* reads a sample back */
    XD_LANE_CLEARS  /* deletes a useless object or useless parts */
};

struct xd_upload_worker;

struct xd_upload_lane {
    struct xd_upload_worker *worker;
    unsigned number;
    enum xd_lane_state state;
    size_t extent;
    struct xd_range range; /* range of the upload line */
    xd_usec began;
    char name[XD_INVENTORY_NAME_SIZE + 48]; /* name of its object */
    struct xd_object object; /* names and size of the object, as far as known */
    /* an earlier run began the object, so clearing it is no failure */
    bool is_resumed;
    /* with is_resumed: the store may still receive bytes that the earlier run
     * sent */
    bool may_come;
    bool is_hashed;  /* the hasher has hashed the extent */
    bool is_found;   /* an object of another attempt was found */
    bool is_there;   /* the object exists; its bytes may be wrong */
    bool is_pending; /* the inventory lists the object as pending */
    uint64_t noted;  /* number of the inventory change that made it pending */
    bool is_noted;   /* the inventory on the disk contains that change */

    /* Hash of the bytes sent; valid only while they are sent in order. */
    struct xd_hasher *sent;
    uint64_t n_sent;
    bool is_held; /* paused until it may send (xd_lane_must_wait()) */
    bool in_order;

    struct xd_range sample; /* range of the object */
    char *bytes;            /* expected bytes of the sample */
    unsigned samples_left;

    /* Result of the task, until xd_lane_step() handles it. */
    bool has_ended;
    bool is_done;
    enum xd_task_failure failure;
    xd_usec retry_after;
    struct xd_error error;
    uint64_t size; /* size of the examined object */
    bool is_same;  /* the sample has the expected bytes */

    bool drops;             /* give up the store after clearing */
    struct xd_error reason; /* reason for clearing */
    xd_usec pause;          /* pause that the store has requested */
};

struct xd_upload_worker {
    /* constant after creation */
    struct xd_upload *upload;
    size_t index;
    struct xd_store *store;
    struct xd_tasks_handler handler;

    /* constant after xd_upload_start() */
    struct xd_tasks *tasks;
    struct xd_thread thread;
    bool is_started;

    /* used by the worker only */
    struct xd_upload_lane lanes[XD_UPLOAD_LANES];
    uint64_t sent_now; /* number of bytes sent since the last count */
    /* incomplete objects of an earlier run have to be examined again */
    bool has_put_off;
    xd_usec put_off_until;

    int64_t clock_off_s; /* as in struct xd_task_result */

    /* For each extent: true if any of its bytes were sent to this store.  Then
     * its object there is our own.  If nothing was sent and the object exists,
     * this store is the same as another store of the upload, under a second
     * name. */
    bool *was_sent;

    /* guarded by lock */
    unsigned failures;     /* number of failures in a row */
    xd_usec failing_since; /* time of the first failure in the row */
    xd_usec retry_at;
    struct xd_store_stats stats;
    struct xd_rate rate;
};

enum xd_upload_state {
    XD_UPLOAD_NEW,
    XD_UPLOAD_RUNS,
    XD_UPLOAD_ENDS, /* workers stop; replaced objects are deleted */
    XD_UPLOAD_HAS_ENDED
};

struct xd_upload {
    /* constant after creation */
    struct xd_options options;
    long process; /* ID of the process that created the upload: os/exit.h */
    struct xd_origin *origin;
    char *file_name; /* for messages */
    struct xd_upload_worker *workers;
    size_t n_workers;
    unsigned copies;
    struct xd_coding coding;         /* k is 0 without parity */
    struct xd_model_stripe *stripes; /* stripes that are new in the manifest,
                                        or NULL */
    struct xd_upload_line line;
    /* one entry for each worker, and one for the hasher */
    struct xd_parity_reads **parity;
    struct xd_inventory_note note;
    uint64_t
        cut_bytes; /* extents end at multiples of this in the file, so that no
                      piece spans two of them; 0: anywhere */
    bool makes_manifest; /* the file had no manifest before */
    /* true if this upload resumes an earlier run, which has left a note */
    bool goes_on;
    struct xd_heal heal; /* guarded by lock while the upload runs */
    uint64_t presign_s;  /* lifetime of presigned URLs in seconds, as in struct
                            xd_upload_wish */
    struct xd_hold hold; /* lock of the manifests */

    struct xd_net_context *context;
    struct xd_budget budget;
    struct xd_thread hasher, keeper;
    struct xd_cancel_hook hook;
    struct xd_cancel *removal; /* cancels the deletion of replaced objects; or
                                  NULL */
    struct xd_log log;
    bool has_keeper;

    struct xd_mutex lock;
    struct xd_cond work_ready; /* workers wait here: something may be sent, or
                                  the upload ends */
    struct xd_cond kept;  /* the keeper waits here: the inventory has changed,
                             or the upload ends */
    struct xd_cond ended; /* wait() waits here until the state is HAS_ENDED */

    /* guarded by lock */
    enum xd_upload_state state;
    struct xd_plan *plan;
    struct xd_inventory *inventory;
    /* number of workers that still examine objects of an earlier run */
    size_t n_resuming;
    uint64_t changes; /* number of changes of the inventory */
    /* number of changes that are on the disk, and of changes that are in the
     * private manifest itself */
    uint64_t written, written_whole;
    xd_usec whole_at;    /* when the whole manifest may be written again */
    xd_usec looks_until; /* how long the keeper waits for n_resuming after all
                            copies exist */
    bool is_hashed;      /* the whole file is hashed */
    bool is_canceled;
    struct xd_error error; /* first error; code XD_OK if nothing has failed */
    xd_usec started, ended_at;
    uint64_t bytes_total, bytes_done, bytes_resumed, bytes_sent;
    uint64_t parity_bytes; /* included in bytes_total */
    /* ring buffer; NULL if the option records is not set */
    struct xd_upload_record *records;
    size_t first_record, n_records;

    /* used by the hasher only until an extent is ready, then constant */
    char (*digests)[65]; /* SHA-256 of each extent of the plan */
    /* expected SHA-256 of each extent, from an earlier run or the manifest; ""
     * if there is none */
    char (*expected)[65];
    struct xd_model_pieces pieces;
    char sha256[XD_HASH_HEX_MAX + 1];
};

/* Releases an upload.  Its threads must have been joined, or never started. */
void xd_upload_unmake(struct xd_upload *u);

/* ---- for the threads ---- */

/* Reads exactly `len` bytes of the upload line, within one extent, as reader
 * number `reader`.  Blocks, Errors: like xd_origin_read(); also NOMEM. */
int xd_upload_read(struct xd_upload *u, size_t reader, uint64_t at, void *to,
                   size_t len, struct xd_error *err);

/* The steps of sending an extent.  Call them without the lock.  put() starts
 * sending.  resume() continues what an earlier run began.  step() handles the
 * end of a task and starts the next task. */
void xd_lane_put(struct xd_upload_lane *lane);
void xd_lane_resume(struct xd_upload_lane *lane);
void xd_lane_step(struct xd_upload_lane *lane);
void xd_lane_fini(struct xd_upload_lane *lane);

/* Returns whether sending must wait.  It waits until the inventory on the disk
 * names the object.  It also waits for the extent begun earlier at the same
 * store, so that a killed process loses at most one extent per store.  (Bytes
 * handed to the kernel still arrive, but the parts of a multipart upload to S3
 * are useless until it is completed.) */
bool xd_lane_must_wait(const struct xd_upload_lane *lane);

/* Callbacks of the tasks (struct xd_tasks_handler). */
bool xd_lane_may_send(void *user, unsigned task);
int64_t xd_lane_read(void *user, unsigned task, uint64_t at, void *to,
                     size_t len, struct xd_error *err);
void xd_lane_note_end(void *user, unsigned task,
                      const struct xd_task_result *result);

/* Report the result of a lane's extent and free the lane.  complete() means
 * that the object exists, give_back() that it does not, and put_off() that an
 * object of an earlier run has to be examined again later. */
void xd_worker_complete(struct xd_upload_worker *w,
                        struct xd_upload_lane *lane);
void xd_worker_give_back(struct xd_upload_worker *w,
                         struct xd_upload_lane *lane);
void xd_worker_put_off(struct xd_upload_worker *w, struct xd_upload_lane *lane);

void *xd_upload_hasher_main(void *arg);
void *xd_upload_keeper_main(void *arg);
void *xd_upload_worker_main(void *arg);

/* Ends the upload with this error, unless it has failed already. */
void xd_upload_fail_locked(struct xd_upload *u, const struct xd_error *why);

/* Counts a change of the inventory and wakes the keeper. */
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

/* Adds a record of an attempt to send an extent. */
void xd_upload_record_locked(struct xd_upload *u,
                             const struct xd_upload_worker *w,
                             const struct xd_upload_lane *lane,
                             enum xd_code code);

#endif
