/* SPDX-License-Identifier: MIT */
#include "depot/stream.h"

#include <stdbool.h>
#include <stdlib.h>

#include <unistd.h>

/* What is sent at a time, and the memory for it, one for each connection. */
#define PORTION ((size_t)32 << 10)

/* Chunks that are read in one go where the front of a file is: 4 MiB take a disk
 * with one arm 20 times as long as to get there. */
#define AHEAD 4

struct stream {
    struct stream_of of;
    struct MHD_Connection *connection;
    uint64_t at, end; /* of the file: what is still to be sent */
    uint64_t ready;   /* up to here it is in memory */
    struct disk_wait wait;
};

static void resume(void *user)
{
    struct stream *s = user;

    MHD_resume_connection(s->connection);
}

/* A client at the front has the next chunks read for all that follow it. */
static void read_ahead_locked(struct stream *s, uint64_t chunk)
{
    struct xd_circus_state state = {.struct_size = sizeof state};

    if (s->of.client == NULL)
        return;
    xd_circus_get(s->of.file->circus, files_now(), &state);
    const uint64_t front = state.end / DISK_CHUNK;
    if (chunk == front || chunk == front + 1)
        disk_read_ahead_locked(&s->of.file->io, chunk, AHEAD);
}

/* Whether the chunk of the next byte is in memory. */
static bool look(struct stream *s, bool *out_is_over)
{
    const uint64_t chunk = s->at / DISK_CHUNK;

    pthread_mutex_lock(&s->of.files->lock);
    *out_is_over = disks_are_over_locked(s->of.files->disks);
    read_ahead_locked(s, chunk);
    const bool is_there = disk_has_locked(&s->of.file->io, chunk);
    pthread_mutex_unlock(&s->of.files->lock);
    if (is_there)
        s->ready = (chunk + 1) * DISK_CHUNK;
    return is_there;
}

static void wait_for_chunk(struct stream *s)
{
    s->wait = (struct disk_wait){.file = &s->of.file->io,
                                 .chunk = s->at / DISK_CHUNK,
                                 .resume = resume,
                                 .user = s};
    MHD_suspend_connection(s->connection);
    disk_want(s->of.files->disks, &s->wait);
}

static void note_sent(struct stream *s, uint64_t n)
{
    pthread_mutex_lock(&s->of.files->lock);
    s->of.file->sent += n;
    if (s->of.client != NULL)
        xd_circus_send(s->of.file->circus, s->of.client, s->at, s->at + n,
                       files_now());
    pthread_mutex_unlock(&s->of.files->lock);
    s->at += n;
}

/* Of a file that has changed no more is sent: parts of two are none. */
static ssize_t send_next(void *user, uint64_t at, char *to, size_t room)
{
    struct stream *s = user;
    bool is_over = false;

    (void)at;
    if (s->at >= s->ready && !look(s, &is_over)) {
        if (is_over)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        wait_for_chunk(s);
        return 0;
    }
    if (room > s->ready - s->at)
        room = (size_t)(s->ready - s->at);
    if (room > s->end - s->at)
        room = (size_t)(s->end - s->at);
    const ssize_t n = pread(s->of.file->io.fd, to, room, (off_t)s->at);
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
