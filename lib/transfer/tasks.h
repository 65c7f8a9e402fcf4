/* SPDX-License-Identifier: MIT */
/*
 * Runs the tasks of one store (store/store.h) for one thread.  A task says
 * which calls to make next; each call becomes a request of a runner.
 *
 *     its thread:  start(task) ... poll() --> read, read, end
 *     any thread:  wakeup()
 *
 * A task has a number below config.n_tasks, which the caller chooses.
 *
 * Threads: one thread owns the tasks; others may only call wakeup().
 */
#ifndef XD_TRANSFER_TASKS_H
#define XD_TRANSFER_TASKS_H

#include <stdint.h>

#include "base/time.h"
#include "store/store.h"
#include "transfer/runner.h"

struct xd_tasks;

/*
 * Called on the owner's thread, without locks.  May call only
 * xd_tasks_object().
 */
struct xd_tasks_handler {
    void *user;
    /* For PUT, otherwise not called: reads up to `len` bytes of the object at
     * `at` and returns their number, at least one.  XD_E_AGAIN: none now, until
     * xd_tasks_resume().  With any other code it must fill in *err; the task
     * then ends with that error, unless the store has already accepted the
     * object.  Bytes may be requested again and in any order.  Blocks: on the
     * disk. */
    int64_t (*read)(void *user, unsigned task, uint64_t at, void *to,
                    size_t len, struct xd_error *err);
    /* For PUT, otherwise not called: returns whether a request that sends bytes
     * of the object may start now.  The caller can delay it, because some
     * servers create the object as soon as the request starts.  After false,
     * each poll() asks again. */
    bool (*may_send)(void *user, unsigned task);
    /* Called by poll(), exactly once per successful start() unless the tasks
     * are freed first.  The number is free already, so xd_tasks_object()
     * returns NULL: use result->object.  `result` and everything in it is valid
     * during the call only. */
    void (*end)(void *user, unsigned task, const struct xd_task_result *result);
};

/* The struct is copied.  What it points to must outlive the tasks. */
struct xd_tasks_config {
    const struct xd_store *store;
    unsigned n_tasks; /* tasks that may run at a time, at least 1 */
    xd_usec silence;  /* as in struct xd_transport_config */
    /* as in struct xd_task_order, for every task; also as in struct
     * xd_runner_config */
    xd_usec patience;
    const struct xd_net_options *net; /* NULL: the defaults */
    struct xd_net_context *context;   /* NULL: nothing is shared */
    struct xd_budget *budget; /* limits the bytes sent, too; NULL: no limit */
};

/*
 * Creates the tasks of a store; none of them runs yet.  `handler` and its user
 * must outlive the tasks.
 * Ownership: *out is the caller's; release it with xd_tasks_free().
 * Errors: NOMEM.
 */
int xd_tasks_new(struct xd_tasks **out, const struct xd_tasks_config *config,
                 const struct xd_tasks_handler *handler, struct xd_error *err);

/* Drops running tasks without calling the handler.  Accepts NULL. */
void xd_tasks_free(struct xd_tasks *t);

/*
 * Creates a task under the number `task`, which must be below n_tasks and free
 * (asserted).  Nothing is sent before the next poll().  order->patience is
 * ignored: config.patience is used instead.  For the lifetime of `order` see
 * struct xd_task_order.
 * Errors: those of xd_task_new(); then the number stays free, and the handler
 *         is not called.
 */
int xd_tasks_start(struct xd_tasks *t, unsigned task,
                   const struct xd_task_order *order, struct xd_error *err);

/* Continues a task whose read() returned XD_E_AGAIN.  Does nothing for other
 * tasks and free numbers. */
void xd_tasks_resume(struct xd_tasks *t, unsigned task);

/* Returns the facts known so far about the object that the task uploads, or
 * NULL if the number is free.  `task` must be below n_tasks.  The object and
 * its strings are valid until the next poll() or free(); within a call of the
 * handler, until it returns. */
const struct xd_object *xd_tasks_object(const struct xd_tasks *t,
                                        unsigned task);

/* Transfers data until something happens, wakeup() is called, or the time
 * `until` is reached.  May return earlier.  Calls the handler.  Blocks: for
 * about one second at most, and like order.hash(). */
void xd_tasks_poll(struct xd_tasks *t, xd_usec until);

/* Makes poll() return at once.  Threads: any. */
void xd_tasks_wakeup(struct xd_tasks *t);

#endif
