/* SPDX-License-Identifier: MIT */
/*
 * Objects at several stores that are to be removed, or kept longer: stores at the
 * same time, and a few objects of each.
 */
#ifndef XD_PUBLISH_JOBS_H
#define XD_PUBLISH_JOBS_H

#include "base/error.h"
#include "engine/options.h"
#include "store/store.h"

struct xd_job {
    /* What is wanted. */
    const struct xd_store *store;
    enum xd_task_kind kind;         /* DELETE or RENEW */
    const struct xd_object *object; /* outlives the run */
    int64_t until;                  /* as in struct xd_task_order */

    /* What became of it. */
    bool has_ended, is_done;
    enum xd_task_failure failure;
    uint64_t limit;     /* with BEYOND, if it is known */
    int64_t expires_at; /* as the store says now; 0: never, or not known */
    const struct xd_kept_error *error; /* owned: why it failed, or what is to be
                                          known of it; or NULL */

    bool is_taken; /* guarded by the lock of those that do them */

    /* Its worker's own. */
    unsigned attempts;
    xd_usec retry_at;
    bool is_running;
};

/*
 * Do all of them, of which each failed one is tried again as the option `retry`
 * says where another attempt may do better; a store that only fails is given up.
 * What became of each is in the list, after an error too.
 * Blocks: until all have ended.
 * Errors: CANCELED, TIMEOUT (max-time), NOMEM, IO (a file that the options name).
 */
int xd_jobs_run(struct xd_job *list, size_t n, const struct xd_options *o,
                struct xd_error *err);

/* What each holds. */
void xd_jobs_fini(struct xd_job *list, size_t n);

#endif
