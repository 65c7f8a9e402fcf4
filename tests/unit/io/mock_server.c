/* SPDX-License-Identifier: MIT */
#include "mock_server.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define MAX_REQUESTS 64
#define MAX_HEAD 4096

struct connection {
    struct mock_server *server;
    pthread_t thread;
    int fd;
};

struct mock_server {
    /* Constant after start(). */
    const struct mock_step *script;
    const char *end_of_head;
    int fd;
    unsigned port;
    char url[128];
    pthread_t thread;

    pthread_mutex_t lock;
    /* Guarded by lock. */
    bool stopping;
    struct connection connections[MAX_CONNECTIONS];
    unsigned n_connections;
    char requests[MAX_REQUESTS][MAX_HEAD];
    unsigned n_requests;
    uint64_t n_taken;
};

unsigned char mock_byte(uint64_t offset)
{
    return (unsigned char)(offset * 31 + (offset >> 8) * 7 + (offset >> 16));
}

static struct sockaddr_in loopback(unsigned port)
{
    struct sockaddr_in a;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((in_port_t)port);
    return a;
}

static int listen_anywhere(int backlog, unsigned *out_port)
{
    struct sockaddr_in a = loopback(0);
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    if (backlog >= 0)
        ck_assert_int_eq(listen(fd, backlog), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *out_port = ntohs(a.sin_port);
    return fd;
}

unsigned mock_dead_port(void)
{
    unsigned port;

    close(listen_anywhere(-1, &port));
    return port;
}

/* A queue of one that is full: further SYNs get no answer. */
unsigned mock_mute_port(int hold[3])
{
    unsigned port;
    struct sockaddr_in a;

    hold[0] = listen_anywhere(0, &port);
    a = loopback(port);
    for (int i = 1; i < 3; i++) {
        hold[i] = socket(AF_INET, SOCK_STREAM, 0);
        ck_assert_int_ge(hold[i], 0);
        fcntl(hold[i], F_SETFL, O_NONBLOCK);
        connect(hold[i], (struct sockaddr *)&a, sizeof a);
    }
    return port;
}

static bool send_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool say(const struct mock_server *m, int fd, const char *text)
{
    for (;;) {
        const char *at = strchr(text, '@');
        char address[32];

        if (at == NULL)
            return send_all(fd, text, strlen(text));
        snprintf(address, sizeof address, "127.0.0.1:%u", m->port);
        if (!send_all(fd, text, (size_t)(at - text)) ||
            !send_all(fd, address, strlen(address)))
            return false;
        text = at + 1;
    }
}

static bool send_body(int fd, uint64_t first, uint64_t length)
{
    unsigned char bytes[32768];

    while (length > 0) {
        size_t n = length < sizeof bytes ? (size_t)length : sizeof bytes;

        for (size_t i = 0; i < n; i++)
            bytes[i] = mock_byte(first + i);
        if (!send_all(fd, bytes, n))
            return false;
        first += n;
        length -= n;
    }
    return true;
}

static void note_taken(struct mock_server *m, size_t n)
{
    pthread_mutex_lock(&m->lock);
    m->n_taken += n;
    pthread_mutex_unlock(&m->lock);
}

static bool take_body(struct mock_server *m, int fd, uint64_t first,
                      uint64_t length)
{
    unsigned char bytes[32768];

    while (length > 0) {
        size_t most = length < sizeof bytes ? (size_t)length : sizeof bytes;
        ssize_t n = recv(fd, bytes, most, 0);

        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != mock_byte(first + (uint64_t)i))
                return false;
        if (n <= 0)
            return false;
        note_taken(m, (size_t)n);
        first += (uint64_t)n;
        length -= (uint64_t)n;
    }
    return true;
}

/* Until the server is stopped, or the connection is reset. */
static void stall(int fd)
{
    struct pollfd p = {.fd = fd, .events = 0};

    (void)poll(&p, 1, -1);
}

/* True while the client is there after `ms` (-1: until it is not). */
static bool wait_there(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char c;

    if (poll(&p, 1, ms) == 0)
        return true;
    if (recv(fd, &c, 1, MSG_PEEK) <= 0)
        return false;
    poll(NULL, 0, ms > 0 ? ms : 0); /* what has come is for later */
    return true;
}

