/* SPDX-License-Identifier: MIT */
/*
 * Reads files into the page cache, so that sending threads need not wait for a
 * disk.  Each disk does one read at a time.  A read is one chunk, or several
 * consecutive chunks when reading ahead.
 *
 *     sending thread          disk_has()? ---- yes ---> sends from memory
 *                                 | no                     | not in memory
 *                             disk_want() <---------- disk_forget()
 *                                 |                connection is suspended
 *     reader, one per disk    reads the bytes ---> resume()
 *
 * A chunk that was read recently is thought to be in memory, until a sending
 * thread finds that the kernel has dropped it.
 *
 * Threads: any.  Call functions named _locked with the lock of disks_new()
 * held.
 */
#ifndef CLI_DISK_H
#define CLI_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>
#include <sys/types.h>

#define DISK_CHUNK ((uint64_t)1 << 20)

struct disks;
struct disk;
struct disk_wait; /* see disk_queue.h */

/* A file on a disk.  The caller sets the first two fields.  The other fields
 * are private to the disk. */
struct disk_file {
    int fd;
    uint64_t size;
    struct disk *disk;

    /* guarded by the lock */
    uint64_t serial; /* unique number of the file */
    /* first chunk to read ahead, and number of chunks */
    uint64_t ahead, n_ahead;
    uint64_t bytes; /* bytes read from the disk */
    bool is_being_read;
    struct disk_file *next; /* next file on the same disk */
};

/* Creates the readers.  For each disk, at least `n_recent` chunks are thought
 * to be in memory.  `lock` guards the state of the readers and must live until
 * disks_free().  Returns NULL if memory runs out. */
struct disks *disks_new(pthread_mutex_t *lock, unsigned n_recent);

/* Stops reading.  All waiting reads, and all later ones, are resumed as if
 * their bytes could not be read. */
void disks_end(struct disks *d);

/* Call it after disks_end(), when all files were removed.  NULL: does
 * nothing. */
void disks_free(struct disks *d);

/* Adds a file on the device `dev`.  The caller has set `fd` and `size`.
 * Returns false if memory or threads run out, or after disks_end(). */
bool disk_enter_locked(struct disks *d, struct disk_file *f, dev_t dev);

/* Removes a file.  No read may be waiting for the file, and it must not be read
 * at the moment. */
void disk_leave_locked(struct disk_file *f);

/* Returns whether the chunk is thought to be in memory, and marks it as
 * used. */
bool disk_has_locked(struct disk_file *f, uint64_t chunk);

/* Requests that `n` chunks, starting with this one, are read when no other
 * reads are waiting.  Does nothing if the second chunk is in memory, so that
 * reads are long. */
void disk_read_ahead_locked(struct disk_file *f, uint64_t chunk, uint64_t n);

/* Records that the chunk is not in memory after all. */
void disk_forget_locked(struct disk_file *f, uint64_t chunk);

/* Requests bytes to be read.  Afterwards, resume() is called.  Call this
 * without the lock.  Ownership: `w` is the caller's and must live until
 * resume() is called. */
void disk_want(struct disks *d, struct disk_wait *w);

#endif
