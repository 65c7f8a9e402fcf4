/* SPDX-License-Identifier: MIT */
/*
 * Prints playback statistics, as text or as JSON: of one file, or of each of
 * several as soon as it has been played.
 */
#ifndef CLI_PLAYBACK_H
#define CLI_PLAYBACK_H

#include <stdbool.h>
#include <stdio.h>

#include <xdownload/stream.h>

#include "args/args.h"
#include "common/json.h"

struct playback_list {
    /* Constant. */
    const struct args *args;
    FILE *to;
    bool is_list; /* of several files */

    struct json json;
    size_t n;                 /* that have been put */
    double gaps_s, longest_s; /* between files, until the next one's picture */
};

struct playback {
    const char *name; /* of the file, or NULL */
    struct xd_source *source;
    struct xd_reader *viewer; /* that knows of the picture; or NULL */
    double blocked_s;         /* in which the player waited for bytes */
};

void playback_begin(struct playback_list *l, FILE *to, const struct args *a,
                    bool is_list);
void playback_put(struct playback_list *l, const struct playback *p);
void playback_end(struct playback_list *l);

#endif
