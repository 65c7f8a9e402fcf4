/* SPDX-License-Identifier: MIT */
/*
 * Plays files with a player program, which reads them from our server.
 */
#ifndef CLI_PLAY_SERVED_H
#define CLI_PLAY_SERVED_H

#include "common/log.h"
#include "play/playlist.h"

/*
 * Plays the files of the list until the player ends, or in a browser until a
 * signal arrives.  For mpv, call playlist_turn_to() for the first file before.
 *
 * Returns 0 if the player ran.  *out is then the status of the player or, if
 * that is 0, the status of the first file that failed.  If there was no player,
 * prints the error and returns the exit status.
 */
int play_served(int *out, struct playlist *list, struct log *log);

#endif
