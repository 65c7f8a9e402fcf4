/* SPDX-License-Identifier: MIT */
/*
 * Handles Ctrl-C and similar signals while a download runs.
 *
 * Between signals_watch() and signals_restore(), the first SIGINT, SIGTERM or
 * SIGHUP is only recorded.  A second signal ends the process as usual.  Ctrl-Z
 * (SIGTSTP) is also recorded, so that the screen can be cleared before the
 * process stops.  Signals that were ignored stay ignored (nohup, background
 * jobs).
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

void signals_watch(void);
void signals_restore(void);

/* Like signals_watch(), but the second signal is also only recorded.  Use it in
 * a command that must end a child process first. */
void signals_watch_each(void);

/* Sets a text that restores the screen.  It is written to standard error before
 * a second signal ends the process.  It must stay valid forever.  NULL: no
 * text. */
void signals_last_words(const char *words);

/* Returns whether a terminating signal has arrived at any time. */
bool signals_came(void);

/* Returns the number of such signals, at most SIGNALS_MANY. */
#define SIGNALS_MANY 100
int signals_count(void);

/* Returns the last signal that another process has sent, and forgets it; 0 if
 * there is none.  Signals from the terminal are not returned, because the child
 * processes have received them too. */
int signals_take_sent(void);

/* stop_came() returns whether Ctrl-Z was pressed; stop() stops the process
 * until it is continued. */
bool signals_stop_came(void);
void signals_stop(void);

#endif
