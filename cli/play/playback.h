/* SPDX-License-Identifier: MIT */
/*
 * Prints playback statistics, as text or as JSON.
 */
#ifndef CLI_PLAYBACK_H
#define CLI_PLAYBACK_H

#include <stdio.h>

#include <xdownload/stream.h>

#include "args/args.h"

struct playback {
    const char *name; /* of the file, or NULL */
    struct xd_source *source;
    struct xd_reader *viewer; /* that knows of the picture; or NULL */
    double blocked_s;         /* in which the player waited for bytes */
};

void playback_put(FILE *to, const struct args *a, const struct playback *p);

#endif
