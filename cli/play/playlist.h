/* SPDX-License-Identifier: MIT */
/*
 * The files that are played, one after another: which one it is now, and what
 * its viewer had of it.
 */
#ifndef CLI_PLAYLIST_H
#define CLI_PLAYLIST_H

#include <stdbool.h>

#include <xdownload/stream.h>

#include "play/playback.h"
#include "serve/catalog.h"

struct playlist {
    /* Constant. */
    const struct args *args;
    struct catalog *catalog;

    struct playback_list statistics;
    struct catalog_source *now; /* entered; NULL: none is played */
    struct xd_reader *viewer;   /* gets reports of its picture; or NULL */
};

void playlist_init(struct playlist *p, struct catalog *s);

/* Prints what is known of all of them together. */
void playlist_fini(struct playlist *p);

/* This file is played from now on, and the one before it no longer: its
 * statistics are printed.  Returns 0, or a status after the reason was said. */
int playlist_turn_to(struct playlist *p, struct catalog_file *f);
void playlist_leave(struct playlist *p);

/* Print those of all files that clients have read, and of a lone file in any
 * case, after a player that the list was not turned by. */
void playlist_put_read(struct playlist *p);

#endif
