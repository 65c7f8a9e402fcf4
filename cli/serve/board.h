/* SPDX-License-Identifier: MIT */
/*
 * What the page of `serve` shows of its files while it is open: an event for all
 * pages twice a second (events.h), one line of JSON.  page.js reads it, and says
 * what its players do.
 *
 * Each event is complete: a page that has missed some has missed nothing.  What
 * it holds is bounded, whatever the manifest and the depots say: so many parts,
 * requests and depots of each file, and files until it is EVENT_MOST long; the
 * next event goes on with those that it had no room for.
 *
 * Threads: any, but board_look() by one.
 */
#ifndef CLI_BOARD_H
#define CLI_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/events.h"
#include "serve/catalog.h"

struct board;

/*
 * It takes the records of the files from now on, and passes them to their
 * traces, until board_free().  NULL without memory.
 * Ownership: `s` and `e` are the caller's, and live until board_free().
 */
struct board *board_new(struct catalog *s, struct events *e);
void board_free(struct board *b); /* NULL does nothing */

/* Look at the files for the traces, and for pages that listen: to be called ten
 * times a second. */
void board_look(struct board *b);

/* What a page says of its player. */
struct board_player {
    size_t file;    /* its index in the catalog */
    const char *id; /* the page's own, for as long as it is open */
    enum xd_play_state state;
    double at_s, of_s,
        speed; /* media time, its length, and how fast it passes */
};

/* The file has one viewer at a time: false, it is another page's. */
bool board_play(struct board *b, const struct board_player *p);

/* Whether a list of depots, which may be 100 000, has the i-th, after so many:
 * the first ones, and those that have been of use or tried. */
bool board_lists_depot(size_t i, enum xd_depot_state state, unsigned requests,
                       size_t n_listed);

#endif
