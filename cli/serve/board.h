/* SPDX-License-Identifier: MIT */
/*
 * The live state of the files for the pages of xdownload serve.  Twice a second
 * it sends an event (events.h) to all pages, which is one line of JSON.
 * page.js reads the events, and sends reports about its players.
 *
 * Each event is complete, so a page may miss some.  The size of an event is
 * limited: it has a limited number of parts, requests and depots per file, and
 * files until it has EVENT_MOST bytes.  The next event starts with the files
 * that did not fit.
 *
 * Threads: any, but only one thread may call board_look().
 */
#ifndef CLI_BOARD_H
#define CLI_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/events.h"
#include "serve/catalog.h"

struct board;

/*
 * Creates a board.  Until board_free(), it takes the records of the files and
 * passes them to their traces.  Returns NULL if memory runs out.
 * Ownership: `s` and `e` are the caller's and must live until board_free().
 */
struct board *board_new(struct catalog *s, struct events *e);
void board_free(struct board *b); /* NULL: does nothing */

/* Updates the traces and the pages.  Call it ten times a second. */
void board_look(struct board *b);

/* A report of a page about its player. */
struct board_player {
    size_t file; /* index in the catalog */
    /* ID of the page; it does not change while the page is open */
    const char *id;
    enum xd_play_state state;
    double at_s, of_s,
        speed; /* position and length in seconds, and the playback speed */
};

/* Handles a report.  Returns false if another page is playing the file, because
 * only one page can play a file at a time. */
bool board_play(struct board *b, const struct board_player *p);

/* Returns whether depot `i` is shown in a list of depots that already has
 * `n_listed` depots.  There may be 100,000 depots, so the list shows only the
 * first ones, and depots that were used or tried. */
bool board_lists_depot(size_t i, enum xd_depot_state state, unsigned requests,
                       size_t n_listed);

#endif
