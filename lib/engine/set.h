/* SPDX-License-Identifier: MIT */
/*
 * Several files as one download.  They are placed one after the other, as
 * ranges of one long byte sequence.  Each is renamed when all of it is
 * verified, and a file that fails does not affect the others.
 *
 *     files   |===0===|=====1=====|==2==|========3========|
 *     state     NAMED    COMPLETE  FAILED      WANTED
 *
 * Functions whose names end in _locked are called with engine.lock held.
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
    XD_SET_COMPLETE, /* verified: the keeper will rename it */
    XD_SET_NAMED,
    XD_SET_FAILED,
    XD_SET_LEFT /* removed from the set, to be downloaded alone */
};

/* Kept small, as there may be 100,000.  Guarded by lock. */
struct xd_set_file {
    union {
        const struct xd_kept_error *error; /* why the file has failed, or will
                                              fail */
        /* if `leaves`: size of the file; 0 if that is unknown, or if the
         * response may be a manifest */
        uint64_t longer;
    };
    uint32_t next; /* next file in the queue of COMPLETE files */
    enum xd_set_state state : 8;
    bool is_there;   /* the file existed before the download, so it is not
                        fetched */
    bool is_unsized; /* the size of the file is unknown, so the place is
                        provisional */
    bool leaves;     /* the file becomes LEFT instead of FAILED: it is longer
                        than its place, or an earlier run left data with another
                        hash */
};

/* The origin of a file that was added later. */
struct xd_set_origin {
    struct xd_manifest *manifest;
    size_t file;
};

struct xd_set {
    /* constant after new() */
    struct xd_set_place *places; /* one for each file, with room for files to be
                                    added */
    size_t most;                 /* maximum number of files; 0: none can be
                                    added */
    size_t n_first;              /* number of files before any was added */
    struct xd_mutex adding;      /* held while a file is added; initialised if
                                    `most` > 0.  Take it before engine.lock */
    char *directory;             /* destination folder; NULL: the current one */
    size_t most_open; /* maximum number of open files, not counting those being
                         written */

    /* constant after start() */
    struct xd_set_sink *sink;

    /* guarded by lock */
    size_t n;                      /* number of files; 0: not a set */
    size_t n_kept;                 /* number of files with journals */
    bool is_open;                  /* more files may be added (set_add.h) */
    struct xd_set_origin *origins; /* origin of each file that was added */
    uint32_t *slots; /* hash table of all files by path, used if files may be
                        added: file number + 1, or 0 */
    size_t n_slots;
    struct xd_set_file *files;
    size_t n_wanted;
    uint32_t first_complete, last_complete; /* queue of COMPLETE files that the
                                               keeper has not taken */
    size_t n_complete;                      /* length of the queue */
    xd_usec name_at; /* when the keeper renames the queued files */
    size_t n_unsized;
    struct xd_rangeset held; /* bytes left by earlier runs; used before
                                start() */
    struct xd_set_keep keep; /* state of the journals */
    uint64_t unused;         /* number of bytes in places that lie after the end
                                of the file */
    uint64_t lost; /* number of missing bytes in the places of files that failed
                      or left before their size was known */
};

/* Creates a set of files of `m`, in the given order, each at its path in
 * `directory` (NULL: the current folder).  `m` must outlive the set.  Errors:
 * INVAL, NOMEM.  Release it with xd_set_fini(), even after an error. */
int xd_set_init(struct xd_set *s, const struct xd_manifest *m,
                const size_t *files, size_t n, const char *directory,
                struct xd_error *err);
void xd_set_fini(struct xd_set *s);

/* xd_set_place_file() fills in file `i`, the next one, from file number `file`
 * of `m`.  There must be room for it.  xd_set_count_file_locked() then makes it
 * part of the set.  Errors: INVAL, NOMEM. */
int xd_set_place_file(struct xd_set *s, size_t i, const struct xd_manifest *m,
                      size_t file, struct xd_error *err);
void xd_set_count_file_locked(struct xd_set *s, size_t i);

