/* SPDX-License-Identifier: MIT */
#include "args/interruptible.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <pthread.h>

#include "args/waiting.h"
#include "common/advice.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"

/* Nanoseconds between checks for a signal.  Users do not notice such a short
 * delay. */
#define LOOK_NS 20000000L

struct call {
    interruptible_fn *call;
    void *user;
    struct xd_error *err;
    int rc;
    pthread_mutex_t lock;
    bool has_ended; /* guarded by lock */
};

static void *run(void *arg)
{
    struct call *c = arg;

    c->rc = c->call(c->user, c->err);
    pthread_mutex_lock(&c->lock);
    c->has_ended = true;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool has_ended(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    const bool ended = c->has_ended;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

static void watch(struct call *c, struct xd_cancel *cancel)
{
    const struct timespec pause = {0, LOOK_NS};

    while (!has_ended(c)) {
        if (signals_came())
            xd_cancel_trigger(cancel);
        if (signals_stop_came())
            signals_stop();
        nanosleep(&pause, NULL);
    }
}

/* Starts the thread with all signals blocked, so that only the calling thread
 * receives signals. */
static bool start(pthread_t *thread, struct call *c)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, NULL, run, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static int fail_nomem(struct xd_error *err)
{
    *err = (struct xd_error){.code = XD_E_NOMEM};
    snprintf(err->msg, sizeof err->msg, "out of memory");
    return XD_E_NOMEM;
}

int interruptible_run(const struct args *a, interruptible_fn *call, void *user,
                      struct xd_error *err)
{
    struct call c = {.call = call, .user = user, .err = err};
    struct waiting waiting;
    struct xd_cancel *cancel;
    pthread_t thread;

    const int rc = xd_cancel_new(&cancel, err);
    if (rc < 0)
        return rc;
    pthread_mutex_init(&c.lock, NULL);
    xd_options_set_cancel(a->options, cancel);
    signals_watch();
    waiting_begin(&waiting, a);
    if (!start(&thread, &c)) {
        c.rc = fail_nomem(err);
    } else {
        watch(&c, cancel);
        pthread_join(thread, NULL);
    }
    waiting_end(&waiting, a);
    signals_restore();
    xd_options_set_cancel(a->options, NULL);
    xd_cancel_free(cancel);
    pthread_mutex_destroy(&c.lock);
    return c.rc;
}

int interruptible_fail(const struct args *a, const struct xd_error *err)
{
    if (err->code == XD_E_CANCELED)
        words_error("interrupted");
    else
        advice_print(err, args_has_login(a));
    return status_of(err->code);
}
