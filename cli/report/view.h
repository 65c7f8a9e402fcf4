/* SPDX-License-Identifier: MIT */
/*
 * What a person sees of a download under way, as text: pure, so that it can be
 * looked at for any state, at any width, without a terminal.
 */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <stdio.h>

#include "common/snapshot.h"

/*
 * The moving picture, in at most `rows` lines of at most `columns` columns:
 * one for the whole, one per depot in use, busiest first, and one for those
 * that are left out:
 *
 *     fedora.iso   37 %  12.3 MiB of 33.0 MiB  4.1 MiB/s  0:05 left
 *     depot            state   conns       rate       bytes  redundant
 *     a.example:8080   busy        6  3.1 MiB/s     9.2 MiB    1.0 MiB
 *     b.example        busy        2  1.0 MiB/s     3.1 MiB        0 B
 *     +209 in reserve
 *
 * Of a set a line says how many files have ended, and which are in flight, and
 * while nothing comes at all one says why, if there is room.
 */
void view_running(FILE *to, const struct snapshot *s, const char *name,
                  unsigned columns, unsigned rows);

/* The same state in one line, for a log. */
void view_plain(FILE *to, const struct snapshot *s, const char *name);

/* "37 %, 12.3 MiB of 33.0 MiB": no newline. */
void view_how_far(FILE *to, const struct snapshot *s);

#endif
