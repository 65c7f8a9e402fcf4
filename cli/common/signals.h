/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and its like, noticed while a download runs.
 *
 * Between signals_watch() and signals_restore() the first SIGINT, SIGTERM or
 * SIGHUP is only noted; a second one has its usual effect, for the impatient.
 * Ctrl-Z (SIGTSTP) is noted too, so that the screen can be left in order.  A
 * signal that was ignored stays so (nohup, jobs in the background).
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

void signals_watch(void);
void signals_restore(void);

/* Like signals_watch(), but signals are only noted: for a command that must end a
 * child first. */
void signals_watch_each(void);

/* What is written to standard error before the second one ends the command, to
 * leave the screen in order; it lives for ever.  NULL: nothing. */
void signals_last_words(const char *words);

/* Whether one that ends the command has come, ever. */
bool signals_came(void);

/* How many of these; SIGNALS_MANY stands for more too. */
#define SIGNALS_MANY 100
int signals_count(void);

/* The last that a process sent, once, or 0.  What a terminal sends has reached
 * every process that runs in it. */
int signals_take_sent(void);

/* Whether it is to stop, and has not yet; and stop, until it is continued. */
bool signals_stop_came(void);
void signals_stop(void);

#endif
