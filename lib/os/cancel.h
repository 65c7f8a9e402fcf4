/* SPDX-License-Identifier: MIT */
/*
 * Cancellation from other threads and from signal handlers.
 *
 * Every object that can be cancelled attaches a hook.  A signal handler may
 * only set a flag and post a semaphore, so a thread of the cancel runs the
 * hooks.  The same thread releases objects whose release would block the call
 * that was cancelled.
 *
 *     trigger(): a flag, a semaphore --> thread: hooks, cleanups
 *
 * Hooks run with cancel.lock held and may take the lock of the object they
 * cancel.  So do not hold that lock when you call attach() or detach().
 */
#ifndef XD_OS_CANCEL_H
#define XD_OS_CANCEL_H

#include <xdownload/options.h>

/* Part of the object that is cancelled or released, and owned by it. */
struct xd_cancel_hook {
    void (*run)(void *user);
    void *user;
    bool has_run;
    struct xd_cancel_hook *next;
    struct xd_cancel_hook *next_at_exit; /* used by exit.c */
};

/* An object that uses a cancel holds a reference, so that its memory outlives
 * xd_cancel_free().  All functions accept NULL: ref() returns it, dispose()
 * calls run(user) at once, attach() and detach() concern exit() only, and
 * unref() does nothing. */
struct xd_cancel *xd_cancel_ref(struct xd_cancel *c);
void xd_cancel_unref(struct xd_cancel *c);

/* Returns true after xd_cancel_trigger().  Safe in a signal handler. */
bool xd_cancel_is_triggered(const struct xd_cancel *c);

/* Calls run(user) when the cancel is triggered, and when exit() begins.  If
 * that has happened already, it calls run(user) at once, on the calling thread.
 * After detach() returns, run() is neither running nor called any more. */
void xd_cancel_attach(struct xd_cancel *c, struct xd_cancel_hook *hook,
                      void (*run)(void *), void *user);
void xd_cancel_detach(struct xd_cancel *c, struct xd_cancel_hook *hook);

/* Calls run(user), which may block, on the cancel's thread; on the calling
 * thread if `c` is NULL or was freed by the program.  `cleanup` may be part of
 * the object that run() releases. */
void xd_cancel_dispose(struct xd_cancel *c, struct xd_cancel_hook *cleanup,
                       void (*run)(void *), void *user);

#endif
