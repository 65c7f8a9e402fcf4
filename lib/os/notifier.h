/* SPDX-License-Identifier: MIT */
/*
 * Tells a program with its own event loop that there is news, through a
 * descriptor for poll() and through a function.
 *
 *     raise(): under the owner's lock           -> descriptor readable
 *     xd_notifiers_call(): without the lock     -> calls the program's function
 *     clear(): under the owner's lock, when the program has looked
 *
 * The lock of the list is a leaf lock.  Functions run under it, one at a time.
 */
#ifndef XD_OS_NOTIFIER_H
#define XD_OS_NOTIFIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <xdownload/download.h>

#include "os/thread.h"

struct xd_notifier {
    /* guarded by the owner's lock */
    bool is_raised;
    bool has_function;
    int fd, writing_fd; /* < 0: no descriptor was requested */

    atomic_bool is_due; /* a call of the function is due */

    /* guarded by the lock of the list */
    xd_wakeup_fn *function;
    void *user;
    struct xd_notifier *next;
};

/* The notifiers that have a callback. */
struct xd_notifiers {
    struct xd_mutex lock;
    struct xd_notifier *first;

    struct xd_mutex caller_lock; /* a leaf lock */
    /* guarded by caller_lock */
    bool is_calling;
    pthread_t caller; /* if is_calling: the thread that runs the functions */
};

int xd_notifiers_init(struct xd_notifiers *all);
void xd_notifiers_fini(struct xd_notifiers *all);

/* Starts raised, because the program has not looked yet. */
void xd_notifier_init(struct xd_notifier *n);

/* Call without the owner's lock.  When it returns, the function is not
 * running. */
void xd_notifier_fini(struct xd_notifiers *all, struct xd_notifier *n);
void xd_notifier_set_function(struct xd_notifiers *all, struct xd_notifier *n,
                              xd_wakeup_fn *function, void *user);

/* Call with the owner's lock.  raise() returns whether xd_notifiers_call() must
 * be called. */
bool xd_notifier_raise(struct xd_notifier *n);
void xd_notifier_clear(struct xd_notifier *n);

/* Returns a descriptor that is readable while the notifier is raised.  Call
 * with the owner's lock.  Ownership: the notifier's; do not close it.  Errors:
 * NOMEM if no descriptor is free. */
int xd_notifier_descriptor(struct xd_notifier *n, struct xd_error *err);

/* Calls the functions that are due.  Call without any lock.  If one of the
 * functions causes another call of xd_notifiers_call(), it is called again
 * after it has returned. */
void xd_notifiers_call(struct xd_notifiers *all);

/* Returns true if one of the functions is running on this thread. */
bool xd_notifiers_are_calling(struct xd_notifiers *all);

#endif
