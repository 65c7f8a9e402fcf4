/* SPDX-License-Identifier: MIT */
/*
 * Runs the process of a player, passes on signals, and makes sure that it ends.
 *
 * The player stays in our process group and uses our terminal, so its keys
 * work, and Ctrl-C reaches both processes.  Its standard output is our standard
 * error, because our standard output is only for data.
 */
#ifndef CLI_PLAYER_H
#define CLI_PLAYER_H

#include <stdbool.h>

#include <sys/types.h>

struct player {
    const char *program; /* constant */
    pid_t pid;
    bool has_ended;
    int status; /* after it has ended: its exit status, or 128 + signal */
    unsigned ticks_since_signal;
};

/* Starts the program words[0], which is searched in PATH, with NULL-terminated
 * arguments.  Returns 0; after a failure, prints the error and returns the exit
 * status.
 * Ownership: on success, call player_look() until the player has ended. */
int player_start(struct player *p, const char *const *words);

/* Starts the player like player_start(), but prints nothing.  Returns 0 or an
 * errno. */
int player_spawn(struct player *p, const char *const *words);

/* Checks whether the player has ended.  After a signal, makes sure that it
 * ends.  Call it every PLAYER_TICK_MS. */
#define PLAYER_TICK_MS 100
void player_look(struct player *p);

#endif
