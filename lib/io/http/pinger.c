/* SPDX-License-Identifier: MIT */
#include "io/pinger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/url.h"
#include "io/http/curl_global.h"
#include "io/http/http_context.h"
#include "io/http/http_options.h"
#include "io/reach.h"
#include "os/clock.h"
#include "os/thread.h"

/* Time limit on one ping: name resolution and connection attempts to all
 * addresses of the host. */
#define NAME_TIME (10 * XD_SECOND)

/* Sockets kept for reuse.  Even if most servers refuse, a download has at most
 * this many pings in progress. */
#define MAX_SPARE 128

/* Limit on a poll, so that a lost wakeup does little harm. */
#define MAX_POLL_MS 10000

struct question {
    unsigned number;
    const struct xd_url *url;
    enum xd_reach reach;
};

#define N_REACHES (XD_REACH_PUBLIC + 1)

/* Tells libcurl's callback in which networks the server may be. */
struct bound {
    const struct xd_pinger *pinger;
    enum xd_reach reach;
};

/* A ping in progress, on a plain socket or a libcurl handle. */
struct way {
    unsigned number;
    xd_usec began;
    int fd;
    /* the socket is IPv4; the connection was refused */
    bool is_ipv4, is_refused;
    CURL *easy;
};

struct xd_pinger {
    /* constant after xd_pinger_new() */
    CURLM *multi;
    struct xd_http_options options;
    bool has_proxy;
    bool has_own_way; /* the options set an interface or address family */
    struct bound bounds[N_REACHES]; /* one for each reach */
    xd_pings_fn *answered;
    void *user;
    struct xd_thread thread;

    struct xd_mutex lock; /* a leaf lock */
    /* guarded by lock */
    struct question *questions;
    size_t n_questions, capacity;
    bool is_over;

    /* owned by the thread */
    struct question *asked; /* questions taken from `questions` */
    size_t n_asked, asked_capacity;
    struct way *ways;
    /* sockets for curl_multi_poll(), in the order of `ways` */
    struct curl_waitfd *fds;
    struct xd_ping *pings; /* results not reported yet */
    size_t n_ways, ways_capacity, n_pings, pings_capacity;
    CURL **idle; /* unused handles */
    size_t n_idle, idle_capacity;
    int spare[MAX_SPARE]; /* unconnected IPv4 sockets */
    size_t n_spare;
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && *value != '\0';
}

/* Returns whether a proxy is configured for any URL. */
static bool has_proxy(const struct xd_net_options *net)
{
    static const char *const variables[] = {
        "http_proxy", "https_proxy", "HTTPS_PROXY", "ftp_proxy",
        "FTP_PROXY",  "all_proxy",   "ALL_PROXY"};

    if (net->proxy != NULL)
        return *net->proxy != '\0';
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (is_set(variables[i]))
            return true;
    return false;
}

/* Adds a result.  make_room() has reserved the space for it. */
static void answer(struct xd_pinger *p, unsigned number,
                   enum xd_ping_result result, xd_usec round_trip, int os_errno)
{
    p->pings[p->n_pings++] =
        (struct xd_ping){number, result, round_trip, os_errno};
}

static enum xd_ping_result result_of(int os_errno)
{
    if (os_errno == 0)
        return XD_PING_ANSWERED;
    return os_errno == ECONNREFUSED || os_errno == ECONNRESET ? XD_PING_REFUSED
                                                              : XD_PING_SILENT;
}

/* Parses a numeric address with port.  Returns its length, or 0. */
static socklen_t address_of(const struct xd_url *u,
                            struct sockaddr_storage *out)
{
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    char host[INET6_ADDRSTRLEN];
    struct xd_span name = xd_url_host(u);
    size_t bracket = name.len > 1 && name.s[0] == '[';
    size_t len = name.len - 2 * bracket;

