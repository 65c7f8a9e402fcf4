/* SPDX-License-Identifier: MIT */
/*
 * Prints playback statistics as text or JSON.  If there are several files, the
 * statistics of a file are printed when it has been played.
 */
#ifndef CLI_PLAYBACK_H
#define CLI_PLAYBACK_H

#include <stdbool.h>
#include <stdio.h>

#include <xdownload/stream.h>

#include "args/args.h"
#include "common/json.h"

struct playback_list {
    /* constant */
    const struct args *args;
    FILE *to;
    bool is_list; /* whether there are several files */

    struct json json;
    size_t n; /* files printed so far */
    /* waits between files, until the picture of the next file appears, in
     * seconds: total and longest */
    double gaps_s, longest_s;
};

struct playback {
    const char *name; /* name of the file, or NULL */
    struct xd_source *source;
    /* the reader that gets reports about the picture, or NULL */
    struct xd_reader *viewer;
    double blocked_s; /* seconds that the player waited for data */
};

void playback_begin(struct playback_list *l, FILE *to, const struct args *a,
                    bool is_list);
void playback_put(struct playback_list *l, const struct playback *p);
void playback_end(struct playback_list *l);

#endif
