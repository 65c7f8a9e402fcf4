/* SPDX-License-Identifier: MIT */
/*
 * A player of the user's, which reads the file from a URL of ours.
 */
#ifndef CLI_PLAY_SERVED_H
#define CLI_PLAY_SERVED_H

#include <xdownload/stream.h>

#include "args/args.h"
#include "common/log.h"
#include "serve/catalog.h"

/* Play the file of the catalog until the player ends, or in a browser until a
 * signal comes; `viewer`, for mpv, gets reports of the picture, and else NULL.
 * Returns 0, and in *out the player's status, or, if that is 0, that of the
 * file; or a status after it was said why there was no player. */
int play_served(int *out, const struct args *a, const struct catalog *catalog,
                struct xd_reader *viewer, struct log *log);

#endif