    memset(out, 0, sizeof *out);
    if (len == 0 || len >= sizeof host)
        return 0;
    memcpy(host, name.s + bracket, len);
    host[len] = '\0';
    if (!bracket && inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons((in_port_t)u->port);
        return sizeof *in;
    }
    if (!bracket || inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
        return 0;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons((in_port_t)u->port);
    return sizeof *in6;
}

/* Opens a socket that a child process does not inherit, because the program may
 * start one at any moment. */
static int open_socket(int family, int type, int protocol)
{
#ifdef SOCK_CLOEXEC
    return socket(family, type | SOCK_CLOEXEC, protocol);
#else
    int fd = socket(family, type, protocol);

    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
#endif
}

/* Returns a non-blocking socket, or -1. */
static int open_plain_socket(int family)
{
#ifdef SOCK_NONBLOCK
    return open_socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
#else
    int fd = open_socket(family, SOCK_STREAM, 0);

    if (fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    return fd;
#endif
}

/*
 * Keeps a socket for another ping, or closes it.  After a refused connection,
 * Linux lets a socket be disconnected and used again, which takes half the time
 * of a new one.  Other systems do not allow it.
 */
static void spare_or_close(struct xd_pinger *p, int fd)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};

    if (p->n_spare < MAX_SPARE && connect(fd, &none, sizeof none) == 0)
        p->spare[p->n_spare++] = fd;
    else
        close(fd);
}

static void close_spares(struct xd_pinger *p)
{
    while (p->n_spare > 0)
        close(p->spare[--p->n_spare]);
}

static bool may_reach(const struct xd_pinger *p, const struct sockaddr *address,
                      enum xd_reach reach)
{
    return p->options.net->allow_private_redirs ||
           xd_reach_of_address(address) >= reach;
}

static void connect_plainly(struct xd_pinger *p, unsigned number,
                            const struct sockaddr_storage *address,
                            socklen_t len)
{
    xd_usec began = xd_now();
    bool is_ipv4 = address->ss_family == AF_INET;
    int fd = is_ipv4 && p->n_spare > 0 ? p->spare[--p->n_spare]
                                       : open_plain_socket(address->ss_family);

    if (fd < 0) {
        answer(p, number, XD_PING_UNKNOWN, 0, 0);
        return;
    }
    if (connect(fd, (const struct sockaddr *)address, len) == 0)
        answer(p, number, XD_PING_ANSWERED, xd_now() - began, 0);
    else if (errno != EINPROGRESS)
        answer(p, number, result_of(errno), 0, errno);
    else {
        p->ways[p->n_ways++] = (struct way){
            .number = number, .began = began, .fd = fd, .is_ipv4 = is_ipv4};
        return;
    }
    close(fd);
}

/* Opens a socket for libcurl.  `user` is the struct bound. */
static curl_socket_t open_curl_socket(void *user, curlsocktype purpose,
                                      struct curl_sockaddr *address)
{
    const struct bound *bound = user;
    int fd = -1;

    (void)purpose;
    if (may_reach(bound->pinger, &address->addr, bound->reach))
        fd = open_socket(address->family, address->socktype, address->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static CURL *new_handle(struct xd_pinger *p)
{
    CURL *e = curl_easy_init();

#define SET(option, value) (curl_easy_setopt(e, option, value) == CURLE_OK)
    if (e != NULL && SET(CURLOPT_NOSIGNAL, 1L) &&
        xd_http_names_share(p->options.names, e) &&
        xd_http_options_apply(&p->options, e) &&
        SET(CURLOPT_OPENSOCKETFUNCTION, open_curl_socket) &&
        SET(CURLOPT_CONNECT_ONLY, 1L) && SET(CURLOPT_FRESH_CONNECT, 1L) &&
        SET(CURLOPT_FORBID_REUSE, 1L) &&
        SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(NAME_TIME / XD_MS)))
        return e;
#undef SET
    curl_easy_cleanup(e);
    return NULL;
}

/* Uses the scheme http for all URLs, because no TLS is wanted. */
static bool set_server(CURL *e, const struct xd_url *u)
{
    char url[XD_URL_MAX + 32];

    snprintf(url, sizeof url, "http://%.*s:%u/", (int)u->host_len,
             xd_url_host(u).s, u->port);
    return curl_easy_setopt(e, CURLOPT_URL, url) == CURLE_OK;
}

static void connect_by_name(struct xd_pinger *p, unsigned number,
                            const struct xd_url *u, enum xd_reach reach)
{
    CURL *e = p->n_idle > 0 ? p->idle[--p->n_idle] : new_handle(p);

    if (e != NULL && set_server(e, u) &&
        curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA,
                         (void *)&p->bounds[reach]) == CURLE_OK &&
        curl_multi_add_handle(p->multi, e) == CURLM_OK) {
        p->ways[p->n_ways++] = (struct way){
            .number = number, .began = xd_now(), .fd = -1, .easy = e};
        return;
    }
    curl_easy_cleanup(e);
    answer(p, number, XD_PING_UNKNOWN, 0, 0);
}

