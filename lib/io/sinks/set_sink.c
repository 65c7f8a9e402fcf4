/* SPDX-License-Identifier: MIT */
#include "io/sinks/set_sink.h"

#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "io/journal/journal.h"
#include "io/sinks/set_journal.h"
#include "os/disk.h"
#include "os/file.h"
#include "os/thread.h"

/* From this number on, syncing the whole file system is faster than each
 * file. */
#define WORTH_A_DISK 4

/* State of a file that has a journal. */
struct kept {
    /* open only while the file is open; NULL: closed */
    struct xd_journal *journal;
    uint64_t unsynced; /* bytes written since the last sync */
    uint64_t sync;     /* number of the last sync */
};

/* State of a file that was opened at least once. */
struct set_file {
    struct xd_sink *sink; /* NULL: closed */
    struct kept *kept;    /* NULL: no journal, or not opened yet */
    unsigned n_users;     /* threads reading or writing now */
    bool was_open;        /* opened before: its .part is ours */
    unsigned made;        /* number of folders created for it */
    uint64_t reached;     /* end of the bytes written */
    uint64_t used;        /* order of use: the larger, the more recent */
};

struct xd_set_sink {
    struct xd_sink base;
    /* constant after new() */
    const struct xd_set_place *places;
    struct xd_set_sink_options o;
    /* used only by the thread that calls sync() */
    uint64_t n_syncs;
    /* Guarded by lock, which is held while a file is opened or closed. */
    struct xd_mutex lock;
    size_t n;
    struct set_file **files; /* an entry is NULL, allocated, or &named */
    struct set_file named;   /* stands for every finished file */
    size_t *open;            /* indexes of open files */
    size_t n_open, open_capacity;
    uint64_t n_used;
};

char *xd_set_place_path(const struct xd_set_place *p, const char *directory)
{
    size_t given;

    return xd_path_in(directory, p->path, &given);
}

static void close_journal(struct set_file *f)
{
    if (!f->kept)
        return;
    xd_journal_free(f->kept->journal);
    f->kept->journal = NULL;
}

/* Closes an open file.  If nothing was written, closing its sink deletes the
 * .part. */
static void close_locked(struct xd_set_sink *s, size_t place)
{
    struct set_file *f = s->files[s->open[place]];

    if (f->kept && f->kept->journal && f->reached == 0) {
        (void)xd_journal_remove(f->kept->journal, NULL);
        f->was_open = false;
    }
    close_journal(f);
    xd_sink_free(f->sink);
    f->sink = NULL;
    s->open[place] = s->open[--s->n_open];
}

/* Returns whether the file may be closed.  Unsynced data must be synced through
 * the descriptor that wrote it. */
static bool may_close(const struct set_file *f)
{
    return f->n_users == 0 && !(f->kept && f->kept->unsynced > 0);
}

/* Returns the least recently used file that may be closed; n_open if there is
 * none. */
static size_t least_recent_locked(const struct xd_set_sink *s)
{
    size_t oldest = s->n_open;

    for (size_t i = 0; i < s->n_open; i++) {
        const struct set_file *f = s->files[s->open[i]];

        if (may_close(f) &&
            (oldest == s->n_open || f->used < s->files[s->open[oldest]]->used))
            oldest = i;
    }
    return oldest;
}

/* Files in use stay open.  Each use closes at most one other file. */
static void close_surplus_locked(struct xd_set_sink *s)
{
    size_t oldest;

    if (s->n_open <= s->o.most_open)
        return;
    oldest = least_recent_locked(s);
    if (oldest < s->n_open)
        close_locked(s, oldest);
}

/* Checks the length of the .part that was opened.  Data of an earlier run is
 * trusted only with a journal.  Data of this run must still be there: another
 * program may have truncated the file while it was closed. */
static int check_found(const struct set_file *f, const struct xd_set_place *p,
                       struct xd_sink *sink, struct xd_error *err)
{
    if (!f->was_open && p->hashes)
        return 0;
    if (!f->was_open)
        return xd_file_sink_found(sink) > 0 ? xd_file_sink_empty(sink, err) : 0;
    if (xd_file_sink_found(sink) < f->reached)
        return xd_fail(err, XD_E_IO,
                       "%s: another program has shortened or removed it",
                       xd_file_sink_part(sink));
    return 0;
}

