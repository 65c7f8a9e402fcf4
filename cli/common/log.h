/* SPDX-License-Identifier: MIT */
/*
 * Collects log lines from other threads until they can be printed without
 * disturbing the display.
 */
#ifndef CLI_LOG_H
#define CLI_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include <pthread.h>

#include <xdownload/options.h>

struct log {
    enum xd_log_level most; /* constant: lines above this level are dropped */
    xd_log_fn *forward;     /* constant: also gets all lines; or NULL */
    void *forward_user;
    struct xd_options *options; /* constant */
    pthread_mutex_t lock;
    /* guarded by lock */
    FILE *lines; /* a memory stream; NULL: no lines yet */
    char *text;
    size_t len;
};

/* Sets the log function of the options until log_fini().  Call log_fini() after
 * everything that was created with the options has ended.  Keeps only errors if
 * `quiet` is true, and also details if `verbose` is true. */
void log_init(struct log *l, struct xd_options *o, bool quiet, bool verbose);
void log_fini(struct log *l);

/* Also passes all lines of any level to `function`.  Call it before the first
 * line is logged. */
void log_forward(struct log *l, xd_log_fn *function, void *user);

/* Writes the collected lines to `to` and forgets them. */
void log_take(struct log *l, FILE *to);

#endif
