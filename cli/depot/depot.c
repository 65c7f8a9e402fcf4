/* SPDX-License-Identifier: MIT */
#include "depot/depot.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/resource.h>

#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "depot/depot_answer.h"
#include "http/listener.h"

/* nanoseconds between checks for signals and idle files */
#define TICK_NS 100000000

/* Limits of connections in total and per client address.  A connection takes 50
 * KiB. */
#define CONNECTIONS_MAX 2000
#define CONNECTIONS_EACH 500

/* Number of descriptors for everything except connections, including served
 * files. */
#define DESCRIPTORS_ELSE (FILES_MOST + 100)

/* A client that accepts no data for this many seconds is considered gone. */
#define ANSWERING_S 120

/* The threads send from memory and rarely wait, so a few are enough. */
#define THREADS 4

/* Limit of unsent bytes in a socket.  If there were more, the client would
 * request later chunks when they may no longer be in memory. */
#define UNSENT_MOST (128 << 10)

/* Raises the limit of descriptors if possible.  Returns the number of
 * connections that the limit allows. */
static unsigned most_connections(void)
{
    const rlim_t wanted = CONNECTIONS_MAX + DESCRIPTORS_ELSE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= wanted)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * DESCRIPTORS_ELSE
               ? (unsigned)limit.rlim_cur - DESCRIPTORS_ELSE
               : DESCRIPTORS_ELSE / 2;
}

static void wait_for_signal(struct depot *d)
{
    const struct timespec tick = {0, TICK_NS};

    while (!signals_came()) {
        nanosleep(&tick, NULL);
        files_close_idle(&d->files, files_now());
        if (signals_stop_came())
            signals_stop();
    }
}

/* Prints the URL on standard output.  Programs that start this command wait for
 * this line. */
static bool print_url(const struct depot *d, const struct args *a,
                      const char *authority)
{
    printf("http://%s%s\n", authority, d->root);
    if (!a->quiet)
        fprintf(stderr, "xdownload: serving %s at http://%s%s until Ctrl-C\n",
                a->inputs[0], authority, d->root);
    return fflush(stdout) == 0;
}

static int serve(struct depot *d, const struct args *a, struct listener *l)
{
    const struct http_serving how = {.listener = l,
                                     .origin = a->allow_origin,
                                     .most = most_connections(),
                                     .most_each = CONNECTIONS_EACH,
                                     .answering_s = ANSWERING_S,
                                     .threads = THREADS,
                                     .unsent_most = UNSENT_MOST,
                                     .answer = depot_answer,
                                     .user = d};

    struct http_server *http = http_server_start(&how);
    if (http == NULL)
        return STATUS_LOCAL;
    const bool is_printed = print_url(d, a, l->authority);
    l->fd = -1;
    if (is_printed)
        wait_for_signal(d);
    disks_end(d->files.disks);
    http_server_stop(http);
    return is_printed ? STATUS_INTERRUPTED : STATUS_LOCAL;
}

int depot_serve(const struct args *a)
{
    struct depot *d = calloc(1, sizeof *d);
    struct listener l;

    if (d == NULL) {
        words_error("out of memory");
        return STATUS_LOCAL;
    }
    if (a->token != NULL)
        snprintf(d->root, sizeof d->root, "/%s/", a->token);
    else
        strcpy(d->root, "/");
    int status = listener_open(&l, a->listen);
    if (status == 0) {
        signals_watch();
        status = files_init(&d->files, a->inputs[0], a->active_bytes);
        if (status == 0)
            status = serve(d, a, &l);
        files_fini(&d->files);
        signals_restore();
    }
    listener_close(&l);
    free(d);
    return status;
}
