/* SPDX-License-Identifier: MIT */
#include "serve/events.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sys/socket.h>

#include "common/moment.h"

/* Number of bytes passed to the socket at a time. */
#define PORTION ((size_t)16 << 10)

/* Size of the send buffer in bytes.  If a client reads nothing, this is noticed
 * after so many bytes. */
#define SOCKET_BUFFER (64 << 10)

/* Seconds that a client may take for one event. */
#define EVENT_S 10

struct events {
    pthread_mutex_t lock;
    /* wakes the listeners: there is a new event, or the end */
    pthread_cond_t published;

    /* guarded by lock */
    char *text;
    size_t len;
    /* number of the event in `text`; 0: there is none yet */
    unsigned long number;
    unsigned n_listeners;
    bool is_over;
};

/* A response to a page.  Used by the thread of the connection after
 * events_response(). */
struct listening {
    struct events *events;
    char *text; /* a copy of an event */
    size_t len, sent;
    unsigned long number; /* number of that event */
    double began;         /* moment_s() when sending of the event started */
};

struct events *events_new(void)
{
    struct events *e = calloc(1, sizeof *e);

    if (e == NULL)
        return NULL;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->published, NULL);
    return e;
}

void events_free(struct events *e)
{
    if (e == NULL)
        return;
    pthread_cond_destroy(&e->published);
    pthread_mutex_destroy(&e->lock);
    free(e->text);
    free(e);
}

bool events_are_wanted(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    const bool are_wanted = e->n_listeners > 0;
    pthread_mutex_unlock(&e->lock);
    return are_wanted;
}

void events_publish(struct events *e, char *text, size_t len)
{
    pthread_mutex_lock(&e->lock);
    free(e->text);
    e->text = text;
    e->len = len;
    e->number++;
    pthread_cond_broadcast(&e->published);
    pthread_mutex_unlock(&e->lock);
}

void events_end(struct events *e)
{
    pthread_mutex_lock(&e->lock);
    e->is_over = true;
    pthread_cond_broadcast(&e->published);
    pthread_mutex_unlock(&e->lock);
}

/* Waits for an event that this listener has not received.  Returns false at the
 * end. */
static bool take_next(struct listening *l)
{
    struct events *e = l->events;

    free(l->text);
    l->text = NULL;
    pthread_mutex_lock(&e->lock);
    while (!e->is_over && e->number == l->number)
        pthread_cond_wait(&e->published, &e->lock);
    if (!e->is_over)
        l->text = malloc(e->len);
    if (l->text != NULL) {
        memcpy(l->text, e->text, e->len);
        l->len = e->len;
        l->number = e->number;
    }
    pthread_mutex_unlock(&e->lock);
    l->sent = 0;
    l->began = moment_s();
    return l->text != NULL;
}

static ssize_t send_next(void *user, uint64_t at, char *to, size_t room)
{
    struct listening *l = user;

    (void)at;
    if (l->sent < l->len && moment_s() - l->began > EVENT_S)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (l->sent == l->len && !take_next(l))
        return MHD_CONTENT_READER_END_OF_STREAM;
    const size_t n = l->len - l->sent < room ? l->len - l->sent : room;
    memcpy(to, l->text + l->sent, n);
    l->sent += n;
    return (ssize_t)n;
}

static void end_listening(void *user)
{
    struct listening *l = user;
    struct events *e = l->events;

    pthread_mutex_lock(&e->lock);
    e->n_listeners--;
    pthread_mutex_unlock(&e->lock);
    free(l->text);
    free(l);
}

/* Starts with the next event, because the latest event may be old. */
static struct listening *begin_listening(struct events *e)
{
    struct listening *l = calloc(1, sizeof *l);

    if (l == NULL)
        return NULL;
    l->events = e;
    pthread_mutex_lock(&e->lock);
    const bool has_room = e->n_listeners < EVENTS_LISTENERS_MAX && !e->is_over;
    e->n_listeners += has_room;
    l->number = e->number;
    pthread_mutex_unlock(&e->lock);
    if (has_room)
        return l;
    free(l);
    return NULL;
}

struct MHD_Response *events_response(struct events *e, struct MHD_Connection *c)
{
    struct listening *l = begin_listening(e);
    const int bytes = SOCKET_BUFFER;

    if (l == NULL)
        return NULL;
    struct MHD_Response *r = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, PORTION, send_next, l, end_listening);
    if (r == NULL) {
        end_listening(l);
        return NULL;
    }
    setsockopt(MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
                   ->connect_fd,
               SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)EVENT_S);
    return r;
}
