/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of a download are stored: a file, or as many as readers still
 * want.
 *
 * Threads: write() by any number of threads at once, for disjoint ranges;
 *          everything else by one.
 */
#ifndef XD_IO_SINK_H
#define XD_IO_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xdownload/error.h>

struct xd_sink {
    const struct xd_sink_ops *ops;
};

struct xd_sink_ops {
    int (*write)(struct xd_sink *s, uint64_t offset, const void *data,
                 size_t len, struct xd_error *err);
    int (*read)(struct xd_sink *s, uint64_t offset, void *data, size_t len,
                struct xd_error *err);
    int (*finish)(struct xd_sink *s, uint64_t size, struct xd_error *err);
    void (*free)(struct xd_sink *s);
};

/*
 * PATH.part by positioned writes; finish() syncs it to the disk and gives it
 * the name PATH, never over an existing file unless `replace`, and the mode of
 * a new file; before that no other user can read or change it.
 * free() without finish() leaves PATH.part, unless it is empty: then it goes,
 * and folders go that were made for it.  A PATH.part that is there is taken
 * as it is, unless it is in use, belongs to another user, or others may write
 * to it.  `given` is as in xd_folder_make().
 * Errors: IO, NOMEM.  Blocks: on the disk.
 */
int xd_file_sink_new(struct xd_sink **out, const char *path, size_t given,
                     bool replace, struct xd_error *err);

/* The same, by way of the folder of `beside` where its PATH lies in that one
 * too, so that there is one descriptor for it.  `beside` may be NULL, and be
 * freed before. */
int xd_file_sink_new_beside(struct xd_sink **out, const struct xd_sink *beside,
                            const char *path, size_t given, bool replace,
                            struct xd_error *err);

/*
 * Of a file sink alone.  folder() is what all its files are made in, however
 * its name is called by then; it stays the sink's.  found() is how long
 * PATH.part was at first; made() is how many folders were made for it; empty()
 * takes all of PATH.part away; remove_empty() takes it away if nothing is in
 * it, and returns whether it did; sync() returns when what was written is on
 * the disk, sync_name() when the name that finish() gave is; space() is how
 * many bytes its disk has left for it, what it has of them now included.
 * Errors: IO.
 */
int xd_file_sink_folder(const struct xd_sink *s);
uint64_t xd_file_sink_found(const struct xd_sink *s);
unsigned xd_file_sink_made(const struct xd_sink *s);
const char *xd_file_sink_part(const struct xd_sink *s); /* its path */
int xd_file_sink_empty(struct xd_sink *s, struct xd_error *err);
/* No other user can read it after finish() either. */
void xd_file_sink_keep_private(struct xd_sink *s);
/* As xd_file_set_time(). */
void xd_file_sink_set_time(struct xd_sink *s, int64_t modified);
bool xd_file_sink_remove_empty(struct xd_sink *s);
/* Once it has failed it does so for ever: what was written may be gone. */
int xd_file_sink_sync(struct xd_sink *s, struct xd_error *err);
int xd_file_sink_sync_name(struct xd_sink *s, struct xd_error *err);
/* As finish(), of a file of that length whose bytes are on the disk already. */
int xd_file_sink_finish_synced(struct xd_sink *s, uint64_t size,
                               struct xd_error *err);
/* In place of finish(): a file with the name PATH is there, has those bytes, and
 * stays; of PATH.part nothing does.  Errors: IO (it differs). */
int xd_file_sink_match(struct xd_sink *s, uint64_t size, struct xd_error *err);
int xd_file_sink_space(struct xd_sink *s, uint64_t *out_bytes,
                       struct xd_error *err);

/*
 * A file without a name, in the folder of a file sink and gone with its own
 * sink, for what is only to be compared.  It cannot be finished.
 * Errors: IO, NOMEM.
 */
int xd_scratch_sink_new(struct xd_sink **out, const struct xd_sink *beside,
                        struct xd_error *err);

/*
 * A file without a name in `folder`, for what is read while it arrives;
 * finish() does nothing.  Errors: IO, NOMEM.
 */
int xd_spool_sink_new(struct xd_sink **out, const char *folder,
                      struct xd_error *err);

/*
 * Bytes wherever they belong, of which no more are kept than are wanted: in a
 * file without a name in `folder`, or in memory, if that is NULL.  drop() gives
 * those chunks back that lie in a range as a whole; to read what was dropped,
 * or never written, is BUG.  finish() does nothing.  Threads: any, drop() too.
 * Ownership: `*out_self` is `*out` by another name.  Errors: IO, NOMEM.
 */
#define XD_BOUNDED_CHUNK ((uint64_t)64 * 1024)

struct xd_bounded_sink;

int xd_bounded_sink_new(struct xd_sink **out, struct xd_bounded_sink **out_self,
                        const char *folder, struct xd_error *err);
void xd_bounded_sink_drop(struct xd_bounded_sink *b, uint64_t begin,
                          uint64_t end);

static inline int xd_sink_write(struct xd_sink *s, uint64_t offset,
                                const void *data, size_t len,
                                struct xd_error *err)
{
    return s->ops->write(s, offset, data, len, err);
}

/* Read back what was written and not dropped. */
static inline int xd_sink_read(struct xd_sink *s, uint64_t offset, void *data,
                               size_t len, struct xd_error *err)
{
    return s->ops->read(s, offset, data, len, err);
}

/* All `size` bytes were written: a file is cut there, as an attempt that was
 * given up may have left more, and gets its name. */
static inline int xd_sink_finish(struct xd_sink *s, uint64_t size,
                                 struct xd_error *err)
{
    return s->ops->finish(s, size, err);
}

static inline void xd_sink_free(struct xd_sink *s) /* NULL does nothing */
{
    if (s)
        s->ops->free(s);
}

#endif
