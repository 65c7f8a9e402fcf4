/* SPDX-License-Identifier: MIT */
/*
 * Threads, locks and conditions.
 *
 * What can only fail by a mistake of ours (locking a lock) aborts; what can
 * fail for want of resources (making one) returns NOMEM.
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
    pthread_cond_t c; /* waits by the clock of xd_now() */
};

struct xd_thread {
    pthread_t t;
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

/* Until signalled, or the moment `until` of xd_now(); false when it came. */
bool xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m, xd_usec until);

/*
 * Start a thread with a stack of our own size and every signal blocked but
 * those of its own faults, so that the host's handlers never run on it.
 */
int xd_thread_start(struct xd_thread *t, void *(*main)(void *), void *arg);
void xd_thread_join(struct xd_thread *t);

#endif
