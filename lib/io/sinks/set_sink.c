/* SPDX-License-Identifier: MIT */
#include "io/sinks/set_sink.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "os/disk.h"
#include "os/file.h"
#include "os/thread.h"

/* So many files are synced sooner with the whole disk than each by itself. */
#define WORTH_A_DISK 4

struct set_file {
    struct xd_sink *sink; /* NULL: it is closed */
    unsigned n_users;     /* that write to it, or read, now */
    bool was_open;        /* at some time: its .part is ours */
    unsigned made;        /* folders for it */
    uint64_t reached;     /* so far it has bytes */
    uint64_t used;        /* the greater, the later it was used last */
};

struct xd_set_sink {
    struct xd_sink base;
    /* Constant after new(). */
    const struct xd_set_place *places;
    size_t n, most_open;
    bool replace;
    /* Guarded by lock, which is held while a file is opened or closed. */
    struct xd_mutex lock;
    struct set_file *files;
    size_t *open; /* those that are */
    size_t n_open, open_capacity;
    uint64_t n_used;
};

static void close_locked(struct xd_set_sink *s, size_t place)
{
    struct set_file *f = &s->files[s->open[place]];

    xd_sink_free(f->sink);
    f->sink = NULL;
    s->open[place] = s->open[--s->n_open];
}

/* Of those that are not in use; n_open if all are. */
static size_t least_recent_locked(const struct xd_set_sink *s)
{
    size_t oldest = s->n_open;

    for (size_t i = 0; i < s->n_open; i++) {
        const struct set_file *f = &s->files[s->open[i]];

        if (f->n_users == 0 &&
            (oldest == s->n_open || f->used < s->files[s->open[oldest]].used))
            oldest = i;
    }
    return oldest;
}

/* Those that are in use stay: each use closes one file at most. */
static void close_surplus_locked(struct xd_set_sink *s)
{
    size_t oldest;

    if (s->n_open <= s->most_open)
        return;
    oldest = least_recent_locked(s);
    if (oldest < s->n_open)
        close_locked(s, oldest);
}

/* What an earlier run left is not known to be of this file.  What this one
 * wrote has to be there: another program may have cut it while it was closed. */
static int check_found(const struct set_file *f, struct xd_sink *sink,
                       struct xd_error *err)
{
    if (!f->was_open)
        return xd_file_sink_found(sink) > 0 ? xd_file_sink_empty(sink, err) : 0;
    if (xd_file_sink_found(sink) < f->reached)
        return xd_fail(err, XD_E_IO, "%s: it was cut or removed meanwhile",
                       xd_file_sink_part(sink));
    return 0;
}

static int open_locked(struct xd_set_sink *s, size_t i, struct xd_error *err)
{
    const struct xd_set_place *p = &s->places[i];
    struct set_file *f = &s->files[i];
    const struct xd_sink *beside = NULL;
    struct xd_sink *sink;
    size_t *open;
    int rc;

    if (f->sink)
        return 0;
    if (s->n_open > 0)
        beside = s->files[s->open[s->n_open - 1]].sink;
    open = xd_grow(s->open, s->n_open, &s->open_capacity, sizeof *open);
    if (!open)
        return xd_fail_nomem(err);
    s->open = open;
    rc = xd_file_sink_new_beside(&sink, beside, p->path, p->given,
                                 s->replace || p->is_compared, err);
    if (rc < 0)
        return rc;
    rc = check_found(f, sink, err);
    if (rc < 0) {
        xd_sink_free(sink);
        return rc;
    }
    if (f->made < xd_file_sink_made(sink))
        f->made = xd_file_sink_made(sink);
    f->sink = sink;
    f->was_open = true;
    s->open[s->n_open++] = i;
    return 0;
}

static int begin_use(struct xd_set_sink *s, size_t i, struct xd_error *err)
{
    int rc;

    xd_mutex_lock(&s->lock);
    rc = open_locked(s, i, err);
    if (rc == 0) {
        s->files[i].n_users++;
        s->files[i].used = ++s->n_used;
    }
    xd_mutex_unlock(&s->lock);
    return rc;
}

/* It has bytes up to `reached`. */
static void end_use(struct xd_set_sink *s, size_t i, uint64_t reached)
{
    struct set_file *f = &s->files[i];

    xd_mutex_lock(&s->lock);
    f->n_users--;
    if (f->reached < reached)
        f->reached = reached;
    close_surplus_locked(s);
    xd_mutex_unlock(&s->lock);
}

