/* SPDX-License-Identifier: MIT */
#include "depot/disk.h"

#include <signal.h>
#include <stdlib.h>

#include <fcntl.h>
#include <unistd.h>

/* Devices that have a reader of their own; the files of others share the last. */
#define DISKS_MOST 8

struct recent {
    uint64_t serial, chunk; /* serial 0: none */
    uint64_t used;
};

struct disk {
    struct disks *all;
    dev_t dev;
    pthread_t thread;
    pthread_cond_t work_ready; /* the thread: something is to be read */
    unsigned char *memory;     /* what is read goes through it: a chunk */

    /* Guarded by the lock. */
    struct disk_file *files;
    struct disk_wait *first, **last;
    struct recent *recent; /* n_recent of them */
    uint64_t n_uses;
};

struct disks {
    pthread_mutex_t *lock;
    unsigned n_recent;

    /* Guarded by the lock. */
    struct disk *disks[DISKS_MOST];
    size_t n;
    uint64_t n_files; /* ever */
    bool is_over;
};

static uint64_t n_chunks(const struct disk_file *f)
{
    return (f->size + DISK_CHUNK - 1) / DISK_CHUNK;
}

/* The place of a chunk among those in memory, or NULL. */
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

/* In the place of what was not used for the longest time. */
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

/* Those that wait for a chunk leave the queue: a list of them. */
static struct disk_wait *take_waiting_locked(struct disk *d,
                                             const struct disk_file *f,
                                             uint64_t chunk)
{
    struct disk_wait **at = &d->first, *taken = NULL;

    while (*at != NULL) {
        struct disk_wait *w = *at;
        if (w->file != f || w->chunk != chunk) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = taken;
        taken = w;
    }
    d->last = at;
    return taken;
}

static void resume_all(struct disk_wait *w)
{
    while (w != NULL) {
        struct disk_wait *next = w->next; /* it may be gone once resumed */
        w->resume(w->user);
        w = next;
    }
}

/* Into the memory of the system.  What cannot be read fails again where it is
 * sent. */
static uint64_t read_chunk(struct disk *d, const struct disk_file *f,
                           uint64_t chunk)
{
    uint64_t n = 0;

    while (n < DISK_CHUNK) {
        const ssize_t some = pread(f->fd, d->memory + n, DISK_CHUNK - n,
                                   (off_t)(chunk * DISK_CHUNK + n));
        if (some <= 0)
            break;
        n += (uint64_t)some;
    }
    return n;
}

/* What is to be read ahead of a file begins with a chunk that is not there, if
 * with any. */
static bool is_to_read_ahead_locked(struct disk_file *f)
{
    while (f->n_ahead > 0 &&
           (f->ahead >= n_chunks(f) || find_locked(f, f->ahead) != NULL)) {
        f->ahead++;
        f->n_ahead--;
    }
    return f->n_ahead > 0;
}

/* What waits comes first, in its order. */
static struct disk_file *choose_locked(struct disk *d, uint64_t *out_chunk)
{
    if (d->first != NULL) {
        *out_chunk = d->first->chunk;
        return d->first->file;
    }
    for (struct disk_file *f = d->files; f != NULL; f = f->next)
        if (is_to_read_ahead_locked(f)) {
            *out_chunk = f->ahead;
            return f;
        }
    return NULL;
}

/* Read a chunk, and then what is to be read ahead behind it: the arm is there.  Not
 * what is asked for meanwhile: a fast client at the front would let nothing else be
 * read. */
static void read_from_locked(struct disk *d, struct disk_file *f,
                             uint64_t chunk)
{
    pthread_mutex_t *lock = d->all->lock;
    const uint64_t end = f->ahead + f->n_ahead;

    f->is_being_read = true;
    for (;; chunk++) {
        if (find_locked(f, chunk) == NULL) {
            pthread_mutex_unlock(lock);
            const uint64_t n = read_chunk(d, f, chunk);
            pthread_mutex_lock(lock);
            f->bytes += n;
            note_locked(f, chunk);
        }
        struct disk_wait *waiting = take_waiting_locked(d, f, chunk);
        pthread_mutex_unlock(lock);
        resume_all(waiting);
        pthread_mutex_lock(lock);
        if (d->all->is_over || chunk + 1 >= end ||
            !is_to_read_ahead_locked(f) || f->ahead != chunk + 1)
            break;
    }
    f->is_being_read = false;
}

static void *read_on(void *arg)
{
    struct disk *d = arg;
    uint64_t chunk;

    pthread_mutex_lock(d->all->lock);
    while (!d->all->is_over) {
        struct disk_file *f = choose_locked(d, &chunk);
        if (f != NULL)
            read_from_locked(d, f, chunk);
        else
            pthread_cond_wait(&d->work_ready, d->all->lock);
    }
    struct disk_wait *waiting = d->first;
    d->first = NULL;
    d->last = &d->first;
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

/* The thread leaves signals to the one that looks for them. */
static bool start(struct disk *d)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&d->thread, NULL, read_on, d);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

static struct disk *new_disk(struct disks *all, dev_t dev)
{
    struct disk *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    *d = (struct disk){.all = all, .dev = dev, .last = &d->first};
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
    /* The system is not to guess what comes next: it sees many positions of one
     * descriptor. */
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
    if (!is_over) {
        w->next = NULL;
        *disk->last = w;
        disk->last = &w->next;
        pthread_cond_signal(&disk->work_ready);
    }
    pthread_mutex_unlock(d->lock);
    if (is_over)
        w->resume(w->user);
}

bool disks_are_over_locked(const struct disks *d)
{
    return d->is_over;
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
