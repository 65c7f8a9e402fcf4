#include "serve/hurry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <pthread.h>
#include <sys/socket.h>

struct hurried {
    struct hurried *next;
    int fd;
    time_t due; /* of the monotonic clock, in seconds; 0: nothing is due */
};

struct hurry {
    /* Constant after new(). */
    time_t seconds;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* the thread: something is due, or the end */

    /* Guarded by lock. */
    struct hurried *first;
    bool is_over;
};

static time_t now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* End what is overdue.  Returns when the next is due; 0: nothing is. */
static time_t end_overdue_locked(struct hurry *h)
{
    const time_t now = now_s();
    time_t next = 0;

    for (struct hurried *c = h->first; c != NULL; c = c->next) {
        if (c->due == 0)
            continue;
        if (c->due <= now) {
            c->due = 0;
            shutdown(c->fd, SHUT_RDWR); /* MHD notices, and closes it */
        } else if (next == 0 || c->due < next) {
            next = c->due;
        }
    }
    return next;
}

static void *look_on(void *arg)
{
    struct hurry *h = arg;

    pthread_mutex_lock(&h->lock);
    while (!h->is_over) {
        const struct timespec next = {.tv_sec = end_overdue_locked(h)};

        if (next.tv_sec == 0)
            pthread_cond_wait(&h->changed, &h->lock);
        else
            pthread_cond_timedwait(&h->changed, &h->lock, &next);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static bool init_changed(struct hurry *h)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr) != 0)
        return false;
    const bool is_made =
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
        pthread_cond_init(&h->changed, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return is_made;
}

struct hurry *hurry_new(unsigned seconds)
{
    struct hurry *h = calloc(1, sizeof *h);

    if (h == NULL)
        return NULL;
    h->seconds = (time_t)seconds;
    if (pthread_mutex_init(&h->lock, NULL) != 0)
        goto free_memory;
    if (!init_changed(h))
        goto destroy_lock;
    if (pthread_create(&h->thread, NULL, look_on, h) == 0)
        return h;

    pthread_cond_destroy(&h->changed);
destroy_lock:
    pthread_mutex_destroy(&h->lock);
free_memory:
    free(h);
    return NULL;
}

void hurry_free(struct hurry *h)
{
    if (h == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    h->is_over = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

struct hurried *hurry_add(struct hurry *h, int fd)
{
    struct hurried *c = malloc(sizeof *c);

    if (c == NULL)
        return NULL;
    pthread_mutex_lock(&h->lock);
    *c = (struct hurried){.next = h->first, .fd = fd};
    h->first = c;
    pthread_mutex_unlock(&h->lock);
    hurry_resume(h, c);
    return c;
}

void hurry_remove(struct hurry *h, struct hurried *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    struct hurried **at = &h->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&h->lock);
    free(c);
}

void hurry_pause(struct hurry *h, struct hurried *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    c->due = 0;
    pthread_mutex_unlock(&h->lock);
}

void hurry_resume(struct hurry *h, struct hurried *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&h->lock);
    c->due = now_s() + h->seconds;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}
