/* SPDX-License-Identifier: MIT */
/*
 * throttle - makes a slow depot out of a fast one.
 *
 *     client <== token bucket <== throttle <-- origin (nginx)
 *     client -------- delay -----> throttle --> origin
 *
 * A TCP proxy with one token bucket over all its connections: however many
 * requests a client has at once, together they get --rate bytes a second and
 * share them evenly.  With --cap each connection has a bucket of its own as
 * well.  (nginx's limit_rate gives each request its own, with a second's worth
 * free.)
 *
 * Socket buffers are kept small, so that what is counted here is near what
 * the client has got.  Good to about 50 MB/s: the bucket is filled once a
 * millisecond and holds 64 KiB.
 *
 * Life: ends on SIGTERM, and when its standard input ends; whoever starts it
 * holds a pipe open, so that it never outlives him.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 512,
    CHUNK = 16384, /* held of each connection and direction */
    SOCKET_BUFFER = 16384
};

#define MAX_BURST 65536
#define TURN 4096 /* what one connection gets before the next's turn */

struct buffer {
    char data[CHUNK];
    size_t begin, end;
};

struct connection {
    unsigned number;
    int client, origin;
    struct buffer up, down;
    int64_t up_due; /* when `up` may go out */
    bool origin_ended;
    uint64_t passed; /* bytes given to the client */
    double tokens;   /* of its cap */
};

struct throttle {
    const char *listen_port;
    double rate;         /* bytes per second; 0: silent */
    double cap;          /* likewise, of each connection; 0: there is none */
    double burst;        /* bytes */
    int64_t delay;       /* microseconds, before each part of a request */
    uint64_t stop_after; /* bytes to all clients; then at the next rate */
    double next_rate;
    uint64_t reset_after; /* bytes to one client; then its connection is */
    FILE *log;            /* or NULL */

    int listener;
    struct addrinfo *origin;
    struct connection *connections[MAX_CONNECTIONS];
    size_t n;
    unsigned accepted;
    size_t first; /* whose turn it is */
    double tokens;
    int64_t filled_at;
    uint64_t passed;
};

static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
    (void)sig;
    stopped = 1;
}

