/* SPDX-License-Identifier: MIT */
#include "os/routes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns whether there is a route to the address.  Connecting a datagram
 * socket sends nothing; it only looks up the route. */
static bool has_route(const struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_DGRAM, 0);
    bool has = fd >= 0 && connect(fd, address, len) == 0;

    if (fd >= 0)
        close(fd);
    return has;
}

bool xd_routes_lead_out(void)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};

    /* Reserved for documentation, so never a local network (RFC 5737, RFC
     * 3849). */
    inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
    return has_route((const struct sockaddr *)&v4, sizeof v4) ||
           has_route((const struct sockaddr *)&v6, sizeof v6);
}

#ifdef __linux__

#include <errno.h>

#include <string.h>

#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static int open_reports(void)
{
    struct sockaddr_nl groups = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                     RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    NETLINK_ROUTE);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&groups, sizeof groups) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns true if message `m`, with this body, reports a new address, a new
 * route or a link that came up. */
static bool is_way_out(const struct nlmsghdr *m, const unsigned char *body)
{
    struct ifinfomsg link;

    if (m->nlmsg_type == RTM_NEWADDR || m->nlmsg_type == RTM_NEWROUTE)
        return true;
    if (m->nlmsg_type != RTM_NEWLINK || m->nlmsg_len < sizeof *m + sizeof link)
        return false;
    memcpy(&link, body, sizeof link);
    return (link.ifi_flags & IFF_RUNNING) != 0;
}

static bool have_way_out(const unsigned char *messages, size_t n)
{
    struct nlmsghdr m;

    for (size_t at = 0; at < n && n - at >= sizeof m;
         at += NLMSG_ALIGN(m.nlmsg_len)) {
        memcpy(&m, messages + at, sizeof m);
        if (m.nlmsg_len < sizeof m || m.nlmsg_len > n - at)
            return false;
        if (is_way_out(&m, messages + at + sizeof m))
            return true;
    }
    return false;
}

/* Reads all messages.  Returns true if one of them reports a possible new
 * route.  ENOBUFS: the kernel dropped messages, so assume that a route
 * appeared. */
static bool report_way_out(int fd)
{
    unsigned char messages[8192];
    bool have = false;
    ssize_t n;

    while ((n = recv(fd, messages, sizeof messages, 0)) > 0 ||
           (n < 0 && errno == ENOBUFS))
        have |= n < 0 || have_way_out(messages, (size_t)n);
    return have;
}

#else

static int open_reports(void)
{
    return -1;
}

static bool report_way_out(int fd)
{
    (void)fd;
    return false;
}

#endif

void xd_routes_open(struct xd_routes *r)
{
    *r = (struct xd_routes){.fd = open_reports()};
}

void xd_routes_close(struct xd_routes *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

bool xd_routes_have_appeared(struct xd_routes *r, xd_usec now)
{
    if (r->fd < 0 || now < r->looked_at + XD_ROUTES_LOOK_EVERY)
        return false;
    r->looked_at = now;
    return report_way_out(r->fd);
}
