/* SPDX-License-Identifier: MIT */
/*
 * Many files as one download: they lie one behind the other in the line of its
 * bytes, and each gets its name as soon as all of it is proved.  One that fails
 * costs the others nothing.
 *
 *     files   |===0===|=====1=====|==2==|========3========|
 *     state     NAMED    COMPLETE  FAILED      WANTED
 *
 * Functions whose name ends in _locked are called with engine.lock held.
 */
#ifndef XD_ENGINE_SET_H
#define XD_ENGINE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"
#include "engine/set_keep.h"
#include "io/sinks/set_sink.h"
#include "os/thread.h"

struct xd_engine;
struct xd_kept_error;
struct xd_manifest;

enum xd_set_state {
    XD_SET_WANTED,
    XD_SET_COMPLETE, /* all of it is proved: the keeper gives it its name */
    XD_SET_NAMED,
    XD_SET_FAILED,
    XD_SET_LEFT /* it cannot be one of many after all */
};

/* No more than is needed, as there may be 100 000.  Guarded by lock. */
struct xd_set_file {
    union {
        const struct xd_kept_error *error; /* if it is FAILED, or will be */
        uint64_t longer; /* if it leaves: its size, if it is known to be a file,
                            or 0 */
    };
    uint32_t next; /* in the queue of those that are COMPLETE */
    enum xd_set_state state : 8;
    bool is_there;   /* before anything was fetched: it is not wanted */
    bool is_unsized; /* its size is not known yet: it has a provisional place */
    bool leaves;     /* when no depot can deliver it */
};

/* A file that was added. */
struct xd_set_origin {
    struct xd_manifest *manifest;
    size_t file;
};

struct xd_set {
    /* Constant after new(). */
    struct xd_set_place *places; /* with room for those that are added: */
    size_t most;                 /* files at last; 0: none is added */
    size_t n_first;         /* files of the manifest, before any was added */
    struct xd_mutex adding; /* held while a file is added, if `most` > 0;
                                    before engine.lock */
    char *directory;        /* in which they lie, or NULL: in the current one */
    size_t most_open;       /* at a time, but for those that are written to */

    /* Constant after start(). */
    struct xd_set_sink *sink;

    /* Guarded by lock. */
    size_t n;                      /* files; 0: it is no set */
    size_t n_kept;                 /* files with journals */
    bool is_open;                  /* more may be added (set_add.h) */
    struct xd_set_origin *origins; /* of those that were */
    uint32_t *slots; /* a table of all files by their paths, if any may be: the
                        number of one and 1, or 0 */
    size_t n_slots;
    struct xd_set_file *files;
    size_t n_wanted;
    uint32_t first_complete, last_complete; /* the queue of those that are, and
                                               were not taken */
    size_t n_complete;                      /* in it */
    xd_usec name_at;                        /* when these get their names */
    size_t n_unsized;
    struct xd_rangeset held; /* what earlier runs left, before start() */
    struct xd_set_keep keep; /* for the next run */
    uint64_t unused; /* bytes of places behind the ends of their files, */
    uint64_t lost;   /* and of places of files that have failed */
};

/* Those files of `m`, which outlives the set, one behind the other, each at its
 * path in the folder `directory` (NULL: the current one).  Errors: INVAL, NOMEM. */
int xd_set_init(struct xd_set *s, const struct xd_manifest *m,
                const size_t *files, size_t n, const char *directory,
                struct xd_error *err);
void xd_set_fini(struct xd_set *s);

/* File `i`, for which there is room, lies behind the others, and is a file of `m`;
 * it is not counted yet.  Errors: INVAL, NOMEM. */
int xd_set_place_file(struct xd_set *s, size_t i, const struct xd_manifest *m,
                      size_t file, struct xd_error *err);
void xd_set_count_file_locked(struct xd_set *s, size_t i);

/* Whether something is at its path already.  Blocks: on the disk.  Errors:
 * NOMEM. */
int xd_set_look_at_place(struct xd_set *s, size_t i, struct xd_error *err);

/* The same of its .part. */
int xd_set_look_at_part(const struct xd_set *s, size_t i, bool *out_has,
                        struct xd_error *err);

/* It fails, if it was there or is refused. */
void xd_set_begin_file_locked(struct xd_engine *e, size_t i);

/* The sink behind which they lie.  Without the lock, before anything is fetched.
 * Errors: IO (they have no room), NOMEM. */
int xd_set_open(struct xd_engine *e, struct xd_sink **out,
                struct xd_error *err);

/* A file that is there already fails, unless it may be replaced; and one of which
 * something else is there. */
void xd_set_begin_locked(struct xd_engine *e);

/* At most so many files are begun and not proved at a time; 0: it is no set. */
unsigned xd_set_most_begun(const struct xd_engine *e);

/* Of the file that has this byte of the line; it is a set. */
const struct xd_set_place *xd_set_place_of(const struct xd_engine *e,
                                           uint64_t byte);

/* Where the file begins that this byte of the line is of; 0 if it is no set. */
uint64_t xd_set_begin_of(const struct xd_engine *e, uint64_t byte);

/*
 * A file of unknown size: the first answer tells it, or the end of what comes.
 * Then the rest of its place is here, as it were.  One that does not fit its place,
 * or may be something else than a file, leaves the set: its size is `size`, or 0 if
 * that is not known, or not that of a file.
 */
bool xd_set_is_unsized_locked(const struct xd_engine *e, uint64_t byte);

/* It ends there, within its place.  Returns the rest, which is not empty unless
 * it fills the place, or its size was known. */
struct xd_range xd_set_sized_locked(struct xd_engine *e, uint64_t byte,
                                    uint64_t end);
void xd_set_leave_locked(struct xd_engine *e, uint64_t byte, uint64_t size);

/* These bytes are proved. */
void xd_set_verified_locked(struct xd_engine *e, struct xd_range range);

/* The files that have some of the range cannot be had: nothing of them is asked for
 * any more.  False: it is no set. */
bool xd_set_fail_locked(struct xd_engine *e, struct xd_range range,
                        const struct xd_error *error);

/* Whether a failure to write is of one file of a set, by its path, and no other
 * has to suffer: not where the disk is full.  Any thread. */
bool xd_set_bears(const struct xd_engine *e, const struct xd_error *why);

/* Whether there is no file left to wait for. */
bool xd_set_is_over_locked(const struct xd_engine *e);

/* Only the keeper calls these.  work() names what is complete, and releases the
 * lock meanwhile; work_at() is when there is something to do though nothing
 * happens. */
bool xd_set_can_work_locked(const struct xd_engine *e);
xd_usec xd_set_work_at_locked(const struct xd_engine *e);
void xd_set_work_locked(struct xd_engine *e);

/* It is over: of files that have no name nothing stays, but for what is kept for
 * the next run.  Without the lock. */
void xd_set_clean_up(struct xd_engine *e);

/* No file is to come any more.  Logs how many were there already; returns the
 * first failed file's error, no error if none did. */
struct xd_error xd_set_end_locked(struct xd_engine *e);

#endif
