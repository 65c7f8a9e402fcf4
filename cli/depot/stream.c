/* SPDX-License-Identifier: MIT */
#include "depot/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <unistd.h>

#include "depot/disk_queue.h"
#include "depot/resident.h"

/* What is sent at a time, and the memory for it, one for each connection. */
#define PORTION ((size_t)32 << 10)

/* Chunks that are read in one go where the front of a file is, once as many were sent in a
 * row: 4 MiB take a disk with one arm 20 times as long as to get there.  What only looks
 * at the file, as a client does before it downloads, is not to make others wait for
 * that. */
#define AHEAD 4

/* What is asked for is read alone until it is so much, in one request or in several that
 * follow each other; then the rest of its chunk comes with it. */
#define ALONE (DISK_CHUNK / 4)

/* Where what was just read is gone again so often before it is sent, the thread waits
 * for the disk: the memory is too small to wait for it in any other way. */
#define LOST_MOST 3

struct stream {
    struct stream_of of;
    struct MHD_Connection *connection;
    uint64_t at, end; /* of the file: what is still to be sent */
    uint64_t ready;   /* up to here it counts as in memory */

    /* Bytes that were sent up to `at`, in this request and those that it follows. */
    uint64_t in_row;

    /* Times that bytes were gone when they were to be sent, since some were sent; beyond
     * LOST_MOST until `ready`. */
    unsigned n_lost;

    bool waits; /* since it was last called */
    struct disk_wait wait;
};

static void resume(void *user)
{
    struct stream *s = user;

    MHD_resume_connection(s->connection);
}

static bool goes_on(const struct stream *s)
{
    return s->in_row + (s->end - s->at) >= ALONE;
}

/* A client at the front has the next chunks read for all that follow it. */
static void read_ahead_locked(struct stream *s, uint64_t chunk)
{
    struct xd_circus_state state = {.struct_size = sizeof state};

    if (s->of.client == NULL || !goes_on(s))
        return;
    xd_circus_get(s->of.file->circus, files_now(), &state);
    const uint64_t front = state.end / DISK_CHUNK;
    const uint64_t row = 1 + s->in_row / DISK_CHUNK;
    if (chunk == front || chunk == front + 1)
        disk_read_ahead_locked(&s->of.file->io, chunk,
                               row < AHEAD ? row : AHEAD);
}

/* Whether the chunk of the next byte is in memory. */
static bool look(struct stream *s)
{
    const uint64_t chunk = s->at / DISK_CHUNK;

    pthread_mutex_lock(&s->of.files->lock);
    read_ahead_locked(s, chunk);
    const bool is_there = disk_has_locked(&s->of.file->io, chunk);
    pthread_mutex_unlock(&s->of.files->lock);
    if (is_there)
        s->ready = (chunk + 1) * DISK_CHUNK;
    return is_there;
}

static void wait_for_disk(struct stream *s)
{
    const uint64_t chunk_end = (s->at / DISK_CHUNK + 1) * DISK_CHUNK;
    const uint64_t end = s->end < chunk_end ? s->end : chunk_end;

    s->wait = (struct disk_wait){.file = &s->of.file->io,
                                 .client = s->of.is_for,
                                 .at = s->at,
                                 .end = end,
                                 .is_whole = s->in_row + (end - s->at) >= ALONE,
                                 .resume = resume,
                                 .user = s};
    s->waits = true;
    MHD_suspend_connection(s->connection);
    disk_want(s->of.files->disks, &s->wait);
}

/* The system has dropped it since it was read. */
static void lose(struct stream *s)
{
    pthread_mutex_lock(&s->of.files->lock);
    disk_forget_locked(&s->of.file->io, s->at / DISK_CHUNK);
    pthread_mutex_unlock(&s->of.files->lock);
    s->ready = s->at;
    s->n_lost++;
}

/* After that, what is in a row with it is sent by waiting for the disk. */
static ssize_t read_some(struct stream *s, char *to, size_t room)
{
    const int fd = s->of.file->io.fd;

    if (room > s->ready - s->at)
        room = (size_t)(s->ready - s->at);
    if (room > s->end - s->at)
        room = (size_t)(s->end - s->at);
    return s->n_lost > LOST_MOST ? pread(fd, to, room, (off_t)s->at)
                                 : resident_read(fd, to, room, s->at);
}

/* The row has ended before the client has its last byte: what it asks for next may be
 * answered by another thread, before this one ends the stream. */
static void note_sent(struct stream *s, uint64_t n)
{
    pthread_mutex_lock(&s->of.files->lock);
    s->of.file->sent += n;
    if (s->of.client != NULL)
        xd_circus_send(s->of.file->circus, s->of.client, s->at, s->at + n,
                       files_now());
    s->at += n;
    s->in_row += n;
    if (s->at == s->end)
        files_end_row_locked(s->of.file, s->at, s->in_row);
    pthread_mutex_unlock(&s->of.files->lock);
    if (s->n_lost <= LOST_MOST || s->at >= s->ready)
        s->n_lost = 0;
}

/* Of a file that has changed no more is sent: parts of two are none. */
static ssize_t send_next(void *user, uint64_t at, char *to, size_t room)
{
    struct stream *s = user;

    (void)at;
    if (s->waits) {
        s->waits = false;
        s->ready = s->wait.ready;
        if (s->ready <= s->at)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (s->at >= s->ready && !look(s)) {
        wait_for_disk(s);
        return 0;
    }
    const ssize_t n = read_some(s, to, room);
    if (n < 0 && errno == EAGAIN) {
        lose(s);
        wait_for_disk(s);
        return 0;
    }
    if (n <= 0 || !files_is_unchanged(s->of.file))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    note_sent(s, (uint64_t)n);
    return n;
}

static void end_stream(void *user)
{
    struct stream *s = user;

    pthread_mutex_lock(&s->of.files->lock);
    if (s->of.client != NULL) {
        if (s->of.is_asked)
            xd_circus_drop(s->of.file->circus, s->of.client, s->at, s->end);
        xd_circus_leave(s->of.file->circus, s->of.client, files_now());
    }
    if (s->at < s->end)
        files_end_row_locked(s->of.file, s->at, s->in_row);
    files_leave_locked(s->of.files, s->of.file);
    pthread_mutex_unlock(&s->of.files->lock);
    free(s);
}

struct MHD_Response *stream_new(const struct stream_of *of,
                                struct MHD_Connection *c, uint64_t begin,
                                uint64_t end)
{
    struct stream *s = malloc(sizeof *s);

    if (s == NULL)
        return NULL;
    *s = (struct stream){.of = *of, .connection = c, .at = begin, .end = end};
    pthread_mutex_lock(&of->files->lock);
    s->in_row = files_row_locked(of->file, begin);
    pthread_mutex_unlock(&of->files->lock);
    struct MHD_Response *r = MHD_create_response_from_callback(
        end - begin, PORTION, send_next, s, end_stream);
    if (r == NULL)
        free(s);
    return r;
}

static ssize_t send_nothing(void *user, uint64_t at, char *to, size_t room)
{
    (void)user;
    (void)at;
    (void)to;
    (void)room;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

struct MHD_Response *stream_head(uint64_t size)
{
    return MHD_create_response_from_callback(size, 1, send_nothing, NULL, NULL);
}
