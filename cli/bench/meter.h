/* SPDX-License-Identifier: MIT */
/*
 * How far a sweep is, on standard error: a line that is drawn again and again
 * on a terminal, else a line now and then.
 */
#ifndef CLI_METER_H
#define CLI_METER_H

#include <stdbool.h>
#include <stddef.h>

struct meter {
    bool is_quiet, is_terminal, is_drawn;
    size_t total;          /* runs that were to be done */
    double began_s, put_s; /* when it began, and was drawn last */
};

void meter_init(struct meter *m, bool quiet, size_t total);

/* `done` runs are done, of which `failed` have failed; `now` says what is being
 * done, or NULL. */
void meter_update(struct meter *m, size_t done, size_t failed, const char *now);

/* Leave the line, so that words may be said. */
void meter_clear(struct meter *m);

/* Whether so many seconds have passed since init(); that is said.  Never, if it
 * is negative. */
bool meter_is_spent(struct meter *m, double budget_s);

#endif
