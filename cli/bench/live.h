/* SPDX-License-Identifier: MIT */
/*
 * A run against real depots.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "args/args.h"
#include "bench/subject.h"
#include "bench/sweep.h"

/* Called a few times a second while a run lasts. */
typedef void live_tick_fn(void *user);

struct live {
    const struct args *args;
    const char *folder; /* for what is fetched */
    live_tick_fn *tick;
    void *user;
    double drain_s; /* set by run(): see records_drain_s() */
};

/* Carry it out under this name, fill in what it came to, and discard the file.
 * 0, or a negative enum xd_code: CANCELED when a signal has come, else it could
 * not even begin; a download that fails is a row. */
int live_run(struct live *l, const char *name, const struct subject *s,
             const struct run *r, struct row *row, struct xd_error *err);

#endif
