/* SPDX-License-Identifier: MIT */
#include "io/http/watchdog.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/defence.h"
#include "base/error.h"
#include "os/thread.h"

/* Interval between checks, and the number of checks in a row without a change
 * after which the sockets are shut down.  Checks are counted instead of
 * seconds, so that a stopped process blames no depot.  libcurl blocks for a
 * second in FTP, and on an overloaded machine a thread may not run for two. */
#define LOOK_EVERY (250 * XD_MS)
#define MOST_LOOKS 12

/* The same values shortly before the transports are freed. */
#define SHORT_LOOK_EVERY (50 * XD_MS)
#define SHORT_MOST_LOOKS 5

struct xd_watchdog {
    struct xd_mutex lock;
    struct xd_cond
        /* wakes the thread after a new transport, a shorter patience, or the
         * end */
        changed;

    /* guarded by lock */
    struct xd_watched *first;
    bool waits_less, is_over, has_thread;
    struct xd_thread thread;
};

static void look_locked(struct xd_watchdog *d, struct xd_watched *w)
{
    unsigned n_moves = atomic_load(&w->n_moves);

    if (atomic_load(&w->where) != XD_IN_LIBCURL || n_moves != w->seen) {
        w->seen = n_moves;
        w->n_seen = 0;
        return;
    }
    if (++w->n_seen < (d->waits_less ? SHORT_MOST_LOOKS : MOST_LOOKS))
        return;
    w->n_seen = 0;
    atomic_store(&w->was_ended, true);
    for (size_t i = 0; i < w->n_sockets; i++)
        shutdown(w->sockets[i], SHUT_RDWR);
}

static void *watchdog_main(void *arg)
{
    struct xd_watchdog *d = arg;
    xd_usec pause;

    xd_mutex_lock(&d->lock);
    while (!d->is_over) {
        for (struct xd_watched *w = d->first; w; w = w->next)
            look_locked(d, w);
        pause = d->waits_less ? SHORT_LOOK_EVERY : LOOK_EVERY;
        (void)xd_cond_wait_until(&d->changed, &d->lock,
                                 d->first ? xd_now() + pause : XD_NEVER);
    }
    xd_mutex_unlock(&d->lock);
    return NULL;
}

int xd_watchdog_new(struct xd_watchdog **out, struct xd_error *err)
{
    struct xd_watchdog *d = xd_alloc(1, sizeof *d);

    if (!d)
        return xd_fail_nomem(err);
    if (xd_mutex_init(&d->lock) < 0)
        goto free_memory;
    if (xd_cond_init(&d->changed) < 0)
        goto fini_lock;
    *out = d;
    return 0;

fini_lock:
    xd_mutex_fini(&d->lock);
free_memory:
    xd_free(d);
    return xd_fail_nomem(err);
}

void xd_watchdog_free(struct xd_watchdog *d)
{
    if (!d)
        return;
    xd_mutex_lock(&d->lock);
    d->is_over = true;
    xd_cond_signal(&d->changed);
    xd_mutex_unlock(&d->lock);
    if (d->has_thread)
        xd_thread_join(&d->thread);
    xd_cond_fini(&d->changed);
    xd_mutex_fini(&d->lock);
    xd_free(d);
}

void xd_watchdog_shorten_wait(struct xd_watchdog *d)
{
    if (!d)
        return;
    xd_mutex_lock(&d->lock);
    d->waits_less = true;
    xd_cond_signal(&d->changed);
    xd_mutex_unlock(&d->lock);
}

/* Without a watchdog there is nothing to lock. */
static void lock(struct xd_watched *w)
{
    if (w->by)
        xd_mutex_lock(&w->by->lock);
}

static void unlock(struct xd_watched *w)
{
    if (w->by)
        xd_mutex_unlock(&w->by->lock);
}

static int join(struct xd_watchdog *d, struct xd_watched *w)
{
    int rc = 0;

    xd_mutex_lock(&d->lock);
    if (!d->has_thread)
        rc = xd_thread_start_background(&d->thread, watchdog_main, d);
    if (rc == 0) {
        d->has_thread = true;
        w->by = d;
        w->next = d->first;
        d->first = w;
        xd_cond_signal(&d->changed);
    }
    xd_mutex_unlock(&d->lock);
    return rc;
}

int xd_watched_begin(struct xd_watched *w, struct xd_watchdog *d,
                     size_t most_sockets, struct xd_error *err)
{
    w->sockets = xd_alloc(most_sockets, sizeof *w->sockets);
    if (!w->sockets)
        return xd_fail_nomem(err);
    w->most_sockets = most_sockets;
    if (!d || !XD_DEFENDS("watchdog") || join(d, w) == 0)
        return 0;
    xd_free(w->sockets);
    w->sockets = NULL;
    return xd_fail_nomem(err);
}

void xd_watched_end(struct xd_watched *w)
{
    struct xd_watched **at;

    lock(w);
    if (w->by) {
        for (at = &w->by->first; *at != w; at = &(*at)->next)
            ;
        *at = w->next;
    }
    unlock(w);
    xd_free(w->sockets);
}

int xd_watched_move(struct xd_watched *w, int where)
{
    atomic_fetch_add(&w->n_moves, 1);
    return atomic_exchange(&w->where, where);
}

void xd_watched_add_socket(struct xd_watched *w, int fd)
{
    lock(w);
    if (w->n_sockets < w->most_sockets)
        w->sockets[w->n_sockets++] = fd;
    unlock(w);
}

/* Removes the descriptor from the list before closing it, because its number
 * may be reused at once. */
void xd_watched_close_socket(struct xd_watched *w, int fd)
{
    size_t i = 0;

    lock(w);
    while (i < w->n_sockets && w->sockets[i] != fd)
        i++;
    if (i < w->n_sockets)
        w->sockets[i] = w->sockets[--w->n_sockets];
    unlock(w);
    close(fd);
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t len = sizeof a;

    memset(&a, 0, sizeof a);
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return -1;
    if (a.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&a)->sin6_port);
    return a.ss_family == AF_INET ? ntohs(((struct sockaddr_in *)&a)->sin_port)
                                  : -1;
}

int xd_watched_find_socket(const struct xd_watched *w, int port)
{
    for (size_t i = 0; i < w->n_sockets; i++) {
        if (port_of(w->sockets[i]) == port)
            return w->sockets[i];
    }
    return -1;
}

bool xd_watched_was_ended(struct xd_watched *w)
{
    return atomic_exchange(&w->was_ended, false);
}
