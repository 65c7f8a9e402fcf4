/* SPDX-License-Identifier: MIT */
/*
 * The files that are served, and the sources of those that are open.
 *
 *     files   | 1 | 2 | 3 | 4 | 5 | ...   all that the manifests describe
 *     open          |   |       |         at most CATALOG_OPEN
 *
 * A file is opened when a client asks for it, or before (prefetch.h); all its
 * clients share one source.  It stays open until another is to be opened, and
 * it is the one that has not been used for the longest time.
 *
 * Threads: any, but for init, fill and fini.
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

/* Files at a time, each of which may have a thread for each of its depots. */
#define CATALOG_OPEN 64

/* The player of a page, which says where it is. */
struct catalog_viewer {
    struct xd_reader
        *reader; /* reads nothing: it gets reports; NULL: none yet */
    char id[40]; /* of the page */
    enum xd_play_state state;
    double said_s; /* moment_s() when the page said so */
};

struct catalog_file {
    /* Constant. */
    char *name; /* "" if it has none */
    char *path; /* "/TOKEN/1/a film.mkv" */
    char *link; /* the same encoded: "/TOKEN/1/a%20film.mkv" */
    const char *type;
    struct xd_manifest *manifest;
    size_t number;   /* in the manifest */
    uint64_t size;   /* or XD_SIZE_UNKNOWN */
    bool has_pieces; /* with hashes: what readers get has been proved */

    atomic_int status; /* not 0: it could not be fetched, which was reported */
    atomic_uint_least64_t blocked_ms; /* in which clients waited, together */
    struct catalog_source *open; /* guarded by the catalog's lock; or NULL */
};

/* A file that is open. */
struct catalog_source {
    /* Constant while it is entered. */
    struct catalog_file *file; /* NULL: none is here */
    unsigned opening;          /* its number, of all that there were */
    struct xd_source *source;
    struct trace_run *trace; /* or NULL */
    struct xd_reader *pace;  /* reads nothing: it tells the rate; or NULL */
    char etag[200];          /* with its quotes */

    /* Guarded by the catalog's lock. */
    unsigned n_clients, n_others; /* by which it is entered */
    uint64_t used;                /* the catalog's uses, at the last one */

    struct catalog_viewer viewer; /* the board's while it runs */
    atomic_bool is_read_out;      /* a client has got all of it; until that was
                                looked at */
};

struct catalog {
    /* Constant after fill(). */
    const struct args *args;
    char root[100]; /* "/" or "/TOKEN/" */
    struct catalog_file *files;
    size_t n;
    size_t most_idle; /* open files that are not entered */

    pthread_mutex_t lock;
    /* Guarded by lock. */
    struct catalog_source sources[CATALOG_OPEN];
    unsigned n_openings;
    uint64_t n_uses;
};

/* `a` must live until catalog_fini(). */
void catalog_init(struct catalog *s, const struct args *a);

/* Ends all sources, and what they fetch. */
void catalog_fini(struct catalog *s);

/* All files that the arguments mean, of which one at least can be opened.
 * Returns 0, or a status after the reason was said. */
int catalog_fill(struct catalog *s, const struct inputs *in);

/*
 * Use a file, which is opened if it is not, until catalog_leave(); as one of its
 * clients, or on behalf of them.
 * Errors: AGAIN (too many others are in use), and those of xd_source_new(),
 *         which have been said.
 * Blocks: for less than a second, where another file is closed for it.
 */
enum catalog_use { CATALOG_CLIENT, CATALOG_OTHER };
int catalog_enter(struct catalog *s, struct catalog_file *f,
                  enum catalog_use use, struct catalog_source **out,
                  struct xd_error *err);
void catalog_leave(struct catalog *s, struct catalog_source *of,
                   enum catalog_use use);

/* Enter the i-th of CATALOG_OPEN sources, or that of a file, to look at it;
 * NULL: none is open there.  To be left as CATALOG_OTHER. */
struct catalog_source *catalog_look(struct catalog *s, size_t i);
struct catalog_source *catalog_look_at(struct catalog *s,
                                       const struct catalog_file *f);

bool catalog_has_clients(struct catalog *s, const struct catalog_source *of);

/* Say once of each file that it has failed, if it has: its clients are only
 * broken off. */
void catalog_print_failures(struct catalog *s);

/* It has, for a client of it; that is said unless it was.  Any thread. */
void catalog_report_failure(const struct catalog *s, struct catalog_file *f,
                            int rc, const char *why);

/* That of the first file that has failed, in their order; or 0. */
int catalog_status(const struct catalog *s);

/* The file of this path, that of this link, and the one behind another; or
 * NULL. */
struct catalog_file *catalog_find(const struct catalog *s, const char *path);
struct catalog_file *catalog_find_link(const struct catalog *s,
                                       const char *link);
struct catalog_file *catalog_next(const struct catalog *s,
                                  const struct catalog_file *f);

#endif
