/* SPDX-License-Identifier: MIT */
/*
 * Prefetches files.  Clients play the files one after another, as in a
 * playlist, so the download of the next file starts before a client requests
 * it.
 *
 *     file     1 |======= its client ->=====|
 *              2                            |======> lookahead
 *     fetched    .......... all of 1 ........ then of 2
 *
 * The next file is prefetched when its predecessor has been downloaded as far
 * as clients need it (xd_source_needs_network()), or when a client has read all of
 * the predecessor.  The length of the lookahead is prefetched, then the file
 * after that, and so on.  So playback continues even if files take longer to
 * start than to play.  At most PREFETCH_MOST files are prefetched.  Files that
 * will be played last make room for the next files of other clients.  Failed
 * files are skipped.
 *
 * Threads: one at a time.
 */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H

#include <xdownload/stream.h>

#include "serve/catalog.h"

#define PREFETCH_MOST 4

struct prefetch {
    struct catalog *catalog; /* constant */
    unsigned round;          /* number of calls of prefetch_look() so far */
    struct prefetched {
        /* from catalog_enter(); NULL: unused element */
        struct catalog_source *of;
        /* stays at the first byte, so that the lookahead is downloaded */
        struct xd_reader *reader;
        /* distance from a file that a client is reading, in files */
        unsigned depth;
        unsigned round; /* last round in which the file was requested */
    } files[PREFETCH_MOST];
};

void prefetch_init(struct prefetch *p, struct catalog *s);
void prefetch_fini(struct prefetch *p);

/* Updates the list of prefetched files.  Call it ten times a second. */
void prefetch_look(struct prefetch *p);

#endif
