/* SPDX-License-Identifier: MIT */
#include "depot/disk.h"

#include <signal.h>
#include <stdlib.h>

#include <fcntl.h>
#include <unistd.h>

#include "depot/disk_queue.h"

/* Limit of devices with a reader of their own.  Files on further devices share
 * the last reader. */
#define DISKS_MOST 8

/* The page size of most kernels, in bytes. */
#define PAGE ((uint64_t)4096)

struct recent {
    uint64_t serial, chunk; /* serial 0: unused */
    uint64_t used;
};

struct disk {
    struct disks *all;
    dev_t dev;
    pthread_t thread;
    pthread_cond_t work_ready; /* wakes the reader */
    /* buffer for one chunk; its contents are discarded */
    unsigned char *memory;

    /* guarded by the lock */
    struct disk_file *files;
    struct disk_queue queue;
    struct recent *recent; /* array of n_recent elements */
    uint64_t n_uses;
};

struct disks {
    pthread_mutex_t *lock;
    unsigned n_recent;

    /* guarded by the lock */
    struct disk *disks[DISKS_MOST];
    size_t n;
    uint64_t n_files; /* number of files added so far */
    bool is_over;
};

static uint64_t n_chunks(const struct disk_file *f)
{
    return (f->size + DISK_CHUNK - 1) / DISK_CHUNK;
}

/* Returns the entry of a chunk that is thought to be in memory, or NULL. */
static struct recent *find_locked(const struct disk_file *f, uint64_t chunk)
{
    struct recent *r = f->disk->recent;

    for (unsigned i = 0; i < f->disk->all->n_recent; i++)
        if (r[i].serial == f->serial && r[i].chunk == chunk)
            return &r[i];
    return NULL;
}

bool disk_has_locked(struct disk_file *f, uint64_t chunk)
{
    struct recent *r = find_locked(f, chunk);

    if (r != NULL)
        r->used = ++f->disk->n_uses;
    return r != NULL;
}

void disk_forget_locked(struct disk_file *f, uint64_t chunk)
{
    struct recent *r = find_locked(f, chunk);

    if (r != NULL)
        *r = (struct recent){0};
}

/* Notes that a chunk is in memory.  Its entry replaces the least recently used
 * entry. */
static void note_locked(const struct disk_file *f, uint64_t chunk)
{
    struct disk *d = f->disk;
    struct recent *r = find_locked(f, chunk);

    for (unsigned i = 0; r == NULL || i < d->all->n_recent; i++) {
        if (r != NULL && r->serial == f->serial && r->chunk == chunk)
            break;
        if (r == NULL || d->recent[i].used < r->used)
            r = &d->recent[i];
    }
    *r = (struct recent){f->serial, chunk, ++d->n_uses};
}

static void resume_all(struct disk_wait *w)
{
    while (w != NULL) {
        struct disk_wait *next = w->next; /* resume() may free `w` */
        w->resume(w->user);
        w = next;
    }
}

static void resume_waiting_locked(struct disk *d, const struct disk_file *f,
                                  uint64_t begin, uint64_t end)
{
    struct disk_wait *waiting = disk_queue_take(&d->queue, f, begin, end);

    pthread_mutex_unlock(d->all->lock);
    resume_all(waiting);
    pthread_mutex_lock(d->all->lock);
}

/* Resumes `w` because its bytes cannot be read. */
static void fail_locked(struct disk *d, struct disk_wait *w)
{
    disk_queue_remove(&d->queue, w);
    w->ready = w->at;
    pthread_mutex_unlock(d->all->lock);
    w->resume(w->user);
    pthread_mutex_lock(d->all->lock);
}

/* A range inside one chunk. */
struct part {
    uint64_t begin, end;
};

static struct part whole_chunk(const struct disk_file *f, uint64_t chunk)
{
    const uint64_t begin = chunk * DISK_CHUNK;

    return (struct part){
        begin, begin + DISK_CHUNK < f->size ? begin + DISK_CHUNK : f->size};
}

/* Returns the requested range, extended to whole pages, because the kernel
 * reads whole pages. */
