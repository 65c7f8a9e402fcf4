/* SPDX-License-Identifier: MIT */
/*
 * The tasks of one store (store/store.h), run for one thread: each says which
 * calls to make, and these are requests of a runner.
 *
 *     its thread:  start(task) ... poll() --> read, read, end
 *     any thread:  wakeup()
 *
 * Threads: one owns it; only wakeup() may be called by others.
 */
#ifndef XD_TRANSFER_TASKS_H
#define XD_TRANSFER_TASKS_H

#include <stdint.h>

#include "base/time.h"
#include "store/store.h"
#include "transfer/runner.h"

struct xd_tasks;

/*
 * Called on the owner's thread, with no lock held.
 * May call: xd_tasks_object().
 */
struct xd_tasks_handler {
    void *user;
    /* Up to `len` bytes of the object from `at` on, of a PUT; how many they are,
     * at least one; XD_E_AGAIN: none now, until xd_tasks_resume(); another code
     * ends the task.  Bytes may be asked for again, and in any order.  Blocks: on the disk. */
    int64_t (*read)(void *user, unsigned task, uint64_t at, void *to,
                    size_t len, struct xd_error *err);
    /* Exactly once for each start() that succeeded.  `result` ends with the
     * call. */
    void (*end)(void *user, unsigned task, const struct xd_task_result *result);
};

struct xd_tasks_config {
    const struct xd_store *store; /* outlives the tasks */
    unsigned n_tasks;             /* at a time */
    xd_usec silence;              /* as in struct xd_transport_config */
    const struct xd_net_options *net;
    struct xd_net_context *context;
    struct xd_budget *budget; /* or NULL; of the bytes that are sent, too */
};

/* `handler` and its user outlive the tasks.
 * Ownership: *out is the caller's, to release with xd_tasks_free().
 * Errors:    NOMEM. */
int xd_tasks_new(struct xd_tasks **out, const struct xd_tasks_config *config,
                 const struct xd_tasks_handler *handler, struct xd_error *err);

/* Ends what runs without a word to the handler.  NULL does nothing. */
void xd_tasks_free(struct xd_tasks *t);

/* Begin number `task`, which is free.  Errors: as xd_task_new(), and then the
 * handler is not called. */
int xd_tasks_start(struct xd_tasks *t, unsigned task,
                   const struct xd_task_order *order, struct xd_error *err);

/* Ask a task for bytes again, of which it had none. */
void xd_tasks_resume(struct xd_tasks *t, unsigned task);

/* What is known so far of the object that a task puts; NULL for a free one.  Lives
 * until the next call. */
const struct xd_object *xd_tasks_object(const struct xd_tasks *t,
                                        unsigned task);

/* Move bytes until something happened, wakeup(), or the moment `until`.  May
 * return earlier with nothing done. */
void xd_tasks_poll(struct xd_tasks *t, xd_usec until);

/* poll() returns at once.  Threads: any. */
void xd_tasks_wakeup(struct xd_tasks *t);

#endif
