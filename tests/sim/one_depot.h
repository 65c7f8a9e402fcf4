/* SPDX-License-Identifier: MIT */
/*
 * One depot with one disk, and clients that arrive at random, in virtual time:
 * the evaluation of Circus (FAST 2004).
 *
 *     disk -> memory (blocks, LRU) -> line of the depot -> line of each client
 *
 * The disk reads one block at a time, in the order in which blocks are asked
 * for; it positions its arm unless a block follows the last one of the same
 * file.  A client is sent one block after the other; while one is sent the next
 * is read if it is not in memory.  Blocks that are read or sent stay in memory;
 * of the others the least recently sent one goes first.  The line of the depot
 * takes the blocks of all clients in turn, each at the line's rate; a client's
 * own line bounds its rate.  There are no packets: TCP is taken for perfect.
 *
 * crowd.h has caches and the downloader's own clients, in steps of time; here a
 * step would be the read of a block, and every block is one.
 */
#ifndef SIM_ONE_DEPOT_H
#define SIM_ONE_DEPOT_H

#include <stdbool.h>
#include <stdint.h>

#define ONE_DEPOT_LINKS 3
#define ONE_DEPOT_MOST_QUEUE 1024

struct one_depot_link {
    double rate;  /* bytes per second */
    double share; /* of the clients */
};

struct one_depot {
    uint64_t file_bytes;
    uint64_t memory_bytes; /* for blocks, less what each client that is there
                              takes of it, as a process of a server does; a
                              sixteenth is always for blocks */
    uint64_t client_bytes;
    uint32_t n_files, block_bytes;
    double positioning_s;        /* of the arm */
    double disk_rate, line_rate; /* bytes per second */
    struct one_depot_link links[ONE_DEPOT_LINKS];
    unsigned n_links;
    double load; /* what clients ask for, of the line's rate */

    bool is_in_order; /* each client gets its file in order, else by Circus: */
    unsigned queue;   /* blocks that are chosen ahead */
    uint64_t active_bytes, leapfront_bytes;
    double threshold; /* share of a file beyond which a client is independent */
    bool leaps_bounded; /* as the library does: xd_circus_rules.leaps_freely */
    bool takes_ranges;  /* what xd_circus_next() says is chosen as a whole */

    /* Clients arrive until `until_s`, and what happens from `from_s` to then is
     * measured; is_drained: it goes on until each has its file. */
    double from_s, until_s;
    bool is_drained;
    uint64_t seed;
};

struct one_depot_result {
    /* From from_s to until_s, per second. */
    double offered, sent, read; /* bytes: of clients that arrived; of blocks */
    double busy;                /* of the disk: share of the time */
    double clients;             /* that were there, in the mean */
    double positioned;          /* share of the reads */
    struct {
        unsigned n;    /* downloads that ended */
        double mean_s; /* how long they took */
    } links[ONE_DEPOT_LINKS];

    /* From the beginning to the end. */
    uint64_t asked_bytes, sent_bytes, read_bytes;
    uint64_t distinct_bytes; /* of blocks that were sent at least once */
    unsigned n_arrived, n_done;
};

/*
 * The paper's: one file of 512 MB, blocks of 64 KB, a disk of 33 MB/s and 5 ms, a
 * line of 1 Gbit/s, queues of 5, 16 MB of active length, a threshold of 0.75.  Of
 * its 256 MB of memory each client's process takes 1 MB (its section 5.1), and the
 * system 64, which is fitted: README.md.  MB are 2^20 bytes, and 1 Gbit/s is 128 of
 * them, as in its text.  No links, no load.
 */
struct one_depot one_depot_paper(void);

/* Exits without memory.  No download ends twice, and no block is sent twice to
 * a client: XD_ASSERT. */
struct one_depot_result one_depot_run(const struct one_depot *o);

#endif