static struct part part_of(const struct disk_wait *w)
{
    const struct part whole = whole_chunk(w->file, w->at / DISK_CHUNK);
    const uint64_t end = (w->end + PAGE - 1) / PAGE * PAGE;

    return (struct part){w->at / PAGE * PAGE,
                         end < whole.end ? end : whole.end};
}

/* Reads a range into the page cache.  Returns the end of the bytes that could
 * be read. */
static uint64_t read_part(struct disk *d, const struct disk_file *f,
                          struct part p)
{
    uint64_t at = p.begin;

    while (at < p.end) {
        const ssize_t some =
            pread(f->fd, d->memory, (size_t)(p.end - at), (off_t)at);
        if (some <= 0)
            break;
        at += (uint64_t)some;
    }
    return at;
}

/* Reads a range, unless its chunk is thought to be in the page cache.  Returns
 * the end of the bytes that are in memory: in that case the end of the
 * chunk. */
static uint64_t have_locked(struct disk *d, struct disk_file *f, struct part p)
{
    const uint64_t chunk = p.begin / DISK_CHUNK;
    const struct part whole = whole_chunk(f, chunk);

    if (find_locked(f, chunk) != NULL)
        return whole.end;
    pthread_mutex_unlock(d->all->lock);
    const uint64_t end = read_part(d, f, p);
    pthread_mutex_lock(d->all->lock);
    f->bytes += end - p.begin;
    if (p.begin == whole.begin && end == whole.end)
        note_locked(f, chunk);
    return end;
}

/* Skips chunks that are in memory already.  Returns whether the file has chunks
 * left to read ahead. */
static bool is_to_read_ahead_locked(struct disk_file *f)
{
    while (f->n_ahead > 0 &&
           (f->ahead >= n_chunks(f) || find_locked(f, f->ahead) != NULL)) {
        f->ahead++;
        f->n_ahead--;
    }
    return f->n_ahead > 0;
}

/* Reads ahead consecutive chunks, from `chunk` up to but not including
 * `end`. */
static void read_ahead_locked(struct disk *d, struct disk_file *f,
                              uint64_t chunk, uint64_t end)
{
    for (; !d->all->is_over && chunk < end && is_to_read_ahead_locked(f) &&
           f->ahead == chunk;
         chunk++) {
        const struct part p = whole_chunk(f, chunk);
        const uint64_t to = have_locked(d, f, p);
        if (to < p.end)
            f->n_ahead = 0; /* a request for these bytes will find the reason */
        resume_waiting_locked(d, f, p.begin, to);
    }
}

/* Reads the bytes that `w` waits for.  Also reads the rest of the chunk if it
 * should be read ahead.  If a part of a chunk is unreadable, other parts can
 * still be read separately. */
static void read_waited_locked(struct disk *d, struct disk_wait *w)
{
    struct disk_file *f = w->file;
    const uint64_t at = w->at, chunk = at / DISK_CHUNK;
    const bool is_ahead = chunk >= f->ahead && chunk - f->ahead < f->n_ahead;
    struct part p =
        w->is_whole || is_ahead ? whole_chunk(f, chunk) : part_of(w);
    uint64_t to = have_locked(d, f, p);

    if (to <= at) {
        p = part_of(w);
        to = have_locked(d, f, p);
    }
    if (to > at)
        resume_waiting_locked(d, f, p.begin, to);
    else
        fail_locked(d, w);
}

/* Reads the bytes that `w` waits for.  Then continues with reading ahead,
 * because the disk's head is at the right place.  Ignores reads that are
 * requested meanwhile.  Otherwise a fast client at the front would keep all
 * others waiting. */
static void read_for_locked(struct disk *d, struct disk_wait *w)
{
    struct disk_file *f = w->file;
    const uint64_t chunk = w->at / DISK_CHUNK, end = f->ahead + f->n_ahead;

    f->is_being_read = true;
    read_waited_locked(d, w);
    read_ahead_locked(d, f, chunk + 1, end);
    f->is_being_read = false;
}

/* Reads ahead for one file.  Returns false if there is nothing to read
 * ahead. */
