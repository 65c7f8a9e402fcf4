/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <stdlib.h>

#include "common/text.h"

/* Collects a line.  This is an xd_log_fn, which any thread may call. */
static void print_line(void *user, enum xd_log_level level, const char *line)
{
    struct log *l = user;

    if (l->forward != NULL)
        l->forward(l->forward_user, level, line);
    if (level > l->most)
        return;
    pthread_mutex_lock(&l->lock);
    if (l->lines == NULL)
        l->lines = open_memstream(&l->text, &l->len);
    if (l->lines != NULL) {
        fputs("xdownload: ", l->lines);
        text_put(l->lines, line);
        putc('\n', l->lines);
    }
    pthread_mutex_unlock(&l->lock);
}

void log_init(struct log *l, struct xd_options *o, bool quiet, bool verbose)
{
    *l = (struct log){.most = quiet     ? XD_LOG_ERROR
                              : verbose ? XD_LOG_INFO
                                        : XD_LOG_WARN,
                      .options = o};
    pthread_mutex_init(&l->lock, NULL);
    xd_options_set_log(o, print_line, l);
}

void log_forward(struct log *l, xd_log_fn *function, void *user)
{
    l->forward = function;
    l->forward_user = user;
}

void log_fini(struct log *l)
{
    xd_options_set_log(l->options, NULL, NULL);
    log_take(l, NULL);
    pthread_mutex_destroy(&l->lock);
}

void log_take(struct log *l, FILE *to)
{
    pthread_mutex_lock(&l->lock);
    if (l->lines != NULL) {
        if (fclose(l->lines) == 0 && to != NULL)
            fwrite(l->text, 1, l->len, to);
        free(l->text);
        l->lines = NULL;
        l->text = NULL;
    }
    pthread_mutex_unlock(&l->lock);
}