static void reset(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* False when the connection is over. */
static bool play(struct mock_server *m, int fd, const struct mock_step *step)
{
    for (;; step++)
        switch (step->kind) {
        case MOCK_END:
        case MOCK_NEXT:
            return true;
        case MOCK_SAY:
            if (!say(m, fd, step->text))
                return false;
            break;
        case MOCK_BODY:
            if (!send_body(fd, step->first, step->length))
                return false;
            break;
        case MOCK_TAKE:
            if (!take_body(m, fd, step->first, step->length))
                return false;
            break;
        case MOCK_STALL:
            stall(fd);
            return false;
        case MOCK_SLEEP:
            if (!wait_there(fd, (int)step->first))
                return false;
            break;
        case MOCK_HOLD:
            wait_there(fd, -1);
            return false;
        case MOCK_CLOSE:
            return false;
        case MOCK_RESET:
            reset(fd);
            return false;
        }
}

static bool read_head(const struct mock_server *m, int fd, char head[MAX_HEAD])
{
    size_t len = 0, n_end = strlen(m->end_of_head);

    while (len + 1 < MAX_HEAD) {
        if (recv(fd, head + len, 1, 0) <= 0)
            return false;
        head[++len] = '\0';
        if (len >= n_end && strcmp(head + len - n_end, m->end_of_head) == 0)
            return true;
    }
    return false;
}

/* The part of the script for the request that came in as number i. */
static const struct mock_step *part(const struct mock_step *script, unsigned i)
{
    const struct mock_step *last = script;

    for (; i > 0 && script->kind != MOCK_END; script++)
        if (script->kind == MOCK_NEXT) {
            last = script + 1;
            i--;
        }
    return last;
}

static unsigned note_request(struct mock_server *m, const char *head)
{
    unsigned i;

    pthread_mutex_lock(&m->lock);
    i = m->n_requests++;
    if (i < MAX_REQUESTS)
        snprintf(m->requests[i], MAX_HEAD, "%s", head);
    pthread_mutex_unlock(&m->lock);
    return i;
}

static void *connection_main(void *arg)
{
    struct connection *c = arg;
    struct mock_server *m = c->server;
    char head[MAX_HEAD];

    while (read_head(m, c->fd, head) &&
           play(m, c->fd, part(m->script, note_request(m, head))))
        ;
    pthread_mutex_lock(&m->lock);
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static void *accept_main(void *arg)
{
    struct mock_server *m = arg;
    int fd;

    while ((fd = accept(m->fd, NULL, NULL)) >= 0) {
        /* The second of two sends must not wait for a delayed ACK. */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        pthread_mutex_lock(&m->lock);
        if (!m->stopping && m->n_connections < MAX_CONNECTIONS) {
            struct connection *c = &m->connections[m->n_connections++];

            c->server = m;
            c->fd = fd;
            fd = -1;
            pthread_create(&c->thread, NULL, connection_main, c);
        }
        pthread_mutex_unlock(&m->lock);
        if (fd >= 0)
            close(fd);
    }
    return NULL;
}

static struct mock_server *start(const struct mock_step *script,
                                 const char *end_of_head, const char *scheme,
                                 const char *path)
{
    struct mock_server *m = calloc(1, sizeof *m);
    int len;

    ck_assert_ptr_nonnull(m);
    m->script = script;
    m->end_of_head = end_of_head;
    m->fd = listen_anywhere(64, &m->port);
    len = snprintf(m->url, sizeof m->url, "%s://127.0.0.1:%u%s", scheme,
                   m->port, path);
    ck_assert_int_lt(len, (int)sizeof m->url);
    pthread_mutex_init(&m->lock, NULL);
    ck_assert_int_eq(pthread_create(&m->thread, NULL, accept_main, m), 0);
    return m;
}

void mock_narrow(struct mock_server *m)
{
    const int bytes = 8192, segment = 1000;

    ck_assert_int_eq(
        setsockopt(m->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
    ck_assert_int_eq(
        setsockopt(m->fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment),
        0);
}

struct mock_server *mock_start(const struct mock_step *script)
{
    return start(script, "\r\n\r\n", "http", "/x");
}

struct mock_server *mock_start_lines(const struct mock_step *script,
                                     const char *scheme, const char *path)
{
    return start(script, "\n", scheme, path);
}

void mock_stop(struct mock_server *m)
{
    unsigned n;

    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    n = m->n_connections;
    for (unsigned i = 0; i < n; i++)
        if (m->connections[i].fd >= 0)
            shutdown(m->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&m->lock);
    shutdown(m->fd, SHUT_RDWR);
    pthread_join(m->thread, NULL);
    for (unsigned i = 0; i < n; i++)
        pthread_join(m->connections[i].thread, NULL);
    close(m->fd);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const char *mock_url(const struct mock_server *m)
{
    return m->url;
}

unsigned mock_port(const struct mock_server *m)
{
    return m->port;
}

static unsigned read_locked(struct mock_server *m, const unsigned *counter)
{
    unsigned n;

    pthread_mutex_lock(&m->lock);
    n = *counter;
    pthread_mutex_unlock(&m->lock);
    return n;
}

unsigned mock_connections(struct mock_server *m)
{
    return read_locked(m, &m->n_connections);
}

unsigned mock_requests(struct mock_server *m)
{
    return read_locked(m, &m->n_requests);
}

uint64_t mock_taken(struct mock_server *m)
{
    uint64_t n;

    pthread_mutex_lock(&m->lock);
    n = m->n_taken;
    pthread_mutex_unlock(&m->lock);
    return n;
}

const char *mock_request(struct mock_server *m, unsigned i)
{
    ck_assert_uint_lt(i, MAX_REQUESTS);
    return i < mock_requests(m) ? m->requests[i] : "";
}