static void begin(struct xd_pinger *p, const struct question *q)
{
    struct sockaddr_storage address;
    socklen_t len;

    if (p->has_proxy || !xd_scheme_is_web(q->url->scheme)) {
        answer(p, q->number, XD_PING_UNKNOWN, 0, 0);
        return;
    }
    len = p->has_own_way ? 0 : address_of(q->url, &address);
    if (len == 0)
        connect_by_name(p, q->number, q->url, q->reach);
    else if (may_reach(p, (struct sockaddr *)&address, q->reach))
        connect_plainly(p, q->number, &address, len);
    else
        answer(p, q->number, XD_PING_UNKNOWN, 0, 0);
}

/* Removes a ping.  The last element takes its place. */
static void remove_way(struct xd_pinger *p, size_t i)
{
    struct way *w = &p->ways[i];

    if (w->easy != NULL) {
        curl_multi_remove_handle(p->multi, w->easy);
        p->idle[p->n_idle++] = w->easy;
    } else if (w->is_ipv4 && w->is_refused) {
        spare_or_close(p, w->fd);
    } else {
        close(w->fd);
    }
    *w = p->ways[--p->n_ways];
}

/* Computes the round trip as the time of connecting minus the time of
 * resolving, because libcurl does not report it. */
static xd_usec round_trip_of(CURL *e)
{
    curl_off_t named = 0, connected = 0;

    if (curl_easy_getinfo(e, CURLINFO_NAMELOOKUP_TIME_T, &named) != CURLE_OK ||
        curl_easy_getinfo(e, CURLINFO_CONNECT_TIME_T, &connected) != CURLE_OK ||
        connected < named)
        return 0;
    return (xd_usec)(connected - named);
}

static void end_by_curl(struct xd_pinger *p, CURL *e, CURLcode code)
{
    long os_errno = 0;
    size_t i = 0;

    while (p->ways[i].easy != e)
        i++;
    if (code == CURLE_COULDNT_CONNECT)
        curl_easy_getinfo(e, CURLINFO_OS_ERRNO, &os_errno);
    if (code == CURLE_OK)
        answer(p, p->ways[i].number, XD_PING_ANSWERED, round_trip_of(e), 0);
    else if (os_errno != 0)
        answer(p, p->ways[i].number, result_of((int)os_errno), 0,
               (int)os_errno);
    else
        answer(p, p->ways[i].number, XD_PING_SILENT, 0, 0);
    remove_way(p, i);
}

static void perform(struct xd_pinger *p)
{
    int n_running, n_left;
    CURLMsg *m;

    curl_multi_perform(p->multi, &n_running);
    while ((m = curl_multi_info_read(p->multi, &n_left)) != NULL)
        if (m->msg == CURLMSG_DONE)
            end_by_curl(p, m->easy_handle, m->data.result);
}

