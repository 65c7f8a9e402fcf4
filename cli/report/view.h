/* SPDX-License-Identifier: MIT */
/*
 * Draws the display of a running download as text.  Pure, so that tests can use
 * any state and width without a terminal.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <stdio.h>

#include "common/snapshot.h"

/*
 * Draws the display in at most `rows` lines of at most `columns` columns.  It
 * shows the total, the depots in use (busiest first), and how many depots are
 * not shown:
 *
 *     fedora.iso   37 %  12.3 MiB of 33.0 MiB  4.1 MiB/s  0:05 left
 *     depot            state   conns       rate       bytes  redundant
 *     a.example:8080   busy        6  3.1 MiB/s     9.2 MiB    1.0 MiB
 *     b.example        busy        2  1.0 MiB/s     3.1 MiB        0 B
 *     +209 in reserve
 *
 * For a set, a line shows how many files have ended and which are in flight.
 * If nothing arrives, a line says why, if there is room.
 */
void view_running(FILE *to, const struct snapshot *s, const char *name,
                  unsigned columns, unsigned rows);

/* Prints the same state on one line, for a log. */
void view_plain(FILE *to, const struct snapshot *s, const char *name);

/* Prints a text like "37 %, 12.3 MiB of 33.0 MiB" without a newline. */
void view_how_far(FILE *to, const struct snapshot *s);

#endif
