/* SPDX-License-Identifier: MIT */
#include "manifest/pool.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

/* Chunk sizes double from first to last: small manifests take little memory,
 * large ones few allocations. */
#define FIRST_CHUNK ((size_t)512)
#define LAST_CHUNK ((size_t)1 << 20)

struct xd_pool_chunk {
    struct xd_pool_chunk *next;
    size_t used, capacity;
    /* memory, aligned for pointers and 64-bit numbers */
    _Alignas(uint64_t) char bytes[];
};

void xd_pool_fini(struct xd_pool *p)
{
    while (p->chunks) {
        struct xd_pool_chunk *next = p->chunks->next;
        xd_free(p->chunks);
        p->chunks = next;
    }
}

static struct xd_pool_chunk *add_chunk(struct xd_pool *p, size_t need)
{
    size_t capacity = FIRST_CHUNK;
    if (p->chunks && p->chunks->capacity < LAST_CHUNK)
        capacity = p->chunks->capacity * 2;
    else if (p->chunks)
        capacity = LAST_CHUNK;
    if (capacity < need)
        capacity = need;
    struct xd_pool_chunk *chunk =
        xd_alloc(1, sizeof(struct xd_pool_chunk) + capacity);
    if (!chunk)
        return NULL;
    chunk->capacity = capacity;
    chunk->next = p->chunks;
    p->chunks = chunk;
    return chunk;
}

char *xd_pool_copy(struct xd_pool *p, struct xd_span s)
{
    struct xd_pool_chunk *chunk = p->chunks;
    if (!chunk || chunk->capacity - chunk->used <= s.len)
        chunk = add_chunk(p, s.len + 1);
    if (!chunk)
        return NULL;
    char *copy = chunk->bytes + chunk->used;
    if (s.len > 0)
        memcpy(copy, s.s, s.len);
    copy[s.len] = '\0';
    chunk->used += s.len + 1;
    return copy;
}

void *xd_pool_alloc(struct xd_pool *p, size_t size)
{
    const size_t unit = sizeof(uint64_t);
    struct xd_pool_chunk *chunk = p->chunks;
    size_t begin = chunk ? (chunk->used + unit - 1) / unit * unit : 0;
    if (!chunk || begin > chunk->capacity || chunk->capacity - begin < size) {
        chunk = add_chunk(p, size);
        begin = 0;
    }
    if (!chunk)
        return NULL;
    chunk->used = begin + size;
    return memset(chunk->bytes + begin, 0, size);
}

void *xd_pool_array(struct xd_pool *p, size_t n, size_t size)
{
    if (n > SIZE_MAX / 2 / size)
        return NULL;
    return xd_pool_alloc(p, n * size);
}
