/* SPDX-License-Identifier: MIT */
/*
 * What waits for bytes of a disk.
 *
 * Each host has its turn at the disk, in its turn each of its clients, and of a client
 * what it has asked for first: more connections, or ids, do not get a host more
 * of it than another one.
 *
 * Threads: one at a time.
 */
#ifndef CLI_DISK_QUEUE_H
#define CLI_DISK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct disk_file;

/* Numbers that tell clients apart, and the hosts that they are on. */
struct depot_client {
    uint64_t host, id;
};

/* What waits for bytes of a chunk. */
struct disk_wait {
    struct disk_file *file;
    struct depot_client client;

    /* The next byte that is sent, and what is asked for behind it, in that chunk;
     * is_whole: the rest of the chunk is likely to be asked for, and is read too. */
    uint64_t at, end;
    bool is_whole;

    /* Called once, without the lock, by any thread. */
    void (*resume)(void *user);
    void *user;

    /* When it is resumed: up to here they are in memory; `at`: they cannot be read. */
    uint64_t ready;

    /* The queue's. */
    uint64_t host_turn, client_turn;
    struct disk_wait *next;
};

/* Zeroed, it is empty. */
struct disk_queue {
    struct disk_wait *first;
};

void disk_queue_put(struct disk_queue *q, struct disk_wait *w);

/* The one whose turn it is, which stays in the queue; NULL: it is empty. */
struct disk_wait *disk_queue_next(struct disk_queue *q);

void disk_queue_remove(struct disk_queue *q, struct disk_wait *w);

/* Remove those that wait for a byte of the file from `begin` to before `end`; up to there
 * it is in memory.  Returns a list of them. */
struct disk_wait *disk_queue_take(struct disk_queue *q,
                                  const struct disk_file *f, uint64_t begin,
                                  uint64_t end);

/* Remove all; nothing more can be read.  Returns a list of them. */
struct disk_wait *disk_queue_take_all(struct disk_queue *q);

#endif
