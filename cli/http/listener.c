/* SPDX-License-Identifier: MIT */
#include "http/listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args/address.h"
#include "common/status.h"
#include "common/words.h"

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
        bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Sets the actual address and port. */
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
    struct addrinfo *a = address_read(where);

    *l = (struct listener){.fd = -1};
    if (a == NULL)
        return words_usage("%s is no address to listen at", where);
    l->is_loopback = address_is_loopback(where) > 0;
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
