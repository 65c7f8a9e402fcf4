/* SPDX-License-Identifier: MIT */
/*
 * The process of a player: begun, sent signals, and never left behind.
 *
 * It stays in our process group and has our terminal, so that its keys work
 * and Ctrl-C reaches it as it reaches us.  Its standard output is our standard
 * error, for ours has nothing but data.
 */
#ifndef CLI_PLAYER_H
#define CLI_PLAYER_H

#include <stdbool.h>

#include <sys/types.h>

struct player {
    const char *program; /* constant */
    pid_t pid;
    bool has_ended;
    int status; /* once it has ended: its own, or 128 and its signal */
    unsigned ticks_since_signal;
};

/* Start words[0], which is looked for in PATH, with the words, ended by NULL.
 * Returns 0, or a status after the reason was said.
 * Ownership: after 0 player_look() is to be called until it has ended. */
int player_start(struct player *p, const char *const *words);

/* The same without a word: returns 0, or the errno of why not. */
int player_spawn(struct player *p, const char *const *words);

/* Look whether it has ended, and if signals came, see to it that it does: to be
 * called every PLAYER_TICK_MS. */
#define PLAYER_TICK_MS 100
void player_look(struct player *p);

#endif
