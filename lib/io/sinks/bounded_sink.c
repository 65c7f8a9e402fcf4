/* SPDX-License-Identifier: MIT */
/*
 * A sink that keeps only the chunks that are still needed, in memory or in a
 * file without a name.
 *
 *     leaves   [0]       [1]   [2]       64 MiB of the output each, or NULL
 *               |               |
 *     slots    [.3.01...]      [..2]     64 KiB each, or none
 *
 * Callers keep track of what is in a chunk.  The lock is a leaf lock; it guards
 * which chunks exist.
 *
 * Slots of dropped chunks are reused, not freed: the threads that write are not
 * those that drop, and each has its own heap arena, which would become
 * fragmented.
 */
#include "io/sinks/sink.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "os/file.h"
#include "os/thread.h"

#define CHUNK XD_BOUNDED_CHUNK
#define CHUNKS_PER_LEAF 1024

/* Limit on the number of leaves; no file needs as many. */
#define MOST_LEAVES (UINT64_C(1) << 32)

#define NO_SLOT UINT32_MAX

struct leaf {
    uint32_t slots[CHUNKS_PER_LEAF];
    unsigned n; /* chunks that exist */
};

struct xd_bounded_sink {
    struct xd_sink base;
    /* constant after new() */
    char *folder; /* folder of the file; NULL: in memory */
    int fd;

    struct xd_mutex lock;
    /* guarded by lock */
    struct leaf **leaves;
    size_t n_leaves;
    unsigned char **memory; /* memory of each slot, if there is no file */
    uint32_t *spares;       /* free slots */
    uint32_t n_slots, n_spares, capacity;
};

/* Storage for one chunk. */
struct slot {
    uint32_t number;
    unsigned char *memory;
};

static struct leaf *leaf_of(const struct xd_bounded_sink *b, uint64_t chunk)
{
    uint64_t i = chunk / CHUNKS_PER_LEAF;

    return i < b->n_leaves ? b->leaves[i] : NULL;
}

static struct leaf *new_leaf(void)
{
    struct leaf *leaf = xd_alloc(1, sizeof *leaf);

    for (size_t i = 0; leaf && i < CHUNKS_PER_LEAF; i++)
        leaf->slots[i] = NO_SLOT;
    return leaf;
}

static int make_leaf(struct xd_bounded_sink *b, uint64_t i)
{
    if (i >= b->n_leaves) {
        size_t n = (size_t)i + 1;
        struct leaf **leaves;

        if (i >= MOST_LEAVES)
            return XD_E_NOMEM;
        leaves = xd_realloc(b->leaves, n, sizeof *leaves);
        if (!leaves)
            return XD_E_NOMEM;
        for (size_t j = b->n_leaves; j < n; j++)
            leaves[j] = NULL;
        b->leaves = leaves;
        b->n_leaves = n;
    }
    if (!b->leaves[i])
        b->leaves[i] = new_leaf();
    return b->leaves[i] ? 0 : XD_E_NOMEM;
}

/* Makes room for one more slot. */
static int reserve(struct xd_bounded_sink *b)
{
    uint32_t n = b->capacity ? 2 * b->capacity : 64;
    unsigned char **memory;
    uint32_t *spares;

    if (b->n_slots < b->capacity)
        return 0;
    spares = xd_realloc(b->spares, n, sizeof *spares);
    if (!spares)
        return XD_E_NOMEM;
    b->spares = spares;
    memory = xd_realloc(b->memory, n, sizeof *memory);
    if (!memory)
        return XD_E_NOMEM;
    b->memory = memory;
    b->capacity = n;
    return 0;
}

static uint32_t new_slot(struct xd_bounded_sink *b)
{
    unsigned char *memory = NULL;

    if (b->n_spares > 0)
        return b->spares[--b->n_spares];
    if (reserve(b) < 0)
        return NO_SLOT;
    if (!b->folder && !(memory = xd_alloc(CHUNK, 1)))
        return NO_SLOT;
    b->memory[b->n_slots] = memory;
    return b->n_slots++;
}

/* Returns the slot of a chunk, creating it if needed.  Errors: NOMEM. */
static int make_slot(struct xd_bounded_sink *b, uint64_t chunk,
                     struct slot *out)
{
    uint32_t *slot;
    struct leaf *leaf;

    if (make_leaf(b, chunk / CHUNKS_PER_LEAF) < 0)
        return XD_E_NOMEM;
    leaf = leaf_of(b, chunk);
    slot = &leaf->slots[chunk % CHUNKS_PER_LEAF];
    if (*slot == NO_SLOT) {
        *slot = new_slot(b);
        if (*slot == NO_SLOT)
            return XD_E_NOMEM;
        leaf->n++;
    }
    *out = (struct slot){*slot, b->memory[*slot]};
    return 0;
}

static int find_slot(const struct xd_bounded_sink *b, uint64_t chunk,
                     struct slot *out)
{
    const struct leaf *leaf = leaf_of(b, chunk);
    uint32_t slot = leaf ? leaf->slots[chunk % CHUNKS_PER_LEAF] : NO_SLOT;

    if (slot == NO_SLOT)
        return XD_E_BUG;
    *out = (struct slot){slot, b->memory[slot]};
    return 0;
}

static size_t part_of_chunk(uint64_t offset, size_t len)
{
    size_t room = (size_t)(CHUNK - offset % CHUNK);

    return len < room ? len : room;
}

