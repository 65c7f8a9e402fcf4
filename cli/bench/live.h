/* SPDX-License-Identifier: MIT */
/*
 * Runs of bench against real depots.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "args/args.h"
#include "bench/series.h"

#define LIVE_FOLDER_SIZE 4096 /* longest path, in bytes */

/* Called a few times a second during a run. */
typedef void live_tick_fn(void *user);

struct live {
    const struct args *args;
    const char *folder; /* folder for downloaded files */
    live_tick_fn *tick;
    void *user;
    double drain_s; /* set by live_run(): see records_drain_s() */
};

/* Carries out a run, fills in its results, and deletes the file.  Returns 0
 * even if the download failed, a negative enum xd_code if it could not start,
 * or CANCELED after a signal. */
int live_run(struct live *l, const char *name, const struct subject *s,
             const struct run *r, struct row *row, struct xd_error *err);

/* Removes all files in the folder. */
void live_empty(const char *folder);

/* Carries out the runs of the series one after another. */
void run_live(struct series *s);

#endif
