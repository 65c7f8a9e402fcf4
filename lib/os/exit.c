/* SPDX-License-Identifier: MIT */
/*
 * The mutable global variables of lib/os: exit() and fork() concern the whole
 * process.
 */
#include "os/exit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "os/cancel.h"
#include "os/thread.h"

/* Longest time that exit() takes, in seconds.  Downloads end within one second,
 * but a disk or a name server may block a thread for longer. */
#define LONGEST_EXIT 5

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool has_begun; /* written with both locks held */

static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct xd_cancel_hook *hooks; /* guarded by hooks_lock */

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_left = PTHREAD_COND_INITIALIZER;
static struct xd_thread *threads; /* guarded by threads_lock */

/* Aborts after an error that only a bug in this file can cause. */
static void must(int rc)
{
    if (rc != 0)
        abort();
}

/* ---- hooks ---- */

void xd_exit_add(struct xd_cancel_hook *hook)
{
    must(pthread_mutex_lock(&hooks_lock));
    hook->next_at_exit = hooks;
    hooks = hook;
    if (atomic_load(&has_begun))
        hook->run(hook->user);
    must(pthread_mutex_unlock(&hooks_lock));
}

void xd_exit_remove(struct xd_cancel_hook *hook)
{
    struct xd_cancel_hook **at;

    must(pthread_mutex_lock(&hooks_lock));
    for (at = &hooks; *at && *at != hook;)
        at = &(*at)->next_at_exit;
    if (*at)
        *at = hook->next_at_exit;
    must(pthread_mutex_unlock(&hooks_lock));
}

/* ---- threads ---- */

static void unlink_locked(struct xd_thread *t)
{
    struct xd_thread **at = &threads;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

bool xd_exit_add_thread(struct xd_thread *t)
{
    bool is_allowed;

    must(pthread_mutex_lock(&threads_lock));
    is_allowed = !atomic_load(&has_begun);
    if (is_allowed) {
        t->has_left = t->is_joined = false;
        t->next = threads;
        threads = t;
    }
    must(pthread_mutex_unlock(&threads_lock));
    return is_allowed;
}

void xd_exit_remove_thread(struct xd_thread *t)
{
    must(pthread_mutex_lock(&threads_lock));
    unlink_locked(t);
    must(pthread_cond_broadcast(&thread_left));
    must(pthread_mutex_unlock(&threads_lock));
}

void xd_exit_leave_thread(struct xd_thread *t)
{
    must(pthread_mutex_lock(&threads_lock));
    t->has_left = true;
    must(pthread_cond_broadcast(&thread_left));
    must(pthread_mutex_unlock(&threads_lock));
}

/* Joins a thread that has called leave(), so this does not block for long. */
static void join_locked(struct xd_thread *t)
{
    must(pthread_join(t->t, NULL));
    t->is_joined = true;
    unlink_locked(t);
}

void xd_exit_join_thread(struct xd_thread *t)
{
    must(pthread_mutex_lock(&threads_lock));
    while (!t->has_left)
        must(pthread_cond_wait(&thread_left, &threads_lock));
    if (!t->is_joined)
        join_locked(t);
    must(pthread_mutex_unlock(&threads_lock));
}

/* ---- exit() ---- */

/* Joins the threads that have called leave().  Returns true if others are still
 * running.  A thread that called exit() itself does not count, because it never
 * leaves. */
static bool join_some_locked(void)
{
    bool must_wait = false;

    for (struct xd_thread *t = threads, *next; t; t = next) {
        next = t->next;
        if (t->has_left)
            join_locked(t);
        else if (!t->is_background && !pthread_equal(t->t, pthread_self()))
            must_wait = true;
    }
    return must_wait;
}

static void join_threads(void)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LONGEST_EXIT;
    must(pthread_mutex_lock(&threads_lock));
    while (join_some_locked() && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&thread_left, &threads_lock, &until);
    must(pthread_mutex_unlock(&threads_lock));
}

static void at_exit(void)
{
    must(pthread_mutex_lock(&hooks_lock));
    must(pthread_mutex_lock(&threads_lock));
    atomic_store(&has_begun, true);
    must(pthread_mutex_unlock(&threads_lock));
    for (struct xd_cancel_hook *h = hooks; h; h = h->next_at_exit)
        h->run(h->user);
    must(pthread_mutex_unlock(&hooks_lock));
    join_threads();
}

bool xd_exit_has_begun(void)
{
    return atomic_load(&has_begun);
}

/* ---- fork() ---- */

static void before_fork(void)
{
    must(pthread_mutex_lock(&hooks_lock));
    must(pthread_mutex_lock(&threads_lock));
}

static void after_fork(void)
{
    must(pthread_mutex_unlock(&threads_lock));
    must(pthread_mutex_unlock(&hooks_lock));
}

static void after_fork_in_child(void)
{
    for (struct xd_thread *t = threads; t; t = t->next)
        t->has_left = t->is_joined = true;
    threads = NULL;
    hooks = NULL;
    must(pthread_cond_init(&thread_left, NULL));
    after_fork();
}

static void prepare(void)
{
    /* If there is no memory for the handlers, threads may still run while
     * exit() frees the data of the libraries that they use. */
    (void)!atexit(at_exit);
    (void)!pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void xd_exit_prepare(void)
{
    pthread_once(&once, prepare);
}

long xd_exit_process(void)
{
    return (long)getpid();
}
