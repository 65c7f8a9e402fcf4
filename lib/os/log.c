/* SPDX-License-Identifier: MIT */
#include "os/log.h"

#include <stdarg.h>

#include "base/text.h"
#include "os/exit.h"

/* Longer lines are truncated. */
#define LINE_BYTES 1024

int xd_log_init(struct xd_log *log, xd_log_fn *function, void *user)
{
    log->function = function;
    log->user = user;
    return xd_mutex_init(&log->lock);
}

void xd_log_fini(struct xd_log *log)
{
    xd_mutex_fini(&log->lock);
}

void xd_log(struct xd_log *log, enum xd_log_level level, const char *format,
            ...)
{
    char line[LINE_BYTES];
    va_list args;

    if (log->function == NULL || xd_exit_has_begun())
        return;
    va_start(args, format);
    xd_format_line(line, sizeof line, format, args);
    va_end(args);

    xd_mutex_lock(&log->lock);
    log->function(log->user, level, line);
    xd_mutex_unlock(&log->lock);
}
