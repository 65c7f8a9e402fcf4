/* SPDX-License-Identifier: MIT */
#include "play/play_served.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "play/browser.h"
#include "play/mpv.h"
#include "play/player.h"
#include "serve/listener.h"
#include "serve/server.h"

#define TICK_NS (PLAYER_TICK_MS * 1000000L)

/* Ctrl-Z stops the player too. */
static void obey_stop(struct mpv *mpv)
{
    if (mpv != NULL)
        mpv_stop(mpv);
    signals_stop();
    if (mpv != NULL)
        mpv_continue(mpv);
}

/* Until the player has ended; `mpv` is one that tells of itself, or NULL. */
static void follow(struct player *p, struct mpv *mpv, struct server *server,
                   const struct catalog *catalog, struct log *log)
{
    const struct timespec tick = {0, TICK_NS};

    while (!p->has_ended) {
        if (mpv != NULL)
            mpv_listen(mpv, PLAYER_TICK_MS);
        else
            nanosleep(&tick, NULL);
        log_take(log, stderr);
        catalog_print_failures(catalog);
        server_look(server);
        if (signals_stop_came())
            obey_stop(mpv);
        player_look(p);
    }
}

static int status_after(const struct player *p, const struct catalog *catalog)
{
    if (signals_came())
        return STATUS_INTERRUPTED;
    if (p->status > 128)
        words_error("the player %s was ended by signal %d", p->program,
                    p->status - 128);
    else if (p->status != 0)
        words_error("the player %s ended with status %d", p->program,
                    p->status);
    catalog_print_failures(catalog);
    return p->status != 0 ? p->status : catalog->files[0].status;
}

/* The words of its command line, ended by NULL: ours come first, so that the
 * user's overrule them.  To be freed; NULL without memory. */
static const char **new_command(const struct args *a, const struct mpv *mpv,
                                const char *url)
{
    size_t n = 0, n_args = 0;

    while (a->player_args != NULL && a->player_args[n_args] != NULL)
        n_args++;
    const char **words = calloc(n_args + 6, sizeof *words);
    if (words == NULL)
        return NULL;
    words[n++] = a->player;
    if (mpv != NULL) {
        words[n++] = "--ytdl=no"; /* the URL is the film, no page with one */
        /* Once more at once, as after a long pause, and no more: a read that
         * has failed here has tried every depot. */
        words[n++] = "--stream-lavf-o-append=reconnect_delay_max=0";
        words[n++] = mpv->option;
    }
    for (size_t i = 0; i < n_args; i++)
        words[n++] = a->player_args[i];
    words[n++] = url;
    return words;
}

static int run(int *out, const struct args *a, const char *url, struct mpv *mpv,
               struct server *server, const struct catalog *catalog,
               struct log *log)
{
    const char **command = new_command(a, mpv, url);
    struct player p;

    if (command == NULL) {
        words_error("out of memory");
        return STATUS_FAILED;
    }
    const int status = player_start(&p, command);
    free(command);
    if (status != 0)
        return status;
    if (mpv != NULL)
        mpv_begin(mpv);
    follow(&p, mpv, server, catalog, log);
    *out = status_after(&p, catalog);
    return 0;
}

/* Until a signal comes: a browser does not tell when its user has left. */
static int browse(int *out, const char *page, struct server *server,
                  const struct catalog *catalog, struct log *log)
{
    const struct timespec tick = {0, TICK_NS};
    struct player p;
    const int status = browser_open(&p, page);

    if (status != 0)
        return status;
    while (!signals_came()) {
        nanosleep(&tick, NULL);
        log_take(log, stderr);
        catalog_print_failures(catalog);
        server_look(server);
        browser_look(&p);
        if (signals_stop_came())
            signals_stop();
    }
    *out = STATUS_INTERRUPTED;
    return 0;
}

static int play_at(int *out, const struct args *a, const char *authority,
                   struct server *server, const struct catalog *catalog,
                   struct xd_reader *viewer, struct log *log)
{
    char url[CATALOG_PATH + 100];
    struct mpv mpv;

    if (a->browser) {
        snprintf(url, sizeof url, "http://%s%s#play", authority, catalog->root);
        if (!a->quiet)
            fprintf(stderr, "xdownload: playing at %s until Ctrl-C\n", url);
        return browse(out, url, server, catalog, log);
    }
    snprintf(url, sizeof url, "http://%s%s", authority, catalog->files[0].link);
    if (viewer == NULL)
        return run(out, a, url, NULL, server, catalog, log);
    int status = mpv_init(&mpv, viewer);
    if (status != 0)
        return status;
    status = run(out, a, url, &mpv, server, catalog, log);
    mpv_fini(&mpv);
    return status;
}

int play_served(int *out, const struct args *a, const struct catalog *catalog,
                struct xd_reader *viewer, struct log *log)
{
    struct listener l;
    int status = listener_open(&l, a->listen);

    if (status != 0)
        return status;
    struct server *server = server_start(&l, catalog, NULL);
    if (server != NULL)
        status = play_at(out, a, l.authority, server, catalog, viewer, log);
    else
        status = STATUS_LOCAL;
    server_stop(server);
    listener_close(&l);
    return status;
}
