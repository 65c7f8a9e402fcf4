/* SPDX-License-Identifier: MIT */
#include "args/address.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

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

/* Returns true for a port number up to 65535.  (getaddrinfo() also accepts
 * larger numbers.) */
static bool is_port(const char *port)
{
    const size_t len = strlen(port);
    unsigned n;

    return len >= 1 && len <= 5 && strspn(port, "0123456789") == len &&
           sscanf(port, "%u", &n) == 1 && n <= 65535;
}

struct addrinfo *address_read(const char *where)
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

int address_is_loopback(const char *where)
{
    struct addrinfo *a = address_read(where);

    if (a == NULL)
        return -1;
    const int is = is_loopback(a);
    freeaddrinfo(a);
    return is;
}
