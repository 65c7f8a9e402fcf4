/* SPDX-License-Identifier: MIT */
#include "args/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "command/settings.h"
#include "common/text.h"

#define CLEAR "\r\033[K"

static bool draws(const struct args *a)
{
    const char *term = getenv("TERM");

    return !a->quiet && isatty(STDERR_FILENO) && term != NULL &&
           strcmp(term, "") != 0 && strcmp(term, "dumb") != 0;
}

/* Prints a status line.  Called on another thread while the thread that called
 * waiting_begin() waits. */
static void print_line(void *user, enum xd_log_level level, const char *line)
{
    struct waiting *w = user;

    if (level != XD_LOG_STATUS)
        return;
    w->has_said = true;
    if (w->draws)
        fputs(CLEAR, stderr);
    text_put(stderr, line);
    if (!w->draws)
        putc('\n', stderr);
    fflush(stderr);
}

void waiting_begin(struct waiting *w, const struct args *a)
{
    *w = (struct waiting){.draws = draws(a)};
    xd_options_log(a->options, &w->log, &w->log_user);
    if (!a->quiet && (a->verbose || w->draws))
        xd_options_set_log(a->options, print_line, w);
}

void waiting_end(const struct waiting *w, const struct args *a)
{
    xd_options_set_log(a->options, w->log, w->log_user);
    if (w->draws && w->has_said)
        fputs(CLEAR, stderr);
}
