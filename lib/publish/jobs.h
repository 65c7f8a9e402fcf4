/* SPDX-License-Identifier: MIT */
/* Deletes or renews objects at several stores.  It works on the stores in
 * parallel, and on a few objects of each store at a time. */
#ifndef XD_PUBLISH_JOBS_H
#define XD_PUBLISH_JOBS_H

#include "base/error.h"
#include "engine/options.h"
#include "store/store.h"

struct xd_job {
    /* Set by the caller. */
    const struct xd_store *store;
    enum xd_task_kind kind;         /* XD_TASK_DELETE or XD_TASK_RENEW */
    const struct xd_object *object; /* must outlive the run */
    int64_t until;                  /* as in struct xd_task_order */

    /* Results. */
    bool has_ended, is_done;
    enum xd_task_failure failure;
    /* after the failure BEYOND: longest lifetime in seconds, or 0 if unknown */
    uint64_t limit;
    /* new expiry time in seconds since 1970, as stated by the store; 0: never,
     * or unknown */
    int64_t expires_at;
    /* owned: reason of the failure, or a remark after success; or NULL */
    const struct xd_kept_error *error;

    bool is_taken; /* guarded by the lock of the run */

    /* Private to the worker. */
    unsigned attempts;
    xd_usec retry_at;
    bool is_running;
};

/*
 * Runs all jobs.  A job whose failure may be temporary is repeated, as the
 * option `retry` says.  A store at which all jobs fail is given up.  The
 * results are in `list`, even after an error.
 * Blocks: until all jobs have ended.
 * Errors: CANCELED, TIMEOUT (max-time), NOMEM, IO (a file that the options
 *         name).
 */
int xd_jobs_run(struct xd_job *list, size_t n, const struct xd_options *o,
                struct xd_error *err);

/* Releases the memory of the results, but not the list. */
void xd_jobs_fini(struct xd_job *list, size_t n);

#endif