/* The file that byte `offset` is of. */
static size_t file_at(const struct xd_set_sink *s, uint64_t offset)
{
    return xd_count_up_to(offset, s->places, s->n, sizeof *s->places,
                          offsetof(struct xd_set_place, range.begin)) -
           1;
}

/* Each part in its file. */
static int use(struct xd_set_sink *s, uint64_t offset, void *to,
               const void *from, size_t len, struct xd_error *err)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    for (size_t i = file_at(s, offset); len > 0; i++) {
        struct xd_range file = s->places[i].range;
        size_t part = len;
        int rc = begin_use(s, i, err);

        if (rc < 0)
            return rc;
        if (part > file.end - offset)
            part = (size_t)(file.end - offset);
        rc = in ? xd_sink_write(s->files[i].sink, offset - file.begin, in, part,
                                err)
                : xd_sink_read(s->files[i].sink, offset - file.begin, out, part,
                               err);
        end_use(s, i, rc == 0 ? offset - file.begin + part : 0);
        if (rc < 0)
            return rc;
        if (in)
            in += part;
        else
            out += part;
        offset += part;
        len -= part;
    }
    return 0;
}

static int set_write(struct xd_sink *base, uint64_t offset, const void *data,
                     size_t len, struct xd_error *err)
{
    return use((struct xd_set_sink *)base, offset, NULL, data, len, err);
}

static int set_read(struct xd_sink *base, uint64_t offset, void *data,
                    size_t len, struct xd_error *err)
{
    return use((struct xd_set_sink *)base, offset, data, NULL, len, err);
}

/* Each has been finished by itself. */
static int set_finish(struct xd_sink *base, uint64_t size, struct xd_error *err)
{
    (void)base;
    (void)size;
    (void)err;
    return 0;
}

static void set_free(struct xd_sink *base)
{
    struct xd_set_sink *s = (struct xd_set_sink *)base;

    while (s->n_open > 0)
        close_locked(s, s->n_open - 1);
    xd_mutex_fini(&s->lock);
    xd_free(s->files);
    xd_free(s->open);
    xd_free(s);
}

static const struct xd_sink_ops set_ops = {.write = set_write,
                                           .read = set_read,
                                           .finish = set_finish,
                                           .free = set_free};

int xd_set_sink_new(struct xd_sink **out, struct xd_set_sink **out_self,
                    const struct xd_set_place *places, size_t n, bool replace,
                    size_t most_open, struct xd_error *err)
{
    struct xd_set_sink *s = xd_alloc(1, sizeof *s);

    if (!s)
        return xd_fail_nomem(err);
    s->base.ops = &set_ops;
    s->places = places;
    s->n = n;
    s->replace = replace;
    s->most_open = most_open;
    s->files = xd_alloc(n, sizeof *s->files);
    if (!s->files || xd_mutex_init(&s->lock) < 0) {
        xd_free(s->files);
        xd_free(s);
        return xd_fail_nomem(err);
    }
    *out = &s->base;
    *out_self = s;
    return 0;
}

static void close_file_locked(struct xd_set_sink *s, size_t i)
{
    XD_ASSERT(s->files[i].n_users == 0);
    for (size_t place = 0; place < s->n_open; place++)
        if (s->open[place] == i) {
            close_locked(s, place);
            return;
        }
}

/* How many of the files, from the first on, lie in one folder. */
static size_t count_in_folder(const struct xd_set_sink *s, const size_t *files,
                              size_t n)
{
    size_t i = 1;

    while (i < n && xd_path_is_beside(s->places[files[0]].path,
                                      s->places[files[i]].path))
        i++;
    return i;
}

/* It is open, and no longer one of those that the set closes; NULL if it is
 * closed. */
static struct xd_sink *take_locked(struct xd_set_sink *s, size_t i)
{
    struct xd_sink *sink = s->files[i].sink;

    for (size_t place = 0; sink && place < s->n_open; place++)
        if (s->open[place] == i) {
            s->open[place] = s->open[--s->n_open];
            break;
        }
    s->files[i].sink = NULL;
    return sink;
}

static void take_open(struct xd_set_sink *s, const size_t *files, size_t n,
                      struct xd_sink **out)
{
    xd_mutex_lock(&s->lock);
    for (size_t i = 0; i < n; i++)
        out[i] = take_locked(s, files[i]);
    xd_mutex_unlock(&s->lock);
}

static int open_and_take(struct xd_set_sink *s, size_t i, struct xd_sink **out,
                         struct xd_error *err)
{
    int rc;

