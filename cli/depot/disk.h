/* SPDX-License-Identifier: MIT */
/*
 * Reads files into the memory of the system, so that threads which send them need
 * not wait for a disk: one read at a time from each disk, in chunks, and several
 * in a row where a file is read ahead.
 *
 *     thread of a pool        disk_has()? ---- yes ---> sends from memory
 *                                 | no                     | it is not there
 *                             disk_want() <---------- disk_forget()
 *                                 |                the connection is suspended
 *     reader, one per disk    reads the bytes ---> resume()
 *
 * Chunks that were read lately count as in memory until the thread that sends finds
 * that the system has dropped them.
 *
 * Threads: any; functions that end in _locked, with the lock of disks_new() held.
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
struct disk_wait; /* disk_queue.h */

/* A file on a disk.  All but the first fields are the disk's. */
struct disk_file {
    int fd;
    uint64_t size;
    struct disk *disk;

    /* Guarded by the lock. */
    uint64_t serial;         /* of all files that there were */
    uint64_t ahead, n_ahead; /* chunks that are to be read before they are
                                    asked for, from the first */
    uint64_t bytes;          /* that were read of it */
    bool is_being_read;
    struct disk_file *next; /* of its disk */
};

/* `n_recent` chunks at least count as in memory, for each disk; `lock` guards what
 * is read, and lives until disks_free().  NULL without memory. */
struct disks *disks_new(pthread_mutex_t *lock, unsigned n_recent);

/* Nothing is read any more: all that waits is resumed as if it could not be read,
 * and so is, at once, what comes later. */
void disks_end(struct disks *d);

/* After disks_end(), and when all files have left.  NULL does nothing. */
void disks_free(struct disks *d);

/* A file of the device `dev`, whose `fd` and `size` are set.  False without memory
 * or threads, and after disks_end(). */
bool disk_enter_locked(struct disks *d, struct disk_file *f, dev_t dev);

/* Nothing waits for it, and it is not being read. */
void disk_leave_locked(struct disk_file *f);

/* Whether the chunk is in memory, and counts as used now. */
bool disk_has_locked(struct disk_file *f, uint64_t chunk);

/* Have `n` chunks from this one on read, when nothing waits for others; if the one
 * behind the first is not there yet, so that reads are long. */
void disk_read_ahead_locked(struct disk_file *f, uint64_t chunk, uint64_t n);

/* It is not in memory after all. */
void disk_forget_locked(struct disk_file *f, uint64_t chunk);

/* Have the bytes read, and be resumed.  Ownership: `w` is the caller's, and lives
 * until then.  Without the lock. */
void disk_want(struct disks *d, struct disk_wait *w);

#endif