static bool try_end_plain(struct xd_pinger *p, struct way *w, short ready)
{
    int os_errno = 0;
    socklen_t len = sizeof os_errno;

    if (ready != 0) {
        getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &os_errno, &len);
        w->is_refused = os_errno == ECONNREFUSED;
        answer(p, w->number, result_of(os_errno), xd_now() - w->began,
               os_errno);
        return true;
    }
    if (xd_now() - w->began < XD_PING_TIME)
        return false;
    answer(p, w->number, XD_PING_SILENT, 0, 0);
    return true;
}

/* Lists the sockets to poll, in the order of `ways`.  Returns their number. */
static unsigned list_sockets(struct xd_pinger *p, int *out_timeout_ms)
{
    xd_usec now = xd_now(), timeout = MAX_POLL_MS * XD_MS;
    unsigned n = 0;

    for (size_t i = 0; i < p->n_ways; i++) {
        xd_usec age = now - p->ways[i].began;

        if (p->ways[i].easy != NULL)
            continue;
        p->fds[n++] = (struct curl_waitfd){.fd = p->ways[i].fd,
                                           .events = CURL_WAIT_POLLOUT};
        if (age >= XD_PING_TIME)
            timeout = 0;
        else if (XD_PING_TIME - age < timeout)
            timeout = XD_PING_TIME - age;
    }
    *out_timeout_ms = (int)((timeout + XD_MS - 1) / XD_MS);
    return n;
}

static void wait_for_answers(struct xd_pinger *p)
{
    int timeout_ms;
    unsigned n = list_sockets(p, &timeout_ms);
    size_t at = n;

    if (p->n_pings > 0)
        timeout_ms = 0;
    curl_multi_poll(p->multi, p->fds, n, timeout_ms, NULL);
    /* Goes backwards, because a removed element is replaced by one that was
     * already checked. */
    for (size_t i = p->n_ways; i-- > 0;)
        if (p->ways[i].easy == NULL &&
            try_end_plain(p, &p->ways[i], p->fds[--at].revents))
            remove_way(p, i);
    perform(p);
}

static void *grown(void *list, size_t *capacity, size_t n, size_t size)
{
    size_t wanted = n + n / 2 + 16;
    void *longer = n < *capacity ? list : xd_realloc(list, wanted, size);

    if (longer != NULL && n >= *capacity)
        *capacity = wanted;
    return longer;
}

#define GROW(list, capacity, n)                                      \
    do {                                                             \
        void *longer_ = grown(list, &(capacity), n, sizeof *(list)); \
        if (longer_ == NULL)                                         \
            return XD_E_NOMEM;                                       \
        (list) = longer_;                                            \
    } while (0)

static int make_room(struct xd_pinger *p, size_t n)
{
    size_t ways = p->ways_capacity, fds = ways;

    GROW(p->pings, p->pings_capacity, n);
    GROW(p->idle, p->idle_capacity, n);
    GROW(p->fds, fds, n);
    GROW(p->ways, ways, n);
    p->ways_capacity = ways;
    return 0;
}

/* Takes the new questions.  Returns false if the thread must end. */
static bool take_questions(struct xd_pinger *p)
{
    struct question *list = p->asked;
    size_t capacity = p->asked_capacity;
    bool goes_on;

    xd_mutex_lock(&p->lock);
    p->asked = p->questions;
    p->n_asked = p->n_questions;
    p->asked_capacity = p->capacity;
    p->questions = list;
    p->n_questions = 0;
    p->capacity = capacity;
    goes_on = !p->is_over;
    xd_mutex_unlock(&p->lock);
    return goes_on;
}

static void report_answers(struct xd_pinger *p)
{
    size_t n = p->n_pings;

    p->n_pings = 0;
    if (n > 0)
        p->answered(p->user, p->pings, n);
}

/* Reports an unknown result, because memory ran out. */
static void leave_unknown(struct xd_pinger *p, const struct question *q)
{
    struct xd_ping ping = {.number = q->number, .result = XD_PING_UNKNOWN};

    p->answered(p->user, &ping, 1);
}

