/* SPDX-License-Identifier: MIT */
#include "http/timeouts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <pthread.h>
#include <sys/socket.h>

struct timeout {
    struct timeout *next;
    int fd;
    /* time at which the request must be complete, in seconds of the monotonic
     * clock; 0: no limit */
    time_t due;
};

struct timeouts {
    /* constant after timeouts_new() */
    time_t seconds;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* wakes the thread */

    /* guarded by lock */
    struct timeout *first;
    bool is_over;
};

/* On macOS, condition variables cannot use the monotonic clock. */
#if defined _POSIX_CLOCK_SELECTION && _POSIX_CLOCK_SELECTION > 0
#define OWN_CLOCK CLOCK_MONOTONIC
#else
#define OWN_CLOCK CLOCK_REALTIME
#endif

static time_t now_s(void)
{
    struct timespec t;

    clock_gettime(OWN_CLOCK, &t);
    return t.tv_sec;
}

/* Shuts down overdue connections.  Returns the time at which the next
 * connection is due; 0: none. */
static time_t end_overdue_locked(struct timeouts *t)
{
    const time_t now = now_s();
    time_t next = 0;

    for (struct timeout *c = t->first; c != NULL; c = c->next) {
        if (c->due == 0)
            continue;
        if (c->due <= now) {
            c->due = 0;
            /* libmicrohttpd notices this and closes the connection */
            shutdown(c->fd, SHUT_RDWR);
        } else if (next == 0 || c->due < next) {
            next = c->due;
        }
    }
    return next;
}

static void *look_on(void *arg)
{
    struct timeouts *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->is_over) {
        const struct timespec next = {.tv_sec = end_overdue_locked(t)};

        if (next.tv_sec == 0)
            pthread_cond_wait(&t->changed, &t->lock);
        else
            pthread_cond_timedwait(&t->changed, &t->lock, &next);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static bool init_changed(struct timeouts *t)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool is_made = true;
#if defined _POSIX_CLOCK_SELECTION && _POSIX_CLOCK_SELECTION > 0
    is_made = pthread_condattr_setclock(&attr, OWN_CLOCK) == 0;
#endif
    is_made = is_made && pthread_cond_init(&t->changed, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return is_made;
}

struct timeouts *timeouts_new(unsigned seconds)
{
    struct timeouts *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->seconds = (time_t)seconds;
    if (pthread_mutex_init(&t->lock, NULL) != 0)
        goto free_memory;
    if (!init_changed(t))
        goto destroy_lock;
    if (pthread_create(&t->thread, NULL, look_on, t) == 0)
        return t;

    pthread_cond_destroy(&t->changed);
destroy_lock:
    pthread_mutex_destroy(&t->lock);
free_memory:
    free(t);
    return NULL;
}

void timeouts_free(struct timeouts *t)
{
    if (t == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    t->is_over = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct timeout *timeouts_add(struct timeouts *t, int fd)
{
    struct timeout *c = malloc(sizeof *c);

    if (c == NULL)
        return NULL;
    pthread_mutex_lock(&t->lock);
    *c = (struct timeout){.next = t->first, .fd = fd};
    t->first = c;
    pthread_mutex_unlock(&t->lock);
    timeouts_resume(t, c);
    return c;
}

void timeouts_remove(struct timeouts *t, struct timeout *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    struct timeout **at = &t->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&t->lock);
    free(c);
}

void timeouts_pause(struct timeouts *t, struct timeout *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    c->due = 0;
    pthread_mutex_unlock(&t->lock);
}

void timeouts_resume(struct timeouts *t, struct timeout *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&t->lock);
    c->due = now_s() + t->seconds;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}
