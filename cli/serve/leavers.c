#define _GNU_SOURCE /* POLLRDHUP, where there is such a thing */

#include "serve/leavers.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <xdownload/stream.h>

/* Elsewhere only a reset shows, or the end of both directions: that a client
 * has left is noticed when it is sent the next bytes. */
#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

struct leavers {
    /* Constant after new(). */
    int changed[2]; /* a pipe, which ends a poll() of the connections so far */
    size_t most;
    pthread_t thread;

    pthread_mutex_t lock;

    /* Guarded by lock.  Client i is sockets[i] and readers[i]. */
    struct pollfd *sockets;
    struct xd_reader **readers;
    size_t n;
    unsigned long n_changes;
    bool is_over;

    /* Owned by the thread. */
    struct pollfd *polled; /* a copy of `sockets`, then the pipe */
};

static void look_locked(struct leavers *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->polled[i].revents == 0)
            continue;
        l->sockets[i].fd = -1;
        xd_reader_interrupt(l->readers[i], 1);
    }
}

static void drain(int fd)
{
    char some[64];

    while (read(fd, some, sizeof some) > 0)
        continue;
}

/* A socket may have been closed during poll(), and its number be another's:
 * what was seen holds only if no client has come or gone. */
static void *look_on(void *arg)
{
    struct leavers *l = arg;

    pthread_mutex_lock(&l->lock);
    while (!l->is_over) {
        const unsigned long n_changes = l->n_changes;
        const size_t n = l->n;

        memcpy(l->polled, l->sockets, n * sizeof *l->polled);
        l->polled[n] = (struct pollfd){.fd = l->changed[0], .events = POLLIN};
        pthread_mutex_unlock(&l->lock);
        const int n_seen = poll(l->polled, n + 1, -1);
        drain(l->changed[0]);
        pthread_mutex_lock(&l->lock);
        if (n_seen > 0 && n_changes == l->n_changes)
            look_locked(l);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static bool open_pipe(int ends[2])
{
    if (pipe(ends) < 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (fcntl(ends[i], F_SETFD, FD_CLOEXEC) < 0 ||
            fcntl(ends[i], F_SETFL, O_NONBLOCK) < 0) {
            close(ends[0]);
            close(ends[1]);
            return false;
        }
    return true;
}

static void free_memory(struct leavers *l)
{
    free(l->sockets);
    free(l->readers);
    free(l->polled);
    free(l);
}

struct leavers *leavers_new(size_t most)
{
    struct leavers *l = calloc(1, sizeof *l);

    if (l == NULL)
        return NULL;
    l->most = most;
    l->sockets = calloc(most, sizeof *l->sockets);
    l->readers = calloc(most, sizeof *l->readers);
    l->polled = calloc(most + 1, sizeof *l->polled);
    if (l->sockets == NULL || l->readers == NULL || l->polled == NULL ||
        !open_pipe(l->changed))
        goto free_memory;
    if (pthread_mutex_init(&l->lock, NULL) != 0)
        goto close_pipe;
    if (pthread_create(&l->thread, NULL, look_on, l) != 0)
        goto destroy_lock;
    return l;

destroy_lock:
    pthread_mutex_destroy(&l->lock);
close_pipe:
    close(l->changed[0]);
    close(l->changed[1]);
free_memory:
    free_memory(l);
    return NULL;
}

static void report_change_locked(struct leavers *l)
{
    l->n_changes++;
    /* A full pipe reports it as well. */
    (void)!write(l->changed[1], "", 1);
}

void leavers_free(struct leavers *l)
{
    if (l == NULL)
        return;
    pthread_mutex_lock(&l->lock);
    l->is_over = true;
    report_change_locked(l);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_mutex_destroy(&l->lock);
    close(l->changed[0]);
    close(l->changed[1]);
    free_memory(l);
}

void leavers_add(struct leavers *l, int fd, struct xd_reader *reader)
{
    pthread_mutex_lock(&l->lock);
    assert(l->n < l->most);
    l->sockets[l->n] = (struct pollfd){.fd = fd, .events = POLLRDHUP};
    l->readers[l->n++] = reader;
    report_change_locked(l);
    pthread_mutex_unlock(&l->lock);
}

void leavers_remove(struct leavers *l, const struct xd_reader *reader)
{
    size_t i = 0;

    pthread_mutex_lock(&l->lock);
    while (l->readers[i] != reader)
        i++;
    l->n--;
    l->sockets[i] = l->sockets[l->n];
    l->readers[i] = l->readers[l->n];
    report_change_locked(l);
    pthread_mutex_unlock(&l->lock);
}