    xd_mutex_lock(&s->lock);
    rc = open_locked(s, i, err);
    if (rc == 0)
        *out = take_locked(s, i);
    xd_mutex_unlock(&s->lock);
    return rc;
}

/* Of a file that is compared nothing has to reach the disk. */
static int name_or_match(const struct xd_set_place *p, struct xd_sink *sink,
                         bool is_synced, struct xd_error *err)
{
    if (p->is_compared)
        return xd_file_sink_match(sink, p->size, err);
    return is_synced ? xd_file_sink_finish_synced(sink, p->size, err)
                     : xd_sink_finish(sink, p->size, err);
}

/* *sink is NULL if it is closed, and after a failure. */
static int finish_file(struct xd_set_sink *s, size_t i, struct xd_sink **sink,
                       bool is_synced, struct xd_error *err)
{
    int rc = *sink ? 0 : open_and_take(s, i, sink, err);

    if (rc < 0)
        return rc;
    rc = name_or_match(&s->places[i], *sink, is_synced, err);
    if (rc < 0) {
        xd_sink_free(*sink);
        *sink = NULL;
    }
    return rc;
}

/* What was written to the first of them is in the folder of all. */
static bool sync_disk(struct xd_set_sink *s, const size_t *files, size_t n,
                      struct xd_sink **sinks)
{
    if (n < WORTH_A_DISK ||
        (!sinks[0] && open_and_take(s, files[0], &sinks[0], NULL) < 0))
        return false;
    return xd_disk_sync(xd_file_sink_folder(sinks[0]));
}

/* Files that are compared get no names, and nothing of them stays. */
static bool are_all_compared(const struct xd_set_sink *s, const size_t *files,
                             size_t n)
{
    size_t i = 0;

    while (i < n && s->places[files[i]].is_compared)
        i++;
    return i == n;
}

/* They lie in one folder, whose names are synced once. */
static void finish_folder(struct xd_set_sink *s, const size_t *files, size_t n,
                          xd_set_ended_fn *ended, void *user)
{
    size_t named[XD_SET_MOST_OPEN], n_named = 0;
    struct xd_sink *sinks[XD_SET_MOST_OPEN], *last = NULL;
    struct xd_error error = {0};
    bool is_synced;
    int rc = 0;

    take_open(s, files, n, sinks);
    is_synced = !are_all_compared(s, files, n) && sync_disk(s, files, n, sinks);
    for (size_t i = 0; i < n; i++) {
        if (finish_file(s, files[i], &sinks[i], is_synced, &error) < 0) {
            ended(user, &files[i], 1, &error);
            continue;
        }
        named[n_named++] = files[i];
        last = sinks[i];
    }
    if (last && !are_all_compared(s, files, n))
        rc = xd_file_sink_sync_name(last, &error);
    for (size_t i = 0; i < n; i++)
        xd_sink_free(sinks[i]);
    if (n_named > 0)
        ended(user, named, n_named, rc < 0 ? &error : NULL);
}

/* No more than may be open, and those of one folder. */
static size_t count_together(const struct xd_set_sink *s, const size_t *files,
                             size_t n)
{
    size_t most =
        s->most_open < XD_SET_MOST_OPEN ? s->most_open : XD_SET_MOST_OPEN;

    if (most == 0)
        most = 1;
    return count_in_folder(s, files, n < most ? n : most);
}

void xd_set_sink_finish_files(struct xd_set_sink *s, const size_t *files,
                              size_t n, xd_set_ended_fn *ended, void *user)
{
    while (n > 0) {
        size_t m = count_together(s, files, n);

        finish_folder(s, files, m, ended, user);
        files += m;
        n -= m;
    }
}

/* What is written to it is ours, also where PATH is by now another's. */
static void remove_part(const struct xd_set_place *p, unsigned made)
{
    struct xd_sink *sink;

    if (xd_file_sink_new(&sink, p->path, p->given, true, NULL) < 0)
        return;
    if (xd_file_sink_empty(sink, NULL) == 0 && xd_file_sink_remove_empty(sink))
        xd_folder_unmake(xd_file_sink_folder(sink), made, p->path);
    xd_sink_free(sink);
}

void xd_set_sink_remove_file(struct xd_set_sink *s, size_t i)
{
    struct set_file *f = &s->files[i];

    xd_mutex_lock(&s->lock);
    close_file_locked(s, i);
    if (f->was_open)
        remove_part(&s->places[i], f->made);
    *f = (struct set_file){0};
    xd_mutex_unlock(&s->lock);
}
