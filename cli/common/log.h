/* SPDX-License-Identifier: MIT */
/*
 * Lines that other threads have to say, kept until there is a place for them
 * on the screen.
 */
#ifndef CLI_LOG_H
#define CLI_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include <pthread.h>

#include <xdownload/options.h>

struct log {
    enum xd_log_level most; /* constant: what is above it is not said */
    xd_log_fn *forward;     /* constant: is given all lines; or NULL */
    void *forward_user;
    pthread_mutex_t lock;
    /* Guarded by lock. */
    FILE *lines; /* a memory stream, or NULL: nothing was said */
    char *text;
    size_t len;
};

/* Errors alone if `quiet`; what goes on, too, if `verbose`. */
void log_init(struct log *l, bool quiet, bool verbose);
void log_fini(struct log *l);

/* All lines are given to `function` as well, whatever their level; to be called
 * before there are any. */
void log_forward(struct log *l, xd_log_fn *function, void *user);

/* The xd_log_fn; `user` is the struct log. */
void log_print(void *user, enum xd_log_level level, const char *line);

/* Move what was said so far to `to`. */
void log_take(struct log *l, FILE *to);

#endif
