/* SPDX-License-Identifier: MIT */
/*
 * The served files, and the sources of the files that are open.
 *
 *     files   | 1 | 2 | 3 | 4 | 5 | ...   all files of the manifests
 *     open          |   |       |         at most CATALOG_OPEN
 *
 * A file is opened when a client requests it, or before that (prefetch.h).  All
 * clients of a file share its source.  If a file must be opened and there is no
 * room, the least recently used file is closed.
 *
 * Threads: any, except for init, fill and fini.
 */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

#include <xdownload/stream.h>

#include "args/args.h"
#include "args/inputs.h"
#include "trace/trace.h"

/* Limit of open files.  Each may have a thread per depot. */
#define CATALOG_OPEN 64

/* The player in a page, which reports its position. */
struct catalog_viewer {
    struct xd_reader
        /* only gets the reports, and reads nothing; NULL: not created yet */
        *reader;
    char id[40]; /* ID of the page */
    enum xd_play_state state;
    double said_s; /* moment_s() of the last report */
};

struct catalog_file {
    /* constant */
    char *name; /* "" if the file has no name */
    char *path; /* path in the URL: "/TOKEN/1/a film.mkv" */
    char *link; /* percent-encoded path: "/TOKEN/1/a%20film.mkv" */
    const char *type;
    struct xd_manifest *manifest;
    size_t number; /* number of the file in the manifest */
    uint64_t size; /* or XD_SIZE_UNKNOWN */
    /* whether it has piece hashes, so that readers get only verified bytes */
    bool has_pieces;

    /* status of the failure, which was printed; 0: the file has not failed */
    atomic_int status;
    /* total time for which clients waited, in milliseconds */
    atomic_uint_least64_t blocked_ms;
    /* the source, or NULL; guarded by the lock of the catalog */
    struct catalog_source *open;
};

/* An open file. */
struct catalog_source {
    /* constant while the source is in use */
    struct catalog_file *file; /* NULL: unused element */
    unsigned opening;          /* unique number, counted from 1 */
    struct xd_source *source;
    struct trace_run *trace; /* or NULL */
    /* only tells the library the rate of the media, and reads nothing; or
     * NULL */
    struct xd_reader *pace;
    char etag[200]; /* including the quotes */

    /* guarded by the catalog's lock */
    /* number of clients and of other users that have the file open */
    unsigned n_clients, n_others;
    uint64_t used; /* value of n_uses at its last use */

    struct catalog_viewer viewer; /* owned by the board while it runs */
    /* a client has read the whole file; cleared when it was noticed */
    atomic_bool is_read_out;
};

struct catalog {
    /* constant after catalog_fill() */
    const struct args *args;
    char root[100]; /* "/" or "/TOKEN/" */
    struct catalog_file *files;
    size_t n;
    size_t most_idle; /* limit of open sources without users */

    pthread_mutex_t lock;
    /* guarded by lock */
    struct catalog_source sources[CATALOG_OPEN];
    unsigned n_openings;
    uint64_t n_uses;
};

/* Creates an empty catalog.  `a` must live until catalog_fini(). */
void catalog_init(struct catalog *s, const struct args *a);

/* Closes all sources and stops their downloads. */
void catalog_fini(struct catalog *s);

/* Adds all files of the arguments.  At least one must open.  Returns 0; after a
 * failure, prints the error and returns the exit status. */
int catalog_fill(struct catalog *s, const struct inputs *in);

/*
 * Opens a file if needed, until catalog_leave(), as a client or on behalf of
 * clients.
 * Errors: AGAIN (too many others are in use), and those of xd_source_new(),
 * which were printed.
 * Blocks: for less than a second, if another file must be closed.
 */
enum catalog_use { CATALOG_CLIENT, CATALOG_OTHER };
int catalog_enter(struct catalog *s, struct catalog_file *f,
                  enum catalog_use use, struct catalog_source **out,
                  struct xd_error *err);
void catalog_leave(struct catalog *s, struct catalog_source *of,
                   enum catalog_use use);

/* Return an open source without opening a file: source number `i` of
 * CATALOG_OPEN, or the source of a file.  Return NULL if it is not open.  Call
 * catalog_leave() with CATALOG_OTHER afterwards. */
struct catalog_source *catalog_look(struct catalog *s, size_t i);
struct catalog_source *catalog_look_at(struct catalog *s,
                                       const struct catalog_file *f);

bool catalog_has_clients(struct catalog *s, const struct catalog_source *of);

/* Prints the errors of failed files.  Each error is printed once.  Clients of a
 * failed file only see a broken connection. */
void catalog_print_failures(struct catalog *s);

/* Records that a file has failed for a client, and prints the error once.
 * Threads: any. */
void catalog_report_failure(const struct catalog *s, struct catalog_file *f,
                            int rc, const char *why);

/* Returns the status of the first file that has failed; 0 if no file has
 * failed. */
int catalog_status(const struct catalog *s);

/* Find a file by its path or link, or find the next file.  Return NULL if there
 * is none. */
struct catalog_file *catalog_find(const struct catalog *s, const char *path);
struct catalog_file *catalog_find_link(const struct catalog *s,
                                       const char *link);
struct catalog_file *catalog_next(const struct catalog *s,
                                  const struct catalog_file *f);

#endif
