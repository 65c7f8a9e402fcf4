/* SPDX-License-Identifier: MIT */
#include "serve/prefetch.h"

#include "command/readers.h"

/* Limit of readers that are examined per file. */
#define READERS 64

void prefetch_init(struct prefetch *p, struct catalog *s)
{
    *p = (struct prefetch){.catalog = s};
}

static void end(struct prefetch *p, struct prefetched *f)
{
    if (f->of == NULL)
        return;
    xd_reader_free(f->reader);
    catalog_leave(p->catalog, f->of, CATALOG_OTHER);
    *f = (struct prefetched){.of = NULL};
}

void prefetch_fini(struct prefetch *p)
{
    for (size_t i = 0; i < PREFETCH_MOST; i++)
        end(p, &p->files[i]);
}

static struct prefetched *find(struct prefetch *p, const struct catalog_file *f)
{
    for (size_t i = 0; i < PREFETCH_MOST; i++)
        if (p->files[i].of != NULL && p->files[i].of->file == f)
            return &p->files[i];
    return NULL;
}

/* Returns a free element.  For the very next file, may return the element of
 * the file that will be played last. */
static struct prefetched *find_room(struct prefetch *p, unsigned depth)
{
    struct prefetched *last = NULL;

    for (size_t i = 0; i < PREFETCH_MOST; i++) {
        struct prefetched *f = &p->files[i];
        if (f->of == NULL)
            return f;
        if (f->round != p->round && (last == NULL || f->depth > last->depth))
            last = f;
    }
    return depth == 1 ? last : NULL;
}

/* Returns whether a client has started to read the file.  Our own reader reads
 * at most one byte. */
static bool is_begun(struct xd_source *s)
{
    uint64_t at[READERS];
    const size_t n = xd_source_positions(s, at, READERS);

    for (size_t i = 0; i < n && i < READERS; i++)
        if (at[i] > 1)
            return true;
    return false;
}

static bool is_read(struct prefetch *p, const struct catalog_file *file)
{
    struct catalog_source *of = catalog_look_at(p->catalog, file);

    if (of == NULL)
        return false;
    const bool is = is_begun(of->source);
    catalog_leave(p->catalog, of, CATALOG_OTHER);
    return is;
}

static struct prefetched *begin(struct prefetch *p, struct catalog_file *file,
                                unsigned depth)
{
    struct prefetched *f = find_room(p, depth);
    struct xd_error err;

    if (f == NULL)
        return NULL;
    end(p, f);
    if (catalog_enter(p->catalog, file, CATALOG_OTHER, &f->of, &err) < 0)
        return NULL;
    if (xd_reader_new(&f->reader, f->of->source, &err) < 0) {
        catalog_leave(p->catalog, f->of, CATALOG_OTHER);
        f->of = NULL;
        return NULL;
    }
    f->depth = depth;
    return f;
}

/* Requests that the file after `file` is prefetched, because clients need
 * nothing more of `file`.  Skips files that have failed.  Does nothing if the
 * next file has clients. */
static void want_next(struct prefetch *p, const struct catalog_file *file,
                      unsigned depth)
{
    struct catalog_file *next = catalog_next(p->catalog, file);

    while (next != NULL && next->status != 0)
        next = catalog_next(p->catalog, next);
    if (next == NULL || depth > PREFETCH_MOST)
        return;
    struct prefetched *f = find(p, next);
    if (f == NULL && !is_read(p, next))
        f = begin(p, next, depth);
    if (f == NULL)
        return;
    f->round = p->round;
    if (depth < f->depth)
        f->depth = depth;
}

/* Keeps a file prefetched: reads its first byte again, because nothing is
 * downloaded or kept in memory for a reader that does not read.  If the file
 * has failed, requests the next file. */
static void go_on(struct prefetch *p, struct prefetched *f)
{
    const struct catalog_file *file = f->of->file;
    const unsigned depth = f->depth;
    char byte;

    if (file->status != 0) {
        end(p, f);
        want_next(p, file, depth);
    } else if (is_begun(f->of->source))
        end(p, f);
    else if (xd_reader_seek(f->reader, 0) == 0)
        (void)!xd_reader_read(f->reader, &byte, 1, 0);
}

/* Checks whether clients need nothing more of the file.  A client may have read
 * the whole file between two calls. */
static void look_at_clients(struct prefetch *p, struct catalog_source *of)
{
    const bool is_read_out = atomic_exchange(&of->is_read_out, false);
    struct prefetched *f = is_read_out ? find(p, of->file) : NULL;

    if (f != NULL)
        end(p, f);
    if (is_read_out || (catalog_has_clients(p->catalog, of) &&
                        !xd_source_needs_network(of->source)))
        want_next(p, of->file, 1);
}

void prefetch_look(struct prefetch *p)
{
    p->round++;
    for (size_t i = 0; i < CATALOG_OPEN; i++) {
        struct catalog_source *of = catalog_look(p->catalog, i);
        if (of == NULL)
            continue;
        look_at_clients(p, of);
        catalog_leave(p->catalog, of, CATALOG_OTHER);
    }
    for (size_t i = 0; i < PREFETCH_MOST; i++) {
        struct prefetched *f = &p->files[i];
        if (f->of != NULL)
            go_on(p, f);
        if (f->of != NULL && !xd_source_needs_network(f->of->source))
            want_next(p, f->of->file, f->depth + 1);
    }
}
