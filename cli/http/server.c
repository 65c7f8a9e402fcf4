/* SPDX-License-Identifier: MIT */
#include "http/server.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include "common/words.h"
#include "http/timeouts.h"

/* Time limit in seconds for a complete request.  Otherwise a client could keep
 * a connection by sending a byte now and then. */
#define IDLE_S 30

/* Memory per connection for request and response headers.  OWN_MEMORY is for a
 * connection with a thread of its own, POOL_MEMORY for one of the many
 * connections of a pool. */
#define OWN_MEMORY ((size_t)32 << 10)
#define POOL_MEMORY ((size_t)8 << 10)

struct http_server {
    /* constant after http_server_start() */
    struct http_serving how;
    struct listener listener;
    struct MHD_Daemon *daemon;
    struct timeouts *timeouts;

    atomic_uint_least64_t n_connections; /* number of all connections so far */
    atomic_uint n_open;
};

struct http_connection {
    struct timeout *timeout; /* NULL: memory ran out */
    uint64_t number;
};

static bool is_own_origin(const char *origin, const char *host)
{
    return host != NULL && strncasecmp(origin, "http://", 7) == 0 &&
           strcasecmp(origin + 7, host) == 0;
}

bool http_is_own_page(struct MHD_Connection *c)
{
    const char *origin = answer_asked(c, MHD_HTTP_HEADER_ORIGIN);

    return origin != NULL &&
           is_own_origin(origin, answer_asked(c, MHD_HTTP_HEADER_HOST));
}

static bool allows_every_origin(const struct http_server *s)
{
    return s->how.origin != NULL && strcmp(s->how.origin, "*") == 0;
}

static bool is_allowed_origin(const struct http_server *s, const char *origin)
{
    return s->how.origin != NULL &&
           (allows_every_origin(s) || strcasecmp(s->how.origin, origin) == 0);
}

/*
 * Returns whether a page of another site made the browser send this request
 * without Origin, as <img>, <video> and links do.  Pages cannot set
 * Sec-Fetch-Site (W3C Fetch Metadata); its value is "none" if the user typed
 * the address.  Other clients and old browsers do not send it.
 */
static bool is_of_other_site(struct MHD_Connection *c)
{
    const char *site = answer_asked(c, "Sec-Fetch-Site");

    return site != NULL && strcmp(site, "same-origin") != 0 &&
           strcmp(site, "none") != 0;
}

/* Returns 0 if the source of the request is allowed, otherwise the status for
 * refusing it.  HTTP/1.0 clients send no Host. */
static unsigned check_source(const struct http_server *s,
                             struct MHD_Connection *c, const char *version)
{
    const char *host = answer_asked(c, MHD_HTTP_HEADER_HOST);
    const char *origin = answer_asked(c, MHD_HTTP_HEADER_ORIGIN);

    if (host == NULL && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
        return MHD_HTTP_BAD_REQUEST;
    if (host != NULL && !http_host_is_ours(host, s->listener.is_loopback))
        return MHD_HTTP_FORBIDDEN;
    if (origin != NULL
            ? !is_own_origin(origin, host) && !is_allowed_origin(s, origin)
            : is_of_other_site(c) && !allows_every_origin(s))
        return MHD_HTTP_FORBIDDEN;
    return 0;
}

static struct answer answer_request(const struct http_server *s,
                                    const struct http_request *r,
                                    const char *version)
{
    const unsigned refused = check_source(s, r->connection, version);

    if (refused != 0)
        return answer_refusal(refused);
    if (strcmp(r->method, MHD_HTTP_METHOD_OPTIONS) == 0)
        return answer_options();
    return s->how.answer(s->how.user, r);
}

/* Adds headers that tell the browser which pages may use the response.
 * Elements such as <img> may use it only on our own pages; scripts may also use
 * it on pages of the allowed origin. */
static void say_who_may_use(const struct http_server *s,
                            struct MHD_Connection *c, struct MHD_Response *r)
{
    const char *origin = answer_asked(c, MHD_HTTP_HEADER_ORIGIN);

    answer_header(r, "Cross-Origin-Resource-Policy",
                  allows_every_origin(s) ? "cross-origin" : "same-origin");
    if (s->how.origin == NULL)
        return;
    answer_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
    if (origin == NULL || !is_allowed_origin(s, origin))
        return;
    answer_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN,
                  s->how.origin);
    answer_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_EXPOSE_HEADERS,
                  "Accept-Ranges, Content-Length, Content-Range, ETag");
}

/* Returns the context of a connection, or NULL if memory ran out. */
static struct http_connection *context_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}

