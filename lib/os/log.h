/* SPDX-License-Identifier: MIT */
/*
 * Log messages for the program's log function.
 *
 * Threads: any.  log.lock is a leaf lock: nothing else is locked under it.  The
 * program's function runs under it, one call at a time.
 */
#ifndef XD_OS_LOG_H
#define XD_OS_LOG_H

#include <xdownload/options.h>

#include "os/thread.h"

struct xd_log {
    struct xd_mutex lock;
    /* constant after xd_log_init() */
    xd_log_fn *function; /* NULL: nothing is logged */
    void *user;
};

int xd_log_init(struct xd_log *log, xd_log_fn *function, void *user);
void xd_log_fini(struct xd_log *log);
void xd_log(struct xd_log *log, enum xd_log_level level, const char *format,
            ...) XD_PRINTF(3, 4);

#endif
