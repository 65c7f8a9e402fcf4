/* SPDX-License-Identifier: MIT */
#include "one_depot_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

void one_depot_memory_init(struct one_depot_memory *m, uint64_t file_bytes,
                           uint32_t n_files, uint32_t block_bytes,
                           uint64_t capacity)
{
    const uint64_t per_file = (file_bytes + block_bytes - 1) / block_bytes;

    *m = (struct one_depot_memory){.n_blocks = (uint32_t)(per_file * n_files),
                                   .per_file = (uint32_t)per_file,
                                   .newest = ONE_DEPOT_NONE,
                                   .oldest = ONE_DEPOT_NONE,
                                   .block_bytes = block_bytes,
                                   .file_bytes = file_bytes,
                                   .capacity = capacity};
    m->blocks = calloc(m->n_blocks, sizeof *m->blocks);
    if (!m->blocks) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    for (uint32_t i = 0; i < m->n_blocks; i++)
        m->blocks[i].waiter = ONE_DEPOT_NONE;
}

void one_depot_memory_fini(struct one_depot_memory *m)
{
    free(m->blocks);
}

uint32_t one_depot_block_bytes(const struct one_depot_memory *m, uint32_t block)
{
    const uint64_t offset = (uint64_t)(block % m->per_file) * m->block_bytes;
    const uint64_t left = m->file_bytes - offset;

    return left < m->block_bytes ? (uint32_t)left : m->block_bytes;
}

/* ---- those that may go, in order of their last use ---- */

static void link_newest(struct one_depot_memory *m, uint32_t block)
{
    struct one_depot_block *b = &m->blocks[block];

    b->newer = ONE_DEPOT_NONE;
    b->older = m->newest;
    if (m->newest == ONE_DEPOT_NONE)
        m->oldest = block;
    else
        m->blocks[m->newest].newer = block;
    m->newest = block;
}

static void unlink_block(struct one_depot_memory *m, uint32_t block)
{
    const struct one_depot_block *b = &m->blocks[block];

    if (b->newer == ONE_DEPOT_NONE)
        m->newest = b->older;
    else
        m->blocks[b->newer].older = b->older;
    if (b->older == ONE_DEPOT_NONE)
        m->oldest = b->newer;
    else
        m->blocks[b->older].newer = b->newer;
}

static void make_room(struct one_depot_memory *m)
{
    while (m->held > m->capacity && m->oldest != ONE_DEPOT_NONE) {
        const uint32_t block = m->oldest;

        unlink_block(m, block);
        m->blocks[block].state = ONE_DEPOT_ABSENT;
        m->held -= one_depot_block_bytes(m, block);
    }
}

void one_depot_memory_resize(struct one_depot_memory *m, uint64_t capacity)
{
    m->capacity = capacity;
    make_room(m);
}

/* ---- reads, and pins ---- */

void one_depot_begin_read(struct one_depot_memory *m, uint32_t block)
{
    XD_ASSERT(m->blocks[block].state == ONE_DEPOT_ABSENT);
    m->blocks[block].state = ONE_DEPOT_READS;
    m->held += one_depot_block_bytes(m, block);
    make_room(m);
}

void one_depot_end_read(struct one_depot_memory *m, uint32_t block)
{
    XD_ASSERT(m->blocks[block].state == ONE_DEPOT_READS);
    m->blocks[block].state = ONE_DEPOT_HELD;
    link_newest(m, block);
}

void one_depot_pin(struct one_depot_memory *m, uint32_t block)
{
    struct one_depot_block *b = &m->blocks[block];

    XD_ASSERT(b->state == ONE_DEPOT_HELD);
    if (b->pins++ == 0)
        unlink_block(m, block);
    b->has_been_sent = true;
}

void one_depot_unpin(struct one_depot_memory *m, uint32_t block)
{
    struct one_depot_block *b = &m->blocks[block];

    XD_ASSERT(b->pins > 0);
    if (--b->pins > 0)
        return;
    link_newest(m, block);
    make_room(m);
}
