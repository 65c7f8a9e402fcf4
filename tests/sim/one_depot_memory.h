/* SPDX-License-Identifier: MIT */
/*
 * The blocks of all files, and which of them are in memory.
 *
 *               begin_read           end_read
 *     ABSENT ---------------> READS ----------> HELD, pinned while it is sent
 *        ^                                        |
 *        +------- least recently sent, no pin ----+
 *
 * Blocks that are read or pinned cannot go; where nothing else is there, more
 * is held than there is room for.
 */
#ifndef SIM_ONE_DEPOT_MEMORY_H
#define SIM_ONE_DEPOT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define ONE_DEPOT_NONE UINT32_MAX

enum one_depot_block_state {
    ONE_DEPOT_ABSENT,
    ONE_DEPOT_READS,
    ONE_DEPOT_HELD
};

struct one_depot_block {
    enum one_depot_block_state state;
    bool has_been_sent;
    uint32_t pins;         /* clients that it is sent to, or is about to be */
    uint32_t newer, older; /* HELD, no pins: blocks; NONE */
    uint32_t waiter;       /* READS: the last client that waits for it; NONE */
};

struct one_depot_memory {
    struct one_depot_block *blocks; /* file by file */
    uint32_t n_blocks, per_file;
    uint32_t newest, oldest;
    uint32_t block_bytes;
    uint64_t file_bytes;
    uint64_t capacity, held; /* bytes */
};

/* Exits without memory. */
void one_depot_memory_init(struct one_depot_memory *m, uint64_t file_bytes,
                           uint32_t n_files, uint32_t block_bytes,
                           uint64_t capacity);
void one_depot_memory_fini(struct one_depot_memory *m);

/* Makes room, as far as there are blocks that can go. */
void one_depot_memory_resize(struct one_depot_memory *m, uint64_t capacity);

/* The last block of a file may be shorter. */
uint32_t one_depot_block_bytes(const struct one_depot_memory *m,
                               uint32_t block);

/* Makes room, as far as there are blocks that can go. */
void one_depot_begin_read(struct one_depot_memory *m, uint32_t block);
void one_depot_end_read(struct one_depot_memory *m, uint32_t block);

/* It is in memory, and stays there until it is unpinned as often. */
void one_depot_pin(struct one_depot_memory *m, uint32_t block);
void one_depot_unpin(struct one_depot_memory *m, uint32_t block);

#endif