static void die(const char *what)
{
    fprintf(stderr, "throttle: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static bool is_silent(const struct throttle *t)
{
    return t->rate <= 0;
}

/* Bytes have passed: is it time for the next rate? */
static void change_rate(struct throttle *t)
{
    if (t->passed < t->stop_after)
        return;
    t->rate = t->next_rate;
    t->tokens = 0;
    t->stop_after = UINT64_MAX;
}

static size_t held(const struct buffer *b)
{
    return b->end - b->begin;
}

/* Returns what read() did; only ever called on an empty buffer. */
static ssize_t fill(struct buffer *b, int fd)
{
    ssize_t n = read(fd, b->data, sizeof b->data);

    b->begin = 0;
    b->end = n > 0 ? (size_t)n : 0;
    return n;
}

static ssize_t empty(struct buffer *b, int fd, size_t most)
{
    size_t len = held(b) < most ? held(b) : most;
    ssize_t n = write(fd, b->data + b->begin, len);

    if (n > 0)
        b->begin += (size_t)n;
    return n;
}

static bool is_passing(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ||
           errno == EINPROGRESS || errno == ENOTCONN;
}

/* ---- sockets ---- */

static void prepare_socket(int fd)
{
    int size = SOCKET_BUFFER, on = 1;

    fcntl(fd, F_SETFL, O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static struct addrinfo *resolve(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;

    if (getaddrinfo(host, port, &hints, &found) != 0) {
        fprintf(stderr, "throttle: %s:%s is not an address\n", host, port);
        exit(2);
    }
    return found;
}

static void start_listening(struct throttle *t)
{
    struct addrinfo *a = resolve("127.0.0.1", t->listen_port);
    struct sockaddr_in name;
    socklen_t len = sizeof name;

    t->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (t->listener < 0)
        die("socket");
    prepare_socket(t->listener);
    if (bind(t->listener, a->ai_addr, a->ai_addrlen) < 0 ||
        listen(t->listener, 128) < 0 ||
        getsockname(t->listener, (struct sockaddr *)&name, &len) < 0)
        die("cannot listen");
    freeaddrinfo(a);
    printf("%u\n", (unsigned)ntohs(name.sin_port));
    fflush(stdout);
}

static void accept_one(struct throttle *t)
{
    int client = accept(t->listener, NULL, NULL);
    if (client < 0)
        return;
    int origin = socket(AF_INET, SOCK_STREAM, 0);
    struct connection *c = calloc(1, sizeof *c);
    if (origin < 0 || !c)
        die("accept");
    prepare_socket(client);
    prepare_socket(origin);
    /* A depot that is silent from the start bothers no origin. */
    if (t->rate > 0 &&
        connect(origin, t->origin->ai_addr, t->origin->ai_addrlen) < 0 &&
        !is_passing())
        die("connect");
    c->client = client;
    c->origin = origin;
    c->number = t->accepted++;
    c->tokens = t->burst;
    t->connections[t->n++] = c;
}

static void close_connection(struct throttle *t, size_t i)
{
    struct connection *c = t->connections[i];

    if (t->log)
        fprintf(t->log, "connection %u: %" PRIu64 " bytes\n", c->number,
                c->passed);
    close(c->client);
    close(c->origin);
    free(c);
    t->connections[i] = t->connections[--t->n];
}

/* ---- bytes ---- */

/* Towards the origin.  Returns false when the connection is over. */
static bool pump_up(struct throttle *t, struct connection *c, int64_t now)
{
    if (held(&c->up) == 0) {
        ssize_t n = fill(&c->up, c->client);
        if (n == 0 || (n < 0 && !is_passing()))
            return false;
        c->up_due = now + t->delay;
    }
    if (is_silent(t))
        c->up.begin = c->up.end;
    else if (held(&c->up) > 0 && now >= c->up_due)
        return empty(&c->up, c->origin, CHUNK) >= 0 || is_passing();
    return true;
}

/* From the origin, as far as the buffer goes. */
static bool pump_origin(struct connection *c)
{
    if (held(&c->down) > 0 || c->origin_ended)
        return true;
    ssize_t n = fill(&c->down, c->origin);
    c->origin_ended = n == 0;
    return n >= 0 || is_passing();
}

static double filled(const struct throttle *t, double tokens, double rate,
                     int64_t now)
{
    tokens += rate * (double)(now - t->filled_at) / 1e6;
    return tokens < t->burst ? tokens : t->burst;
}

static void refill(struct throttle *t, int64_t now)
{
    t->tokens = filled(t, t->tokens, t->rate, now);
    for (size_t i = 0; i < t->n; i++)
        t->connections[i]->tokens =
            filled(t, t->connections[i]->tokens, t->cap, now);
    t->filled_at = now;
}

/* What a connection may be given now. */
static double tokens_of(const struct throttle *t, const struct connection *c)
{
    return t->cap > 0 && c->tokens < t->tokens ? c->tokens : t->tokens;
}

/* How many tokens make a turn: fewer are not worth a write, and would cheat
 * whose turn it is. */
static double least(const struct throttle *t)
{
    double rate = t->cap > 0 && t->cap < t->rate ? t->cap : t->rate;
    double fiftieth = rate / 50 + 1;
    double most = t->burst < TURN ? t->burst : TURN;

    return fiftieth < most ? fiftieth : most;
}

/* Closing it sends a reset. */
static void will_reset(int fd)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

/* One turn.  Returns how many bytes the client took, or -1: it is gone, or has
 * to be. */
static ssize_t give(struct throttle *t, struct connection *c)
{
    uint64_t left = t->stop_after - t->passed;
    double tokens = tokens_of(t, c);
    size_t most = tokens < TURN ? (size_t)tokens : TURN;

    if (c->passed >= t->reset_after) {
        will_reset(c->client);
        return -1;
    }
    if (left < most)
        most = (size_t)left;
    if (t->reset_after - c->passed < most)
        most = (size_t)(t->reset_after - c->passed);
    if (tokens < least(t) || most == 0 || held(&c->down) == 0)
        return 0;
    ssize_t n = empty(&c->down, c->client, most);
    if (n < 0)
        return is_passing() ? 0 : -1;
    c->passed += (size_t)n;
    t->passed += (size_t)n;
    t->tokens -= (double)n;
    c->tokens -= (double)n;
    change_rate(t);
    return n;
}

/* Turn by turn until the bucket is empty or nobody takes more. */
static void share(struct throttle *t)
{
    bool moved = true;

    while (moved && !is_silent(t)) {
        moved = false;
        for (size_t k = 0; k < t->n && t->tokens >= least(t); k++) {
            t->first = (t->first + 1) % t->n;
            struct connection *c = t->connections[t->first];
            ssize_t n = pump_origin(c) ? give(t, c) : -1;
            bool over = c->origin_ended && held(&c->down) == 0;
            if (n < 0 || over)
                close_connection(t, t->first);
            moved = moved || n != 0;
        }
    }
}

/* ---- the loop ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What to watch of one connection; lowers *until to when it needs a look. */
static void watch(const struct throttle *t, const struct connection *c,
                  struct pollfd *client, struct pollfd *origin, int64_t now,
                  int64_t *until)
{
    double tokens = tokens_of(t, c);
    bool may_give = tokens >= least(t);

    *client = (struct pollfd){.fd = c->client, .events = 0};
    *origin = (struct pollfd){.fd = -1, .events = 0};
    if (held(&c->up) == 0)
        client->events |= POLLIN;
    if (is_silent(t))
        return;
    if (held(&c->up) > 0 && now < c->up_due)
        *until = smaller(*until, c->up_due);
    else if (held(&c->up) > 0)
        *origin = (struct pollfd){.fd = c->origin, .events = POLLOUT};
    if (held(&c->down) == 0 && !c->origin_ended) {
        origin->fd = c->origin;
        origin->events |= POLLIN;
    } else if (may_give) {
        client->events |= POLLOUT;
    } else {
        double rate = tokens < t->tokens ? t->cap : t->rate;
        double wait = (least(t) - tokens) / rate * 1e6;
        *until = smaller(*until, now + (int64_t)wait);
    }
}

static void wait_for_work(struct throttle *t, int64_t now)
{
    struct pollfd fds[2 + 2 * MAX_CONNECTIONS];
    int64_t until = now + 1000000; /* a signal may come just before poll() */

    fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = t->n < MAX_CONNECTIONS ? t->listener : -1,
                             .events = POLLIN};
    for (size_t i = 0; i < t->n; i++)
        watch(t, t->connections[i], &fds[2 + 2 * i], &fds[3 + 2 * i], now,
              &until);
    if (poll(fds, 2 + 2 * (nfds_t)t->n, (int)((until - now + 999) / 1000)) < 0)
        return;
    now = now_us();
    for (size_t i = t->n; i-- > 0;) {
        struct pollfd *client = &fds[2 + 2 * i], *origin = client + 1;
        struct connection *c = t->connections[i];
        bool good = !(client->revents & (POLLERR | POLLHUP));
        if (good)
            good = pump_up(t, c, now);
        if (good && (origin->revents & (POLLIN | POLLHUP | POLLERR)))
            good = pump_origin(c);
        if (!good)
            close_connection(t, i);
    }
    if (fds[1].revents & POLLIN)
        accept_one(t);
    char byte;
    if (fds[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
        stopped = 1;
}

static void run(struct throttle *t)
{
    t->filled_at = now_us();
    while (!stopped) {
        int64_t now = now_us();
        refill(t, now);
        share(t);
        wait_for_work(t, now);
    }
    while (t->n > 0)
        close_connection(t, t->n - 1);
}

/* ---- the command line ---- */

static void usage(void)
{
    fputs("usage: throttle --to HOST:PORT --rate BYTES_PER_S [--listen PORT]\n"
          "                [--burst BYTES] [--delay MS] [--stop-after BYTES]\n"
          "                [--then BYTES_PER_S] [--reset-after BYTES]\n"
          "                [--cap BYTES_PER_S] [--log FILE]\n"
          "Listens on 127.0.0.1; PORT 0 is any, and is printed.  Rate 0\n"
          "accepts and never answers.  After --stop-after the rate is that\n"
          "of --then, which is 0 if not said.  Each connection is reset\n"
          "after --reset-after, and given --cap at most.  Ends when\n"
          "standard input does.\n",
          stderr);
    exit(2);
}

static double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !(value >= 0 && value <= 1e18))
        usage();
    return value;
}

static void set_origin(struct throttle *t, char *to)
{
    char *colon = strrchr(to, ':');

    if (!colon)
        usage();
    *colon = '\0';
    t->origin = resolve(to, colon + 1);
}

static void set_option(struct throttle *t, const char *name, char *value)
{
    if (strcmp(name, "--listen") == 0) {
        t->listen_port = value;
    } else if (strcmp(name, "--to") == 0) {
        set_origin(t, value);
    } else if (strcmp(name, "--rate") == 0) {
        t->rate = number(value);
    } else if (strcmp(name, "--cap") == 0) {
        t->cap = number(value);
    } else if (strcmp(name, "--burst") == 0) {
        t->burst = number(value);
    } else if (strcmp(name, "--delay") == 0) {
        t->delay = (int64_t)(number(value) * 1000);
    } else if (strcmp(name, "--stop-after") == 0) {
        t->stop_after = (uint64_t)number(value);
    } else if (strcmp(name, "--then") == 0) {
        t->next_rate = number(value);
    } else if (strcmp(name, "--reset-after") == 0) {
        t->reset_after = (uint64_t)number(value);
    } else if (strcmp(name, "--log") == 0) {
        t->log = fopen(value, "w");
        if (!t->log)
            die(value);
    } else {
        usage();
    }
}

int main(int argc, char **argv)
{
    struct throttle t = {.listen_port = "0",
                         .rate = -1,
                         .burst = MAX_BURST,
                         .stop_after = UINT64_MAX,
                         .reset_after = UINT64_MAX};
    struct sigaction term = {.sa_handler = on_term};

    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            usage();
        set_option(&t, argv[i], argv[i + 1]);
    }
    if (t.rate < 0 || !t.origin || t.burst < 1 || t.burst > MAX_BURST)
        usage();
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &term, NULL);
    start_listening(&t);
    run(&t);
    freeaddrinfo(t.origin);
    if (t.log)
        fclose(t.log);
    return 0;
}