/* Returns the state of file `i`, which it allocates if needed.  NULL if out of
 * memory. */
static struct set_file *file_locked(struct xd_set_sink *s, size_t i)
{
    if (!s->files[i])
        s->files[i] = xd_alloc(1, sizeof *s->files[i]);
    return s->files[i];
}

/* Opens the .part, creating folders as needed. */
static int open_part(const struct xd_set_sink *s, const struct xd_set_place *p,
                     const struct xd_sink *beside, bool replaces,
                     struct xd_sink **out, struct xd_error *err)
{
    size_t given;
    char *path = xd_path_in(s->o.directory, p->path, &given);
    int rc = XD_E_NOMEM;

    if (path)
        rc = xd_file_sink_new_beside(out, beside, path, given, replaces, err);
    else
        xd_fail_nomem(err);
    xd_free(path);
    return rc;
}

static int open_locked(struct xd_set_sink *s, size_t i, struct xd_error *err)
{
    const struct xd_set_place *p = &s->places[i];
    struct set_file *f = file_locked(s, i);
    const struct xd_sink *beside = NULL;
    struct xd_sink *sink;
    size_t *open;
    int rc;

    if (!f)
        return xd_fail_nomem(err);
    if (f == &s->named)
        return xd_fail(err, XD_E_IO, "%s: it has its name already", p->path);
    if (f->sink)
        return 0;
    if (s->n_open > 0)
        beside = s->files[s->open[s->n_open - 1]]->sink;
    open = xd_grow(s->open, s->n_open, &s->open_capacity, sizeof *open);
    if (!open)
        return xd_fail_nomem(err);
    s->open = open;
    rc = open_part(s, p, beside, s->o.replaces || p->is_compared, &sink, err);
    if (rc < 0)
        return rc;
    rc = check_found(f, p, sink, err);
    if (rc < 0) {
        xd_sink_free(sink);
        return rc;
    }
    if (f->made < xd_file_sink_made(sink))
        f->made = xd_file_sink_made(sink);
    f->sink = sink;
    f->was_open |= p->hashes == NULL;
    s->open[s->n_open++] = i;
    return 0;
}

static enum xd_set_opening how_to_open(const struct xd_set_sink *s,
                                       const struct set_file *f)
{
    if (f->was_open)
        return XD_SET_AGAIN;
    return s->o.begins_anew ? XD_SET_FRESH : XD_SET_FIRST;
}

/* Opens a file, and its journal if it has one.  `held` gets the bytes that an
 * earlier run has left. */
static int open_with_journal_locked(struct xd_set_sink *s, size_t i,
                                    struct xd_rangeset *held,
                                    struct xd_error *err)
{
    const struct xd_set_place *p = &s->places[i];
    int rc = open_locked(s, i, err);
    struct set_file *f = s->files[i];

    if (rc < 0 || !p->hashes)
        return rc;
    if (!f->kept)
        f->kept = xd_alloc(1, sizeof *f->kept);
    if (!f->kept)
        return xd_fail_nomem(err);
    if (f->kept->journal)
        return 0;
    rc = xd_set_journal_open(&f->kept->journal, held, p, f->sink,
                             how_to_open(s, f), err);
    f->was_open |= rc == 0;
    return rc;
}

/* Opens a file, or finds that it is open.  It stays open until end_use(). */
static int begin_use(struct xd_set_sink *s, size_t i, bool writes,
                     struct set_file **out, struct xd_error *err)
{
    struct xd_rangeset held = {0};
    int rc;

    xd_mutex_lock(&s->lock);
    rc = writes ? open_with_journal_locked(s, i, &held, err)
                : open_locked(s, i, err);
    xd_rangeset_fini(&held);
    *out = s->files[i];
    if (rc == 0) {
        (*out)->n_users++;
        (*out)->used = ++s->n_used;
    }
    xd_mutex_unlock(&s->lock);
    return rc;
}

/* Ends a use of the file, which now contains the bytes `there`.  `written` is
 * the number of bytes written. */
static void end_use(struct xd_set_sink *s, struct set_file *f,
                    struct xd_range there, uint64_t written)
{
    xd_mutex_lock(&s->lock);
    f->n_users--;
    if (f->reached < there.end)
        f->reached = there.end;
    if (f->kept)
        f->kept->unsynced += written;
    close_surplus_locked(s);
    xd_mutex_unlock(&s->lock);
}

