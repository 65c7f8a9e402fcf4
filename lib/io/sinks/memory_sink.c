/*
 * Bytes in memory, in chunks that are there or not.
 *
 *     leaves   [0]       [1]   [2]       each 64 MiB of the output, or NULL
 *               |               |
 *     chunks   [.#.##...]      [..#]     each 64 KiB, or NULL
 *
 * What a chunk has is the callers' to know; the lock is a leaf, and guards
 * which chunks there are.
 *
 * Chunks that were dropped are used again, and not given back: threads write
 * that never drop, and each has its own heap, in which holes would stay.
 */
#include "io/sinks/sink.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/thread.h"

#define CHUNK XD_MEMORY_CHUNK
#define CHUNKS_PER_LEAF 1024

/* More than any file has. */
#define MOST_LEAVES (UINT64_C(1) << 32)

struct leaf {
    unsigned char *chunks[CHUNKS_PER_LEAF];
    unsigned n; /* that are there */
};

/* A chunk that was dropped. */
struct spare {
    struct spare *next;
};

struct xd_memory_sink {
    struct xd_sink base;
    struct xd_mutex lock;
    /* Guarded by lock. */
    struct leaf **leaves;
    size_t n_leaves;
    struct spare *spares;
};

static struct leaf *leaf_of(const struct xd_memory_sink *m, uint64_t chunk)
{
    uint64_t i = chunk / CHUNKS_PER_LEAF;

    return i < m->n_leaves ? m->leaves[i] : NULL;
}

static int make_leaf(struct xd_memory_sink *m, uint64_t i)
{
    if (i >= m->n_leaves) {
        size_t n = (size_t)i + 1;
        struct leaf **leaves;

        if (i >= MOST_LEAVES)
            return XD_E_NOMEM;
        leaves = xd_realloc(m->leaves, n, sizeof *leaves);
        if (!leaves)
            return XD_E_NOMEM;
        for (size_t j = m->n_leaves; j < n; j++)
            leaves[j] = NULL;
        m->leaves = leaves;
        m->n_leaves = n;
    }
    if (!m->leaves[i])
        m->leaves[i] = xd_alloc(1, sizeof *m->leaves[i]);
    return m->leaves[i] ? 0 : XD_E_NOMEM;
}

static unsigned char *new_chunk(struct xd_memory_sink *m)
{
    struct spare *s = m->spares;

    if (!s)
        return xd_alloc(CHUNK, 1);
    m->spares = s->next;
    return (unsigned char *)s;
}

/* The chunk, made if it is not there; NULL without memory. */
static unsigned char *make_chunk(struct xd_memory_sink *m, uint64_t chunk)
{
    unsigned char **slot;
    struct leaf *leaf;

    if (make_leaf(m, chunk / CHUNKS_PER_LEAF) < 0)
        return NULL;
    leaf = leaf_of(m, chunk);
    slot = &leaf->chunks[chunk % CHUNKS_PER_LEAF];
    if (!*slot) {
        *slot = new_chunk(m);
        leaf->n += *slot != NULL;
    }
    return *slot;
}

static unsigned char *find_chunk(const struct xd_memory_sink *m, uint64_t chunk)
{
    struct leaf *leaf = leaf_of(m, chunk);

    return leaf ? leaf->chunks[chunk % CHUNKS_PER_LEAF] : NULL;
}

static size_t part_of_chunk(uint64_t offset, size_t len)
{
    size_t room = (size_t)(CHUNK - offset % CHUNK);

    return len < room ? len : room;
}

static int memory_write(struct xd_sink *s, uint64_t offset, const void *data,
                        size_t len, struct xd_error *err)
{
    struct xd_memory_sink *m = (struct xd_memory_sink *)s;
    const unsigned char *from = data;
    int rc = 0;

    xd_mutex_lock(&m->lock);
    while (len > 0 && rc == 0) {
        unsigned char *chunk = make_chunk(m, offset / CHUNK);
        size_t n = part_of_chunk(offset, len);

        if (chunk)
            memcpy(chunk + offset % CHUNK, from, n);
        else
            rc = xd_fail_nomem(err);
        from += n;
        offset += n;
        len -= n;
    }
    xd_mutex_unlock(&m->lock);
    return rc;
}

static int memory_read(struct xd_sink *s, uint64_t offset, void *data,
                       size_t len, struct xd_error *err)
{
    struct xd_memory_sink *m = (struct xd_memory_sink *)s;
    unsigned char *to = data;
    int rc = 0;

    xd_mutex_lock(&m->lock);
    while (len > 0 && rc == 0) {
        const unsigned char *chunk = find_chunk(m, offset / CHUNK);
        size_t n = part_of_chunk(offset, len);

        if (chunk)
            memcpy(to, chunk + offset % CHUNK, n);
        else
            rc = xd_fail(err, XD_E_BUG, "byte %llu has left the memory",
                         (unsigned long long)offset);
        to += n;
        offset += n;
        len -= n;
    }
    xd_mutex_unlock(&m->lock);
    return rc;
}

static int memory_finish(struct xd_sink *s, uint64_t size, struct xd_error *err)
{
    (void)s;
    (void)size;
    (void)err;
    return 0;
}

static void drop_chunk(struct xd_memory_sink *m, uint64_t chunk)
{
    struct leaf *leaf = leaf_of(m, chunk);
    unsigned char **slot = leaf ? &leaf->chunks[chunk % CHUNKS_PER_LEAF] : NULL;
    struct spare *spare;

    if (!slot || !*slot)
        return;
    spare = (void *)*slot;
    spare->next = m->spares;
    m->spares = spare;
    *slot = NULL;
    if (--leaf->n > 0)
        return;
    xd_free(leaf);
    m->leaves[chunk / CHUNKS_PER_LEAF] = NULL;
}

static void memory_free(struct xd_sink *s)
{
    struct xd_memory_sink *m = (struct xd_memory_sink *)s;

    for (size_t i = 0; i < m->n_leaves; i++) {
        for (size_t j = 0; m->leaves[i] && j < CHUNKS_PER_LEAF; j++)
            xd_free(m->leaves[i]->chunks[j]);
        xd_free(m->leaves[i]);
    }
    for (struct spare *next; m->spares; m->spares = next) {
        next = m->spares->next;
        xd_free(m->spares);
    }
    xd_mutex_fini(&m->lock);
    xd_free(m->leaves);
    xd_free(m);
}

static const struct xd_sink_ops memory_ops = {.write = memory_write,
                                              .read = memory_read,
                                              .finish = memory_finish,
                                              .free = memory_free};

int xd_memory_sink_new(struct xd_sink **out, struct xd_memory_sink **out_self,
                       struct xd_error *err)
{
    struct xd_memory_sink *m = xd_alloc(1, sizeof *m);

    if (!m || xd_mutex_init(&m->lock) < 0) {
        xd_free(m);
        return xd_fail_nomem(err);
    }
    m->base.ops = &memory_ops;
    *out = &m->base;
    *out_self = m;
    return 0;
}

void xd_memory_sink_drop(struct xd_memory_sink *m, uint64_t begin, uint64_t end)
{
    xd_mutex_lock(&m->lock);
    for (uint64_t i = begin / CHUNK; i < end / CHUNK; i++)
        drop_chunk(m, i);
    xd_mutex_unlock(&m->lock);
}
