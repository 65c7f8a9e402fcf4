/* SPDX-License-Identifier: MIT */
#include "serve/serve.h"

#include <stdio.h>
#include <time.h>

#include "args/inputs.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "http/listener.h"
#include "serve/server.h"
#include "serve/catalog.h"
#include "trace/trace.h"

#define TICK_NS 100000000 /* nanoseconds between checks for a signal */

/* Prints the URLs on standard output.  Programs that start this command wait
 * for these lines. */
static bool print_urls(const struct catalog *catalog, const char *authority)
{
    for (size_t i = 0; i < catalog->n; i++)
        printf("http://%s%s\n", authority, catalog->files[i].link);
    return fflush(stdout) == 0;
}

static void wait_for_signal(struct server *server, struct catalog *catalog,
                            struct log *log)
{
    const struct timespec tick = {0, TICK_NS};

    while (!signals_came()) {
        nanosleep(&tick, NULL);
        log_take(log, stderr);
        catalog_print_failures(catalog);
        server_look(server);
        if (signals_stop_came())
            signals_stop();
    }
}

static int serve_catalog(const struct args *a, struct catalog *catalog,
                         struct listener *l, struct log *log)
{
    struct server *server = server_start(l, catalog, a->allow_origin);

    if (server == NULL)
        return STATUS_LOCAL;
    const bool is_printed = print_urls(catalog, l->authority);
    if (is_printed && !a->quiet)
        fprintf(stderr, "xdownload: serving at http://%s%s until Ctrl-C\n",
                l->authority, catalog->root);
    if (is_printed)
        wait_for_signal(server, catalog, log);
    server_stop(server);
    return is_printed ? STATUS_INTERRUPTED : STATUS_LOCAL;
}

static int serve_at(const struct args *a, const struct inputs *in,
                    struct listener *l)
{
    struct catalog catalog;
    struct log log;

    signals_watch();
    log_init(&log, a->options, a->quiet, false);
    log_forward(&log, trace_log, a->tracer);
    catalog_init(&catalog, a);
    int status = catalog_fill(&catalog, in);
    if (status == 0)
        status = serve_catalog(a, &catalog, l, &log);
    catalog_fini(&catalog);
    signals_restore();
    log_take(&log, stderr);
    log_fini(&log);
    return status;
}

int serve_inputs(const struct args *a)
{
    struct listener l;
    struct inputs in;

    int status = listener_open(&l, a->listen);
    if (status != 0)
        return status;
    status = inputs_init(&in, a, NULL);
    if (status == 0)
        status = serve_at(a, &in, &l);
    inputs_fini(&in);
    listener_close(&l);
    return status;
}