static struct timeout *timeout_of(struct MHD_Connection *c)
{
    const struct http_connection *context = context_of(c);

    return context != NULL ? context->timeout : NULL;
}

static void hold_little(int fd, int most)
{
#ifdef TCP_NOTSENT_LOWAT
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
#else
    (void)fd;
    (void)most;
#endif
}

/* libmicrohttpd calls this when a connection was opened, and before it is
 * closed. */
static void connected(void *user, struct MHD_Connection *c, void **context,
                      enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = user;
    struct http_connection *own = *context;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        atomic_fetch_sub(&s->n_open, 1);
        if (own != NULL)
            timeouts_remove(s->timeouts, own->timeout);
        free(own);
        return;
    }
    atomic_fetch_add(&s->n_open, 1);
    *context = own = malloc(sizeof *own);
    if (own == NULL)
        return;
    const int fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)
                       ->connect_fd;
    own->number = atomic_fetch_add(&s->n_connections, 1) + 1;
    own->timeout = timeouts_add(s->timeouts, fd);
    if (s->how.unsent_most != 0)
        hold_little(fd, (int)s->how.unsent_most);
}

/* libmicrohttpd calls this when the header is complete, for each part of a
 * body, and at the end of the request. */
static enum MHD_Result handle(void *user, struct MHD_Connection *c,
                              const char *path, const char *method,
                              const char *version, const char *body,
                              size_t *body_len, void **request)
{
    const struct http_server *s = user;
    const struct http_connection *context = context_of(c);

    (void)body;
    if (*request == NULL || *body_len > 0) {
        /* marks the request as seen; the value does not matter */
        *request = user;
        *body_len = 0;
        return MHD_YES;
    }
    if (context == NULL)
        return MHD_NO; /* closes the connection */
    timeouts_pause(s->timeouts, context->timeout);
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              s->how.answering_s);
    const char *host = answer_asked(c, MHD_HTTP_HEADER_HOST);
    const struct http_request r = {
        .server = s,
        .connection = c,
        .host = host != NULL ? host : s->listener.authority,
        .number = context->number,
        .path = path,
        .method = method,
        .is_get = strcmp(method, MHD_HTTP_METHOD_GET) == 0,
        .is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0};
    const struct answer a = answer_request(s, &r, version);
    if (a.response == NULL)
        return MHD_NO;
    say_who_may_use(s, c, a.response);
    const enum MHD_Result done = MHD_queue_response(c, a.status, a.response);
    MHD_destroy_response(a.response);
    return done;
}

static void completed(void *user, struct MHD_Connection *c, void **request,
                      enum MHD_RequestTerminationCode how)
{
    const struct http_server *s = user;

    (void)request;
    (void)how;
    timeouts_resume(s->timeouts, timeout_of(c));
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)IDLE_S);
}

/* Starts libmicrohttpd.  A pool uses the system's best function to wait for
 * many sockets. */
static struct MHD_Daemon *start_daemon(struct http_server *s)
{
    const unsigned waiting =
        s->how.threads == 0 ? MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL
                            : (unsigned)MHD_USE_AUTO | MHD_ALLOW_SUSPEND_RESUME;

    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC | waiting, 0, NULL, NULL,
        handle, s, MHD_OPTION_LISTEN_SOCKET, s->listener.fd,
        MHD_OPTION_THREAD_POOL_SIZE, s->how.threads,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        s->how.threads == 0 ? OWN_MEMORY : POOL_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, s->how.most,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        s->listener.is_loopback ? 0U : s->how.most_each,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_NOTIFY_CONNECTION,
        connected, s, MHD_OPTION_END);
}

/* Starts the threads with all signals blocked, because the main thread handles
 * signals. */
static bool start_threads(struct http_server *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->timeouts = timeouts_new(IDLE_S);
    if (s->timeouts != NULL)
        s->daemon = start_daemon(s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->daemon != NULL;
}

struct http_server *http_server_start(const struct http_serving *how)
{
    struct http_server *s = calloc(1, sizeof *s);

    if (s == NULL) {
        words_error("out of memory");
        return NULL;
    }
    s->how = *how;
    s->listener = *how->listener;
    if (start_threads(s))
        return s;
    words_error("the server at %s cannot be started", s->listener.authority);
    timeouts_free(s->timeouts);
    free(s);
    return NULL;
}

unsigned http_server_connections(const struct http_server *s)
{
    return atomic_load(&s->n_open);
}

void http_server_stop(struct http_server *s)
{
    if (s == NULL)
        return;
    MHD_stop_daemon(s->daemon);
    timeouts_free(s->timeouts);
    free(s);
}
