/* SPDX-License-Identifier: MIT */
/*
 * What can be ended from outside attaches a hook, which is called by the
 * cancel's thread, since a signal handler may do no more than wake one.  That
 * thread also releases what must not hold up a call that was ended.
 *
 *     trigger(): a flag, a semaphore --> thread: hooks, cleanups
 *
 * cancel.lock is held while a hook runs, which may take the lock of what it
 * ends: attach() and detach() are called without that.
 */
#ifndef XD_OS_CANCEL_H
#define XD_OS_CANCEL_H

#include <xdownload/cancel.h>

/* Owned by what is ended or released, and part of it. */
struct xd_cancel_hook {
    void (*run)(void *user);
    void *user;
    bool has_run;
    struct xd_cancel_hook *next;
};

/* An object that keeps a cancel holds a reference to its memory, beside the
 * program's own, which xd_cancel_free() gives back.  NULL is no cancel: ref()
 * returns it, and the other functions do nothing. */
struct xd_cancel *xd_cancel_ref(struct xd_cancel *c);
void xd_cancel_unref(struct xd_cancel *c);

/* Call run(user) once when it is triggered; at once, on this thread, if it is.
 * After detach() it does not run any more. */
void xd_cancel_attach(struct xd_cancel *c, struct xd_cancel_hook *hook,
                      void (*run)(void *), void *user);
void xd_cancel_detach(struct xd_cancel *c, struct xd_cancel_hook *hook);

/* Have run(user), which may block, called by the cancel's thread; without one,
 * by this.  `cleanup` may be part of what it releases. */
void xd_cancel_dispose(struct xd_cancel *c, struct xd_cancel_hook *cleanup,
                       void (*run)(void *), void *user);

#endif
