/* SPDX-License-Identifier: MIT */
/* Locks, conditions, threads and memory, when the system has none. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "os/cancel.h"
#include "os/log.h"
#include "os/thread.h"
#include "suite.h"
#include "torture.h"

/* What these layers want of the system; everybody else wants these layers. */
WRAP(void *, calloc, (size_t n, size_t size), (n, size), NULL)
WRAP(void *, realloc, (void *p, size_t size), (p, size), NULL)
WRAP(int, pthread_attr_init, (pthread_attr_t * a), (a), ENOMEM)
WRAP(int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*main)(void *), void *arg),
     (t, a, main, arg), EAGAIN)
WRAP(int, pthread_mutexattr_init, (pthread_mutexattr_t * a), (a), ENOMEM)
WRAP(int, pthread_mutex_init,
     (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a), EAGAIN)
WRAP(int, pthread_condattr_init, (pthread_condattr_t * a), (a), ENOMEM)
WRAP(int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *a),
     (c, a), EAGAIN)

static void *do_nothing(void *arg)
{
    return arg;
}

/* The thread that could not start another still hears its own signals. */
static int start_thread(void)
{
    struct xd_thread t;
    sigset_t mask;
    int rc;

    torture_begin();
    rc = xd_thread_start(&t, do_nothing, NULL);
    torture_end();
    if (rc == 0)
        xd_thread_join(&t);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    ck_assert_int_eq(sigismember(&mask, SIGINT), 0);
    return rc;
}

START_TEST(a_thread_that_cannot_be_started_leaves_no_trace)
{
    torture(start_thread);
}
END_TEST

static int make_locks(void)
{
    struct xd_mutex m;
    struct xd_cond c;
    struct xd_log log;
    int rc;

    torture_begin();
    rc = xd_mutex_init(&m);
    if (rc == 0) {
        rc = xd_cond_init(&c);
        if (rc == 0) {
            rc = xd_log_init(&log, NULL, NULL);
            if (rc == 0)
                xd_log_fini(&log);
            xd_cond_fini(&c);
        }
        xd_mutex_fini(&m);
    }
    torture_end();
    return rc;
}

START_TEST(a_lock_or_condition_is_made_or_not)
{
    torture(make_locks);
}
END_TEST

/* A block that cannot grow is as before. */
static int take_memory(void)
{
    char *text, *copy, *more = NULL;
    int rc;

    torture_begin();
    text = xd_alloc(10, 1);
    copy = xd_strdup("text");
    if (text != NULL) {
        text[0] = 'x';
        more = xd_realloc(text, 1000, 1);
    }
    torture_end();
    rc = more != NULL && copy != NULL ? 0 : XD_E_NOMEM;
    if (more == NULL)
        more = text;
    ck_assert(more == NULL || more[0] == 'x');
    xd_free(more);
    xd_free(copy);
    return rc;
}

START_TEST(memory_is_there_or_not)
{
    torture(take_memory);
}
END_TEST

static int make_cancel(void)
{
    struct xd_cancel *c;
    struct xd_error err = {.code = XD_OK};
    int rc;

    torture_begin();
    rc = xd_cancel_new(&c, &err);
    ck_assert((rc == 0) == (c != NULL));
    ck_assert_int_eq(rc, err.code);
    xd_cancel_free(c);
    torture_end();
    return rc;
}

START_TEST(a_cancel_is_made_or_not)
{
    torture(make_cancel);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("os");

    tcase_set_timeout(t, 0);
    tcase_add_test(t, a_thread_that_cannot_be_started_leaves_no_trace);
    tcase_add_test(t, a_lock_or_condition_is_made_or_not);
    tcase_add_test(t, memory_is_there_or_not);
    tcase_add_test(t, a_cancel_is_made_or_not);
    return run_suite("torture.os", t);
}
