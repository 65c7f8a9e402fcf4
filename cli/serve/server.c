/* SPDX-License-Identifier: MIT */
#include "serve/server.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sys/resource.h>

#include "common/words.h"
#include "http/server.h"
#include "serve/answers.h"
#include "serve/board.h"
#include "serve/disconnects.h"
#include "serve/events.h"
#include "serve/prefetch.h"

/* Limits of connections in total and per address.  A browser uses six
 * connections per site, a player up to nine. */
#define CONNECTIONS_MAX 200
#define CONNECTIONS_EACH 32

/* Clients get a quarter of the descriptors.  The library leaves half of all
 * descriptors to the program, and clients get half of these. */
#define CONNECTIONS_SHARE 4

/* Seconds for which a client may accept no data.  A paused player accepts
 * none. */
#define ANSWERING_S 3600

struct server {
    struct http_server *http;
    struct disconnects *disconnects;
    struct events *events;
    struct board *board;
    struct prefetch prefetch;
    struct catalog *catalog;
};

/* Returns the part of the path after the root, or NULL if the path is not below
 * the root. */
static const char *below_root(const struct server *s, const char *path)
{
    const size_t len = strlen(s->catalog->root);

    return strncmp(path, s->catalog->root, len) == 0 ? path + len : NULL;
}

static struct answer answer_path(const struct server *s,
                                 const struct http_request *r)
{
    struct catalog_file *file = catalog_find(s->catalog, r->path);
    const char *name = below_root(s, r->path);

    if (file != NULL)
        return answer_catalog_file(r->connection, s->catalog, file, r->is_get,
                                   s->disconnects);
    if (name == NULL)
        return answer_status(MHD_HTTP_NOT_FOUND);
    if (*name == '\0')
        return answer_page(s->catalog);
    if (strcmp(name, "events") == 0)
        return answer_events(r->connection, s->events);
    if (strcmp(name, "playlist.m3u") == 0)
        return answer_playlist(s->catalog, r->host);
    return answer_page_file(name);
}

/* Returns whether the request is a report about a player.  Only our own pages
 * may send reports.  Browsers send an Origin with each POST, and requests with
 * foreign origins were refused already. */
static bool is_of_page(const struct server *s, const struct http_request *r)
{
    const char *name = below_root(s, r->path);

    return name != NULL && strcmp(name, "player") == 0 &&
           http_is_own_page(r->connection);
}

static struct answer answer_request(void *user, const struct http_request *r)
{
    const struct server *s = user;

    if (r->is_get || r->is_head)
        return answer_path(s, r);
    if (strcmp(r->method, MHD_HTTP_METHOD_POST) == 0 && is_of_page(s, r))
        return answer_player(r->connection, s->board, s->catalog);
    return answer_status(MHD_HTTP_METHOD_NOT_ALLOWED);
}

static void free_parts(struct server *s)
{
    board_free(s->board);
    events_free(s->events);
    disconnects_free(s->disconnects);
}

static unsigned most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur / CONNECTIONS_SHARE >= CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    return (unsigned)limit.rlim_cur / CONNECTIONS_SHARE;
}

static struct http_server *start_http(struct server *s,
                                      const struct listener *l,
                                      const char *origin)
{
    const struct http_serving how = {.listener = l,
                                     .origin = origin,
                                     .most = most_connections(),
                                     .most_each = CONNECTIONS_EACH,
                                     .answering_s = ANSWERING_S,
                                     .answer = answer_request,
                                     .user = s};

    return http_server_start(&how);
}

/* Starts the parts of the server with all signals blocked, because the main
 * thread handles signals. */
static bool start_parts(struct server *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->disconnects = disconnects_new(CONNECTIONS_MAX);
    s->events = events_new();
    if (s->events != NULL)
        s->board = board_new(s->catalog, s->events);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->disconnects != NULL && s->board != NULL;
}

struct server *server_start(struct listener *l, struct catalog *catalog,
                            const char *origin)
{
    struct server *s = calloc(1, sizeof *s);

    if (s == NULL) {
        words_error("out of memory");
        return NULL;
    }
    s->catalog = catalog;
    if (!start_parts(s))
        words_error("the server at %s cannot be started", l->authority);
    else
        s->http = start_http(s, l, origin);
    if (s->http == NULL) {
        free_parts(s);
        free(s);
        return NULL;
    }
    prefetch_init(&s->prefetch, catalog);
    l->fd = -1;
    return s;
}

void server_look(struct server *s)
{
    board_look(s->board);
    prefetch_look(&s->prefetch);
}

void server_stop(struct server *s)
{
    if (s == NULL)
        return;
    events_end(s->events);
    http_server_stop(s->http);
    prefetch_fini(&s->prefetch);
    free_parts(s);
    free(s);
}
