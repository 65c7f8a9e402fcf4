/* SPDX-License-Identifier: MIT */
#include "depot/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <unistd.h>

#include "depot/disk_queue.h"
#include "depot/resident.h"

/* Number of bytes sent at a time.  The buffer of each connection has the same
 * size. */
#define PORTION ((size_t)32 << 10)

/* Number of chunks to read ahead at the front of a file.  They are read once
 * the client has received as many consecutive chunks.  Reading 4 MiB takes a
 * hard disk 20 times as long as seeking.  Clients that only inspect the file do
 * not trigger this. */
#define AHEAD 4

/* As long as a client has requested fewer consecutive bytes than this, only the
 * requested bytes are read.  After that, the rest of the chunk is read too. */
#define ALONE (DISK_CHUNK / 4)

/* If the kernel has dropped a chunk this often before it could be sent, memory
 * is very short.  The thread then waits for the disk. */
#define LOST_MOST 3

struct stream {
    struct stream_of of;
    struct MHD_Connection *connection;
    uint64_t at, end; /* bytes still to be sent */
    uint64_t ready;   /* end of the bytes that are thought to be in memory */

    /* Number of consecutive bytes sent up to `at`, including earlier requests
     * that this request continues. */
    uint64_t in_row;

    /* How often the kernel has dropped bytes from memory since the last bytes
     * were sent.  Above LOST_MOST, the thread waits for the disk up to
     * `ready`. */
    unsigned n_lost;

    bool waits; /* whether a read was requested */
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

/* Starts reading ahead if the client is at the front of the file.  This also
 * helps the clients that follow. */
static void read_ahead_locked(struct stream *s, uint64_t chunk)
{
    struct xd_circus_state state;

    if (s->of.client == NULL || !goes_on(s))
        return;
    xd_circus_get(s->of.file->circus, files_now(), &state);
    const uint64_t front = state.end / DISK_CHUNK;
    const uint64_t row = 1 + s->in_row / DISK_CHUNK;
    if (chunk == front || chunk == front + 1)
        disk_read_ahead_locked(&s->of.file->io, chunk,
                               row < AHEAD ? row : AHEAD);
}

/* Returns whether the chunk of the next byte is thought to be in memory. */
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

/* Notes that the kernel has dropped the chunk after it was read. */
static void lose(struct stream *s)
{
    pthread_mutex_lock(&s->of.files->lock);
    disk_forget_locked(&s->of.file->io, s->at / DISK_CHUNK);
    pthread_mutex_unlock(&s->of.files->lock);
    s->ready = s->at;
    s->n_lost++;
}

/* Reads the next bytes from memory.  After too many losses, waits for the disk
 * instead. */
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

/* Records sent bytes.  The end of the request is recorded before the client
 * gets its last byte, because another thread may handle the client's next
 * request before this stream ends. */
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

/* Sends the next bytes.  Fails if the file has changed, because a mixture of
 * two versions is useless. */
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