static void *pinger_main(void *arg)
{
    struct xd_pinger *p = arg;

    while (take_questions(p)) {
        bool has_room = make_room(p, p->n_ways + p->n_asked) == 0;

        for (size_t i = 0; i < p->n_asked; i++)
            if (has_room)
                begin(p, &p->asked[i]);
            else
                leave_unknown(p, &p->asked[i]);
        if (p->n_ways == 0)
            close_spares(p);
        wait_for_answers(p);
        report_answers(p);
    }
    return NULL;
}

int xd_pinger_ask(struct xd_pinger *p, unsigned number,
                  const struct xd_url *url, enum xd_reach reach)
{
    struct question *list;
    bool is_first;

    xd_mutex_lock(&p->lock);
    /* one wakeup is enough for several questions */
    is_first = p->n_questions == 0;
    list = xd_grow(p->questions, p->n_questions, &p->capacity, sizeof *list);
    if (list != NULL) {
        p->questions = list;
        list[p->n_questions++] = (struct question){number, url, reach};
    }
    xd_mutex_unlock(&p->lock);
    if (list == NULL)
        return XD_E_NOMEM;
    if (is_first)
        curl_multi_wakeup(p->multi);
    return 0;
}

int xd_pinger_new(struct xd_pinger **out, const struct xd_net_options *net,
                  struct xd_net_context *context, xd_pings_fn *answered,
                  void *user, struct xd_error *err)
{
    struct xd_pinger *p;
    int rc = xd_curl_global_init(err);

    *out = NULL;
    if (rc < 0)
        return rc;
    p = xd_alloc(1, sizeof *p);
    if (p == NULL)
        return xd_fail_nomem(err);
    for (unsigned i = 0; i < N_REACHES; i++)
        p->bounds[i] = (struct bound){p, (enum xd_reach)i};
    p->answered = answered;
    p->user = user;
    rc = xd_http_options_init(&p->options, net, context, err);
    if (rc < 0)
        goto free_pinger;
    p->has_proxy = has_proxy(p->options.net);
    p->has_own_way = p->options.net->interface != NULL ||
                     p->options.net->ipv4 || p->options.net->ipv6;
    p->multi = curl_multi_init();
    if (p->multi == NULL || make_room(p, 0) < 0 ||
        xd_mutex_init(&p->lock) < 0) {
        rc = xd_fail_nomem(err);
        goto cleanup_multi;
    }
    if (xd_thread_start(&p->thread, pinger_main, p) < 0) {
        rc = xd_fail_nomem(err);
        goto fini_lock;
    }
    *out = p;
    return 0;

fini_lock:
    xd_mutex_fini(&p->lock);
cleanup_multi:
    xd_free(p->ways);
    xd_free(p->fds);
    xd_free(p->pings);
    xd_free(p->idle);
    curl_multi_cleanup(p->multi);
    xd_http_options_fini(&p->options);
free_pinger:
    xd_free(p);
    return rc;
}

void xd_pinger_stop(struct xd_pinger *p)
{
    xd_mutex_lock(&p->lock);
    p->is_over = true;
    xd_mutex_unlock(&p->lock);
    curl_multi_wakeup(p->multi);
}

void xd_pinger_free(struct xd_pinger *p)
{
    if (p == NULL)
        return;
    xd_pinger_stop(p);
    xd_thread_join(&p->thread);
    while (p->n_ways > 0)
        remove_way(p, p->n_ways - 1);
    close_spares(p);
    while (p->n_idle > 0)
        curl_easy_cleanup(p->idle[--p->n_idle]);
    curl_multi_cleanup(p->multi);
    xd_mutex_fini(&p->lock);
    xd_http_options_fini(&p->options);
    xd_free(p->questions);
    xd_free(p->asked);
    xd_free(p->ways);
    xd_free(p->fds);
    xd_free(p->pings);
    xd_free(p->idle);
    xd_free(p);
}
