/* SPDX-License-Identifier: MIT */
/*
 * The progress of a sweep on standard error: on a terminal, one line that is
 * redrawn; otherwise, a new line every few seconds.
 */
#ifndef CLI_METER_H
#define CLI_METER_H

#include <stdbool.h>
#include <stddef.h>

struct meter {
    bool is_quiet, is_terminal, is_drawn;
    size_t total;          /* number of runs to do */
    double began_s, put_s; /* time of the start, and of the last update */
};

void meter_init(struct meter *m, bool quiet, size_t total);

/* Updates the line.  `done` runs have ended, and `failed` of them have failed.
 * `now` is the name of the current run, or NULL. */
void meter_update(struct meter *m, size_t done, size_t failed, const char *now);

/* Clears the line, so that a message can be printed in its place. */
void meter_clear(struct meter *m);

/* Returns true and prints an error if more than `budget_s` seconds have passed
 * since init().  A negative budget is unlimited. */
bool meter_is_spent(struct meter *m, double budget_s);

#endif
