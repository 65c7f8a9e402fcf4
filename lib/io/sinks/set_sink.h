/* SPDX-License-Identifier: MIT */
/*
 * Stores many files behind one sink; each is a range of it.  Only the files
 * used last are open, so that few descriptors suffice for any number of files.
 *
 * Long files have a journal, so that the next run can resume them.  Unfinished
 * files without a journal are deleted.
 */
#ifndef XD_IO_SET_SINK_H
#define XD_IO_SET_SINK_H

#include "base/range.h"
#include "io/sinks/sink.h"

#define XD_SET_MOST_OPEN 64

/* Descriptors per file.  In addition to the open files, as many again can be
 * about to be finished, and each needs one more for its journal. */
#define XD_SET_FILE_DESCRIPTORS 4U

struct xd_set_sink;

/* A file of a set; small, because there may be 100,000. */
struct xd_set_place {
    /* position in the sink; each range begins where the previous one ends */
    struct xd_range range;
    const char *path; /* relative to the directory of the set */
    char *hashes;     /* hashes for its journal; NULL: it has no journal */
    /* bytes at the end of the range that the file does not have; set before the
     * file ends */
    uint32_t unused;
    /* the file is only compared with the existing one, which stays */
    bool is_compared;
};

static inline uint64_t xd_set_place_size(const struct xd_set_place *p)
{
    return xd_range_length(p->range) - p->unused;
}

/* Returns the file's path including `directory`.  Ownership: the caller's.
 * NULL if out of memory. */
char *xd_set_place_path(const struct xd_set_place *p, const char *directory);

struct xd_set_sink_options {
    const char *directory; /* base of all paths; NULL: the current one */
    size_t most;           /* final number of files; 0: as many as now */
    bool replaces;         /* replace existing files */
    bool begins_anew;      /* ignore the data of an earlier run */
    /* limit on open files, not counting those that are being written or are not
     * yet synced */
    size_t most_open;
};

/*
 * Creates a sink for many files.  `places` belongs to the caller and must
 * outlive the sink.  If another program truncates a file while it is closed,
 * using it again fails with IO.
 * Threads: write() and read() any; all else one at a time.
 * Ownership: `*out_self` is the same object as `*out`.
 * Errors: NOMEM.
 */
int xd_set_sink_new(struct xd_sink **out, struct xd_set_sink **out_self,
                    const struct xd_set_place *places, size_t n,
                    const struct xd_set_sink_options *o, struct xd_error *err);

/* Increases the number of files to `n`; their places are filled in. */
void xd_set_sink_extend(struct xd_set_sink *s, size_t n);

/* Finds which bytes of file `i` an earlier run has left, if the file has a
 * journal.  Adds them to *held, which must be empty; positions are relative to
 * the file.  Call it before writing to the file.
 * Errors: IO (belongs to another file, or is in use), DIFFERENT (only its hash
 * differs), NOMEM. */
int xd_set_sink_find(struct xd_set_sink *s, size_t i, struct xd_rangeset *held,
                     struct xd_error *err);

/* Reports that these files were finished (renamed, or equal to the existing
 * ones), or failed with `error`, which is IO. */
typedef void xd_set_ended_fn(void *user, const size_t *files, size_t n,
                             const struct xd_error *error);

/*
 * Finishes files that are completely written and not in use: syncs them
 * together and renames them.  Each is closed, and `ended` is called once for
 * it.  Besides the files in use, up to most_open files are opened.
 * Blocks: on the disk.
 */
void xd_set_sink_finish_files(struct xd_set_sink *s, const size_t *files,
                              size_t n, xd_set_ended_fn *ended, void *user);

/* Marks bytes of the sink as wrong and missing, also in journals.  Calls
 * `ended` for each file where that fails.  Blocks: on the disk. */
void xd_set_sink_drop(struct xd_set_sink *s, struct xd_range range,
                      xd_set_ended_fn *ended, void *user);

/* Syncs the files that have journals and records that.  Calls `ended` for each
 * file where that fails.  Blocks: on the disk. */
void xd_set_sink_sync(struct xd_set_sink *s, xd_set_ended_fn *ended,
                      void *user);

/* Gives up an incomplete file.  Deletes its unfinished file on the disk, unless
 * that has a journal for a later run.  No other thread may be using file
 * `i`. */
void xd_set_sink_leave_file(struct xd_set_sink *s, size_t i);

/* Gives up a complete file that did not match `hash` ("sha-256:HEX\n"): keeps
 * it and records the failure in its journal.  Blocks: on the disk. */
void xd_set_sink_leave_failed(struct xd_set_sink *s, size_t i,
                              const char *hash);

#endif