static size_t file_at(struct xd_set_sink *s, uint64_t offset)
{
    size_t n;

    xd_mutex_lock(&s->lock);
    n = s->n;
    xd_mutex_unlock(&s->lock);
    return xd_count_up_to(offset, s->places, n, sizeof *s->places,
                          offsetof(struct xd_set_place, range.begin)) -
           1;
}

/* Writes the bytes, then records them in the journal. */
static int write_part(const struct set_file *f, struct xd_range range,
                      const void *from, struct xd_error *err)
{
    int rc = xd_sink_write(f->sink, range.begin, from,
                           (size_t)xd_range_length(range), err);

    return rc == 0 && f->kept ? xd_journal_written(f->kept->journal, range, err)
                              : rc;
}

/* Reads or writes each part in its file. */
static int use(struct xd_set_sink *s, uint64_t offset, void *to,
               const void *from, size_t len, struct xd_error *err)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    for (size_t i = file_at(s, offset); len > 0; i++) {
        const struct xd_range file = s->places[i].range;
        struct xd_range range = {offset - file.begin, 0};
        size_t part = len;
        struct set_file *f;
        int rc = begin_use(s, i, in != NULL, &f, err);

        if (rc < 0)
            return rc;
        if (part > file.end - offset)
            part = (size_t)(file.end - offset);
        range.end = range.begin + part;
        rc = in ? write_part(f, range, in, err)
                : xd_sink_read(f->sink, range.begin, out, part, err);
        end_use(s, f, rc == 0 ? range : (struct xd_range){0, 0}, in ? part : 0);
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

/* Does nothing, because xd_set_sink_finish_files() finishes the files one by
 * one. */
static int set_finish(struct xd_sink *base, uint64_t size, struct xd_error *err)
{
    (void)base;
    (void)size;
    (void)err;
    return 0;
}

/* Frees the state of a file, which must be closed. */
static void free_file(struct xd_set_sink *s, size_t i)
{
    if (!s->files[i] || s->files[i] == &s->named)
        return;
    xd_free(s->files[i]->kept);
    xd_free(s->files[i]);
    s->files[i] = NULL;
}

static void set_free(struct xd_sink *base)
{
    struct xd_set_sink *s = (struct xd_set_sink *)base;

    while (s->n_open > 0)
        close_locked(s, s->n_open - 1);
    for (size_t i = 0; i < s->n; i++)
        free_file(s, i);
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
                    const struct xd_set_place *places, size_t n,
                    const struct xd_set_sink_options *o, struct xd_error *err)
{
    struct xd_set_sink *s = xd_alloc(1, sizeof *s);

    if (!s)
        return xd_fail_nomem(err);
    s->base.ops = &set_ops;
    s->places = places;
    s->n = n;
    s->o = *o;
    s->files = xd_alloc(n > o->most ? n : o->most, sizeof(struct set_file *));
    if (!s->files || xd_mutex_init(&s->lock) < 0) {
        xd_free(s->files);
        xd_free(s);
        return xd_fail_nomem(err);
    }
    *out = &s->base;
    *out_self = s;
    return 0;
}

void xd_set_sink_extend(struct xd_set_sink *s, size_t n)
{
    XD_ASSERT(n <= s->o.most);
    xd_mutex_lock(&s->lock);
    s->n = n;
    xd_mutex_unlock(&s->lock);
}

static void close_file_locked(struct xd_set_sink *s, size_t i)
{
    XD_ASSERT(!s->files[i] || s->files[i]->n_users == 0);
    for (size_t place = 0; place < s->n_open; place++)
        if (s->open[place] == i) {
            close_locked(s, place);
            return;
        }
}

/* Returns how many of the files, from the first, are in the same folder. */
static size_t count_in_folder(const struct xd_set_sink *s, const size_t *files,
                              size_t n)
{
    size_t i = 1;

    while (i < n && xd_path_is_beside(s->places[files[0]].path,
                                      s->places[files[i]].path))
        i++;
    return i;
}

/* Takes an open file out of the list of open ones, so that the set does not
 * close it; NULL if it is closed. */
static struct xd_sink *take_locked(struct xd_set_sink *s, size_t i)
{
    struct xd_sink *sink = s->files[i] ? s->files[i]->sink : NULL;

    if (!s->files[i])
        return NULL;
    for (size_t place = 0; sink && place < s->n_open; place++)
        if (s->open[place] == i) {
            s->open[place] = s->open[--s->n_open];
            break;
        }
    close_journal(s->files[i]);
    s->files[i]->sink = NULL;
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

/* Renames a file, or compares it with the existing one.  A compared file need
 * not reach the disk. */
static int name_or_match(const struct xd_set_place *p, struct xd_sink *sink,
                         bool is_synced, struct xd_error *err)
{
    const uint64_t size = xd_set_place_size(p);

    if (p->is_compared)
        return xd_file_sink_match(sink, size, err);
    return is_synced ? xd_file_sink_finish_synced(sink, size, err)
                     : xd_sink_finish(sink, size, err);
}

/* Finishes one file.  `sink` is NULL if the file is closed or has failed. */
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

/* Syncs the file system of the first file's folder, which all share. */
static bool sync_disk(struct xd_set_sink *s, const size_t *files, size_t n,
                      struct xd_sink **sinks)
{
    if (n < WORTH_A_DISK ||
        (!sinks[0] && open_and_take(s, files[0], &sinks[0], NULL) < 0))
        return false;
    return xd_disk_sync(xd_file_sink_folder(sinks[0]));
}

/* Returns whether all files are only compared.  These are not renamed, and
 * their .part is deleted. */
static bool are_all_compared(const struct xd_set_sink *s, const size_t *files,
                             size_t n)
{
    size_t i = 0;

    while (i < n && s->places[files[i]].is_compared)
        i++;
    return i == n;
}

/* Removes the journal and the state of a file that was renamed. */
static void forget_file(struct xd_set_sink *s, size_t i,
                        const struct xd_sink *sink)
{
    if (s->places[i].hashes)
        xd_set_journal_remove(sink);
    xd_mutex_lock(&s->lock);
    free_file(s, i);
    s->files[i] = &s->named;
    xd_mutex_unlock(&s->lock);
}

/* Finishes files of one folder, so that its names are synced once. */
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
    for (size_t i = 0; i < n; i++) {
        if (rc == 0 && sinks[i])
            forget_file(s, files[i], sinks[i]);
        xd_sink_free(sinks[i]);
    }
    if (n_named > 0)
        ended(user, named, n_named, rc < 0 ? &error : NULL);
}

/* Returns how many of the files to finish together: those in one folder, up to
 * the number that may be open. */
static size_t count_together(const struct xd_set_sink *s, const size_t *files,
                             size_t n)
{
    size_t most =
        s->o.most_open < XD_SET_MOST_OPEN ? s->o.most_open : XD_SET_MOST_OPEN;

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

/* Removes the .part of a file, which is ours even if the file at PATH now
 * belongs to somebody else. */
static void remove_part(const struct xd_set_sink *s, size_t i, unsigned made)
{
    const struct xd_set_place *p = &s->places[i];
    struct xd_sink *sink;

    if (open_part(s, p, NULL, true, &sink, NULL) < 0)
        return;
    if (xd_file_sink_empty(sink, NULL) == 0 && xd_file_sink_remove_empty(sink))
        xd_folder_unmake(xd_file_sink_folder(sink), made, p->path);
    xd_sink_free(sink);
}

void xd_set_sink_leave_file(struct xd_set_sink *s, size_t i)
{
    const struct set_file *f;

    xd_mutex_lock(&s->lock);
    close_file_locked(s, i);
    f = s->files[i];
    if (f && f->was_open && !f->kept)
        remove_part(s, i, f->made);
    free_file(s, i);
    xd_mutex_unlock(&s->lock);
}

/* Keeps a complete file on the disk for a run with another hash.  If the
 * journal cannot be written, the next run fetches it again. */
static bool keep_failed(const struct xd_set_sink *s, size_t i, const char *hash)
{
    const struct xd_set_place *p = &s->places[i];
    struct xd_sink *sink;
    bool is_all;

    if (open_part(s, p, NULL, true, &sink, NULL) < 0)
        return false;
    is_all = xd_file_sink_found(sink) == xd_set_place_size(p) &&
             xd_set_journal_note_failure(p, sink, hash, NULL) == 0;
    xd_sink_free(sink);
    return is_all;
}

void xd_set_sink_leave_failed(struct xd_set_sink *s, size_t i, const char *hash)
{
    const struct set_file *f;
    bool is_kept;

    xd_mutex_lock(&s->lock);
    close_file_locked(s, i);
    f = s->files[i];
    is_kept = f && f->was_open && keep_failed(s, i, hash);
    if (is_kept)
        free_file(s, i);
    xd_mutex_unlock(&s->lock);
    if (!is_kept)
        xd_set_sink_leave_file(s, i);
}

/* ---- journals ---- */

int xd_set_sink_find(struct xd_set_sink *s, size_t i, struct xd_rangeset *held,
                     struct xd_error *err)
{
    int rc;

    xd_mutex_lock(&s->lock);
    rc = open_with_journal_locked(s, i, held, err);
    if (rc == 0 && held->n > 0)
        s->files[i]->reached = held->ranges[held->n - 1].end;
    close_file_locked(s, i);
    xd_mutex_unlock(&s->lock);
    return rc;
}

static int drop_part(struct xd_set_sink *s, size_t i, struct xd_range range,
                     struct xd_error *err)
{
    struct set_file *f;
    int rc = begin_use(s, i, true, &f, err);

    if (rc < 0)
        return rc;
    rc = xd_journal_dropped(f->kept->journal, range, err);
    end_use(s, f, (struct xd_range){0, 0}, xd_range_length(range));
    return rc;
}

/* Returns whether the journal of a file may have records.  A file that was
 * never opened has none. */
static bool was_noted(struct xd_set_sink *s, size_t i)
{
    bool was;

    xd_mutex_lock(&s->lock);
    was = s->files[i] && s->files[i]->kept && s->files[i]->was_open;
    xd_mutex_unlock(&s->lock);
    return was;
}

void xd_set_sink_drop(struct xd_set_sink *s, struct xd_range range,
                      xd_set_ended_fn *ended, void *user)
{
    struct xd_error error = {0};

    for (size_t i = file_at(s, range.begin); !xd_range_is_empty(range); i++) {
        const struct xd_range file = s->places[i].range;
        struct xd_range part = {range.begin - file.begin, 0};

        range.begin = file.end < range.end ? file.end : range.end;
        part.end = range.begin - file.begin;
        if (was_noted(s, i) && drop_part(s, i, part, &error) < 0)
            ended(user, &i, 1, &error);
    }
}

#define NO_FILE SIZE_MAX

/* Returns the next open file that this sync has not handled, and marks it as in
 * use; or NO_FILE. */
static size_t take_unsynced(struct xd_set_sink *s, struct set_file **out,
                            uint64_t *out_bytes)
{
    size_t found = NO_FILE;

    xd_mutex_lock(&s->lock);
    for (size_t place = 0; found == NO_FILE && place < s->n_open; place++) {
        struct set_file *f = s->files[s->open[place]];

        if (!f->kept || f->kept->unsynced == 0 || f->kept->sync == s->n_syncs)
            continue;
        found = s->open[place];
        f->n_users++;
        f->kept->sync = s->n_syncs;
        *out = f;
        *out_bytes = f->kept->unsynced;
    }
    xd_mutex_unlock(&s->lock);
    return found;
}

static void give_synced(struct xd_set_sink *s, struct set_file *f,
                        uint64_t bytes)
{
    xd_mutex_lock(&s->lock);
    f->kept->unsynced -= bytes;
    f->n_users--;
    close_surplus_locked(s);
    xd_mutex_unlock(&s->lock);
}

void xd_set_sink_sync(struct xd_set_sink *s, xd_set_ended_fn *ended, void *user)
{
    struct set_file *f = NULL;
    uint64_t bytes = 0;
    size_t i;

    s->n_syncs++;
    while (i = take_unsynced(s, &f, &bytes), i != NO_FILE) {
        struct xd_error error = {0};
        int rc = xd_set_journal_sync(f->kept->journal, f->sink, &error);

        give_synced(s, f, bytes);
        if (rc < 0)
            ended(user, &i, 1, &error);
    }
}
