/* SPDX-License-Identifier: MIT */
/*
 * How a program with an event loop of its own learns that it is time to look: a
 * descriptor to poll, and a function.
 *
 *     raised by what happens, under the owner's lock -> descriptor readable
 *     called by xd_notifiers_call(), without it      -> the program's function
 *     cleared by the program's look, under it
 *
 * The list's lock is a leaf, under which functions run one at a time.
 */
#ifndef XD_OS_NOTIFIER_H
#define XD_OS_NOTIFIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <xdownload/download.h>

#include "os/thread.h"

struct xd_notifier {
    /* Guarded by the owner's lock. */
    bool is_raised;
    bool has_function;
    int fd, writing_fd; /* < 0: it was not asked for */

    atomic_bool is_due; /* the function is to be called */

    /* Guarded by the list's lock. */
    xd_wakeup_fn *function;
    void *user;
    struct xd_notifier *next;
};

/* Those that have a function. */
struct xd_notifiers {
    struct xd_mutex lock;
    struct xd_notifier *first;
};

int xd_notifiers_init(struct xd_notifiers *all);
void xd_notifiers_fini(struct xd_notifiers *all);

/* Raised from the beginning, since nothing was looked at yet. */
void xd_notifier_init(struct xd_notifier *n);

/* Without the owner's lock: a function that runs has returned afterwards. */
void xd_notifier_fini(struct xd_notifiers *all, struct xd_notifier *n);
void xd_notifier_set_function(struct xd_notifiers *all, struct xd_notifier *n,
                              xd_wakeup_fn *function, void *user);

/* With the owner's lock.  raise() returns whether there is a function to
 * call. */
bool xd_notifier_raise(struct xd_notifier *n);
void xd_notifier_clear(struct xd_notifier *n);

/* With the owner's lock: what poll() finds readable while it is raised; the
 * notifier's.  Errors: NOMEM (no descriptor is left). */
int xd_notifier_descriptor(struct xd_notifier *n, struct xd_error *err);

/* Without any lock: call the functions that are due. */
void xd_notifiers_call(struct xd_notifiers *all);

#endif
