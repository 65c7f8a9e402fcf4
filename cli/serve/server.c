/* SPDX-License-Identifier: MIT */
#include "serve/server.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <microhttpd.h>
#include <pthread.h>
#include <sys/resource.h>

#include "common/http_words.h"
#include "common/words.h"
#include "serve/answer.h"
#include "serve/board.h"
#include "serve/events.h"
#include "serve/prefetch.h"
#include "serve/timeouts.h"
#include "serve/disconnects.h"

/* A browser takes six for a site, a player up to nine.  The library leaves half
 * of the descriptors to others, of which half are the clients'. */
#define CONNECTIONS_MAX 200
#define CONNECTIONS_SHARE 4

/* Of these for one address, if others than this machine can come. */
#define CONNECTIONS_EACH 32

/* Without a request, and for one to be complete: a client that sends a byte now
 * and then keeps its place no longer than one that sends none. */
#define IDLE_S 30

/* While an answer is under way: a player may pause so long. */
#define ANSWERING_S 3600

struct server {
    struct MHD_Daemon *daemon;
    struct listener listener;
    struct disconnects *disconnects;
    struct timeouts *timeouts;
    struct events *events;
    struct board *board;
    struct prefetch prefetch;
    struct catalog *catalog;
    const char *origin;
};

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Whether the page that asks, if one does, is ours. */
static bool is_own_origin(const char *origin, const char *host)
{
    return host != NULL && strncasecmp(origin, "http://", 7) == 0 &&
           strcasecmp(origin + 7, host) == 0;
}

static bool is_allowed_origin(const struct server *s, const char *origin)
{
    return s->origin != NULL &&
           (strcmp(s->origin, "*") == 0 || strcasecmp(s->origin, origin) == 0);
}

/* Whether the request comes from where it may: 0, or the status to refuse it
 * with.  Clients of HTTP/1.0 tell no Host. */
static unsigned check_source(const struct server *s, struct MHD_Connection *c,
                             const char *version)
{
    const char *host = header(c, MHD_HTTP_HEADER_HOST);
    const char *origin = header(c, MHD_HTTP_HEADER_ORIGIN);

    if (host == NULL && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
        return MHD_HTTP_BAD_REQUEST;
    if (host != NULL && !http_host_is_ours(host, s->listener.is_loopback))
        return MHD_HTTP_FORBIDDEN;
    if (origin != NULL && !is_own_origin(origin, host) &&
        !is_allowed_origin(s, origin))
        return MHD_HTTP_FORBIDDEN;
    return 0;
}

/* What stands behind the root in a path that begins with it, else NULL. */
static const char *behind_root(const struct server *s, const char *path)
{
    const size_t len = strlen(s->catalog->root);

    return strncmp(path, s->catalog->root, len) == 0 ? path + len : NULL;
}

static struct answer answer_path(const struct server *s,
                                 struct MHD_Connection *c, const char *path,
                                 bool is_get)
{
    struct catalog_file *file = catalog_find(s->catalog, path);
    const char *name = behind_root(s, path);

    if (file != NULL)
        return answer_file(c, s->catalog, file, is_get, s->disconnects);
    if (name == NULL)
        return answer_status(MHD_HTTP_NOT_FOUND);
    if (*name == '\0')
        return answer_page(s->catalog);
    if (strcmp(name, "events") == 0)
        return answer_events(c, s->events);
    if (strcmp(name, "playlist.m3u") == 0) {
        const char *host = header(c, MHD_HTTP_HEADER_HOST);
        return answer_playlist(s->catalog,
                               host != NULL ? host : s->listener.authority);
    }
    return answer_page_file(name);
}

/* Only a page of ours says what its player does: browsers send an Origin with
 * each POST, and foreign ones were refused. */
static bool is_of_page(const struct server *s, struct MHD_Connection *c,
                       const char *path)
{
    const char *name = behind_root(s, path);
    const char *origin = header(c, MHD_HTTP_HEADER_ORIGIN);

    return name != NULL && strcmp(name, "player") == 0 && origin != NULL &&
           is_own_origin(origin, header(c, MHD_HTTP_HEADER_HOST));
}

static struct answer answer_request(const struct server *s,
                                    struct MHD_Connection *c, const char *path,
                                    const char *method, const char *version)
{
    const bool is_get = strcmp(method, MHD_HTTP_METHOD_GET) == 0;
    const unsigned refused = check_source(s, c, version);

    if (refused != 0)
        return answer_refusal(refused);
    if (is_get || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
        return answer_path(s, c, path, is_get);
    if (strcmp(method, MHD_HTTP_METHOD_POST) == 0 && is_of_page(s, c, path))
        return answer_player(c, s->board, s->catalog);
    if (strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
        return answer_options();
    return answer_status(MHD_HTTP_METHOD_NOT_ALLOWED);
}

/* The page that was allowed to ask may read the answer. */
static void allow_origin(const struct server *s, struct MHD_Connection *c,
                         struct MHD_Response *r)
{
    const char *origin = header(c, MHD_HTTP_HEADER_ORIGIN);

    if (s->origin == NULL)
        return;
    answer_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
    if (origin == NULL || !is_allowed_origin(s, origin))
        return;
    answer_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, s->origin);
    answer_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_EXPOSE_HEADERS,
                  "Accept-Ranges, Content-Length, Content-Range, ETag");
}

static struct timeout *timeout_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}