/* Returns the position of a byte in the file. */
static uint64_t place(const struct slot *s, uint64_t offset)
{
    return s->number * CHUNK + offset % CHUNK;
}

static int put(struct xd_bounded_sink *b, const struct slot *s, uint64_t offset,
               const void *data, size_t len, struct xd_error *err)
{
    if (b->folder)
        return xd_file_write(b->fd, b->folder, place(s, offset), data, len,
                             err);
    memcpy(s->memory + offset % CHUNK, data, len);
    return 0;
}

static int get(struct xd_bounded_sink *b, const struct slot *s, uint64_t offset,
               unsigned char *data, size_t len, struct xd_error *err)
{
    if (!b->folder) {
        memcpy(data, s->memory + offset % CHUNK, len);
        return 0;
    }
    for (size_t done = 0; done < len;) {
        int64_t n = xd_file_read(b->fd, b->folder, place(s, offset + done),
                                 data + done, len - done, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return xd_fail(err, XD_E_IO, "%s: what was written is not there",
                           b->folder);
        done += (size_t)n;
    }
    return 0;
}

static int bounded_write(struct xd_sink *s, uint64_t offset, const void *data,
                         size_t len, struct xd_error *err)
{
    struct xd_bounded_sink *b = (struct xd_bounded_sink *)s;
    const unsigned char *from = data;

    while (len > 0) {
        size_t n = part_of_chunk(offset, len);
        struct slot slot;
        int rc;

        xd_mutex_lock(&b->lock);
        rc = make_slot(b, offset / CHUNK, &slot);
        xd_mutex_unlock(&b->lock);
        if (rc < 0)
            return xd_fail_nomem(err);
        rc = put(b, &slot, offset, from, n, err);
        if (rc < 0)
            return rc;
        from += n;
        offset += n;
        len -= n;
    }
    return 0;
}

static int bounded_read(struct xd_sink *s, uint64_t offset, void *data,
                        size_t len, struct xd_error *err)
{
    struct xd_bounded_sink *b = (struct xd_bounded_sink *)s;
    unsigned char *to = data;

    while (len > 0) {
        size_t n = part_of_chunk(offset, len);
        struct slot slot;
        int rc;

        xd_mutex_lock(&b->lock);
        rc = find_slot(b, offset / CHUNK, &slot);
        xd_mutex_unlock(&b->lock);
        if (rc < 0)
            return xd_fail(err, XD_E_BUG, "byte %llu was dropped",
                           (unsigned long long)offset);
        rc = get(b, &slot, offset, to, n, err);
        if (rc < 0)
            return rc;
        to += n;
        offset += n;
        len -= n;
    }
    return 0;
}

static int bounded_finish(struct xd_sink *s, uint64_t size,
                          struct xd_error *err)
{
    (void)s;
    (void)size;
    (void)err;
    return 0;
}

static void drop_chunk(struct xd_bounded_sink *b, uint64_t chunk)
{
    struct leaf *leaf = leaf_of(b, chunk);
    uint32_t *slot = leaf ? &leaf->slots[chunk % CHUNKS_PER_LEAF] : NULL;

    if (!slot || *slot == NO_SLOT)
        return;
    b->spares[b->n_spares++] = *slot;
    *slot = NO_SLOT;
    if (--leaf->n > 0)
        return;
    xd_free(leaf);
    b->leaves[chunk / CHUNKS_PER_LEAF] = NULL;
}

static void bounded_free(struct xd_sink *s)
{
    struct xd_bounded_sink *b = (struct xd_bounded_sink *)s;

    for (size_t i = 0; i < b->n_leaves; i++)
        xd_free(b->leaves[i]);
    for (uint32_t i = 0; i < b->n_slots; i++)
        xd_free(b->memory[i]);
    if (b->folder)
        xd_file_close(b->fd);
    xd_mutex_fini(&b->lock);
    xd_free(b->leaves);
    xd_free(b->memory);
    xd_free(b->spares);
    xd_free(b->folder);
    xd_free(b);
}

static const struct xd_sink_ops bounded_ops = {.write = bounded_write,
                                               .read = bounded_read,
                                               .finish = bounded_finish,
                                               .free = bounded_free};

int xd_bounded_sink_new(struct xd_sink **out, struct xd_bounded_sink **out_self,
                        const char *folder, struct xd_error *err)
{
    struct xd_bounded_sink *b = xd_alloc(1, sizeof *b);
    int rc;

    if (!b || xd_mutex_init(&b->lock) < 0) {
        xd_free(b);
        return xd_fail_nomem(err);
    }
    b->base.ops = &bounded_ops;
    if (folder) {
        char *name = xd_strdup(folder);

        rc = name ? xd_file_temporary(&b->fd, folder, err) : xd_fail_nomem(err);
        if (rc < 0) {
            xd_free(name);
            bounded_free(&b->base);
            return rc;
        }
        b->folder = name;
    }
    *out = &b->base;
    *out_self = b;
    return 0;
}

void xd_bounded_sink_drop(struct xd_bounded_sink *b, uint64_t begin,
                          uint64_t end)
{
    xd_mutex_lock(&b->lock);
    for (uint64_t i = begin / CHUNK; i < end / CHUNK; i++)
        drop_chunk(b, i);
    xd_mutex_unlock(&b->lock);
}
