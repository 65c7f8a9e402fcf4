/* SPDX-License-Identifier: MIT */
/*
 * Many files behind one sink, each a range of it.  A file is open as long as it
 * is written to, or is among the last that were: so many descriptors are enough
 * for any number of files.
 *
 * A long one has a journal, so that the next run goes on with what this one has
 * written; of the others nothing stays that has no name.
 */
#ifndef XD_IO_SET_SINK_H
#define XD_IO_SET_SINK_H

#include "base/range.h"
#include "io/sinks/sink.h"

#define XD_SET_MOST_OPEN 64

/* As many files get their names as are open, and each holds its own and that of
 * its journal. */
#define XD_SET_FILE_DESCRIPTORS 4U

struct xd_set_sink;

/* A file of a set: no more than is needed, as there may be 100 000. */
struct xd_set_place {
    struct xd_range range; /* of the sink; each begins where the last ends */
    const char *path;      /* in the directory of all: a manifest's */
    char *hashes;     /* as its journal has them; NULL: it has no journal */
    uint32_t unused;  /* bytes at the end of the range that the file has not;
                           known before it ends */
    bool is_compared; /* with the file that is at `path`, and stays */
};

static inline uint64_t xd_set_place_size(const struct xd_set_place *p)
{
    return xd_range_length(p->range) - p->unused;
}

/* Its path from the current folder on; `directory` is as below.  Ownership: the
 * caller's.  NULL when out of memory. */
char *xd_set_place_path(const struct xd_set_place *p, const char *directory);

struct xd_set_sink_options {
    const char *directory; /* that paths begin in; NULL: the current one */
    size_t most;      /* files that there may be at last; 0: as many as now */
    bool replaces;    /* a file that is there */
    bool begins_anew; /* what an earlier run has left does not count */
    size_t most_open; /* files, but for those that are being written to, or
                          whose last bytes are not on the disk */
};

/*
 * What `places` says is the caller's, and lives as long as the sink.  A file that
 * another program cuts while it is closed fails with IO when it is used again.
 * Threads: write() and read() any, all else one at a time.
 * Ownership: `*out_self` is `*out` by another name.  Errors: NOMEM.
 */
int xd_set_sink_new(struct xd_sink **out, struct xd_set_sink **out_self,
                    const struct xd_set_place *places, size_t n,
                    const struct xd_set_sink_options *o, struct xd_error *err);

/* There are `n` files now, more than before, whose places are filled. */
void xd_set_sink_extend(struct xd_set_sink *s, size_t n);

/* What an earlier run has left of a file, if that has a journal: *held, which is
 * empty, is counted from the file's first byte.  Before it is written to.
 * Errors: IO (it is of another file, or in use), NOMEM. */
int xd_set_sink_find(struct xd_set_sink *s, size_t i, struct xd_rangeset *held,
                     struct xd_error *err);

/* These files have ended: with their names, or are those that were there, or `error`, which is IO. */
typedef void xd_set_ended_fn(void *user, const size_t *files, size_t n,
                             const struct xd_error *error);

/*
 * All of these files is written, and they are not in use: they are synced to the
 * disk together, and get their names.  Each is closed, and `ended` is called for
 * it once.  As many files as the set may have open are open beside those.
 * Blocks: on the disk.
 */
void xd_set_sink_finish_files(struct xd_set_sink *s, const size_t *files,
                              size_t n, xd_set_ended_fn *ended, void *user);

/* These bytes of the sink were wrong, and are missing again; the journals of
 * their files say so, if they have any.  `ended` is called for files of which
 * that failed.  Blocks: on the disk. */
void xd_set_sink_drop(struct xd_set_sink *s, struct xd_range range,
                      xd_set_ended_fn *ended, void *user);

/* What was written to files with journals is on the disk then, and journals say
 * so.  `ended` is called for files of which that failed.  Blocks: on the disk. */
void xd_set_sink_sync(struct xd_set_sink *s, xd_set_ended_fn *ended,
                      void *user);

/* A file is not wanted any more: what is there of it goes, unless its journal says
 * what that is.  Nothing of it is being written. */
void xd_set_sink_leave_file(struct xd_set_sink *s, size_t i);

#endif
