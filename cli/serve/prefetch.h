/* SPDX-License-Identifier: MIT */
/*
 * What is read next is begun before it is asked for: files follow each other as
 * in a playlist.
 *
 *     file     1 |======= its client ->=====|
 *              2                            |======> lookahead
 *     fetched    .......... all of 1 ........ then of 2
 *
 * When clients of a file need nothing more of it (xd_source_has_rest()), or one
 * has got all of it, the file behind it is fetched as far as one lookahead goes;
 * once that needs nothing more either, the next one is, so that files which take
 * longer to begin than to play follow each other too.  At most PREFETCH_MOST are
 * ahead at a time, of which those that are played last make room for others'
 * next ones.  A file that has failed is passed over.
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
    unsigned round;          /* of looks */
    struct prefetched {
        struct catalog_source *of; /* entered; NULL: nothing is ahead here */
        struct xd_reader *reader;  /* at its first byte: what it wants is
                                      fetched */
        unsigned depth;            /* so many files behind one that is read */
        unsigned round;            /* in which it was wanted last */
    } files[PREFETCH_MOST];
};

void prefetch_init(struct prefetch *p, struct catalog *s);
void prefetch_fini(struct prefetch *p);

/* To be called ten times a second. */
void prefetch_look(struct prefetch *p);

#endif
