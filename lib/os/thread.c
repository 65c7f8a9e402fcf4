/* SPDX-License-Identifier: MIT */
#include "os/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <xdownload/error.h>

#include "os/exit.h"

/* libcurl with TLS and name resolution needs a quarter of this.  glibc puts the
 * program's thread-local storage on the stack as well: most of 1 MiB with
 * ThreadSanitizer.  The default of 8 MiB would be reserved for every depot. */
#define STACK_BYTES ((size_t)2048 * 1024)

/* Without clock selection (macOS) conditions use the wall clock, and deadlines
 * are converted to it. */
#if defined _POSIX_CLOCK_SELECTION && _POSIX_CLOCK_SELECTION > 0 && \
    !defined XD_FLOOR
#define HAS_CLOCK_SELECTION 1
#else
#define HAS_CLOCK_SELECTION 0
#endif

/* Largest value of time_t, which may have only 32 bits. */
#define LAST_SECOND \
    (sizeof(time_t) > 4 ? (xd_usec)INT64_MAX : (xd_usec)INT32_MAX)

/* Aborts after an error that only misuse can cause.  Continuing without a lock
 * would corrupt data. */
static void must(int rc)
{
    if (rc != 0)
        abort();
}

/* Uses the errorcheck type, which costs little and turns a deadlock into an
 * abort(). */
int xd_mutex_init(struct xd_mutex *m)
{
    pthread_mutexattr_t attr;
    int rc;

    if (pthread_mutexattr_init(&attr) != 0)
        return XD_E_NOMEM;
    must(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
    rc = pthread_mutex_init(&m->m, &attr);
    must(pthread_mutexattr_destroy(&attr));
    return rc == 0 ? 0 : XD_E_NOMEM;
}

void xd_mutex_fini(struct xd_mutex *m)
{
    must(pthread_mutex_destroy(&m->m));
}

void xd_mutex_lock(struct xd_mutex *m)
{
    must(pthread_mutex_lock(&m->m));
}

void xd_mutex_unlock(struct xd_mutex *m)
{
    must(pthread_mutex_unlock(&m->m));
}

int xd_cond_init(struct xd_cond *c)
{
    pthread_condattr_t attr;
    int rc;

    if (pthread_condattr_init(&attr) != 0)
        return XD_E_NOMEM;
#if HAS_CLOCK_SELECTION
    must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
#endif
    rc = pthread_cond_init(&c->c, &attr);
    must(pthread_condattr_destroy(&attr));
    return rc == 0 ? 0 : XD_E_NOMEM;
}

void xd_cond_fini(struct xd_cond *c)
{
    must(pthread_cond_destroy(&c->c));
}

void xd_cond_signal(struct xd_cond *c)
{
    must(pthread_cond_signal(&c->c));
}

void xd_cond_broadcast(struct xd_cond *c)
{
    must(pthread_cond_broadcast(&c->c));
}

void xd_cond_wait(struct xd_cond *c, struct xd_mutex *m)
{
    must(pthread_cond_wait(&c->c, &m->m));
}

/* Converts to the clock that conditions use. */
static struct timespec deadline(xd_usec until)
{
#if !HAS_CLOCK_SELECTION
    const xd_usec now = xd_now();
    const xd_usec left = until > now ? until - now : 0;
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    until = (xd_usec)t.tv_sec * XD_SECOND + (xd_usec)t.tv_nsec / 1000;
    until = left < XD_NEVER - until ? until + left : XD_NEVER;
#endif
    const xd_usec second = until / XD_SECOND;
    return (struct timespec){
        .tv_sec = (time_t)(second < LAST_SECOND ? second : LAST_SECOND),
        .tv_nsec = (long)(until % XD_SECOND) * 1000,
    };
}

bool xd_cond_wait_until(struct xd_cond *c, struct xd_mutex *m, xd_usec until)
{
    if (until == XD_NEVER) {
        xd_cond_wait(c, m);
        return true;
    }
    const struct timespec t = deadline(until);
    const int rc = pthread_cond_timedwait(&c->c, &m->m, &t);
    if (rc == ETIMEDOUT)
        return false;
    must(rc);
    return true;
}

static size_t stack_bytes(void)
{
    long least = sysconf(_SC_THREAD_STACK_MIN);

    return least > 0 && (size_t)least > STACK_BYTES ? (size_t)least
                                                    : STACK_BYTES;
}

/* Blocks all signals but those of synchronous faults.  If such a fault occurs
 * while its signal is blocked, POSIX leaves the behaviour undefined. */
static void block_signals(sigset_t *out_old)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGSEGV);
    must(pthread_sigmask(SIG_SETMASK, &all, out_old));
}

static void *thread_main(void *arg)
{
    struct xd_thread *t = arg;

    (void)t->main(t->arg);
    xd_exit_leave_thread(t);
    return NULL;
}

static int create(struct xd_thread *t)
{
    pthread_attr_t attr;
    sigset_t old;
    int rc;

    if (pthread_attr_init(&attr) != 0)
        return XD_E_NOMEM;
    rc = pthread_attr_setstacksize(&attr, stack_bytes());
    if (rc == 0) {
        block_signals(&old); /* the new thread inherits the mask */
        rc = pthread_create(&t->t, &attr, thread_main, t);
        must(pthread_sigmask(SIG_SETMASK, &old, NULL));
    }
    must(pthread_attr_destroy(&attr));
    return rc == 0 ? 0 : XD_E_NOMEM;
}

static int start(struct xd_thread *t, void *(*main)(void *), void *arg,
                 bool is_background)
{
    int rc;

    t->main = main;
    t->arg = arg;
    t->is_background = is_background;
    if (!xd_exit_add_thread(t))
        return XD_E_NOMEM;
    rc = create(t);
    if (rc < 0)
        xd_exit_remove_thread(t);
    return rc;
}

int xd_thread_start(struct xd_thread *t, void *(*main)(void *), void *arg)
{
    return start(t, main, arg, false);
}

int xd_thread_start_background(struct xd_thread *t, void *(*main)(void *),
                               void *arg)
{
    return start(t, main, arg, true);
}

void xd_thread_join(struct xd_thread *t)
{
    xd_exit_join_thread(t);
}
