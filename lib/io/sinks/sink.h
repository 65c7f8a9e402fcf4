/* SPDX-License-Identifier: MIT */
/*
 * A place where downloaded bytes are stored: a file, or a buffer of the bytes
 * that readers still need.
 *
 * Threads: write() by any number of threads for disjoint ranges; everything
 *          else by one.
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
 * Writes to PATH.part.  finish() syncs it and renames it to PATH, never over an
 * existing file unless `replace`.  The file then gets the mode of the replaced
 * file, or the default mode of a new file.  Until then no other user can read
 * or change it.
 *
 * free() without finish() keeps PATH.part, unless it is empty: then it is
 * deleted, with the folders created for it.  An existing PATH.part is used,
 * unless it is in use, belongs to another user, or is writable by others.  For
 * `given` see xd_folder_make().
 * Errors: IO, NOMEM.
 * Blocks: on the disk.
 */
int xd_file_sink_new(struct xd_sink **out, const char *path, size_t given,
                     bool replace, struct xd_error *err);

/* Makes a file sink that shares the folder's descriptor of `beside` if both are
 * in the same folder; otherwise like xd_file_sink_new().  `beside` may be NULL,
 * and may be freed earlier. */
int xd_file_sink_new_beside(struct xd_sink **out, const struct xd_sink *beside,
                            const char *path, size_t given, bool replace,
                            struct xd_error *err);

/*
 * Only for file sinks.
 *
 * - folder() returns the descriptor of the folder; it belongs to the sink.
 * - found() returns the length of PATH.part when it was opened.
 * - made() returns how many folders were created.
 * - empty() removes all content of PATH.part.
 * - remove_empty() deletes PATH.part if it is empty, and returns whether it
 *   did.
 * - sync() returns when the written data is on the disk; sync_name() when the
 *   new name is.
 * - space() returns the bytes available for the file, including those it
 *   occupies.
 *
 * Errors: IO.
 */
int xd_file_sink_folder(const struct xd_sink *s);
uint64_t xd_file_sink_found(const struct xd_sink *s);
unsigned xd_file_sink_made(const struct xd_sink *s);
/* Returns the path of PATH.part. */
const char *xd_file_sink_part(const struct xd_sink *s);
int xd_file_sink_empty(struct xd_sink *s, struct xd_error *err);
/* Keeps the file unreadable for other users even after finish(). */
void xd_file_sink_keep_private(struct xd_sink *s);
/* watch() starts watching whether another program opens PATH.part.
 * was_opened() returns true if one has opened it, or may have had it open
 * before this run. */
void xd_file_sink_watch(struct xd_sink *s);
bool xd_file_sink_was_opened(struct xd_sink *s);
/* Like xd_file_set_time() and xd_file_set_note(), for PATH.part. */
void xd_file_sink_set_time(struct xd_sink *s, int64_t modified);
void xd_file_sink_set_note(struct xd_sink *s, const char *text);
bool xd_file_sink_remove_empty(struct xd_sink *s);
/* Writes all data to the disk.  Once it has failed, it always fails: written
 * data may be lost. */
int xd_file_sink_sync(struct xd_sink *s, struct xd_error *err);
int xd_file_sink_sync_name(struct xd_sink *s, struct xd_error *err);
/* Like finish(), for a file of this size that is already synced. */
int xd_file_sink_finish_synced(struct xd_sink *s, uint64_t size,
                               struct xd_error *err);
/* Call instead of finish().  Checks that the existing file PATH has the same
 * bytes, keeps it, and deletes PATH.part.  Errors: IO if they differ. */
int xd_file_sink_match(struct xd_sink *s, uint64_t size, struct xd_error *err);
int xd_file_sink_space(struct xd_sink *s, uint64_t *out_bytes,
                       struct xd_error *err);

/*
 * Makes a file without a name in the folder of a file sink, for data that is
 * only compared.  It cannot be finished.
 * Errors: IO, NOMEM.
 */
int xd_scratch_sink_new(struct xd_sink **out, const struct xd_sink *beside,
                        struct xd_error *err);

/*
 * Makes a file without a name in `folder`, for data that is read while it
 * arrives. finish() does nothing.  Errors: IO, NOMEM.
 */
int xd_spool_sink_new(struct xd_sink **out, const char *folder,
                      struct xd_error *err);

/*
 * Creates a sink that stores only the bytes that are still needed, in a file
 * without a name in `folder`, or in memory if `folder` is NULL.  drop() frees
 * the chunks that lie completely in a range.  Reading bytes that were dropped
 * or never written returns BUG.  finish() does nothing.
 * Threads: any, including drop().
 * Ownership: `*out_self` is the same object as `*out`.
 * Errors: IO, NOMEM.
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

/* Reads bytes that were written and not dropped. */
static inline int xd_sink_read(struct xd_sink *s, uint64_t offset, void *data,
                               size_t len, struct xd_error *err)
{
    return s->ops->read(s, offset, data, len, err);
}

/* Ends the sink with `size` bytes.  A file is truncated, because a failed
 * attempt may have written more, and renamed. */
static inline int xd_sink_finish(struct xd_sink *s, uint64_t size,
                                 struct xd_error *err)
{
    return s->ops->finish(s, size, err);
}

static inline void xd_sink_free(struct xd_sink *s) /* NULL: does nothing */
{
    if (s)
        s->ops->free(s);
}

#endif
