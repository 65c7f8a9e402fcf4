/* SPDX-License-Identifier: MIT */
#include "os/cancel.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/exit.h"
#include "os/thread.h"

/* A signal handler may not take a lock. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "an atomic bool needs no lock");

struct xd_cancel {
    /* constant after xd_cancel_new() */
    struct xd_thread thread;
    long process;

    /* also set in signal handlers */
    atomic_bool is_triggered;
    sem_t wake;

    atomic_uint references;

    struct xd_mutex lock;
    /* guarded by lock */
    struct xd_cancel_hook *hooks, *cleanups;
    bool is_closed; /* xd_cancel_free() was called: the thread ends */
};

/* Aborts after an error that only a bug in this file can cause. */
static void must(int rc)
{
    if (rc != 0)
        abort();
}

static void run_hooks_locked(struct xd_cancel *c)
{
    for (struct xd_cancel_hook *h = c->hooks; h; h = h->next) {
        if (!h->has_run)
            h->run(h->user);
        h->has_run = true;
    }
}

/* Runs the cleanups.  Each may free the memory that it is part of, so `next` is
 * read first. */
static void run_cleanups(struct xd_cancel_hook *cleanups)
{
    while (cleanups) {
        struct xd_cancel_hook *next = cleanups->next;

        cleanups->run(cleanups->user);
        cleanups = next;
    }
}

static void *cancel_main(void *arg)
{
    struct xd_cancel *c = arg;
    bool is_closed = false;

    while (!is_closed) {
        struct xd_cancel_hook *cleanups;

        while (sem_wait(&c->wake) != 0)
            must(errno != EINTR);
        xd_mutex_lock(&c->lock);
        if (atomic_load(&c->is_triggered))
            run_hooks_locked(c);
        cleanups = c->cleanups;
        c->cleanups = NULL;
        is_closed = c->is_closed;
        xd_mutex_unlock(&c->lock);
        run_cleanups(cleanups);
    }
    return NULL;
}

int xd_cancel_new(struct xd_cancel **out, struct xd_error *err)
{
    struct xd_cancel *c = xd_alloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return xd_fail_nomem(err);
    atomic_init(&c->is_triggered, false);
    atomic_init(&c->references, 1);
    c->process = xd_exit_process();
    if (xd_mutex_init(&c->lock) < 0)
        goto free_cancel;
    if (sem_init(&c->wake, 0, 0) != 0)
        goto fini_lock;
    if (xd_thread_start_background(&c->thread, cancel_main, c) < 0)
        goto destroy_wake;
    *out = c;
    return 0;

destroy_wake:
    must(sem_destroy(&c->wake));
fini_lock:
    xd_mutex_fini(&c->lock);
free_cancel:
    xd_free(c);
    return xd_fail_nomem(err);
}

struct xd_cancel *xd_cancel_ref(struct xd_cancel *c)
{
    if (c)
        atomic_fetch_add(&c->references, 1);
    return c;
}

void xd_cancel_unref(struct xd_cancel *c)
{
    if (!c || atomic_fetch_sub(&c->references, 1) != 1)
        return;
    must(sem_destroy(&c->wake));
    xd_mutex_fini(&c->lock);
    xd_free(c);
}

void xd_cancel_trigger(struct xd_cancel *c)
{
    int os_errno = errno; /* a signal handler must not change errno */

    atomic_store(&c->is_triggered, true);
    (void)sem_post(&c->wake);
    errno = os_errno;
}

bool xd_cancel_is_triggered(const struct xd_cancel *c)
{
    return atomic_load(&c->is_triggered);
}

void xd_cancel_free(struct xd_cancel *c)
{
    if (!c || c->process != xd_exit_process())
        return;
    xd_mutex_lock(&c->lock);
    c->is_closed = true;
    xd_mutex_unlock(&c->lock);
    must(sem_post(&c->wake));
    xd_thread_join(&c->thread);
    xd_cancel_unref(c);
}

void xd_cancel_attach(struct xd_cancel *c, struct xd_cancel_hook *hook,
                      void (*run)(void *), void *user)
{
    *hook = (struct xd_cancel_hook){.run = run, .user = user};
    xd_exit_add(hook);
    if (!c)
        return;
    xd_mutex_lock(&c->lock);
    hook->next = c->hooks;
    c->hooks = hook;
    if (atomic_load(&c->is_triggered))
        run_hooks_locked(c);
    xd_mutex_unlock(&c->lock);
}

void xd_cancel_detach(struct xd_cancel *c, struct xd_cancel_hook *hook)
{
    struct xd_cancel_hook **at;

    xd_exit_remove(hook);
    if (!c)
        return;
    xd_mutex_lock(&c->lock);
    for (at = &c->hooks; *at && *at != hook;)
        at = &(*at)->next;
    if (*at)
        *at = hook->next;
    xd_mutex_unlock(&c->lock);
}

void xd_cancel_dispose(struct xd_cancel *c, struct xd_cancel_hook *cleanup,
                       void (*run)(void *), void *user)
{
    bool is_closed = true;

    if (c) {
        xd_mutex_lock(&c->lock);
        is_closed = c->is_closed;
        if (!is_closed) {
            *cleanup = (struct xd_cancel_hook){
                .run = run, .user = user, .next = c->cleanups};
            c->cleanups = cleanup;
            /* the thread cannot free `c` before the unlock */
            must(sem_post(&c->wake));
        }
        xd_mutex_unlock(&c->lock);
    }
    if (is_closed)
        run(user);
}
