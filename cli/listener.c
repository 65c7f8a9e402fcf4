#include "listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "status.h"
#include "words.h"

#define BACKLOG 64

/* ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT; an address with more than one colon is
 * one of IPv6 without a port. */
static bool split(const char *where, char host[INET6_ADDRSTRLEN],
                  const char **out_port)
{
    const bool has_brackets = *where == '[';
    const char *begin = where + has_brackets;
    const char *end = strchr(begin, has_brackets ? ']' : ':');

    *out_port = "0";
    if (end == NULL && has_brackets)
        return false;
    if (end == NULL || (!has_brackets && strchr(end + 1, ':') != NULL))
        end = begin + strlen(begin);
    const char *rest = end + has_brackets;
    if (*rest == ':')
        *out_port = rest + 1;
    else if (*rest != '\0')
        return false;
    const size_t len = (size_t)(end - begin);
    if (len == 0 || len >= INET6_ADDRSTRLEN)
        return false;
    memcpy(host, begin, len);
    host[len] = '\0';
    if (strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    return true;
}

/* A port that getaddrinfo() would not mind to be too large. */
static bool is_port(const char *port)
{
    const size_t len = strlen(port);
    unsigned n;

    return len >= 1 && len <= 5 && strspn(port, "0123456789") == len &&
           sscanf(port, "%u", &n) == 1 && n <= 65535;
}

/* NULL: it is no address. */
static struct addrinfo *resolve(const char *where)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV |
                                               AI_PASSIVE};
    struct addrinfo *found;
    char host[INET6_ADDRSTRLEN];
    const char *port;

    if (!split(where, host, &port) || !is_port(port) ||
        getaddrinfo(host, port, &hints, &found) != 0)
        return NULL;
    return found;
}

static bool is_loopback(const struct addrinfo *a)
{
    if (a->ai_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)a->ai_addr;
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
    const struct sockaddr_in *v4 = (const void *)a->ai_addr;
    return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int listener_is_loopback(const char *where)
{
    struct addrinfo *a = resolve(where);

    if (a == NULL)
        return -1;
    const int is = is_loopback(a);
    freeaddrinfo(a);
    return is;
}

static int open_socket(const struct addrinfo *a)
{
    const int fd = socket(a->ai_family, SOCK_STREAM, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Which address and port it has become. */
static void name_it(struct listener *l)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    char host[INET6_ADDRSTRLEN] = "", port[6] = "";

    if (getsockname(l->fd, (struct sockaddr *)&at, &len) == 0)
        getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(l->authority, sizeof l->authority,
             at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

int listener_open(struct listener *l, const char *where)
{
    struct addrinfo *a = resolve(where);

    *l = (struct listener){.fd = -1};
    if (a == NULL)
        return words_usage("%s is no address to listen at", where);
    l->is_loopback = is_loopback(a);
    l->fd = open_socket(a);
    freeaddrinfo(a);
    if (l->fd < 0) {
        words_error("nothing can listen at %s: %s", where, strerror(errno));
        return STATUS_LOCAL;
    }
    name_it(l);
    return 0;
}

void listener_close(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
