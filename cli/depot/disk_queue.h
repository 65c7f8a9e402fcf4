/* SPDX-License-Identifier: MIT */
/*
 * The queue of reads for a disk.
 *
 * Hosts take turns at the disk.  The clients of a host take turns when it is
 * the host's turn.  The requests of a client are served in order.  So a host
 * does not get a larger share by opening more connections or by using more IDs.
 *
 * Threads: one at a time.
 */
#ifndef CLI_DISK_QUEUE_H
#define CLI_DISK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct disk_file;

/* Identifies a client and its host. */
struct depot_client {
    uint64_t host, id;
};

/* A waiting read, inside one chunk. */
struct disk_wait {
    struct disk_file *file;
    struct depot_client client;

    /* The next byte to send, and the end of the request in this chunk.  If
     * is_whole is true, the client will probably request the rest of the chunk,
     * so the rest is read too. */
    uint64_t at, end;
    bool is_whole;

    /* Called once, without the lock, on any thread. */
    void (*resume)(void *user);
    void *user;

    /* Set before resume(): all bytes before this position are in memory.  Equal
     * to `at` if the bytes are unreadable. */
    uint64_t ready;

    /* Private to the queue. */
    uint64_t host_turn, client_turn;
    struct disk_wait *next;
};

/* A zeroed struct is an empty queue. */
struct disk_queue {
    struct disk_wait *first;
};

void disk_queue_put(struct disk_queue *q, struct disk_wait *w);

/* Returns the read whose turn it is, without removing it; NULL if the queue is
 * empty. */
struct disk_wait *disk_queue_next(struct disk_queue *q);

void disk_queue_remove(struct disk_queue *q, struct disk_wait *w);

/* Removes and returns, as a list, the reads whose next byte is in [begin, end)
 * of the file.  Call it when these bytes are in memory. */
struct disk_wait *disk_queue_take(struct disk_queue *q,
                                  const struct disk_file *f, uint64_t begin,
                                  uint64_t end);

/* Removes and returns all reads, as a list, because nothing more will be
 * read. */
struct disk_wait *disk_queue_take_all(struct disk_queue *q);

#endif