/* MHD calls it when a connection has been made, and before it is closed. */
static void connected(void *user, struct MHD_Connection *c, void **context,
                      enum MHD_ConnectionNotificationCode what)
{
    const struct server *s = user;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        timeouts_remove(s->timeouts, *context);
        return;
    }
    *context = timeouts_add(
        s->timeouts,
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd);
}

/* MHD calls it when the head is there, for each part of a body, and when all is
 * there. */
static enum MHD_Result handle(void *user, struct MHD_Connection *c,
                              const char *path, const char *method,
                              const char *version, const char *body,
                              size_t *body_len, void **request)
{
    const struct server *s = user;

    (void)body;
    if (*request == NULL || *body_len > 0) {
        *request = user; /* any mark that it was here */
        *body_len = 0;
        return MHD_YES;
    }
    timeouts_pause(s->timeouts, timeout_of(c));
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)ANSWERING_S);
    const struct answer a = answer_request(s, c, path, method, version);
    if (a.response == NULL)
        return MHD_NO; /* the connection is closed */
    allow_origin(s, c, a.response);
    const enum MHD_Result done = MHD_queue_response(c, a.status, a.response);
    MHD_destroy_response(a.response);
    return done;
}

static void completed(void *user, struct MHD_Connection *c, void **request,
                      enum MHD_RequestTerminationCode how)
{
    const struct server *s = user;

    (void)request;
    (void)how;
    timeouts_resume(s->timeouts, timeout_of(c));
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)IDLE_S);
}

static unsigned most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur / CONNECTIONS_SHARE >= CONNECTIONS_MAX)
        return CONNECTIONS_MAX;
    return (unsigned)limit.rlim_cur / CONNECTIONS_SHARE;
}

static struct MHD_Daemon *start_daemon(struct server *s)
{
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
            MHD_USE_POLL | MHD_USE_ITC,
        0, NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, s->listener.fd,
        MHD_OPTION_CONNECTION_LIMIT, most_connections(),
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        s->listener.is_loopback ? 0U : (unsigned)CONNECTIONS_EACH,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_NOTIFY_CONNECTION,
        connected, s, MHD_OPTION_END);
}

static void free_parts(struct server *s)
{
    board_free(s->board);
    events_free(s->events);
    disconnects_free(s->disconnects);
    timeouts_free(s->timeouts);
}

/* Threads, which leave signals to the one that looks for them. */
static bool start_threads(struct server *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->disconnects = disconnects_new(CONNECTIONS_MAX);
    s->timeouts = timeouts_new(IDLE_S);
    s->events = events_new();
    if (s->events != NULL)
        s->board = board_new(s->catalog, s->events);
    if (s->disconnects != NULL && s->timeouts != NULL && s->board != NULL)
        s->daemon = start_daemon(s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->daemon != NULL;
}

struct server *server_start(struct listener *l, struct catalog *catalog,
                            const char *origin)
{
    struct server *s = calloc(1, sizeof *s);

    if (s == NULL) {
        words_error("out of memory");
        return NULL;
    }
    *s = (struct server){.listener = *l, .catalog = catalog, .origin = origin};
    if (!start_threads(s)) {
        words_error("the server at %s cannot be started", l->authority);
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
    MHD_stop_daemon(s->daemon);
    prefetch_fini(&s->prefetch);
    free_parts(s);
    free(s);
}