static bool read_something_ahead_locked(struct disk *d)
{
    struct disk_file *f = d->files;

    while (f != NULL && !is_to_read_ahead_locked(f))
        f = f->next;
    if (f == NULL)
        return false;
    f->is_being_read = true;
    read_ahead_locked(d, f, f->ahead, f->ahead + f->n_ahead);
    f->is_being_read = false;
    return true;
}

static void *reader_main(void *arg)
{
    struct disk *d = arg;

    pthread_mutex_lock(d->all->lock);
    while (!d->all->is_over) {
        struct disk_wait *w = disk_queue_next(&d->queue);
        if (w != NULL)
            read_for_locked(d, w);
        else if (!read_something_ahead_locked(d))
            pthread_cond_wait(&d->work_ready, d->all->lock);
    }
    struct disk_wait *waiting = disk_queue_take_all(&d->queue);
    pthread_mutex_unlock(d->all->lock);
    resume_all(waiting);
    return NULL;
}

struct disks *disks_new(pthread_mutex_t *lock, unsigned n_recent)
{
    struct disks *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->lock = lock;
    d->n_recent = n_recent;
    return d;
}

/* Starts the thread with all signals blocked, because the main thread handles
 * signals. */
static bool start(struct disk *d)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&d->thread, NULL, reader_main, d);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

static struct disk *new_disk(struct disks *all, dev_t dev)
{
    struct disk *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    *d = (struct disk){.all = all, .dev = dev};
    d->memory = malloc(DISK_CHUNK);
    d->recent = calloc(all->n_recent, sizeof *d->recent);
    if (d->memory == NULL || d->recent == NULL ||
        pthread_cond_init(&d->work_ready, NULL) != 0)
        goto free_memory;
    if (start(d))
        return d;

    pthread_cond_destroy(&d->work_ready);
free_memory:
    free(d->memory);
    free(d->recent);
    free(d);
    return NULL;
}

static struct disk *disk_of_locked(struct disks *d, dev_t dev)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->disks[i]->dev == dev)
            return d->disks[i];
    if (d->n == DISKS_MOST)
        return d->disks[DISKS_MOST - 1];
    struct disk *disk = new_disk(d, dev);
    if (disk != NULL)
        d->disks[d->n++] = disk;
    return disk;
}

bool disk_enter_locked(struct disks *d, struct disk_file *f, dev_t dev)
{
    f->disk = d->is_over ? NULL : disk_of_locked(d, dev);
    if (f->disk == NULL)
        return false;
    f->serial = ++d->n_files;
    f->next = f->disk->files;
    f->disk->files = f;
    /* Turn off the kernel's read-ahead, because the file is read at many
     * positions through one descriptor. */
#ifdef POSIX_FADV_RANDOM
    (void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
#endif
    return true;
}

void disk_leave_locked(struct disk_file *f)
{
    struct disk_file **at = &f->disk->files;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
}

void disk_read_ahead_locked(struct disk_file *f, uint64_t chunk, uint64_t n)
{
    if (chunk + 1 >= n_chunks(f) || find_locked(f, chunk + 1) != NULL)
        return;
    f->ahead = chunk;
    f->n_ahead = n;
    pthread_cond_signal(&f->disk->work_ready);
}

void disk_want(struct disks *d, struct disk_wait *w)
{
    struct disk *disk = w->file->disk;

    pthread_mutex_lock(d->lock);
    const bool is_over = d->is_over;
    w->ready = w->at;
    if (!is_over) {
        disk_queue_put(&disk->queue, w);
        pthread_cond_signal(&disk->work_ready);
    }
    pthread_mutex_unlock(d->lock);
    if (is_over)
        w->resume(w->user);
}

void disks_end(struct disks *d)
{
    pthread_mutex_lock(d->lock);
    d->is_over = true;
    for (size_t i = 0; i < d->n; i++)
        pthread_cond_signal(&d->disks[i]->work_ready);
    pthread_mutex_unlock(d->lock);
    for (size_t i = 0; i < d->n; i++)
        pthread_join(d->disks[i]->thread, NULL);
}

void disks_free(struct disks *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->n; i++) {
        pthread_cond_destroy(&d->disks[i]->work_ready);
        free(d->disks[i]->memory);
        free(d->disks[i]->recent);
        free(d->disks[i]);
    }
    free(d);
}
