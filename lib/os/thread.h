/* SPDX-License-Identifier: MIT */
/*
 * Threads, locks and condition variables.
 *
 * Calls that fail only because of a bug, such as locking a lock twice, abort
 * the process.  Calls that fail for lack of resources return NOMEM.
 */
#ifndef XD_OS_THREAD_H
#define XD_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "os/clock.h"

struct xd_mutex {
    pthread_mutex_t m;
};

struct xd_cond {
    pthread_cond_t c; /* uses the clock of xd_now() where the system can */
};

struct xd_thread {
    pthread_t t;

    /* constant after start */
    void *(*main)(void *);
    void *arg;
    bool is_background;

    /* guarded by a lock of exit.c */
    bool has_left, is_joined;
    struct xd_thread *next;
};

int xd_mutex_init(struct xd_mutex *m);
void xd_mutex_fini(struct xd_mutex *m);
void xd_mutex_lock(struct xd_mutex *m);
void xd_mutex_unlock(struct xd_mutex *m);

int xd_cond_init(struct xd_cond *c);
void xd_cond_fini(struct xd_cond *c);
void xd_cond_signal(struct xd_cond *c);
void xd_cond_broadcast(struct xd_cond *c);
void xd_cond_wait(struct xd_cond *c, struct xd_mutex *m);

/* Waits for a signal until the time `until` of xd_now().  Returns false after
 * that time. */
bool xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m, xd_usec until);

/*
 * Starts a thread with a fixed stack size.  All signals except synchronous
 * faults are blocked, so the program's signal handlers never run on it.  `t`
 * must not move before xd_thread_join().
 *
 * exit() waits for the thread, but not for a background thread, which must call
 * nothing but the C library.
 */
int xd_thread_start(struct xd_thread *t, void *(*main)(void *), void *arg);
int xd_thread_start_background(struct xd_thread *t, void *(*main)(void *),
                               void *arg);
void xd_thread_join(struct xd_thread *t);

#endif
