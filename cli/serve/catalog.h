/* SPDX-License-Identifier: MIT */
/*
 * The files that are served: each one source, which all its readers share.
 */
#ifndef CLI_CATALOG_H
#define CLI_CATALOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xdownload/stream.h>

#include "args/args.h"
#include "args/inputs.h"
#include "trace/trace.h"

#define CATALOG_PATH 1000 /* a name is at most 255 bytes, encoded 765 */

/* The player of a page, which says where it is. */
struct catalog_viewer {
    struct xd_reader
        *reader; /* reads nothing: it gets reports; NULL: none yet */
    char id[40]; /* of the page */
    enum xd_play_state state;
    double said_s; /* moment_s() when the page said so */
};

struct catalog_file {
    char name[260];          /* "" if it has none */
    char path[CATALOG_PATH]; /* "/TOKEN/1/a film.mkv" */
    char link[CATALOG_PATH]; /* the same encoded: "/TOKEN/1/a%20film.mkv" */
    char etag[200];          /* with its quotes */
    const char *type;
    struct xd_source *source;
    struct trace_run *trace; /* or NULL */
    struct xd_reader *pace;  /* reads nothing: it tells the rate; or NULL */
    struct catalog_viewer viewer; /* the server's while it runs */
    bool has_pieces; /* with hashes: what readers get has been proved */
    int status;      /* not 0: it cannot be fetched, which was reported */
    atomic_uint_least64_t blocked_ms; /* in which clients waited, together */
};

struct catalog {
    char root[100]; /* "/" or "/TOKEN/" */
    struct catalog_file *files;
    size_t n;
};

/* `token`: what all paths begin with, or NULL. */
void catalog_init(struct catalog *s, const char *token);

/* Ends all sources, and what they fetch. */
void catalog_fini(struct catalog *s);

/* One file of a manifest.  Returns 0, or a status after the reason was said. */
int catalog_add(struct catalog *s, const struct args *a, struct xd_manifest *m,
                size_t i);

/* All files that the arguments mean.  Returns 0, or a status after the reason
 * was said. */
int catalog_fill(struct catalog *s, const struct args *a,
                 const struct inputs *in);

/* Say once of each file that it has failed, if it has: its clients are only
 * broken off. */
void catalog_print_failures(const struct catalog *s);

/* The file at this path, or NULL. */
struct catalog_file *catalog_find(const struct catalog *s, const char *path);

#endif
