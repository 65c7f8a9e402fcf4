/* SPDX-License-Identifier: MIT */
/*
 * A player of the user's, which reads the files from URLs of ours.
 */
#ifndef CLI_PLAY_SERVED_H
#define CLI_PLAY_SERVED_H

#include "common/log.h"
#include "play/playlist.h"

/* Play the files of the list until the player ends, or in a browser until a
 * signal comes; mpv, for which the list has been turned to its first file, says
 * of each what is seen.
 * Returns 0, and in *out the player's status, or, if that is 0, that of the
 * first file which failed; or a status after it was said why there was no
 * player. */
int play_served(int *out, struct playlist *list, struct log *log);

#endif
