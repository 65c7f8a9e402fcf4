/* SPDX-License-Identifier: MIT */
#include "play/play_served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/signals.h"
#include "common/status.h"
#include "common/words.h"
#include "play/browser.h"
#include "play/mpv.h"
#include "play/player.h"
#include "http/listener.h"
#include "serve/server.h"

#define TICK_NS (PLAYER_TICK_MS * 1000000L)

/* If there are more URLs than this, a playlist is passed to the player instead
 * of URLs. */
#define URLS_MOST 100

/* A playback session. */
struct session {
    /* constant */
    struct playlist *list;
    struct log *log;
    struct server *server;
    const char *authority; /* host and port of our URLs */

    struct mpv *mpv; /* NULL: the player is not mpv */
};

/* Stops this process after Ctrl-Z, which also stops the player. */
static void obey_stop(struct mpv *mpv)
{
    if (mpv != NULL)
        mpv_stop(mpv);
    signals_stop();
    if (mpv != NULL)
        mpv_continue(mpv);
}

static void look(const struct session *s)
{
    log_take(s->log, stderr);
    catalog_print_failures(s->list->catalog);
    server_look(s->server);
}

/* Waits until the player ends. */
static void follow(struct player *p, const struct session *s)
{
    const struct timespec tick = {0, TICK_NS};

    while (!p->has_ended) {
        if (s->mpv != NULL)
            mpv_listen(s->mpv, PLAYER_TICK_MS);
        else
            nanosleep(&tick, NULL);
        look(s);
        if (signals_stop_came())
            obey_stop(s->mpv);
        player_look(p);
    }
}

static int status_after(const struct player *p, struct catalog *catalog)
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
    return p->status != 0 ? p->status : catalog_status(catalog);
}

/* ---- command line ---- */

static char *new_url(const struct session *s, const char *link)
{
    const size_t size =
        strlen("http://") + strlen(s->authority) + strlen(link) + 1;
    char *url = malloc(size);

    if (url != NULL)
        snprintf(url, size, "http://%s%s", s->authority, link);
    return url;
}

/* Makes a URL for each file, or the URL of a playlist.  Returns the number of
 * URLs.  Returns 0 if memory runs out.  Some URLs may exist even then: free all
 * that are not NULL. */
static size_t make_urls(char **urls, const struct session *s)
{
    const struct catalog *catalog = s->list->catalog;
    char list[sizeof catalog->root + sizeof "playlist.m3u"];
    size_t n = 0;

    if (catalog->n > URLS_MOST) {
        snprintf(list, sizeof list, "%splaylist.m3u", catalog->root);
        urls[0] = new_url(s, list);
        return urls[0] != NULL;
    }
    while (n < catalog->n &&
           (urls[n] = new_url(s, catalog->files[n].link)) != NULL)
        n++;
    return n == catalog->n ? n : 0;
}

/* Returns the NULL-terminated command line, which the caller frees; NULL if
 * memory runs out.  Our options come first, so that the user's options override
 * them. */
static const char **new_command(const struct session *s, char *const *urls,
                                size_t n_urls)
{
    const struct args *a = s->list->args;
    size_t n = 0, n_args = 0;

    while (a->player_args != NULL && a->player_args[n_args] != NULL)
        n_args++;
    const char **words = calloc(n_args + n_urls + 6, sizeof *words);
    if (words == NULL)
        return NULL;
    words[n++] = a->player;
    if (s->mpv != NULL) {
        /* the URL is a media file, not a web page with a video */
        words[n++] = "--ytdl=no";
        /* Reconnect only once, without a delay.  That is enough if the server
         * has closed the connection during a long pause.  Repeating failed
         * reads is useless, because the server has already tried every
         * depot. */
        words[n++] = "--stream-lavf-o-append=reconnect_delay_max=0";
        words[n++] = s->mpv->option;
        if (s->list->catalog->n > 1)
            words[n++] = "--prefetch-playlist=yes";
    }
    for (size_t i = 0; i < n_args; i++)
        words[n++] = a->player_args[i];
    for (size_t i = 0; i < n_urls; i++)
        words[n++] = urls[i];
    return words;
}

static int start(struct player *p, const struct session *s)
{
    char *urls[URLS_MOST] = {NULL};
    const size_t n_urls = make_urls(urls, s);
    const char **command = n_urls > 0 ? new_command(s, urls, n_urls) : NULL;
    int status = STATUS_FAILED;

    if (command != NULL)
        status = player_start(p, command);
    else
        words_error("out of memory");
    free(command);
    for (size_t i = 0; i < URLS_MOST; i++)
        free(urls[i]);
    return status;
}

/* ---- playing ---- */

static int run(int *out, const struct session *s)
{
    struct player p;
    const int status = start(&p, s);

    if (status != 0)
        return status;
    if (s->mpv != NULL)
        mpv_begin(s->mpv);
    follow(&p, s);
    *out = status_after(&p, s->list->catalog);
    return 0;
}

/* Switches the list to the file of this URL, if it is one of our URLs.  Returns
 * the viewer of the file. */
static struct xd_reader *turn(void *user, const char *url)
{
    const struct session *s = user;
    struct playlist *list = s->list;
    const size_t len = strlen(s->authority);
    struct catalog_file *f = NULL;

    if (strncmp(url, "http://", 7) == 0 &&
        strncmp(url + 7, s->authority, len) == 0)
        f = catalog_find_link(list->catalog, url + 7 + len);
    if (f == NULL || list->now == NULL || list->now->file != f)
        playlist_leave(list);
    if (f != NULL && list->now == NULL)
        /* ignore errors: clients of the file get an error as well */
        (void)playlist_turn_to(list, f);
    return list->viewer;
}

static int run_mpv(int *out, struct session *s)
{
    struct mpv mpv;
    const int status = mpv_init(&mpv, s->list->viewer, turn, s);

    if (status != 0)
        return status;
    s->mpv = &mpv;
    const int rc = run(out, s);
    mpv_fini(&mpv);
    return rc;
}

/* Opens the page in a browser and waits for a signal, because a browser does
 * not report when the user has left the page. */
static int browse(int *out, const struct session *s)
{
    const struct timespec tick = {0, TICK_NS};
    const struct catalog *catalog = s->list->catalog;
    char page[sizeof catalog->root + 100];
    struct player p;

    snprintf(page, sizeof page, "http://%s%s#play", s->authority,
             catalog->root);
    if (!s->list->args->quiet)
        fprintf(stderr, "xdownload: playing at %s until Ctrl-C\n", page);
    const int status = browser_open(&p, page);
    if (status != 0)
        return status;
    while (!signals_came()) {
        nanosleep(&tick, NULL);
        look(s);
        browser_look(&p);
        if (signals_stop_came())
            signals_stop();
    }
    *out = STATUS_INTERRUPTED;
    return 0;
}

static int play_by(int *out, struct session *s)
{
    const struct args *a = s->list->args;

    if (a->browser)
        return browse(out, s);
    return mpv_is(a->player) ? run_mpv(out, s) : run(out, s);
}

int play_served(int *out, struct playlist *list, struct log *log)
{
    struct listener l;
    int status = listener_open(&l, list->args->listen);

    if (status != 0)
        return status;
    struct session s = {.list = list, .log = log, .authority = l.authority};
    s.server = server_start(&l, list->catalog, NULL);
    status = s.server != NULL ? play_by(out, &s) : STATUS_LOCAL;
    server_stop(s.server);
    listener_close(&l);
    return status;
}
