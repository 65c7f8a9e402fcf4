/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for POLLRDHUP */

#include "serve/disconnects.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <xdownload/stream.h>

/* Without POLLRDHUP, a disconnect is noticed only if the connection is reset or
 * both directions are closed.  Otherwise it is noticed when the next bytes are
 * sent. */
#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

struct disconnects {
    /* constant after disconnects_new() */
    /* a pipe that interrupts poll() when the list has changed */
    int changed[2];
    size_t most;
    pthread_t thread;

    pthread_mutex_t lock;

    /* Guarded by lock.  Client `i` has sockets[i] and readers[i]. */
    struct pollfd *sockets;
    struct xd_reader **readers;
    size_t n;
    unsigned long n_changes;
    bool is_over;

    /* used by the thread only */
    struct pollfd *polled; /* a copy of `sockets`, followed by the pipe */
};

static void look_locked(struct disconnects *d)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->polled[i].revents == 0)
            continue;
        d->sockets[i].fd = -1;
        xd_reader_interrupt(d->readers[i], 1);
    }
}

static void drain(int fd)
{
    char some[64];

    while (read(fd, some, sizeof some) > 0)
        continue;
}

/* Polls the sockets.  A socket may be closed during poll(), and its number may
 * be reused.  So the result is valid only if no client was added or removed
 * meanwhile. */
static void *watch_sockets(void *arg)
{
    struct disconnects *d = arg;

    pthread_mutex_lock(&d->lock);
    while (!d->is_over) {
        const unsigned long n_changes = d->n_changes;
        const size_t n = d->n;

        memcpy(d->polled, d->sockets, n * sizeof *d->polled);
        d->polled[n] = (struct pollfd){.fd = d->changed[0], .events = POLLIN};
        pthread_mutex_unlock(&d->lock);
        const int n_seen = poll(d->polled, n + 1, -1);
        drain(d->changed[0]);
        pthread_mutex_lock(&d->lock);
        if (n_seen > 0 && n_changes == d->n_changes)
            look_locked(d);
    }
    pthread_mutex_unlock(&d->lock);
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

static void free_memory(struct disconnects *d)
{
    free(d->sockets);
    free(d->readers);
    free(d->polled);
    free(d);
}

struct disconnects *disconnects_new(size_t most)
{
    struct disconnects *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->most = most;
    d->sockets = calloc(most, sizeof *d->sockets);
    d->readers = calloc(most, sizeof *d->readers);
    d->polled = calloc(most + 1, sizeof *d->polled);
    if (d->sockets == NULL || d->readers == NULL || d->polled == NULL ||
        !open_pipe(d->changed))
        goto free_memory;
    if (pthread_mutex_init(&d->lock, NULL) != 0)
        goto close_pipe;
    if (pthread_create(&d->thread, NULL, watch_sockets, d) != 0)
        goto destroy_lock;
    return d;

destroy_lock:
    pthread_mutex_destroy(&d->lock);
close_pipe:
    close(d->changed[0]);
    close(d->changed[1]);
free_memory:
    free_memory(d);
    return NULL;
}

static void report_change_locked(struct disconnects *d)
{
    d->n_changes++;
    /* If the pipe is full, the thread will notice the change anyway. */
    (void)!write(d->changed[1], "", 1);
}

void disconnects_free(struct disconnects *d)
{
    if (d == NULL)
        return;
    pthread_mutex_lock(&d->lock);
    d->is_over = true;
    report_change_locked(d);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_mutex_destroy(&d->lock);
    close(d->changed[0]);
    close(d->changed[1]);
    free_memory(d);
}

void disconnects_add(struct disconnects *d, int fd, struct xd_reader *reader)
{
    pthread_mutex_lock(&d->lock);
    assert(d->n < d->most);
    d->sockets[d->n] = (struct pollfd){.fd = fd, .events = POLLRDHUP};
    d->readers[d->n++] = reader;
    report_change_locked(d);
    pthread_mutex_unlock(&d->lock);
}

void disconnects_remove(struct disconnects *d, const struct xd_reader *reader)
{
    size_t i = 0;

    pthread_mutex_lock(&d->lock);
    while (d->readers[i] != reader)
        i++;
    d->n--;
    d->sockets[i] = d->sockets[d->n];
    d->readers[i] = d->readers[d->n];
    report_change_locked(d);
    pthread_mutex_unlock(&d->lock);
}