/* Records why file `i` cannot be part of the set.  If `why` is DIFFERENT, an
 * earlier run left data of the file under another hash.  The file then leaves
 * the set: it is downloaded alone, which compares that data with the depots.
 * Otherwise the file fails.  Errors: NOMEM. */
int xd_set_refuse(struct xd_set *s, size_t i, const struct xd_error *why,
                  struct xd_error *err);

/* Finds out whether file `i` exists already.  Blocks: on the disk.  Errors:
 * NOMEM. */
int xd_set_look_at_place(struct xd_set *s, size_t i, struct xd_error *err);

/* Sets *out_has to true if the .part file of file `i` exists.  Blocks: on the
 * disk.  Errors: NOMEM. */
int xd_set_look_at_part(const struct xd_set *s, size_t i, bool *out_has,
                        struct xd_error *err);

/* Ends file `i` if it exists or was refused. */
void xd_set_begin_file_locked(struct xd_engine *e, size_t i);

/* Checks existing files, names and disk space, finds what earlier runs left,
 * and creates the sink for all files.  Call it without the lock before anything
 * is fetched.  Errors: IO, for example a full disk; NOMEM. */
int xd_set_open(struct xd_engine *e, struct xd_sink **out,
                struct xd_error *err);

/* Calls xd_set_begin_file_locked() for every file. */
void xd_set_begin_locked(struct xd_engine *e);

/* Returns the maximum number of incomplete files at a time; 0 if this is not a
 * set. */
unsigned xd_set_most_begun(const struct xd_engine *e);

/* Returns the place of the file with this byte of the download, which must be a
 * set. */
const struct xd_set_place *xd_set_place_of(const struct xd_engine *e,
                                           uint64_t byte);

/* Returns the first byte of the file with this byte of the download; 0 if this
 * is not a set. */
uint64_t xd_set_begin_of(const struct xd_engine *e, uint64_t byte);

/*
 * Files of unknown size.  The size becomes known from the first response, or
 * when the response ends.  The rest of the provisional place then counts as
 * received.  A file leaves the set if it does not fit its place, or if the
 * response may be a manifest.  `size` is the size of the file, or 0 if that is
 * unknown.
 */
bool xd_set_is_unsized_locked(const struct xd_engine *e, uint64_t byte);

/* Tells a new scheduler which files of the set have no known size. */
void xd_set_report_unsized_locked(struct xd_engine *e);

/* Sets the end of the file, which lies within its place.  Returns the unused
 * rest of the place; empty if the file fills it or if its size was known. */
struct xd_range xd_set_sized_locked(struct xd_engine *e, uint64_t byte,
                                    uint64_t end);
void xd_set_leave_locked(struct xd_engine *e, uint64_t byte, uint64_t size);

/* Call it when these bytes are verified.  Queues files that are complete. */
void xd_set_verified_locked(struct xd_engine *e, struct xd_range range);

/* Fails all files with bytes of the range.  Nothing more of them is requested.
 * Returns false if this is not a set. */
bool xd_set_fail_locked(struct xd_engine *e, struct xd_range range,
                        const struct xd_error *error);

/* Returns true if a write error concerns only one file of a set, for example
 * because of its path.  Returns false for errors that concern all files, such
 * as a full disk.  Threads: any. */
bool xd_set_bears(const struct xd_engine *e, const struct xd_error *why);

/* Returns true if no file is left to wait for. */
bool xd_set_is_over_locked(const struct xd_engine *e);

/* Called by the keeper only.  work() renames complete files, and releases the
 * lock meanwhile.  work_at() returns when it should be called even if nothing
 * happens. */
bool xd_set_can_work_locked(const struct xd_engine *e);
xd_usec xd_set_work_at_locked(const struct xd_engine *e);
void xd_set_work_locked(struct xd_engine *e);

/* Removes the remains of incomplete files, except for what the next run can
 * resume.  Call it without the lock after the end. */
void xd_set_clean_up(struct xd_engine *e);

/* Call it when all files have ended.  Logs how many files existed already.
 * Returns the error of the first failed file, or no error if none failed. */
struct xd_error xd_set_end_locked(struct xd_engine *e);

#endif
