/* SPDX-License-Identifier: MIT */
/*
 * The list of files to play, and the file that is being played now.
 */
#ifndef CLI_PLAYLIST_H
#define CLI_PLAYLIST_H

#include <stdbool.h>

#include <xdownload/stream.h>

#include "play/playback.h"
#include "serve/catalog.h"

struct playlist {
    /* constant */
    const struct args *args;
    struct catalog *catalog;

    struct playback_list statistics;
    /* the file that is being played, from catalog_enter(); or NULL */
    struct catalog_source *now;
    /* the reader that gets reports about the picture, or NULL */
    struct xd_reader *viewer;
};

void playlist_init(struct playlist *p, struct catalog *s);

/* Prints the totals. */
void playlist_fini(struct playlist *p);

/* Switches to this file, and prints the statistics of the file before.  Returns
 * 0; after a failure, prints the error and returns the exit status. */
int playlist_turn_to(struct playlist *p, struct catalog_file *f);
void playlist_leave(struct playlist *p);

/* Prints the statistics of all files that clients have read.  If there is only
 * one file, prints its statistics in any case.  Used for players that do not
 * report which file they play. */
void playlist_put_read(struct playlist *p);

#endif
