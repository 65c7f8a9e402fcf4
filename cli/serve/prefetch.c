/* SPDX-License-Identifier: MIT */
#include "serve/prefetch.h"

/* So many readers of a file are looked at. */
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

/* For what is played next another gives up its place, the last to be played. */
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

/* Whether a client has begun to read it; a reader that is ahead reads no more
 * than one byte. */
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

/* The file behind one that needs nothing more, unless that has clients of its
 * own. */
static void want_behind(struct prefetch *p, const struct catalog_file *file,
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

/* Nothing is fetched for a reader that does not read, and nothing is kept in
 * memory for one that has not read for a while: so it has another look at the
 * first byte.  In the place of one that has failed the next is wanted. */
static void go_on(struct prefetch *p, struct prefetched *f)
{
    const struct catalog_file *file = f->of->file;
    const unsigned depth = f->depth;
    char byte;

    if (file->status != 0) {
        end(p, f);
        want_behind(p, file, depth);
    } else if (is_begun(f->of->source))
        end(p, f);
    else if (xd_reader_seek(f->reader, 0) == 0)
        (void)!xd_reader_read(f->reader, &byte, 1, 0);
}

/* A client may have got all of a file between two looks. */
static void look_at_clients(struct prefetch *p, struct catalog_source *of)
{
    const bool is_read_out = atomic_exchange(&of->is_read_out, false);
    struct prefetched *f = is_read_out ? find(p, of->file) : NULL;

    if (f != NULL)
        end(p, f);
    if (is_read_out ||
        (catalog_has_clients(p->catalog, of) && xd_source_has_rest(of->source)))
        want_behind(p, of->file, 1);
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
        if (f->of != NULL && xd_source_has_rest(f->of->source))
            want_behind(p, f->of->file, f->depth + 1);
    }
}
